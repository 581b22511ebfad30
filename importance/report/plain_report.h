// SPDX-License-Identifier: Apache-2.0
//
// File: plain_report.h
//
// The report of an evaluator with one share for each parameter.
#ifndef FROSTLINE_IMPORTANCE_REPORT_PLAIN_REPORT_H_
#define FROSTLINE_IMPORTANCE_REPORT_PLAIN_REPORT_H_

#include <vector>

#include "importance/report/report.h"

namespace frostline::importance {

struct PlainShares {
  std::vector<double> shares;                   // by parameter
  std::vector<std::vector<double>> replicates;  // of the shares; or none
  std::vector<double> chance;                   // what each had by chance
};

// Ranks, intervals and unexplained; totals and directions are NaN.
Report MakePlainReport(const PlainShares& shares);

// In parts of their sum, unless that is 0.
std::vector<double> Normalized(std::vector<double> values);

// PARAMETER_LEFT_OUT; nothing for none.
std::vector<ReportWarning> WarnOfLeftOut(const std::vector<int>& partial);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_REPORT_PLAIN_REPORT_H_
