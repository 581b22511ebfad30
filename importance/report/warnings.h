// SPDX-License-Identifier: Apache-2.0
//
// File: warnings.h
#ifndef FROSTLINE_IMPORTANCE_REPORT_WARNINGS_H_
#define FROSTLINE_IMPORTANCE_REPORT_WARNINGS_H_

#include <optional>
#include <string>
#include <vector>

#include "importance/measure/dataset.h"
#include "importance/measure/selection.h"
#include "importance/report.h"
#include "study/space.h"

namespace frostline::importance {

// Warns with FEW_TRIALS, ADAPTIVE_SAMPLING, LEVEL_NEVER_TRIED where they apply.
std::vector<ReportWarning> FindWarnings(const Space& space,
                                        const Dataset& data);

// Warns with METRIC_OUT_OF_RANGE, and names the first trial outside.
std::optional<ReportWarning> FindOutOfRange(const Selection& selection);

// Warns with TRIALS_DIVERGED: how many, and whether they inform the report.
std::optional<ReportWarning> FindDiverged(const Selection& selection,
                                          bool informs);

// Warns with TEST_OBJECTIVE, in this sentence.
ReportWarning WarnOfTestObjective(std::string sentence);

// Warns with INTERVALS_LEFT_OUT: their trees take too long (tree_work.h).
ReportWarning WarnOfNoIntervals(std::size_t rows, std::size_t parameters);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_REPORT_WARNINGS_H_
