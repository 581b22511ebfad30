// SPDX-License-Identifier: Apache-2.0
#include "importance/ranking.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/rng.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/numbers.h"
#include "importance/measure/selection.h"
#include "statistics/law.h"
#include "study/space.h"

namespace frostline::importance {
namespace {

constexpr double kRounding = 1e-12;  // of shares

std::vector<std::size_t> Falling(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return order;
}

// Against the least of those before it: no other is exceeded by more.
template <typename Value>
bool IsChanged(const std::vector<std::size_t>& order, const Value& value) {
  if (order.empty()) return false;
  double least = value(order.front());
  for (const std::size_t i : order) {
    const double share = value(i);
    const double alike = std::max(kAlikeRatio * share, kAlikeShare);
    if (share - least > alike + kRounding) return true;
    least = std::min(least, share);
  }
  return false;
}

}  // namespace

double KendallTau(const std::vector<double>& a, const std::vector<double>& b) {
  std::int64_t balance = 0, untied_a = 0, untied_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int in_a = (a[i] > a[j]) - (a[i] < a[j]);
      const int in_b = (b[i] > b[j]) - (b[i] < b[j]);
      balance += in_a * in_b;
      untied_a += in_a != 0;
      untied_b += in_b != 0;
    }
  }
  if (untied_a == 0 || untied_b == 0) return untied_a == untied_b ? 1.0 : 0.0;
  return static_cast<double>(balance) /
         std::sqrt(static_cast<double>(untied_a) *
                   static_cast<double>(untied_b));
}

bool IsOrderChanged(const std::vector<double>& values,
                    const std::vector<double>& other) {
  return IsChanged(Falling(values), [&](std::size_t i) { return other[i]; });
}

double ChanceOfChange(const std::vector<double>& values,
                      const std::vector<std::vector<double>>& draws,
                      double narrower) {
  if (draws.empty()) return 0.0;
  const std::vector<std::size_t> order = Falling(values);
  std::size_t changed = 0;
  for (const std::vector<double>& draw : draws) {
    changed += IsChanged(order, [&](std::size_t i) {
      return values[i] + narrower * (draw[i] - values[i]);
    });
  }
  return static_cast<double>(changed) / static_cast<double>(draws.size());
}

namespace {

constexpr double kCompareChanceOfAny = 0.05;  // of a shift that is none

struct SharedParameters {
  std::vector<std::string> names;
  std::vector<std::size_t> first;  // indices in either space
  std::vector<std::size_t> second;
};

// The shares of the common parameters in one study, in parts of their sum.
struct StudyShares {
  std::vector<double> values;
  std::vector<std::vector<double>> draws;
};

SharedParameters FindShared(const Space& first, const Space& second,
                            Comparison& comparison) {
  SharedParameters shared;
  for (std::size_t i = 0; i < first.parameters().size(); ++i) {
    const std::string& name = first.parameters()[i].name;
    const std::optional<int> other = second.IndexOf(name);
    if (!other.has_value()) {
      comparison.only_first.push_back(name);
      continue;
    }
    shared.names.push_back(name);
    shared.first.push_back(i);
    shared.second.push_back(static_cast<std::size_t>(*other));
  }
  for (const Parameter& parameter : second.parameters()) {
    if (!first.IndexOf(parameter.name).has_value()) {
      comparison.only_second.push_back(parameter.name);
    }
  }
  return shared;
}

// All 0 stays so: then nothing is known of the parts.
std::vector<double> InParts(const std::vector<double>& shares,
                            const std::vector<std::size_t>& which) {
  std::vector<double> parts;
  parts.reserve(which.size());
  double sum = 0.0;
  for (const std::size_t i : which) {
    parts.push_back(shares[i]);
    sum += shares[i];
  }
  for (double& part : parts) part /= sum > 0.0 ? sum : 1.0;
  return parts;
}

StudyShares ComparedShares(const Report& report,
                           const std::vector<std::size_t>& which) {
  std::vector<double> main;
  main.reserve(report.parameters.size());
  for (const ParameterImportance& one : report.parameters) {
    main.push_back(one.main.value);
  }
  StudyShares shares;
  shares.values = InParts(main, which);
  shares.draws.reserve(report.main_draws.size());
  for (const std::vector<double>& draw : report.main_draws) {
    shares.draws.push_back(InParts(draw, which));
  }
  return shares;
}

std::vector<double> DrawsOf(const StudyShares& shares, std::size_t parameter) {
  std::vector<double> draws;
  draws.reserve(shares.draws.size());
  for (const std::vector<double>& draw : shares.draws) {
    draws.push_back(draw[parameter]);
  }
  return draws;
}

double ShareVarianceOf(const std::vector<double>& values) {
  double mean = 0.0, squares = 0.0;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) mean += value / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / n;
}

