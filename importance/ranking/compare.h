// SPDX-License-Identifier: Apache-2.0
//
// File: compare.h
#ifndef FROSTLINE_IMPORTANCE_RANKING_COMPARE_H_
#define FROSTLINE_IMPORTANCE_RANKING_COMPARE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/report.h"
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
  Interval rank_agreement;             // Kendall's tau of shared parameters
  std::vector<ParameterShift> shifts;  // in the first space's order
  std::vector<std::string> only_first;
  std::vector<std::string> only_second;
  std::string sentence;
};

// Answers REQUEST_INVALID below two shared parameters; intervals need
// main_draws.
absl::StatusOr<Comparison> CompareReports(const ComparedReport& first,
                                          const ComparedReport& second);

std::string DescribeComparison(const Comparison& comparison,
                               bool has_intervals);  // compare_sentence.cc

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_RANKING_COMPARE_H_
