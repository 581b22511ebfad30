// SPDX-License-Identifier: Apache-2.0
//
// File: warnings.h
//
// What makes a report doubtful, in sentences.
#ifndef FROSTLINE_IMPORTANCE_WARNINGS_H_
#define FROSTLINE_IMPORTANCE_WARNINGS_H_

#include <vector>

#include "importance/dataset.h"
#include "importance/report.h"
#include "study/space.h"

namespace frostline {

// FEW_TRIALS, ADAPTIVE_SAMPLING and LEVEL_NEVER_TRIED, in this order, where
// they apply.
std::vector<ReportWarning> FindWarnings(const Space& space,
                                        const Dataset& data);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_WARNINGS_H_