// Normal and two-sided, divided among the parameters (Bonferroni).
bool IsClearOfChance(double difference, double variance, std::size_t tests) {
  if (!(variance > 0.0)) return false;
  const double z = std::abs(difference) / std::sqrt(variance);
  return std::erfc(z / std::numbers::sqrt2) <
         kCompareChanceOfAny / static_cast<double>(tests);
}

ParameterShift ShiftOf(const StudyShares& first, const StudyShares& second,
                       std::size_t parameter, const std::string& name) {
  const std::vector<double> in_first = DrawsOf(first, parameter);
  const std::vector<double> in_second = DrawsOf(second, parameter);
  ParameterShift shift;
  shift.parameter = name;
  shift.first = IntervalOfDraws(first.values[parameter], in_first);
  shift.second = IntervalOfDraws(second.values[parameter], in_second);
  shift.distinguishable =
      !in_first.empty() && !in_second.empty() &&
      IsClearOfChance(shift.first.value - shift.second.value,
                      ShareVarianceOf(in_first) + ShareVarianceOf(in_second),
                      first.values.size());
  return shift;
}

// Returns Kendall's tau of two studies, with its interval by draws. Each draw
// is paired with another number of the other report, since two reports of one
// seed would otherwise err together.
Interval AgreementOf(const StudyShares& first, const StudyShares& second) {
  std::vector<double> draws;
  const std::size_t count = std::min(first.draws.size(), second.draws.size());
  draws.reserve(count);
  for (std::size_t k = 0; k < count; ++k) {
    draws.push_back(
        KendallTau(first.draws[k], second.draws[(k + count / 2) % count]));
  }
  return IntervalOfDraws(KendallTau(first.values, second.values),
                         std::move(draws));
}

}  // namespace

absl::StatusOr<Comparison> CompareReports(const ComparedReport& first,
                                          const ComparedReport& second) {
  Comparison comparison;
  const SharedParameters shared =
      FindShared(first.space, second.space, comparison);
  if (shared.names.size() < 2) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("the studies share ", shared.names.size(),
                     " parameters by name, a ranking needs at least 2"),
        "compare studies that search the same modules");
  }
  const StudyShares in_first = ComparedShares(first.report, shared.first);
  const StudyShares in_second = ComparedShares(second.report, shared.second);
  for (std::size_t i = 0; i < shared.names.size(); ++i) {
    comparison.shifts.push_back(
        ShiftOf(in_first, in_second, i, shared.names[i]));
  }
  comparison.rank_agreement = AgreementOf(in_first, in_second);
  comparison.sentence = DescribeComparison(
      comparison, !in_first.draws.empty() && !in_second.draws.empty());
  return comparison;
}

std::string DescribeComparison(const Comparison& comparison,
                               bool has_intervals) {
  std::vector<std::string> in_first, in_second;
  for (const ParameterShift& shift : comparison.shifts) {
    if (!shift.distinguishable) continue;
    (shift.first.value > shift.second.value ? in_first : in_second)
        .push_back(shift.parameter);
  }
  const Interval& tau = comparison.rank_agreement;
  const std::size_t all = comparison.shifts.size();
  if (!has_intervals) {
    return absl::StrFormat(
        "%d shared parameters, ranked with tau %.2f; without intervals nothing "
        "can be told apart",
        all, tau.value);
  }
  std::string sentence = absl::StrFormat(
      "%d of %d shared parameters cannot be told apart between the studies: "
      "tau %.2f (95 %%: %.2f to %.2f)",
      all - in_first.size() - in_second.size(), all, tau.value, tau.lo95,
      tau.hi95);
  const auto name_those = [&](const std::vector<std::string>& names,
                              const std::string& where) {
    if (names.empty()) return;
    absl::StrAppend(&sentence, "; ", absl::StrJoin(names, ", "),
                    names.size() == 1 ? " matters" : " matter", " more in the ",
                    where);
  };
  name_those(in_first, "first");
  name_those(in_second, "second");
  return sentence;
}

