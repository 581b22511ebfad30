// SPDX-License-Identifier: Apache-2.0
//
// File: fault_text.h
//
// Writes a fault as a trial's cause, with its id in docs/reference/errors.md.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_FAULT_TEXT_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_FAULT_TEXT_H_

#include <string>

#include "base/plain/result.h"

namespace frostline::trainer {

// They are those of base/error.h.
inline constexpr int kOutOfMemoryId = 5016;
inline constexpr int kNotFiniteId = 5017;

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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_FAULT_TEXT_H_
