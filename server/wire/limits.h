// SPDX-License-Identifier: Apache-2.0
//
// File: limits.h
//
// The limits of the contract. The edge (rpc/) checks them, and so does the code
// that depends on them, since not every caller comes over the wire.
#ifndef FROSTLINE_SERVER_WIRE_LIMITS_H_
#define FROSTLINE_SERVER_WIRE_LIMITS_H_

#include <cstddef>
#include <cstdint>

#include "study/objective.h"

namespace frostline::server {

inline constexpr std::size_t kMaxRequestBytes = std::size_t{1} << 20;
inline constexpr int kMaxPageSize = 1'000;
inline constexpr std::int64_t kLongestDeadlineSeconds = 60;
inline constexpr std::int64_t kLongestWaitSeconds = 30;  // for a parked call

// enqueued or imported in one call
inline constexpr int kMaxTrialsAtOnce = 1'000;
inline constexpr int kMaxMeasurementsAtOnce = 1'000;
inline constexpr std::int64_t kMaxCurveSteps = 100'000;  // for each attempt
inline constexpr int kMaxNotify = 16;                    // for each study
inline constexpr int kMaxStepMetrics = 64;
inline constexpr int kMaxFinalMetrics = 256;
inline constexpr std::size_t kMaxMetricNameBytes = 256;

inline constexpr int kMaxReportPairs = 1'000;
inline constexpr int kMaxAskedTrials = 64;  // whose answers would tell most
inline constexpr int kMaxVerifySeeds = 32;  // for each rival of a plan
inline constexpr int kMaxContenders = 16;   // compared at once
inline constexpr int kMaxContenderTrials = 64;
inline constexpr int kMaxComparedTrials = 128;  // in all
// How much importance keeps between calls.
inline constexpr std::size_t kMaxKnownTrialBytes = std::size_t{256} << 20;
inline constexpr std::size_t kMaxAnswerBytes = std::size_t{64} << 20;
// At most so many answers are computed or wait for their turn, as each takes
// memory; fewer where they would not be there within kMaxAnswerWait seconds,
// yet never fewer than kFewestAwaitedAnswers. Whoever has waited so long for
// the computation to begin is told OVERLOADED after all.
inline constexpr std::size_t kMaxAwaitedAnswers = 32;
inline constexpr std::size_t kFewestAwaitedAnswers = 3;
inline constexpr double kMaxAnswerWait = 6.0;

inline constexpr std::int64_t kMaxSlots = 1'024;  // for each worker
inline constexpr std::size_t kMaxLabels = 64;
// for each key and each value
inline constexpr std::size_t kMaxLabelBytes = 256;
// including its note
inline constexpr std::size_t kMaxTrialLabelBytes = 64 * 1024;
inline constexpr int kMaxPriority = kMostPriority;
inline constexpr std::size_t kMaxReasonBytes = 4 * 1024;
inline constexpr std::size_t kMaxLogTailBytes = 64 * 1024;
inline constexpr std::size_t kMaxExamplesBytes = 512 * 1024;  // for each set
inline constexpr std::size_t kMaxEvaluationsBytes = 640 * 1024;
inline constexpr int kMaxEvaluations = 64;  // sets of a trial, in all its tasks
inline constexpr std::size_t kMaxSetNameBytes = 256;
inline constexpr std::size_t kMaxPieceBytes = 512 * 1024;  // of predictions
inline constexpr int kMaxExampleTexts = 256;               // in one call

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_LIMITS_H_
