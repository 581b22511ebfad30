// SPDX-License-Identifier: Apache-2.0
//
// File: kinds_of_score.h
//
// Only run_score.cc asks for these: each kind of metric keeps what it needs of
// the outcomes, and nothing else.
#ifndef FROSTLINE_STATISTICS_PAIRED_KINDS_OF_SCORE_H_
#define FROSTLINE_STATISTICS_PAIRED_KINDS_OF_SCORE_H_

#include <memory>
#include <string>

#include "statistics/run_score.h"

namespace frostline::statistics {

// The mean of the marks.
std::shared_ptr<const RunScore> MakeMean(const Outcomes& outcomes);
// f1, f1_macro or mcc.
std::shared_ptr<const RunScore> MakeOfClasses(const std::string& metric,
                                              const Outcomes& outcomes);
// f1, precision or recall. REQUIRES: sentence ends.
std::shared_ptr<const RunScore> MakeOfSpans(const std::string& metric,
                                            const Outcomes& outcomes);
// mse, rmse, pearson or spearman; every example is a unit.
std::shared_ptr<const RunScore> MakeOfNumbers(const std::string& metric,
                                              const Outcomes& outcomes);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_PAIRED_KINDS_OF_SCORE_H_
