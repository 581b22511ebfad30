// SPDX-License-Identifier: Apache-2.0
//
// File: setting_limits.h
//
// Bounds of a study's settings, for the coordinator that checks them and for
// the schema that tells them.
#ifndef FROSTLINE_STUDY_SETTING_LIMITS_H_
#define FROSTLINE_STUDY_SETTING_LIMITS_H_

#include <cstdint>

namespace frostline {

inline constexpr std::int64_t kMostBudgetTrials = 1'000'000;
inline constexpr int kMostPriority = 1'000;  // and its negative

}  // namespace frostline

#endif  // FROSTLINE_STUDY_SETTING_LIMITS_H_
