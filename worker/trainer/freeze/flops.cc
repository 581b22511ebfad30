// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/freeze/flops.h"

#include <string>
#include <utility>
#include <vector>

#include "worker/trainer/freeze/layer_flops.h"

namespace frostline::trainer {
namespace {

// Look-ups, and ELECTRA's map from narrower tables.
ModuleFlops EmbeddingFlops(const ModelConfig& config,
                           const Gradients& gradients, std::int64_t rows) {
  ModuleFlops flops;
  if (config.table_width() == config.hidden) return flops;
  AddProduct(ProductFlops(rows, config.table_width(), config.hidden),
             gradients.Projection(), gradients(Part::kEmbeddings), flops);
  return flops;
}

// Of the part that maps hidden states to outputs. A second map reads what the
// first one gives, which has a gradient where that trains.
ModuleFlops HeadFlops(const ModelConfig& config, const HeadSpec& head,
                      std::int64_t texts, std::int64_t tokens, bool trains,
                      bool below) {
  ModuleFlops flops;
  // Of a pair most maps read both texts at once.
  const bool both = head.apart() && head.kind != HeadKind::kCosine;
  const std::int64_t pairs = both ? texts / 2 : texts;
  const std::int64_t rows = head.task == Task::kTokens ? texts * tokens : pairs;
  const bool chained = !head.has_two_maps();
  for (const ParameterSpec& spec : HeadParametersOf(config, head)) {
    if (spec.part != Part::kHead || spec.role != Role::kWeight) continue;
    AddProduct(ProductFlops(rows, spec.shape[1], spec.shape[0]), trains, below,
               flops);
    below = below || (chained && trains);
  }
  return flops;
}

template <typename Member>
double Sum(const std::vector<ModuleFlops>& modules, Member member) {
  double sum = 0.0;
  for (const ModuleFlops& each : modules) sum += each.*member;
  return sum;
}

// A batch of one task.
struct Texts {
  std::int64_t texts, tokens;
  std::size_t task;
};

// What block `given` reads, and all above, has a gradient besides; -1: nothing.
StepFlops Count(const ModelConfig& config, const Heads& heads,
                const Gradients& gradients, const Texts& batch,
                std::int64_t given) {
  const auto [texts, tokens, task] = batch;
  StepFlops step;
  const bool table = gradients(Part::kEmbeddings);
  bool below = table;
  step.modules.push_back(EmbeddingFlops(config, gradients, texts * tokens));
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const bool few = ReadsFirstToken(config, heads) && i + 1 == config.layers;
    below = below || 1 + i == given;
    step.modules.push_back(LayerFlops(
        config, gradients, {i, texts, tokens, few ? 1 : tokens, below, table}));
    below = below || gradients(Part::kAttention, i) ||
            gradients(Part::kFeedForward, i);
  }
  below = below || 1 + config.layers == given;
  if (HasPooler(config, heads)) step.modules.emplace_back();
  if (HasPooler(config, heads[task])) {
    AddProduct(ProductFlops(texts, config.hidden, config.hidden),
               gradients(Part::kPooler), below, step.modules.back());
    below = below || gradients(Part::kPooler);
  }
  for (std::size_t i = 0; i < heads.size(); ++i) {
    step.modules.push_back(i == task
                               ? HeadFlops(config, heads[i], texts, tokens,
                                           gradients(Part::kHead), below)
                               : ModuleFlops());
  }
  const std::vector<std::string> names = ModuleNames(config, heads);
  for (std::size_t i = 0; i < names.size(); ++i) {
    step.modules[i].module = names[i];
  }
  return step;
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

StepFlops CountFlops(const ModelConfig& config, const Heads& heads,
                     const FreezePlan& plan, std::int64_t texts,
                     std::int64_t tokens, std::size_t task) {
  return Count(config, heads, Gradients(config, heads, task, plan),
               {texts, tokens, task}, -1);
}

StepFlops CountInputFlops(const ModelConfig& config, const Heads& heads,
                          std::int64_t from, std::int64_t texts,
                          std::int64_t tokens, std::size_t task) {
  StepFlops pass =
      Count(config, heads, Gradients(), {texts, tokens, task}, from);
  for (std::size_t i = 0; i < pass.modules.size(); ++i) {
    ModuleFlops& module = pass.modules[i];
    module.skipped = 0.0;  // no weight's gradient is asked for
    if (std::cmp_less(i, from)) module.forward = module.backward = 0.0;
  }
  return pass;
}

double CountPrefix(const ModelConfig& config, const Heads& heads,
                   std::int64_t blocks, std::int64_t texts,
                   std::int64_t batches, std::int64_t tokens) {
  const auto forward = [&](std::int64_t together) {
    const StepFlops step =
        Count(config, heads, Gradients(), {together, tokens, 0}, -1);
    double sum = 0.0;
    for (std::int64_t i = 0; i < blocks; ++i) {
      sum += step.modules[static_cast<std::size_t>(i)].forward;
    }
    return sum;
  };
  const double text = forward(2) - forward(1);
  const double batch = forward(1) - text;
  return static_cast<double>(texts) * text +
         static_cast<double>(batches) * batch;
}

}  // namespace frostline::trainer
