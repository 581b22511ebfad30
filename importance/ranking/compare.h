// SPDX-License-Identifier: Apache-2.0
//
// File: compare.h
//
//   KendallTau({3, 2, 1}, {30, 20, 10});   // 1: the same order
//   KendallTau({3, 2, 1}, {10, 20, 30});   // -1: turned round
#ifndef FROSTLINE_IMPORTANCE_RANKING_COMPARE_H_
#define FROSTLINE_IMPORTANCE_RANKING_COMPARE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/report.h"
#include "study/space.h"

namespace frostline::importance {

// Returns Kendall's tau-b (Kendall, "A new measure of rank correlation", 1938;
// with ties, "The treatment of ties in ranking problems", 1945). Nothing but
// ties on one side gives 0, on both 1.
double KendallTau(const std::vector<double>& a, const std::vector<double>& b);

// Says whether what has less in `values` has clearly more in `other`. Two are
// alike by less than kAlikeRatio of the larger, or kAlikeShare: a zone of
// indifference (Bechhofer, 1954).
bool IsOrderChanged(const std::vector<double>& values,
                    const std::vector<double>& other);

inline constexpr double kAlikeRatio = 0.2;
inline constexpr double kAlikeShare = 0.01;

// Returns the share of draws that change it, each `narrower` times as far from
// `values`; 0 without draws.
double ChanceOfChange(const std::vector<double>& values,
                      const std::vector<std::vector<double>>& draws,
                      double narrower);

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

// Fails with REQUEST_INVALID below two shared parameters; intervals need
// main_draws.
absl::StatusOr<Comparison> CompareReports(const ComparedReport& first,
                                          const ComparedReport& second);

std::string DescribeComparison(const Comparison& comparison,
                               bool has_intervals);  // compare.cc

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_RANKING_COMPARE_H_
