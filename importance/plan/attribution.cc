// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/attribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/rng.h"
#include "importance/plan/plan_search.h"
#include "importance/plan/plan_trials.h"
#include "importance/plan/study_belief.h"

namespace frostline::importance {
namespace {

// Sets asked for where not all are: joint draws cost their cube.
constexpr std::size_t kMostSets = 320;
constexpr int kAttributionDraws = 600;
constexpr std::uint64_t kOrderSeed = 0x5a4f;

double Factorial(std::size_t n) {
  double product = 1.0;
  for (std::size_t i = 2; i <= n; ++i) product *= static_cast<double>(i);
  return product;
}

}  // namespace

ShapleySets::ShapleySets(std::size_t parts, std::uint64_t seed)
    : parts_(parts) {
  if (parts <= kMostExactParts) {
    for (std::size_t code = 0; code < (std::size_t{1} << parts); ++code) {
      std::vector<bool> set(parts);
      for (std::size_t i = 0; i < parts; ++i) set[i] = ((code >> i) & 1U) == 1U;
      sets_.push_back(std::move(set));
    }
    for (std::size_t code = 0; code < sets_.size(); ++code) {
      const auto members = static_cast<std::size_t>(
          std::count(sets_[code].begin(), sets_[code].end(), true));
      for (std::size_t i = 0; i < parts; ++i) {
        if (sets_[code][i]) continue;
        steps_.push_back({i, code, code | (std::size_t{1} << i),
                          Factorial(members) * Factorial(parts - members - 1) /
                              Factorial(parts)});
      }
    }
    return;
  }
  Rng rng(seed);
  std::vector<std::size_t> order(parts);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::size_t orders = 0;
  // An order and its opposite together cancel much of what either has by
  // chance.
  while (orders == 0 || sets_.size() + 2 * parts <= kMostSets) {
    for (std::size_t i = parts; i-- > 1;) {
      std::swap(order[i], order[static_cast<std::size_t>(rng.Below(i + 1))]);
    }
    for (int turn = 0; turn < 2; ++turn) {
      std::vector<bool> set(parts, false);
      std::size_t before = PlaceOf(set);
      for (const std::size_t part : order) {
        set[part] = true;
        const std::size_t after = PlaceOf(set);
        steps_.push_back({part, before, after, 1.0});
        before = after;
      }
      std::reverse(order.begin(), order.end());
      ++orders;
    }
  }
  for (Step& step : steps_) step.weight /= static_cast<double>(orders);
}

std::size_t ShapleySets::PlaceOf(const std::vector<bool>& set) {
  const auto found = std::find(sets_.begin(), sets_.end(), set);
  if (found == sets_.end()) {
    sets_.push_back(set);
    return sets_.size() - 1;
  }
  return static_cast<std::size_t>(found - sets_.begin());
}

std::vector<double> ShapleySets::Parts(
    const std::vector<double>& values) const {
  std::vector<double> parts(parts_, 0.0);
  for (const Step& step : steps_) {
    parts[step.part] +=
        step.weight * (values[step.after] - values[step.before]);
  }
  return parts;
}

namespace {

absl::StatusOr<std::size_t> TrialAt(const StudyBelief& belief,
                                    std::int64_t number,
                                    const std::string& field) {
  for (std::size_t t = 0; t < belief.trials(); ++t) {
    if (belief.NumberOf(t) == number) return t;
  }
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("trial ", number, " is none of the ", belief.trials(),
                   " trials with a value of ", belief.objective().metric),
      "name two trials of the study that ended with a result", field);
}

// Groups the parameters in which two points differ. One that is there in one
// point alone goes with the parameter that decides on that.
std::vector<std::vector<std::size_t>> GroupsOf(const PlanChoices& choices,
                                               const PlanChoice& first,
                                               const PlanChoice& second) {
  const auto& parameters = choices.space().parameters();
  std::vector<std::vector<std::size_t>> groups;
  std::vector<std::size_t> group_of(parameters.size(), parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (first[i] == second[i]) continue;
    const bool lacks = IsAbsent(choices.values(i)[first[i]].value) !=
                       IsAbsent(choices.values(i)[second[i]].value);
    const auto& condition = parameters[i].condition;
    if (lacks && condition.has_value()) {
      const std::size_t parent =
          group_of[static_cast<std::size_t>(condition->parent)];
      if (parent < groups.size()) {
        group_of[i] = parent;
        groups[parent].push_back(i);
        continue;
      }
    }
    group_of[i] = groups.size();
    groups.push_back({i});
  }
  return groups;
}

// An interval of draws around their mean, so that parts add up.
Interval AroundMean(const std::vector<double>& draws) {
  Interval interval = QuantilesOf(draws);
  interval.value = std::accumulate(draws.begin(), draws.end(), 0.0) /
                   static_cast<double>(draws.size());
  return interval;
}

Interval LessThan(double seen, const Interval& predicted) {
  return {seen - predicted.value, seen - predicted.hi80, seen - predicted.lo80,
          seen - predicted.hi95, seen - predicted.lo95};
}

double RunNoiseOf(const StudyBelief& belief, double worth) {
  const double noise = std::sqrt(belief.surrogate().noise_variance());
  const double run =
      std::abs(belief.ScoreOf(worth + noise) - belief.ScoreOf(worth - noise)) /
      2.0;
  return 1.96 * std::sqrt(2.0 * (run * run + belief.luck().variance));
}

// Says "layer.3", or "prefix_depth with layer.2".
std::string NamePart(const Space& space, const DifferencePart& part) {
  std::vector<std::string> others;
  for (std::size_t i = 1; i < part.parameters.size(); ++i) {
    others.push_back(space.parameters()[part.parameters[i]].name);
  }
  const std::string name = space.parameters()[part.parameters[0]].name;
  return others.empty() ? name
                        : absl::StrCat(name, " with ", JoinInWords(others));
}

std::string Signed(const std::string& text, double value) {
  return absl::StrCat(value > 0.0 ? "+" : "", text);
}

std::string VerdictOf(const StudyBelief& belief, const Difference& difference) {
  const RoundedPair seen =
      RoundTogether(difference.seen, std::max(difference.run_noise, 1e-12));
  const RoundedPair predicted = RoundTogether(
      difference.predicted.value, std::max(difference.run_noise, 1e-12));
  std::string text =
      absl::StrCat("the second trial's ", belief.objective().metric, " is ",
                   Signed(seen.value, difference.seen), " beside the first's; ",
                   Signed(predicted.value, difference.predicted.value),
                   " of that is predicted");
  std::vector<std::string> sure;
  for (const DifferencePart& part : difference.parts) {
    if (part.sign_probability < kSureEnough || sure.size() == 3) continue;
    const RoundedPair shown =
        RoundTogether(part.part.value, std::max(difference.run_noise, 1e-12));
    sure.push_back(absl::StrCat(NamePart(belief.space(), part), " (",
                                Signed(shown.value, part.part.value), ")"));
  }
  absl::StrAppend(&text, sure.empty()
                             ? ", of no single parameter for sure"
                             : absl::StrCat(", by ", JoinInWords(sure)));
  const bool is_luck = std::abs(difference.luck.value) <= difference.run_noise;
  absl::StrAppend(&text, "; the rest is ",
                  is_luck ? "no more than the luck of two runs (\u00b1"
                          : "more than the luck of two runs (\u00b1",
                  predicted.error,
                  is_luck ? ")" : "), so that something else differs");
  return text;
}

}  // namespace