namespace {

// The most work for all beginnings together, in rows times parameters, times
// the trees of one that has all trials. Level effects do some million in a
// second.
constexpr double kMostOfParts = 3e7;
constexpr double kMostOfTrees = 8e7;

// Returns as much of what is wanted as `most` allows.
int Bound(double most, int wanted, int least) {
  if (most >= wanted) return wanted;
  return std::max(static_cast<int>(most), std::min(wanted, least));
}

}  // namespace

PartCounts BoundParts(std::size_t trials, std::size_t parameters,
                      const PartCounts& wanted) {
  const double all =
      static_cast<double>(trials) * static_cast<double>(parameters);
  PartCounts counts;
  // Beginnings are half as much as all on the mean, and the first and the last
  // of them are not among the work.
  counts.points =
      Bound(kMostOfParts / all + 2.0, wanted.points, kLeastParts.points);
  counts.trees = Bound(kMostOfTrees / all, wanted.trees, kLeastParts.trees);
  return counts;
}

namespace {

Interval NoTau() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {nan, nan, nan, nan, nan};
}

// Kendall's tau of two studies of half the size: each draw is paired with
// another, far from it in the order of draws.
Interval HalfTau(const std::vector<double>& values,
                 const std::vector<std::vector<double>>& draws) {
  const auto half = [&values](const std::vector<double>& draw) {
    std::vector<double> shares = values;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      shares[i] += std::numbers::sqrt2 * (draw[i] - values[i]);
    }
    return shares;
  };
  std::vector<double> taus;
  taus.reserve(draws.size());
  for (std::size_t k = 0; k < draws.size(); ++k) {
    taus.push_back(KendallTau(
        half(draws[k]), half(draws[(k + draws.size() / 2) % draws.size()])));
  }
  if (taus.empty()) return NoTau();
  const double mean = std::accumulate(taus.begin(), taus.end(), 0.0) /
                      static_cast<double>(taus.size());
  return IntervalOfDraws(mean, std::move(taus));
}

// Free values of the main effects; a range counts as a few levels would.
std::int64_t CountEffects(const Space& space) {
  constexpr double kOfRange = 6.0;
  double effects = 0.0;
  for (const Parameter& parameter : space.parameters()) {
    effects += std::min(CountValues(parameter.domain) - 1.0, kOfRange);
  }
  return static_cast<std::int64_t>(effects);
}

Stability TooFew(std::size_t trials) {
  Stability stability;
  StabilityVerdict& verdict = stability.verdict;
  verdict.half_tau = NoTau();
  verdict.sentence =
      absl::StrCat("too few trials: ", trials, " can be used, at least ",
                   kMinTrials, " are needed");
  constexpr std::size_t kLeast = kMinTrials;
  verdict.more_trials =
      static_cast<std::int64_t>(kLeast - std::min(trials, kLeast));
  return stability;
}

}  // namespace

absl::StatusOr<Stability> EvaluateStability(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options, int points) {
  if (points < 0 || points > kMaxStabilityPoints) {
    return MakeError(
        ErrorId::kRequestInvalid, absl::StrCat("points is ", points),
        absl::StrCat("give a number from 1 to ", kMaxStabilityPoints,
                     ", or 0 for ", kUsualParts.points),
        "points");
  }
  ASSIGN_OR_RETURN(const Selection usable,
                   FindUsableTrials(space, objectives, history, options));
  EvaluateOptions without_pairs = options;
  without_pairs.pairs = false;
  without_pairs.subsets.clear();
  if (without_pairs.bootstraps == 0) {
    without_pairs.bootstraps = EvaluateOptions{}.bootstraps;
  }
  absl::StatusOr<Report> report =
      Evaluate(space, objectives, history, without_pairs);
  if (HasErrorId(report.status(), ErrorId::kTrialsTooFew)) {
    return TooFew(usable.trials.size());
  }
  RETURN_IF_ERROR(report.status());
  PartCounts wanted = kUsualParts;
  if (points > 0) wanted.points = points;
  wanted.trees = options.trees;
  const StudyParts parts{
      space, objectives, usable.trials, without_pairs,
      BoundParts(usable.trials.size(), space.parameters().size(), wanted)};
  Stability stability;
  ASSIGN_OR_RETURN(stability.points, EvaluateBeginnings(parts));
  stability.verdict = JudgeReport(space, *report);
  const std::vector<double> final = MainShares(report->parameters);
  stability.points.push_back({static_cast<std::int64_t>(usable.trials.size()),
                              std::move(report->parameters)});
  for (StabilityPoint& point : stability.points) {
    point.tau_to_final = KendallTau(MainShares(point.parameters), final);
  }
  return stability;
}

