// SPDX-License-Identifier: Apache-2.0
//
// File: audit.h
//
// Holds a trained model against its freeze plan: which modules moved, how far
// beside what their rates could move them, which never had a gradient, and what
// they take of memory. docs/reference/trainer.md has the rules.
//
// Nothing is done in a step. Weights that train are copies of the pretrained
// ones, which are still there to compare with. Weights that stay are shared
// with the pretrained model, so a change of one would change both: of these a
// sum over their bits is taken before training and again after it.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_AUDIT_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_AUDIT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::trainer {

// What training did to one module. Lengths are root mean squares, as shares of
// that of the module's weights before training (of 1 if that is 0).
struct ModuleAudit {
  std::string module;
  double rate = 0.0;         // 0: frozen
  std::int64_t weights = 0;  // single numbers; a tied one is the first module's
  double moved = 0.0;        // 0 where and only where no bit changed
  double could_move = 0.0;   // 0: frozen, or nothing bounds it
  bool had_gradient = false;
  std::int64_t weight_bytes = 0;
  std::int64_t gradient_bytes = 0;
  std::int64_t moment_bytes = 0;
  std::int64_t activation_bytes = 0;
};

// The audit of a whole training.
struct FreezeAudit {
  std::vector<ModuleAudit> modules;  // in depth order
  // "layer.1 is frozen and moved": the trial has no result.
  std::vector<std::string> wrong;
  // "layer.2 should have moved at rate 0.001 and did not: it never had a
  // gradient". A rate may be too small to move anything, so this is no fault.
  std::vector<std::string> odd;
};

// What the audit holds against each other. All outlive the call.
struct AuditedTraining {
  const Stepper& stepper;    // after the last step
  const Model& before;       // the model as it began
  const ModuleRates& rates;  // of the trial; frozen modules have 0
  // The plan in which all that trains at some time does.
  const FreezePlan& plan;
  // Modules that will train, but had no step yet: that they stayed is not odd.
  std::set<std::string> waiting = {};
  // What a step of the largest batch keeps, by block (MeasureActivations).
  std::vector<std::int64_t> activations = {};
};

// Sums over the bits of weights, by their places in weights(); nothing where
// one is not known.
using WeightSums = std::vector<std::optional<std::uint64_t>>;

// The audit of one attempt. One thread uses it. The model outlives it.
class FreezeAuditor {
 public:
  // Takes the sums of all weights that `trains` does not mark, except those
  // that are known. Waits for a GPU. Throws what LibTorch throws.
  FreezeAuditor(const Model& model, const std::vector<bool>& trains,
                WeightSums known = {});

  const WeightSums& sums() const { return sums_; }

  // Compares. It may be called at any step. Throws what LibTorch throws.
  FreezeAudit Audit(const AuditedTraining& training) const;

 private:
  const Model& model_;
  WeightSums sums_;
};

// Returns a sum over the bits of a tensor, another one if a single bit differs.
// Waits for a GPU. Throws what LibTorch throws.
std::uint64_t SumOfBits(const at::Tensor& tensor);

// Returns how many bytes a training step of this batch keeps for its backward
// pass: of the embeddings, of each layer, and of pooler and head, in this
// order. It counts what the allocator gives during one forward pass. The batch
// is as Stepper::Step takes it, with noise and boundary.
Expected<std::vector<std::int64_t>> MeasureActivations(const Stepper& stepper,
                                                       const Batch& batch);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_AUDIT_H_