absl::StatusOr<Difference> ExplainDifference(const PlanBasis& basis,
                                             std::int64_t first,
                                             std::int64_t second,
                                             const std::stop_token& stop) {
  const StudyBelief& belief = basis.belief();
  ASSIGN_OR_RETURN(const std::size_t one,
                   TrialAt(belief, first, "first_trial"));
  ASSIGN_OR_RETURN(const std::size_t other,
                   TrialAt(belief, second, "second_trial"));
  const PlanChoice from = belief.ChoiceOf(one);
  const PlanChoice to = belief.ChoiceOf(other);
  const auto groups = GroupsOf(basis.choices(), from, to);
  if (groups.empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("trials ", first, " and ", second,
                                  " are at one point: what they differ in is "
                                  "the luck of their runs"),
                     "compare trials of different points", "second_trial");
  }
  const ShapleySets shapley(groups.size(), kOrderSeed);
  std::vector<PlanChoice> points;
  for (const std::vector<bool>& set : shapley.sets()) {
    PlanChoice& point = points.emplace_back(from);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (!set[g]) continue;
      for (const std::size_t i : groups[g]) point[i] = to[i];
    }
  }
  RETURN_IF_ERROR(CheckStop(stop));
  const WorthDraws draws = belief.Draw(points, kAttributionDraws);
  RETURN_IF_ERROR(CheckStop(stop));
  std::vector<std::vector<double>> parts(groups.size());
  std::vector<double> whole;
  double worth = 0.0;
  for (const std::vector<double>& draw : draws) {
    std::vector<double> scores;
    scores.reserve(draw.size());
    for (const double each : draw) scores.push_back(belief.ScoreOf(each));
    const std::vector<double> dealt = shapley.Parts(scores);
    for (std::size_t g = 0; g < groups.size(); ++g)
      parts[g].push_back(dealt[g]);
    whole.push_back(std::accumulate(dealt.begin(), dealt.end(), 0.0));
    worth += draw.front() / static_cast<double>(draws.size());
  }
  Difference difference;
  difference.first_value = belief.SeenScore(one);
  difference.second_value = belief.SeenScore(other);
  difference.seen = difference.second_value - difference.first_value;
  difference.predicted = AroundMean(whole);
  difference.luck = LessThan(difference.seen, difference.predicted);
  difference.run_noise = RunNoiseOf(belief, worth);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    DifferencePart part{groups[g], AroundMean(parts[g]), 0.0};
    const double sign = part.part.value < 0.0 ? -1.0 : 1.0;
    const auto right =
        std::count_if(parts[g].begin(), parts[g].end(),
                      [sign](double each) { return each * sign > 0.0; });
    part.sign_probability =
        static_cast<double>(right) / static_cast<double>(parts[g].size());
    difference.parts.push_back(std::move(part));
  }
  std::stable_sort(difference.parts.begin(), difference.parts.end(),
                   [](const DifferencePart& a, const DifferencePart& b) {
                     return std::abs(a.part.value) > std::abs(b.part.value);
                   });
  difference.verdict = VerdictOf(belief, difference);
  difference.warnings = belief.warnings();
  return difference;
}

