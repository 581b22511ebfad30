// SPDX-License-Identifier: Apache-2.0
//
// File: frozen_prefix.h
//
// Replaces a trial's frozen layers by what they gave. A text in an evaluation
// has one boundary. A text in training has the same one, or one for each epoch
// if frozen layers keep their dropout, as in transformers.
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
#include "worker/trainer/trial/trial_preparer.h"

namespace frostline::trainer {

// The boundaries of one trial's texts, as its freeze plan allows them. One
// thread uses it.
class FrozenPrefix {
 public:
  // All outlive it. It replaces nothing before Follow().
  FrozenPrefix(const TrialMessage& trial, const TrialSetup& setup,
               const TrialEnvironment& environment, const Course& course,
               const TrainedModel& trained, FlopsCounter& flops, Pace& pace);

  // Replaces what the present plan freezes, or nothing if that is too little.
  Expected<Done> Follow();

  // Gives the batch of a step its boundary, if the plan allows one. The maker
  // made the batch last, from what `batches` gave last.
  Expected<Done> GiveTraining(const BatchMaker& maker,
                              const TaskBatches& batches, Batch& batch);

  // Computes the rows that are missing. Call it before the batches of an
  // evaluation.
  Expected<Done> Prepare(const TokenStore& tokens);
  Expected<Done> Give(const BatchMaker& maker, Batch& batch);
  // Forgets what an evaluation computed, so that no step is charged for it.
  void EndEvaluation();

  PrefixCounts counts() const;

 private:
  bool Drops() const;
  bool Trains() const;
  GroupName GroupOf(std::int64_t blocks,
                    const std::optional<RowNoise>& noise) const;
  bool ReadsOneToken(std::int64_t blocks) const;
  // Returns what is known about batches of models with these shapes, or null if
  // nothing is kept.
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
  std::optional<Boundaries> noisy_;  // for training, in one epoch
  std::uint64_t noisy_epoch_ = 0;
  PrefixCounts before_;  // from earlier plans
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_FROZEN_PREFIX_H_
