// SPDX-License-Identifier: Apache-2.0
//
// File: flops.h
//
// Counts matrix products alone, a multiplication and an addition for each pair
// of numbers.
#ifndef FROSTLINE_WORKER_TRAINER_FREEZE_FLOPS_H_
#define FROSTLINE_WORKER_TRAINER_FREEZE_FLOPS_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "worker/trainer/freeze/freeze_plan.h"

namespace frostline::trainer {

struct ModuleFlops {
  std::string module;
  double forward = 0.0;
  double backward = 0.0;
  double skipped = 0.0;  // backward that full training would have had

  double spent() const { return forward + backward; }
};

struct StepFlops {
  std::vector<ModuleFlops> modules;  // as ModuleNames

  double forward() const;
  double backward() const;
  double skipped() const;
  double spent() const { return forward() + backward(); }
};

// A step has `texts` of `tokens` each, padding included. Where the head reads
// the first token alone, so does the top layer, trained or not.
// The batch is of the task with this number. `answered` are the tokens of
// answers, each of which is told by the whole vocabulary.
StepFlops CountFlops(const ModelConfig& config, const Heads& heads,
                     const FreezePlan& plan, std::int64_t texts,
                     std::int64_t tokens, std::size_t task = 0,
                     std::int64_t answered = 0);

// A pass from what block `from` is given, 1 or more, to the loss, and back to
// it with the gradient of no weight. The blocks below have no part in it.
StepFlops CountInputFlops(const ModelConfig& config, const Heads& heads,
                          std::int64_t from, std::int64_t texts,
                          std::int64_t tokens, std::size_t task = 0);

// Forward through the leading blocks alone, of so many texts that went through
// them in so many batches: DeBERTa's distances are those of a batch.
double CountPrefix(const ModelConfig& config, const Heads& heads,
                   std::int64_t blocks, std::int64_t texts,
                   std::int64_t batches, std::int64_t tokens);

// A linear map costs W forward; backward it costs W for the gradient of its
// weights and W for that of its input. Attention's two products, without
// weights, cost S forward and 2 S backward. Each is needed or not:
//   of the weights   when they train,
//   of the input     when anything nearer to the text trains.
// An adapter is two maps of its own, one behind the other, beside the one it
// adapts or behind it.

// Which weights have a gradient, by part and by name.
class Gradients {
 public:
  Gradients() = default;  // none has
  // The gradients of a batch of the task with this number.
  Gradients(const ModelConfig& config, const Heads& heads, std::size_t task,
            const FreezePlan& plan);

  bool operator()(Part part, std::int64_t layer = -1) const;
  bool Weight(const std::string& linear) const;
  bool Adapter(const std::string& linear) const;  // that of LoRA
  bool Behind(const std::string& linear) const;   // a bottleneck
  // The weight of the map behind tables that are narrower than the layers.
  bool Projection() const { return projection_; }
  // What the map gives has a gradient, be its own input without.
  bool Map(const std::string& linear) const;

 private:
  std::set<std::pair<Part, std::int64_t>> parts_;
  std::set<std::string> names_;  // of layers
  bool projection_ = false;
};

// What a layer has to do with `texts` of `tokens`, of which `asking` go through
// it and look at all. `below`: something nearer to the text has a gradient;
// `table`: the embeddings have.
struct LayerWork {
  std::int64_t layer, texts, tokens, asking;
  bool below, table;
};

ModuleFlops LayerFlops(const ModelConfig& config, const Gradients& gradients,
                       const LayerWork& work);

double ProductFlops(std::int64_t rows, std::int64_t inputs,
                    std::int64_t outputs);
// Adds a product of two things, each of which has a gradient or not.
void AddProduct(double forward, bool one, bool other, ModuleFlops& flops);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_FREEZE_FLOPS_H_