namespace {

// Nothing: these trials say nothing, which is no fault of the request.
using Part = absl::StatusOr<std::optional<Report>>;

Part EvaluatePart(const StudyParts& parts,
                  std::span<const Observation* const> trials) {
  History history;
  for (const Observation* const trial : trials) history.Put(*trial);
  EvaluateOptions options = parts.options;
  options.bootstraps = 0;
  options.cheap_intervals = true;
  options.pairs = false;
  options.trees = parts.counts.trees;
  options.threads = 1;  // parts are what is done at the same time
  absl::StatusOr<Report> report =
      Evaluate(parts.space, parts.objectives, history, options);
  if (report.ok()) return std::optional<Report>(*std::move(report));
  if (HasErrorId(report.status(), ErrorId::kTrialsTooFew) ||
      HasErrorId(report.status(), ErrorId::kTargetConstant)) {
    return std::optional<Report>();
  }
  return report.status();
}

// Evenly from kMinTrials up to, and without, all trials; each once.
std::vector<std::size_t> BeginningSizes(std::size_t trials, int points) {
  std::vector<std::size_t> sizes;
  if (trials <= kMinTrials) return sizes;
  for (int k = 0; k + 1 < points; ++k) {
    const double share = static_cast<double>(k) / (points - 1);
    const auto size = static_cast<std::size_t>(std::lround(
        kMinTrials + share * static_cast<double>(trials - kMinTrials)));
    if (size == trials) break;
    if (sizes.empty() || size > sizes.back()) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

std::vector<double> MainShares(
    const std::vector<ParameterImportance>& parameters) {
  std::vector<double> shares;
  shares.reserve(parameters.size());
  for (const ParameterImportance& one : parameters) {
    shares.push_back(one.main.value);
  }
  return shares;
}

absl::StatusOr<std::vector<StabilityPoint>> EvaluateBeginnings(
    const StudyParts& parts) {
  const std::vector<std::size_t> sizes =
      BeginningSizes(parts.trials.size(), parts.counts.points);
  std::vector<Part> found(sizes.size(), std::optional<Report>());
  const std::span<const Observation* const> trials(parts.trials);
  ParallelFor(parts.options.threads, sizes.size(), [&](std::size_t i) {
    found[i] = EvaluatePart(parts, trials.first(sizes[i]));
  });
  RETURN_IF_ERROR(CheckStop(parts.options.stop));
  std::vector<StabilityPoint> beginnings;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    RETURN_IF_ERROR(found[i].status());
    if (!found[i]->has_value()) continue;
    beginnings.push_back({static_cast<std::int64_t>(sizes[i]),
                          std::move((*found[i])->parameters)});
  }
  return beginnings;
}

namespace {

constexpr double kChanceOfDraws = 0.05;
constexpr double kFarthest = 100.0;  // times the trials there are
constexpr int kBisections = 30;
constexpr double kLeastFree = 0.1;  // of the trials, once effects are paid for

bool IsLikely(const RankingEvidence& evidence, double narrower) {
  return ChanceOfChange(evidence.values, evidence.draws, narrower) <=
         kChanceOfDraws;
}

// To two digits, and not to less than 10: more would be made up.
std::int64_t RoundUp(double trials) {
  double unit = 10.0;
  while (trials / unit > 100.0) unit *= 10.0;
  return static_cast<std::int64_t>(std::ceil(trials / unit) * unit);
}

// 0: more than anybody should foretell.
std::int64_t MoreTrials(const RankingEvidence& evidence) {
  double narrow = 1.0 / std::sqrt(kFarthest), wide = 1.0;
  if (!IsLikely(evidence, narrow)) return 0;
  if (IsLikely(evidence, wide)) narrow = wide;
  for (int i = 0; i < kBisections && narrow < wide; ++i) {
    const double middle = (narrow + wide) / 2.0;
    (IsLikely(evidence, middle) ? narrow : wide) = middle;
  }
  const auto n = static_cast<double>(evidence.trials);
  // The variance of least squares on e effects goes with 1 / (n - e).
  const double free =
      std::max(n - 2.0 * static_cast<double>(evidence.effects), kLeastFree * n);
  return RoundUp(std::max(free / (narrow * narrow) - free, 1.0));
}

bool IsSettled(const RankingEvidence& evidence) {
  return evidence.any_distinguishable && evidence.rests_on.empty() &&
         IsLikely(evidence, 1.0);
}

}  // namespace

StabilityVerdict JudgeRanking(const RankingEvidence& evidence) {
  StabilityVerdict verdict;
  const std::string seen = absl::StrCat(evidence.trials, " trials");
  verdict.state = StabilityState::kNotSettled;
  verdict.half_tau = HalfTau(evidence.values, evidence.draws);
  if (!evidence.any_distinguishable) {
    verdict.sentence = absl::StrCat("not settled: after ", seen,
                                    " no parameter can be told from chance");
    return verdict;
  }
  if (!evidence.rests_on.empty()) {
    verdict.sentence = absl::StrCat("not settled: the first rank rests on ",
                                    NameTrials(evidence.rests_on));
    return verdict;
  }
  if (IsSettled(evidence)) {
    verdict.state = StabilityState::kSettled;
    verdict.settled_after = evidence.trials;
    verdict.sentence = absl::StrCat("ranking settled after ", seen);
    return verdict;
  }
  verdict.more_trials = MoreTrials(evidence);
  verdict.sentence =
      verdict.more_trials > 0
          ? absl::StrCat("not settled: about ", verdict.more_trials,
                         " more trials")
          : absl::StrCat("not settled: far more than ", seen, " are needed");
  return verdict;
}

namespace {

constexpr std::size_t kMostLeaders = 3;

// What parameters are called: modules, if each sets the rate of one.
struct Noun {
  std::string one;
  std::string several;
};

Noun NounFor(const Space& space) {
  std::set<int> of_modules;
  for (const ModuleBinding& binding : space.modules()) {
    if (binding.parameter.has_value()) of_modules.insert(*binding.parameter);
  }
  if (of_modules.size() == space.parameters().size()) {
    return {"module", "modules"};
  }
  return {"parameter", "parameters"};
}

std::set<std::size_t> Leaders(const std::vector<double>& shares,
                              std::size_t count) {
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&shares](std::size_t a, std::size_t b) {
                     return shares[a] > shares[b];
                   });
  return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)};
}

