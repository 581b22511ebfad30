// SPDX-License-Identifier: Apache-2.0
//
// File: fine_tuning.h
//
// Fine-tunes a small network with a learning rate for each module. The same
// settings give the same result to the last bit, also after a checkpoint.
#ifndef FROSTLINE_WORKER_DEMO_TRAINER_FINE_TUNING_H_
#define FROSTLINE_WORKER_DEMO_TRAINER_FINE_TUNING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.h"

namespace frostline::demo_trainer {

inline constexpr std::size_t kInputs = 16;
inline constexpr std::size_t kWidth = 16;
inline constexpr std::size_t kLayers = 6;
inline constexpr std::size_t kClasses = 4;
inline constexpr std::size_t kModules = kLayers + 2;

using Vector = std::vector<double>;

const std::vector<std::string>& ModuleNames();

// A linear map. weights[i * outputs + o] leads from input i to output o.
struct Dense {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  Vector weights;
  Vector bias;

  std::size_t size() const { return weights.size() + bias.size(); }
};

// A point and its class.
struct Example {
  Vector input;
  std::size_t label = 0;
};

// A small residual network with the modules of a transformer, so that studies
// of layers can be tried without one.
//
//   h0     = tanh(W x + b)              embeddings
//   h(l+1) = h(l) + relu(W h(l) + b)    layer.l
//   logits = W h + b                    head
//
// Backpropagation ends at the lowest module that trains. A frozen module above
// it passes the gradient on without computing its own, so a module with rate 0
// costs less.
class Network {
 public:
  // Draws weights with a spread of `gain` / sqrt(inputs).
  Network(double gain, Rng& rng);

  Dense& module(std::size_t i) { return modules_[i]; }
  const Dense& module(std::size_t i) const { return modules_[i]; }

  std::size_t Predict(const Vector& input) const;
  double Loss(const Example& example) const;

  // Adds d Loss / d weight of the modules in `trains` to `gradient`, and
  // returns the loss.
  double AddGradient(const Example& example, const std::vector<bool>& trains,
                     Network* gradient) const;
  void SetZero();

 private:
  // Returns the input of each module, then the logits.
  std::vector<Vector> Forward(const Vector& input) const;

  std::vector<Dense> modules_;
};

// How to fine-tune.
struct Settings {
  std::vector<double> rates = std::vector<double>(kModules);  // 0: frozen
  bool adam = true;                                           // else SGD
  double weight_decay = 0.0;
  std::size_t batch_size = 16;
  std::uint64_t seed = 0;  // for the order of the examples
};

// A fine-tuning under way. `examples` outlive it.
class FineTuning {
 public:
  FineTuning(Network start, const std::vector<Example>& examples,
             Settings settings);

  // Makes one pass over the examples and returns the mean loss; NaN if it
  // diverged.
  double Epoch();
  int epochs() const { return epochs_; }
  std::int64_t steps() const { return steps_; }
  const Network& network() const { return network_; }
  std::int64_t trained_parameters() const;
  // Return multiplications and additions for an example: those that forward and
  // backward take, and those of a full backward that frozen modules save.
  double flops_per_example() const;
  double flops_skipped_per_example() const;

  // Returns everything that Epoch() depends on, as bytes. Restore() returns
  // false for other bytes.
  std::string Save() const;
  bool Restore(const std::string& bytes);

 private:
  void Step(std::size_t batch);
  void StepModule(const Vector& gradient, double rate, Vector* moment,
                  Vector* variance, Vector* weights) const;

  Network network_;
  Network gradient_;
  Network moment_;
  Network variance_;
  const std::vector<Example>& examples_;
  const Settings settings_;
  std::vector<bool> trains_;
  int epochs_ = 0;
  std::int64_t steps_ = 0;
};

// The task of the demo. In the source task a fixed teacher network labels
// random inputs. The teacher of the target task has another layer.3 and a
// turned head; it labels few examples, and some labels are wrong. The model to
// fine-tune begins near the source's teacher. So layer.3 and the head must
// adapt, and whoever trains everything learns the wrong labels. Good levels of
// rates are [0, 0.001, 0.003, 0.01].
struct Task {
  Network pretrained;  // on the source task
  std::vector<Example> train;
  std::vector<Example> validation;
};

// Makes the task, which is the same on every machine, in about 0.1 s.
Task MakeTask();

double Accuracy(const Network& network, const std::vector<Example>& examples);

}  // namespace frostline::demo_trainer

#endif  // FROSTLINE_WORKER_DEMO_TRAINER_FINE_TUNING_H_
