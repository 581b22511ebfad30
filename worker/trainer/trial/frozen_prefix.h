// SPDX-License-Identifier: Apache-2.0
//
// File: frozen_prefix.h
//
// What takes the place of a trial's frozen prefix: for texts that are evaluated
// one boundary each; for those that are trained on the same one, or one for
// each epoch where frozen layers drop as in transformers.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_FROZEN_PREFIX_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_FROZEN_PREFIX_H_

#include <cstdint>
#include <optional>

#include "base/plain/result.h"
#include "worker/trainer/prefix/boundaries.h"
#include "worker/trainer/trial/batch_maker.h"
#include "worker/trainer/trial/flops_counter.h"
#include "worker/trainer/trial/pace.h"
#include "worker/trainer/trial/trained_model.h"
#include "worker/trainer/trial/trial_message.h"
#include "worker/trainer/trial/workbench.h"

namespace frostline::trainer {

// The boundaries of one trial's texts, by its plan. One thread uses it.
class FrozenPrefix {
 public:
  // All outlive it. Nothing is taken yet.
  FrozenPrefix(const TrialMessage& trial, const TrialSetup& setup,
               const TrialEnvironment& environment, const Course& course,
               const TrainedModel& trained, FlopsCounter& flops, Pace& pace);

  // Takes the place of what the present plan freezes; of nothing where that is
  // too little.
  Expected<Done> Follow();

  // Gives the batch of a step the boundary that its plan allows, if any. The
  // maker made it last, of what `batches` gave last.
  Expected<Done> GiveTraining(const BatchMaker& maker,
                              const TaskBatches& batches, Batch& batch);

  // Before the batches of an evaluation: sees to it that all rows are there.
  Expected<Done> Prepare(const TokenStore& tokens);
  Expected<Done> Give(const BatchMaker& maker, Batch& batch);
  // What was computed since the last step counts as none's.
  void EndEvaluation();

  PrefixCounts counts() const;

 private:
  bool Drops() const;
  bool Trains() const;
  GroupName GroupOf(std::int64_t blocks,
                    const std::optional<RowNoise>& noise) const;
  bool ReadsOneToken(std::int64_t blocks) const;
  // What was seen of models with these shapes; null where nothing is kept.
  SizesByLength* KnownOf(std::int64_t blocks) const;
  PrefixWork Work();
  void Open(std::optional<Boundaries>& boundaries, const PrefixStore* store,
            const std::optional<RowNoise>& noise);
  void Close(std::optional<Boundaries>& boundaries);
  const PrefixStore* StoreOfNoise() const;
  Expected<Done> MakeNoisy(std::uint64_t epoch);

  const TrialMessage& trial_;
  const TrialSetup& setup_;
  const TrialEnvironment& environment_;
  const Course& course_;
  const TrainedModel& trained_;
  FlopsCounter& flops_;
  Pace& pace_;
  std::optional<Boundaries> boundaries_;
  std::optional<Boundaries> noisy_;  // of training, in one epoch
  std::uint64_t noisy_epoch_ = 0;
  PrefixCounts before_;  // of plans that are over
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_FROZEN_PREFIX_H_