// How often the first so many of the report are the first so many of a draw.
double VerdictChanceOf(const std::set<std::size_t>& leaders,
                       const Report& report) {
  double same = 0.0;
  for (const std::vector<double>& draw : report.main_draws) {
    same += Leaders(draw, leaders.size()) == leaders;
  }
  return same / static_cast<double>(report.main_draws.size());
}

// The fewest that draws are sure of as ahead of all others; empty: none are.
std::vector<int> LeadersOfDraws(const Report& report) {
  const std::vector<double> shares = MainShares(report.parameters);
  if (report.main_draws.empty()) return {};
  for (std::size_t k = 1; k <= kMostLeaders && k < shares.size(); ++k) {
    const std::set<std::size_t> leaders = Leaders(shares, k);
    const bool told = std::all_of(
        leaders.begin(), leaders.end(),
        [&](std::size_t i) { return report.parameters[i].distinguishable; });
    if (!told) return {};
    if (VerdictChanceOf(leaders, report) < kSureOfOrder) continue;
    std::vector<int> named(leaders.begin(), leaders.end());
    std::sort(named.begin(), named.end(), [&report](int a, int b) {
      const auto rank = [&report](int i) {
        return report.parameters[static_cast<std::size_t>(i)].rank;
      };
      return rank(a) < rank(b);
    });
    return named;
  }
  return {};
}

