// SPDX-License-Identifier: Apache-2.0
//
// File: ranking.h
//
// The order of parameters: how that of two studies differs, and whether it
// still changes.
#ifndef FROSTLINE_IMPORTANCE_RANKING_H_
#define FROSTLINE_IMPORTANCE_RANKING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/evaluator.h"
#include "importance/report.h"
#include "study/space.h"

namespace frostline::importance {

//   KendallTau({3, 2, 1}, {30, 20, 10});   // 1: the same order
//   KendallTau({3, 2, 1}, {10, 20, 30});   // -1: turned round

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
                               bool has_intervals);

// Settled means that hardly any draw of the report (5 % of main_draws) has a
// lower parameter with clearly more than a higher: by a fifth of its share and
// by .01, so that equals do not keep it unsettled; and that who leads does not
// rest on one or two trials.

// How many beginnings are evaluated, fewer if each takes seconds. It follows
// from trials times parameters, so no answer depends on the machine.

struct PartCounts {
  int points = 20;  // beginnings, and all trials
  int trees = 64;   // of an evaluator that grows them
};

inline constexpr PartCounts kUsualParts;
inline constexpr PartCounts kLeastParts{5, 16};

// Returns `wanted`, or what is not too much work, down to kLeastParts.
PartCounts BoundParts(std::size_t trials, std::size_t parameters,
                      const PartCounts& wanted);

enum class StabilityState { kSettled, kNotSettled, kTooFewTrials };

struct StabilityVerdict {
  StabilityState state = StabilityState::kTooFewTrials;
  std::string sentence;
  std::int64_t settled_after = 0;  // the trials judged; 0: not settled
  // Uncertainty falls with the root of the trials (less those that the levels'
  // effects take), if the present ranking is true; 0 is settled, or unknown.
  std::int64_t more_trials = 0;
  // Kendall's tau of two studies of half this size, whose shares lie √2 times
  // as far from these as draws do; NaN for too few trials.
  Interval half_tau;
};

struct StabilityPoint {
  std::int64_t trials = 0;                      // so many first usable ones
  std::vector<ParameterImportance> parameters;  // in the space's order
  double tau_to_final = 0.0;
};

struct Stability {
  StabilityVerdict verdict;
  std::vector<StabilityPoint> points;  // by rising trials; the last has all
};

inline constexpr int kMaxStabilityPoints = 100;

// Evaluates `points` beginnings (0 means 20), evenly spread, as if the study
// ended there, and judges the whole, with intervals; beginnings have cheap ones
// (EvaluateOptions). Errors are Evaluate's, but too few trials are a verdict;
// REQUEST_INVALID comes for `points` out of range. Costs about 20 evaluations
// without intervals, less for large studies.
absl::StatusOr<Stability> EvaluateStability(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options, int points);

struct StudyParts {  // refers to all of it
  const Space& space;
  const std::vector<Objective>& objectives;
  const std::vector<const Observation*>& trials;  // by number
  const EvaluateOptions& options;
  PartCounts counts;
};

std::vector<double> MainShares(
    const std::vector<ParameterImportance>& parameters);

// Takes at most counts.points - 1 beginnings that can be evaluated, never the
// whole. tau_to_final stays 0.
absl::StatusOr<std::vector<StabilityPoint>> EvaluateBeginnings(
    const StudyParts& parts);

struct RankingEvidence {
  std::int64_t trials = 0;
  std::vector<double> values;              // the ranked shares
  std::vector<std::vector<double>> draws;  // as likely as they
  // Main effects take so many free values out of every half: uncertainty falls
  // as with twice as many trials less.
  std::int64_t effects = 0;
  bool any_distinguishable = false;
  std::vector<std::int64_t> rests_on;  // trials that the lead rests on
};

// Judges by what is above.
StabilityVerdict JudgeRanking(const RankingEvidence& evidence);

// REQUIRES: the report has main_draws.
StabilityVerdict JudgeReport(const Space& space, const Report& report);

// Warns with RESTS_ON_FEW if draws are sure of a lead that one or two trials
// less would take away: who leads is then not said.
std::optional<ReportWarning> WarnOfFragileLead(const Space& space,
                                               const Report& report);

// Says "after 36 trials only layer.1 clearly matters; its rank is not certain
// yet" or, where that has kSureOfOrder over main_draws, that some matter most.
// Says that the ranking has settled just where JudgeReport does. What decides
// whether a run survives comes before all that.
std::string ReportVerdict(const Space& space, const Report& report);

inline constexpr double kSureOfOrder = 0.9;

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_RANKING_H_
