// SPDX-License-Identifier: Apache-2.0
//
// File: network.h
//
// This small residual network has the modules of a transformer, so that studies
// of layers can be tried without one.
//
//   h0     = tanh(W x + b)              embeddings
//   h(l+1) = h(l) + relu(W h(l) + b)    layer.l
//   logits = W h + b                    head
//
// Backpropagation ends at the lowest module that trains, and a frozen module
// above it passes the gradient on without computing its own: rate 0 is not paid
// for.
#ifndef FROSTLINE_WORKER_DEMO_TRAINER_NETWORK_H_
#define FROSTLINE_WORKER_DEMO_TRAINER_NETWORK_H_

#include <cstddef>
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

// weights[i * outputs + o] is that from input i to output o.
struct Dense {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  Vector weights;
  Vector bias;

  std::size_t size() const { return weights.size() + bias.size(); }
};

struct Example {
  Vector input;
  std::size_t label = 0;
};

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

}  // namespace frostline::demo_trainer

#endif  // FROSTLINE_WORKER_DEMO_TRAINER_NETWORK_H_
