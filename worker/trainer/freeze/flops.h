// SPDX-License-Identifier: Apache-2.0
//
// File: flops.h
//
// Counts matrix products alone, a multiplication and an addition for each pair
// of numbers.
#ifndef FROSTLINE_WORKER_TRAINER_FREEZE_FLOPS_H_
#define FROSTLINE_WORKER_TRAINER_FREEZE_FLOPS_H_

#include <cstdint>
#include <string>
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
// The batch is of the task with this number.
StepFlops CountFlops(const ModelConfig& config, const Heads& heads,
                     const FreezePlan& plan, std::int64_t texts,
                     std::int64_t tokens, std::size_t task = 0);

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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_FREEZE_FLOPS_H_
