// SPDX-License-Identifier: Apache-2.0
//
// File: warnings.h
//
// What makes a report doubtful, in sentences.
#ifndef FROSTLINE_IMPORTANCE_REPORT_WARNINGS_H_
#define FROSTLINE_IMPORTANCE_REPORT_WARNINGS_H_

#include <optional>
#include <vector>

#include "importance/measure/dataset.h"
#include "importance/measure/selection.h"
#include "importance/report/report.h"
#include "study/space.h"

namespace frostline::importance {

// FEW_TRIALS, ADAPTIVE_SAMPLING and LEVEL_NEVER_TRIED, in this order, where
// they apply.
std::vector<ReportWarning> FindWarnings(const Space& space,
                                        const Dataset& data);

// METRIC_OUT_OF_RANGE, when a trial's target is outside of the range that the
// study states or the metric's name lets presume; names the first such trial.
std::optional<ReportWarning> FindOutOfRange(const Selection& selection);

// TRIALS_DIVERGED, when some did: how many there are, and whether they inform
// what is reported, or are left out.
std::optional<ReportWarning> FindDiverged(const Selection& selection,
                                          bool informs);

// INTERVALS_LEFT_OUT, when growing trees for them would take too long
// (tree_work.h).
ReportWarning WarnOfNoIntervals(std::size_t rows, std::size_t parameters);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_REPORT_WARNINGS_H_
