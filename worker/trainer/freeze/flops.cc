// SPDX-License-Identifier: Apache-2.0
//
// A linear map costs W forward; backward it costs W for the gradient of its
// weights and W for that of its input. Attention's two products, without
// weights, cost S forward and 2 S backward. Each is needed or not:
//   of the weights   when they train,
//   of the input     when anything nearer to the text trains.
#include "worker/trainer/freeze/flops.h"

#include <map>
#include <utility>

namespace frostline {
namespace {

// What has a gradient, by part.
class Trained {
 public:
  Trained(const ModelConfig& config, const HeadSpec& head,
          const FreezePlan& plan) {
    const std::vector<ParameterSpec> specs = ParametersOf(config, head);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      bool& any = parts_[{specs[i].part, specs[i].layer}];
      any = any || plan.parameters[i].needs_gradient;
    }
  }

  bool operator()(Part part, std::int64_t layer = -1) const {
    const auto found = parts_.find({part, layer});
    return found != parts_.end() && found->second;
  }

 private:
  std::map<std::pair<Part, std::int64_t>, bool> parts_;
};

double Linear(std::int64_t rows, std::int64_t inputs, std::int64_t outputs) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(inputs) *
         static_cast<double>(outputs);
}

// `below`: something nearer to the text has a gradient.
ModuleFlops LayerFlops(const ModelConfig& config, const Trained& trained,
                       std::int64_t layer, bool below, std::int64_t texts,
                       std::int64_t tokens) {
  const std::int64_t rows = texts * tokens;
  const double square = Linear(rows, config.hidden, config.hidden);
  const double wide = Linear(rows, config.hidden, config.feed_forward);
  const double sight = 2.0 * Linear(rows, tokens, config.hidden);
  const bool attention = trained(Part::kAttention, layer);
  const bool ffn = trained(Part::kFeedForward, layer);
  ModuleFlops flops;
  flops.forward = 4.0 * square + sight + 2.0 * wide;
  const double full = 8.0 * square + 2.0 * sight + 4.0 * wide;
  if (ffn) flops.backward += 2.0 * wide;                  // weights
  if (ffn || attention || below) flops.backward += wide;  // input of down
  if (attention || below) flops.backward += wide;         // input of up
  if (attention) flops.backward += 4.0 * square;          // weights
  if (attention || below) flops.backward += square + 2.0 * sight;
  if (below) flops.backward += 3.0 * square;  // input of query, key, value
  flops.skipped = full - flops.backward;
  return flops;
}

ModuleFlops TopFlops(double forward, bool trained, bool below) {
  ModuleFlops flops;
  flops.forward = forward;
  flops.backward = (trained ? forward : 0.0) + (below ? forward : 0.0);
  flops.skipped = 2.0 * forward - flops.backward;
  return flops;
}

// Of the part that maps hidden states to outputs.
double HeadForward(const ModelConfig& config, const HeadSpec& head,
                   std::int64_t texts, std::int64_t tokens) {
  double forward = 0.0;
  for (const ParameterSpec& spec : ParametersOf(config, head)) {
    if (spec.part != Part::kHead || spec.role != Role::kWeight) continue;
    const std::int64_t rows =
        head.task == Task::kTokens ? texts * tokens : texts;
    forward += Linear(rows, spec.shape[1], spec.shape[0]);
  }
  return forward;
}

template <typename Member>
double Sum(const std::vector<ModuleFlops>& modules, Member member) {
  double sum = 0.0;
  for (const ModuleFlops& each : modules) sum += each.*member;
  return sum;
}

}  // namespace

double StepFlops::forward() const {
  return Sum(modules, &ModuleFlops::forward);
}
double StepFlops::backward() const {
  return Sum(modules, &ModuleFlops::backward);
}
double StepFlops::skipped() const {
  return Sum(modules, &ModuleFlops::skipped);
}

StepFlops CountFlops(const ModelConfig& config, const HeadSpec& head,
                     const FreezePlan& plan, std::int64_t texts,
                     std::int64_t tokens) {
  const Trained trained(config, head, plan);
  StepFlops step;
  bool below = trained(Part::kEmbeddings);
  step.modules.push_back({"embeddings", 0.0, 0.0, 0.0});  // a look-up
  for (std::int64_t i = 0; i < config.layers; ++i) {
    step.modules.push_back(
        LayerFlops(config, trained, i, below, texts, tokens));
    below =
        below || trained(Part::kAttention, i) || trained(Part::kFeedForward, i);
  }
  if (HasPooler(config, head)) {
    step.modules.push_back(TopFlops(Linear(texts, config.hidden, config.hidden),
                                    trained(Part::kPooler), below));
    below = below || trained(Part::kPooler);
  }
  step.modules.push_back(TopFlops(HeadForward(config, head, texts, tokens),
                                  trained(Part::kHead), below));
  const std::vector<std::string> names = ModuleNames(config, head);
  for (std::size_t i = 0; i < names.size(); ++i) {
    step.modules[i].module = names[i];
  }
  return step;
}

}  // namespace frostline
