// SPDX-License-Identifier: Apache-2.0
//
// File: mixture_report.h
//
// Shares of a mixture and their draws, put into a report: intervals, ranks,
// directions.
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_REPORT_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_REPORT_H_

#include <cstdint>

#include "importance/mixture/mixture_shares.h"
#include "importance/mixture/surrogate_part.h"
#include "importance/report/report.h"

namespace frostline {

struct MixtureReportOptions {
  std::uint64_t seed = 0;
  bool intervals = true;
  bool pairs = true;
};

// Parameters, pairs, groups (without their names), unexplained and main_draws;
// the caller fills in the rest.
// `part` has a weight of 0 where there is none.
Report MakeMixtureReport(const LevelEffects& model, const MixtureModel& shares,
                         const SurrogatePart& part,
                         const MixtureReportOptions& options);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_REPORT_H_
