// SPDX-License-Identifier: Apache-2.0
//
// File: report_verdict.h
#ifndef FROSTLINE_IMPORTANCE_RANKING_REPORT_VERDICT_H_
#define FROSTLINE_IMPORTANCE_RANKING_REPORT_VERDICT_H_

#include <string>

#include "importance/ranking/stability.h"
#include "importance/report.h"
#include "study/space.h"

namespace frostline::importance {

// Says "36 trials cannot rank the modules: none can be told from chance", or,
// where that has kSureOfOrder over main_draws, that some matter most. The
// ranking has settled only where `stability`, which may be null, says so.
std::string ReportVerdict(const Space& space, const Report& report,
                          const StabilityVerdict* stability);

inline constexpr double kSureOfOrder = 0.9;

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_RANKING_REPORT_VERDICT_H_