// The trials that the lead of so many rests on; empty: not on few.
std::vector<std::int64_t> LeadRestsOn(const Report& report,
                                      std::size_t leaders) {
  if (leaders == 0 || report.lead_rests_on.size() < leaders) return {};
  return report.lead_rests_on[leaders - 1];
}

// Likewise, and surely so without any two trials.
std::vector<int> SureLeaders(const Report& report) {
  std::vector<int> leaders = LeadersOfDraws(report);
  if (!LeadRestsOn(report, leaders.size()).empty()) leaders.clear();
  return leaders;
}

std::string Names(const Space& space, const Report& report,
                  const std::vector<int>& leaders) {
  std::vector<std::string> names;
  for (const int i : leaders) {
    const auto at = static_cast<std::size_t>(
        report.parameters[static_cast<std::size_t>(i)].parameter);
    names.push_back(space.parameters()[at].name);
  }
  return JoinInWords(std::move(names));
}

RankingEvidence EvidenceOf(const Space& space, const Report& report) {
  RankingEvidence evidence;
  evidence.trials = report.trials_used;
  evidence.values = MainShares(report.parameters);
  evidence.draws = report.main_draws;
  evidence.effects = CountEffects(space);
  for (const ParameterImportance& one : report.parameters) {
    evidence.any_distinguishable |= one.distinguishable;
  }
  evidence.rests_on = LeadRestsOn(report, LeadersOfDraws(report).size());
  return evidence;
}

}  // namespace

StabilityVerdict JudgeReport(const Space& space, const Report& report) {
  return JudgeRanking(EvidenceOf(space, report));
}

std::optional<ReportWarning> WarnOfFragileLead(const Space& space,
                                               const Report& report) {
  const std::vector<int> leaders = LeadersOfDraws(report);
  const std::vector<std::int64_t> trials = LeadRestsOn(report, leaders.size());
  if (trials.empty()) return std::nullopt;
  return ReportWarning{
      "RESTS_ON_FEW",
      absl::StrCat("that ", Names(space, report, leaders),
                   leaders.size() == 1 ? " matters most" : " matter most",
                   " rests on ", NameTrials(trials),
                   ": `plan --ask 2 --enqueue` runs such trials again"),
      leaders};
}

namespace {

std::string VerdictOfScores(const Space& space, const Report& report) {
  const std::string trials = absl::StrCat(report.trials_used, " trials");
  const Noun noun = NounFor(space);
  const auto told = std::count_if(
      report.parameters.begin(), report.parameters.end(),
      [](const ParameterImportance& one) { return one.distinguishable; });
  if (report.parameters.size() < 2) {
    return told > 0 ? "the one parameter matters"
                    : absl::StrCat(trials, " cannot tell it from chance");
  }
  if (report.main_draws.empty()) {
    return absl::StrCat("how sure the ranking of ", trials,
                        " is has not been computed");
  }
  if (told == 0) {
    return absl::StrCat("after ", trials, " no ", noun.one,
                        " clearly matters: none can be told from chance");
  }
  const bool settled = IsSettled(EvidenceOf(space, report));
  const std::vector<int> leaders = SureLeaders(report);
  if (leaders.empty()) {
    std::vector<int> clear;
    for (std::size_t i = 0; i < report.parameters.size(); ++i) {
      if (report.parameters[i].distinguishable) {
        clear.push_back(static_cast<int>(i));
      }
    }
    if (told == 1) {
      return absl::StrCat("after ", trials, " only ",
                          Names(space, report, clear), " clearly matters",
                          settled ? "" : "; its rank is not certain yet");
    }
    return absl::StrCat("after ", trials, " ", told, " of ",
                        report.parameters.size(), " ", noun.several,
                        " clearly matter; ",
                        settled ? "none of them clearly more than the others"
                                : "which is first is not certain yet");
  }
  return absl::StrCat(Names(space, report, leaders),
                      leaders.size() == 1 ? " matters most" : " matter most",
                      settled ? ", and the ranking has settled"
                              : ", the order of the others is open");
}

}  // namespace

std::string ReportVerdict(const Space& space, const Report& report) {
  std::string scores = VerdictOfScores(space, report);
  if (report.survival.empty()) return scores;
  return absl::StrCat(report.survival, "; of those that ran: ", scores);
}

}  // namespace frostline::importance
