// SPDX-License-Identifier: Apache-2.0
//
// File: limits.h
//
// The limits that belong to no field of a request; those that do stand in the
// contract (proto/rules.h).
#ifndef FROSTLINE_SERVER_WIRE_LIMITS_H_
#define FROSTLINE_SERVER_WIRE_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace frostline::server {

inline constexpr std::size_t kMaxRequestBytes = std::size_t{1} << 20;
inline constexpr std::int64_t kLongestDeadlineSeconds = 60;
inline constexpr std::int64_t kMaxCurveSteps = 100'000;  // for each attempt
inline constexpr int kMaxNotify = 16;                    // for each study

inline constexpr int kMaxReportPairs = 1'000;
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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_LIMITS_H_
