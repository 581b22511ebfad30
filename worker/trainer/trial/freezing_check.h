// SPDX-License-Identifier: Apache-2.0
//
// File: freezing_check.h
//
// The audit of a trial's freezing (train/audit.h): what it needs of a trial on
// the way, and what becomes of its findings.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_FREEZING_CHECK_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_FREEZING_CHECK_H_

#include <optional>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/train/audit.h"
#include "worker/trainer/trial/trained_model.h"
#include "worker/trainer/trial/trial_end.h"
#include "worker/trainer/trial/trial_preparer.h"

namespace frostline::trainer {

// The check of one attempt. One thread uses it.
class FreezingCheck {
 public:
  // All outlive it.
  FreezingCheck(const TrialSetup& setup, const TrainedModel& trained,
                TrialListener& listener)
      : setup_(setup), trained_(trained), listener_(listener) {}

  // Call it before the attempt's first step, with the model as it will train.
  Expected<Done> Begin();
  // Keeps the largest of the batches of a step, whose activations are measured.
  void NoteStep(const std::vector<Batch>& parts);
  // Audits the model as it is now, logs what is odd, and returns all that there
  // is to tell. If a frozen module moved, later trials load the pretrained
  // weights anew, which they would share.
  Expected<FreezeAudit> Audit() const;

 private:
  std::vector<std::int64_t> Activations() const;

  const TrialSetup& setup_;
  const TrainedModel& trained_;
  TrialListener& listener_;
  std::optional<FreezeAuditor> auditor_;
  std::optional<Batch> largest_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_FREEZING_CHECK_H_
