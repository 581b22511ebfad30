// SPDX-License-Identifier: Apache-2.0
//
// File: plain_report.h
//
// The report of an evaluator that knows a share for each parameter and nothing
// more: no totals, no pairs.
#ifndef FROSTLINE_IMPORTANCE_REPORT_PLAIN_REPORT_H_
#define FROSTLINE_IMPORTANCE_REPORT_PLAIN_REPORT_H_

#include <vector>

#include "importance/report/report.h"

namespace frostline::importance {

struct PlainShares {
  std::vector<double> shares;                   // by parameter
  std::vector<std::vector<double>> replicates;  // of the shares; may be none
  std::vector<double> chance;  // what each parameter had where nothing is
};

// Parameters with ranks and intervals, and what the shares leave unexplained;
// the caller fills in the rest. Totals and directions are NaN.
Report MakePlainReport(const PlainShares& shares);

// In parts of their sum; as they are when that is 0.
std::vector<double> Normalized(std::vector<double> values);

// PARAMETER_LEFT_OUT for parameters that some trial lacks; nothing for none.
std::vector<ReportWarning> WarnOfLeftOut(const std::vector<int>& partial);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_REPORT_PLAIN_REPORT_H_
