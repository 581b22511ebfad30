// SPDX-License-Identifier: Apache-2.0
//
// File: trial_end.h
//
// How a trial ends, what it tells on the way, and the ids of its faults, which
// docs/reference/errors.md explains.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_TRIAL_END_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_TRIAL_END_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/device/precision.h"
#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/prefix/boundaries.h"
#include "worker/trainer/train/audit.h"
#include "worker/trainer/trial/scores.h"

namespace frostline::trainer {

// Ids of errors, as in base/error.h.
inline constexpr int kOutOfMemoryId = 5016;
inline constexpr int kNotFiniteId = 5017;
inline constexpr int kFrozenMovedId = 5018;

constexpr int IdOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kUnreadable:
      return 5010;
    case FaultKind::kSyntax:
      return 5011;
    case FaultKind::kTooLarge:
      return 5012;
    case FaultKind::kUnsupported:
      return 5013;
    case FaultKind::kInconsistent:
      return 5014;
    case FaultKind::kMisuse:
      return 5015;
    case FaultKind::kOutOfMemory:
      return kOutOfMemoryId;
    case FaultKind::kInternal:
    case FaultKind::kStopped:  // it ends a trial without a fault
      break;
  }
  return 9001;
}

// Writes "FL-5014: the weights lack "bert.…" (see that config.json and …)".
inline std::string FaultText(int id, const std::string& cause,
                             const std::string& fix) {
  return "FL-" + std::to_string(id) + ": " + cause + " (" + fix + ")";
}

inline std::string FaultText(const Fault& fault) {
  return FaultText(IdOf(fault.kind), fault.cause, fault.fix);
}

// What a trial used: time, memory, FLOPs and energy.
struct TrialUsage {
  double train_seconds = 0.0;      // of steps, over all attempts that led here
  double processor_seconds = 0.0;  // of all cores, for train_seconds
  double total_seconds = 0.0;      // of this attempt, loading included
  std::int64_t trained_parameters = 0;
  double flops_spent = 0.0;
  double flops_skipped = 0.0;
  double flops_shared = 0.0;  // forward through frozen layers, not repeated
  PrefixCounts prefix;        // of this attempt
  std::int64_t peak_memory_bytes = 0;
  std::optional<double> energy_joules;
  std::string device;
  std::string precision;
  FreezeSemantics freeze;
  double virtual_tau = 0.0;
  std::int64_t steps = 0;
  std::string data_fingerprint;    // of the validation rows
  std::vector<ModuleAudit> audit;  // empty: there was none
};

enum class TrialState : std::uint8_t {
  kSucceeded,
  kInfeasible,  // this point cannot be trained
  kFailed,
  kStopped,  // it obeyed a stop
};

enum class FailureClass : std::uint8_t {
  kTrial,
  kOutOfMemory,
  kInfrastructure,
  kUnfit,  // another worker can do it: no attempt is spent
};

// Returns who is to blame. A file that is missing here may be on the next
// worker, so that is no failure of the trial.
constexpr FailureClass ClassOf(FaultKind kind) {
  if (kind == FaultKind::kUnreadable) return FailureClass::kInfrastructure;
  if (kind == FaultKind::kOutOfMemory) return FailureClass::kOutOfMemory;
  return FailureClass::kTrial;
}

// How a trial ended, and what it leaves.
struct TrialEnd {
  TrialState state = TrialState::kSucceeded;
  Metrics metrics;
  FailureClass failure = FailureClass::kTrial;
  std::string cause;                    // with the id of the error
  std::vector<std::string> precisions;  // those of this device, if kUnfit
  std::optional<TrialUsage> usage;
  std::vector<ExampleOutcomes> evaluations;
  // Whether the agent takes `evaluations`. If not, it takes only the marks of
  // the validation set.
  bool tells_evaluations = false;
};

// Why a trial is told to stop.
enum class StopReason : std::uint8_t {
  kNone,
  kPruned,
  kCancelled,
  kPreempt,
  kDrain,
  kHang,
};

// Returns whether another attempt will go on, so that a checkpoint is worth its
// time.
constexpr bool ComesBack(StopReason reason) {
  return reason == StopReason::kPreempt || reason == StopReason::kDrain ||
         reason == StopReason::kHang;
}

// The phases of a trial, in their order.
enum class TrialPhase : std::uint8_t {
  kLoading,
  kFilling,  // the store of what frozen layers give
  kTraining,
  kEvaluating,
  kSaving,
};

// How far a trial is, for people.
struct TrialPace {
  TrialPhase phase = TrialPhase::kLoading;
  double epoch = 0.0;  // epochs done, with fractions
  double total_epochs = 0.0;
  std::optional<double> remaining_seconds = {};  // nothing: not known yet
};

// A listener of whoever started the trial, which hears what it reports. Calls
// come in the trial's thread. stop() is called at every step, so it must be
// cheap.
class TrialListener {
 public:
  virtual ~TrialListener() = default;

  virtual StopReason stop() const = 0;
  // A report without metrics is a sign of life.
  virtual void Report(std::int64_t step, std::int64_t total_steps,
                      const Metrics& metrics) = 0;
  // Goes out with the next report.
  virtual void NotePace(const TrialPace& /*pace*/) {}
  // Another phase has begun, at no step of its own.
  virtual void EnterPhase(const TrialPace& /*pace*/) {}
  // Training begins after `step`, in this precision.
  virtual void Begun(std::int64_t step, Precision precision) = 0;
  // File `name` is complete in the attempt's folder.
  virtual void Saved(const std::string& name, std::int64_t step,
                     std::int64_t bytes) = 0;
  virtual void Log(const std::string& line) = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_TRIAL_END_H_