namespace {

// The parameters from which modules take their rates.
std::vector<std::size_t> RateParameters(const PlanChoices& choices) {
  std::set<std::size_t> found;
  const auto& modules = choices.space().modules();
  for (std::size_t m = 0; m < modules.size(); ++m) {
    if (!modules[m].parameter.has_value() || !choices.IsKnown(m)) continue;
    found.insert(static_cast<std::size_t>(*modules[m].parameter));
  }
  return {found.begin(), found.end()};
}

// The rate that a value stands for: 0 is frozen, or none.
double RateOf(const Domain& domain, double value) {
  if (IsAbsent(value)) return 0.0;
  const auto* const levels = std::get_if<Levels>(&domain);
  if (levels == nullptr) return value;
  return levels->rates[static_cast<std::size_t>(value)];
}

// The place of the value nearest to a rate, by its logarithm; nullopt where a
// parameter only freezes.
std::optional<std::size_t> NearestTo(double rate, const Domain& domain,
                                     const std::vector<AxisValue>& values) {
  std::optional<std::size_t> nearest;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = RateOf(domain, values[i].value);
    if (value <= 0.0) continue;
    const double away = std::abs(std::log(value / rate));
    if (away >= least) continue;
    least = away;
    nearest = i;
  }
  return nearest;
}

