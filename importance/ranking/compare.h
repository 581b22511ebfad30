// SPDX-License-Identifier: Apache-2.0
//
// File: compare.h
//
// Whether two studies say the same of parameters they share by name.
#ifndef FROSTLINE_IMPORTANCE_RANKING_COMPARE_H_
#define FROSTLINE_IMPORTANCE_RANKING_COMPARE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/report/report.h"
#include "study/space.h"

namespace frostline::importance {

struct ComparedReport {
  const Space& space;
  const Report& report;
};

struct ParameterShift {
  std::string parameter;
  Interval first;  // main shares among shared parameters
  Interval second;
  bool distinguishable = false;  // clear of chance
};

struct Comparison {
  // Kendall's tau of shared parameters.
  Interval rank_agreement;
  std::vector<ParameterShift> shifts;  // in the first space's order
  std::vector<std::string> only_first;
  std::vector<std::string> only_second;
  std::string sentence;
};

// REQUEST_INVALID below two shared parameters; intervals need main_draws.
absl::StatusOr<Comparison> CompareReports(const ComparedReport& first,
                                          const ComparedReport& second);

// In compare_sentence.cc.
std::string DescribeComparison(const Comparison& comparison,
                               bool has_intervals);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_RANKING_COMPARE_H_
