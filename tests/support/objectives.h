// SPDX-License-Identifier: Apache-2.0
// The objectives of most studies in tests.
#ifndef FROSTLINE_TESTS_SUPPORT_OBJECTIVES_H_
#define FROSTLINE_TESTS_SUPPORT_OBJECTIVES_H_

#include <vector>

#include "study/objective.h"

namespace frostline {

inline const std::vector<Objective> kLoss = {{"loss", Direction::kMinimize}};
inline const std::vector<Objective> kAccuracy = {
    {"accuracy", Direction::kMaximize}};

}  // namespace frostline

#endif  // FROSTLINE_TESTS_SUPPORT_OBJECTIVES_H_