bool IsRank(const Domain& domain) {
  const auto* const levels = std::get_if<Levels>(&domain);
  return levels != nullptr && levels->are_ranks;
}

// All modules of these parameters at one rate, or rank, the most promising of
// all that are searched; the others as they start.
PlanChoice AtOneOf(const PlanChoices& choices, const PlanChoice& start,
                   const std::vector<std::size_t>& rates) {
  const auto& parameters = choices.space().parameters();
  std::set<double> searched;
  for (const std::size_t i : rates) {
    for (const AxisValue& value : choices.values(i)) {
      const double rate = RateOf(parameters[i].domain, value.value);
      if (rate > 0.0) searched.insert(rate);
    }
  }
  PlanChoice best = start;
  double most = -std::numeric_limits<double>::infinity();
  for (const double rate : searched) {
    PlanChoice point = start;
    for (const std::size_t i : rates) {
      const auto nearest =
          NearestTo(rate, parameters[i].domain, choices.values(i));
      if (!nearest || IsAbsent(choices.values(i)[point[i]].value)) continue;
      point = choices.With(std::move(point), i, *nearest);
    }
    const double worth = choices.Worth(point);
    if (worth <= most) continue;
    most = worth;
    best = std::move(point);
  }
  return best;
}

// Every module at one rate and every adapter at one rank.
PlanChoice DefaultOf(const PlanBasis& basis,
                     const std::vector<std::size_t>& levels) {
  const PlanChoices& choices = basis.choices();
  const PlanChoice plan = ChoosePoint(basis.search());
  PlanChoice point = AllTrained(basis.search(), plan).value_or(plan);
  const auto& parameters = choices.space().parameters();
  for (const bool ranks : {false, true}) {
    std::vector<std::size_t> alike;
    for (const std::size_t i : levels) {
      if (IsRank(parameters[i].domain) == ranks) alike.push_back(i);
    }
    point = AtOneOf(choices, point, alike);
  }
  return point;
}

}  // namespace

absl::StatusOr<std::vector<TunedParameter>> FindTunability(
    const PlanBasis& basis, const std::stop_token& stop) {
  const StudyBelief& belief = basis.belief();
  const PlanChoices& choices = basis.choices();
  const std::vector<std::size_t> rates = RateParameters(choices);
  const PlanChoice from = DefaultOf(basis, rates);
  RETURN_IF_ERROR(CheckStop(stop));
  std::vector<PlanChoice> points = {from};
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> places;
  for (const std::size_t i : rates) {
    auto& own = places.emplace_back();  // a place in points, and of a value
    for (std::size_t v = 0; v < choices.values(i).size(); ++v) {
      if (IsAbsent(choices.values(i)[v].value)) continue;
      if (IsAbsent(choices.values(i)[from[i]].value)) break;
      own.emplace_back(v == from[i] ? 0 : points.size(), v);
      if (v != from[i]) points.push_back(choices.With(from, i, v));
    }
  }
  const WorthDraws draws = belief.Draw(points, kAttributionDraws);
  RETURN_IF_ERROR(CheckStop(stop));
  std::vector<TunedParameter> tuned;
  for (std::size_t r = 0; r < rates.size(); ++r) {
    if (places[r].empty()) continue;
    const auto best = *std::max_element(places[r].begin(), places[r].end(),
                                        [&draws](const auto& a, const auto& b) {
                                          return MeanOf(draws, a.first) <
                                                 MeanOf(draws, b.first);
                                        });
    const std::vector<double> gains = LossesOf(belief, draws, best.first, 0);
    const auto above = std::count_if(gains.begin(), gains.end(),
                                     [](double g) { return g > 0; });
    tuned.push_back(
        {rates[r], choices.values(rates[r])[from[rates[r]]].value,
         choices.values(rates[r])[best.second].value, AroundMean(gains),
         static_cast<double>(above) / static_cast<double>(gains.size())});
  }
  return tuned;
}

}  // namespace frostline::importance
