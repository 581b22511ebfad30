// SPDX-License-Identifier: Apache-2.0
//
// File: plain_report.h
#ifndef FROSTLINE_IMPORTANCE_REPORT_PLAIN_REPORT_H_
#define FROSTLINE_IMPORTANCE_REPORT_PLAIN_REPORT_H_

#include <vector>

#include "importance/report.h"

namespace frostline::importance {

struct PlainShares {
  std::vector<double> shares;                   // by parameter
  std::vector<std::vector<double>> replicates;  // of the shares; or none
  std::vector<double> chance;                   // what each had by chance
};

// Makes ranks, intervals and unexplained; totals and directions are NaN.
Report MakePlainReport(const PlainShares& shares);

// Divides by the sum, unless that is 0.
std::vector<double> Normalized(std::vector<double> values);

// Warns with PARAMETER_LEFT_OUT; of none it says nothing.
std::vector<ReportWarning> WarnOfLeftOut(const std::vector<int>& partial);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_REPORT_PLAIN_REPORT_H_
