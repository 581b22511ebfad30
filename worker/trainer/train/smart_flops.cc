// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/smart_flops.h"

#include <algorithm>
#include <utility>

namespace frostline::trainer {
namespace {

// Of the blocks from `from` on, `to` not among them, or of the blocks and the
// head.
template <typename Member>
double SumOf(const StepFlops& step, std::int64_t from, std::int64_t to,
             Member member) {
  double sum = 0.0;
  for (std::size_t i = 0; i < step.modules.size(); ++i) {
    if (std::cmp_less(i, from) || std::cmp_greater_equal(i, to)) continue;
    sum += step.modules[i].*member;
  }
  return sum;
}

}  // namespace

SmartFlops CountSmart(const SmartOptions& smart, const ModelConfig& config,
                      const Heads& heads, std::int64_t frozen_blocks,
                      const StepFlops& step, std::int64_t texts,
                      std::int64_t tokens, std::size_t task) {
  SmartFlops flops;
  if (!smart.any()) return flops;
  const std::int64_t moved =
      smart.at_boundary ? std::max<std::int64_t>(1, frozen_blocks) : 1;
  const auto all = static_cast<std::int64_t>(step.modules.size());
  const double turns = smart.TurnsOf(heads[task]);
  const StepFlops adversary =
      CountInputFlops(config, heads, moved, texts, tokens, task);
  flops.spent += turns * static_cast<double>(smart.steps) * adversary.spent() +
                 turns * (SumOf(step, moved, all, &ModuleFlops::forward) +
                          SumOf(step, moved, all, &ModuleFlops::backward));
  flops.skipped = turns * SumOf(step, moved, all, &ModuleFlops::skipped);
  // The clean pass begins higher, or takes a boundary: the embeddings give what
  // is moved once more.
  if (moved < frozen_blocks) {
    flops.spent += SumOf(step, 0, 1, &ModuleFlops::forward);
  }
  if (smart.bregman > 0.0) {
    flops.spent += step.forward();
    flops.prefix = SumOf(step, 0, frozen_blocks, &ModuleFlops::forward);
  }
  return flops;
}

}  // namespace frostline::trainer
