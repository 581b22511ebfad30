// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/pruner.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/rng.h"
#include "sampler/pruner/percentile.h"
#include "sampler/pruner/wilcoxon.h"
#include "tests/sampler/pruner/pruner_world.h"

namespace frostline::sampler {
namespace {

// What holds for every pruner.

TEST(Pruners, AnEndedUnknownOrSilentTrialIsNeverPruned) {
  for (const std::string& name : PrunerNames()) {
    const auto pruner = Made(name, LeastOptions(name));
    History history = FiveTrials();
    EXPECT_FALSE(pruner->Judge(history, 9).prune) << name;
    Put(history, 9, TrialState::kRunning, {});
    EXPECT_FALSE(pruner->Judge(history, 9).prune) << name;
    Put(history, 9, TrialState::kFailed, {99, 99, 99, 99, 99, 99});
    EXPECT_FALSE(pruner->Judge(history, 9).prune) << name;
  }
}

TEST(Pruners, SeveralObjectivesAreRefusedByAllButNone) {
  std::vector<Objective> two = kLoss;
  two.push_back(kAccuracy[0]);
  for (const std::string& name : PrunerNames()) {
    const auto pruner =
        MakePruner({.name = name, .options = LeastOptions(name)}, two);
    if (name == "none") {
      EXPECT_OK(pruner);
      continue;
    }
    EXPECT_THAT(pruner, FailsAt(ErrorId::kPrunerInvalid, "pruner.name"));
  }
}

struct BadOption {
  std::string pruner;
  Options options;
  std::string field;  // below pruner.options
};

TEST(Pruners, AWrongOptionIsNamed) {
  const std::vector<BadOption> cases = {
      {"none", {{"x", "1"}}, "x"},
      {"median", {{"interval", "0"}}, "interval"},
      {"median", {{"percentile", "50"}}, "percentile"},
      {"percentile", {{"percentile", "100.5"}}, "percentile"},
      {"percentile", {{"min_trials", "0"}}, "min_trials"},
      {"asha", {{"reduction_factor", "1"}}, "reduction_factor"},
      {"asha", {{"min_resource", "0"}}, "min_resource"},
      {"asha", {{"min_resource", "some"}}, "min_resource"},
      {"asha", {{"min_early_stopping_rate", "-1"}}, "min_early_stopping_rate"},
      {"asha", {{"bootstrap_count", "2"}}, "bootstrap_count"},
      {"hyperband", {{"min_resource", "auto"}}, "min_resource"},
      {"hyperband", {{"bootstrap_count", "2"}}, "bootstrap_count"},
      {"hyperband",
       {{"min_resource", "9"}, {"max_resource", "8"}},
       "max_resource"},
      {"threshold", {}, "upper"},
      {"threshold", {{"lower", "nan"}}, "lower"},
      {"threshold", {{"lower", "2"}, {"upper", "1"}}, "lower"},
      {"patient", {{"patience", "-1"}}, "patience"},
      {"patient", {{"min_delta", "-0.1"}}, "min_delta"},
      {"patient", {{"wraps", "asha"}}, "wraps"},
      {"patient", {{"wraps.interval", "2"}}, "wraps"},
      {"patient",
       {{"wraps", "median"}, {"wraps.interval", "0"}},
       "wraps.interval"},
      {"wilcoxon", {{"p_threshold", "1.1"}}, "p_threshold"},
      {"wilcoxon", {{"startup_steps", "few"}}, "startup_steps"},
  };
  for (const BadOption& bad : cases) {
    EXPECT_THAT(MakePruner({.name = bad.pruner, .options = bad.options}, kLoss),
                FailsAt(ErrorId::kPrunerInvalid, "pruner.options." + bad.field))
        << bad.pruner;
  }
  EXPECT_THAT(MakePruner({.name = "medain", .options = {}}, kLoss),
              FailsAt(ErrorId::kPrunerInvalid, "pruner.name"));
}

// A report, or an end, of some trial; any value.
void Happen(History& history, Rng& rng) {
  const std::vector<double> odd = {kNaN, kInfinity, -kInfinity, 1e308, -1e308};
  const auto number = static_cast<std::int64_t>(rng.Below(20));
  const Observation* const trial = history.Find(number);
  if (trial != nullptr && IsTerminal(trial->state)) return;
  const bool silent = trial == nullptr || trial->intermediate.empty();
  if (!silent && rng.Below(12) == 0) {
    const bool good = rng.Below(2) == 0;
    Observation ended = *trial;
    ended.state = good ? TrialState::kSucceeded : TrialState::kPruned;
    if (good) ended.values = {rng.Uniform()};
    history.Put(std::move(ended));
    return;
  }
  const std::int64_t last = silent ? 0 : trial->intermediate.back().step;
  // One after the other: compilers differ in which argument they draw first.
  const double value =
      rng.Below(10) == 0 ? odd[rng.Below(odd.size())] : rng.Uniform();
  const auto skipped = static_cast<std::int64_t>(rng.Below(5));
  Report(history, number, last + 1 + skipped, value);
}

// The server restarts, and a study must not be judged by other rules then.
TEST(Pruners, WhatOneRemembersFollowsFromTheHistory) {
  for (const std::string& name : PrunerNames()) {
    int pruned = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Rng rng(seed, 0);
      const auto pruner = Made(name, LeastOptions(name));
      History history;
      for (int event = 0; event < 250; ++event) {
        Happen(history, rng);
        if (history.changes().empty()) continue;
        const auto& newest = history.trials()[history.changes().back()];
        const PruneDecision decision = pruner->Judge(history, newest.number);
        const PruneDecision fresh =
            Made(name, LeastOptions(name))->Judge(history, newest.number);
        ASSERT_EQ(decision.prune, fresh.prune) << name << " " << seed;
        ASSERT_EQ(decision.reason, fresh.reason) << name << " " << seed;
        pruned += decision.prune ? 1 : 0;
      }
    }
    EXPECT_EQ(pruned > 0, name != "none") << name;
  }
}

// What pruners keep up from change to change, held against rules that look at
// all trials each time.

constexpr std::int64_t kNumbers = 30;

double SortedPercentile(std::vector<double> values, double percentile) {
  std::sort(values.begin(), values.end());
  const double place =
      static_cast<double>(values.size() - 1) * (percentile / 100.0);
  const auto below = static_cast<std::size_t>(place);
  const double share = place - std::floor(place);
  const double a = values[below];
  const double b = values[std::min(below + 1, values.size() - 1)];
  if (share == 0.0 || a == b) return a;
  if (!std::isfinite(b - a)) return a * (1.0 - share) + b * share;
  return share < 0.5 ? a + (b - a) * share : b - (b - a) * (1.0 - share);
}

struct Rule {
  double percentile = 50.0;
  std::int64_t startup_trials = 5;
  std::int64_t warmup_steps = 0;
  std::int64_t interval = 1;
  std::int64_t min_trials = 1;

  Options ToOptions() const {
    return {{"percentile", absl::StrCat(percentile)},
            {"startup_trials", absl::StrCat(startup_trials)},
            {"warmup_steps", absl::StrCat(warmup_steps)},
            {"interval", absl::StrCat(interval)},
            {"min_trials", absl::StrCat(min_trials)}};
  }
};

bool IsDue(const std::vector<IntermediateValue>& values, const Rule& rule) {
  const std::int64_t step = values.back().step;
  if (step < rule.warmup_steps) return false;
  const std::int64_t due = step - (step - rule.warmup_steps) % rule.interval;
  return values.size() < 2 || values[values.size() - 2].step < due;
}

double BestOfAll(const Objective& objective, const Observation& trial) {
  double best = kNaN;
  for (const IntermediateValue& value : trial.intermediate) {
    best = std::fmin(best, AsLoss(objective, value.value));
  }
  return best;
}

bool PercentilePrunes(const Rule& rule, const Objective& objective,
                      const History& history, std::int64_t number) {
  const Observation* const trial = history.Find(number);
  if (trial == nullptr || IsTerminal(trial->state) ||
      trial->intermediate.empty() || !IsDue(trial->intermediate, rule)) {
    return false;
  }
  const std::int64_t step = trial->intermediate.back().step;
  std::int64_t succeeded = 0, reported = 0;
  std::vector<double> others;
  for (const Observation& other : history.trials()) {
    if (other.state != TrialState::kSucceeded) continue;
    ++succeeded;
    for (const IntermediateValue& value : other.intermediate) {
      if (value.step != step) continue;
      ++reported;
      if (!std::isnan(value.value)) others.push_back(value.value);
    }
  }
  if (succeeded < std::max<std::int64_t>(rule.startup_trials, 1)) return false;
  const double loss = BestOfAll(objective, *trial);
  if (std::isnan(loss)) return true;
  if (reported < rule.min_trials || others.empty()) return false;
  const bool rises = objective.direction == Direction::kMaximize;
  const double bound = SortedPercentile(
      others, rises ? 100.0 - rule.percentile : rule.percentile);
  return loss > AsLoss(objective, bound);
}

// The first of the best that succeeded within their constraints.
const Observation* BestOfAll(const Objective& objective,
                             const History& history) {
  const Observation* best = nullptr;
  for (const Observation& trial : history.trials()) {
    const bool feasible =
        trial.constraints.empty() || trial.constraints[0] <= 0.0;
    if (trial.state != TrialState::kSucceeded || trial.values.empty() ||
        !feasible) {
      continue;
    }
    if (best == nullptr || AsLoss(objective, trial.values[0]) <
                               AsLoss(objective, best->values[0])) {
      best = &trial;
    }
  }
  return best;
}

Observation Begun(std::int64_t number) {
  Observation begun;
  begun.number = number;
  begun.state = TrialState::kRunning;
  return begun;
}

void ReportSome(History& history, std::int64_t number, Rng& rng) {
  const std::vector<double> odd = {kNaN, kInfinity, -kInfinity, 0.0, -0.0};
  for (std::uint64_t left = 1 + rng.Below(3); left > 0; --left) {
    const auto& curve = history.Find(number)->intermediate;
    const std::int64_t last = curve.empty() ? -1 : curve.back().step;
    const auto skipped = static_cast<std::int64_t>(rng.Below(2));
    const double level = static_cast<double>(rng.Below(8));
    const double value = rng.Below(6) == 0 ? odd[rng.Below(odd.size())] : level;
    history.Append(number, {last + 1 + skipped, value});
  }
}

void EndSomehow(History& history, std::int64_t number, Rng& rng) {
  const std::vector<TrialState> ends = {
      TrialState::kSucceeded, TrialState::kSucceeded, TrialState::kSucceeded,
      TrialState::kPruned,    TrialState::kFailed,    TrialState::kInfeasible};
  const TrialState state = ends[rng.Below(ends.size())];
  const double value = static_cast<double>(rng.Below(5));
  const bool broken = rng.Below(5) == 0;
  history.Amend(number, [&](Observation& trial) {
    trial.state = state;
    if (state == TrialState::kSucceeded) trial.values = {value};
    trial.constraints = {broken ? 1.0 : 0.0};
  });
}

// A beginning, reports, an end, another attempt, or something told again.
void HappenToAll(History& history, Rng& rng) {
  const auto number = static_cast<std::int64_t>(rng.Below(kNumbers));
  const Observation* const trial = history.Find(number);
  if (trial == nullptr) return history.Put(Begun(number));
  const std::uint64_t what = rng.Below(20);
  if (IsTerminal(trial->state)) {
    if (what == 0) history.Put(Begun(number));  // its end is void
    if (what == 1) history.Put(Observation(*trial));
    if (what == 2) EndSomehow(history, number, rng);
    if (what == 3) ReportSome(history, number, rng);
    if (what != 4) return;
    history.Put(Begun(number));  // another one, before anybody looks
    ReportSome(history, number, rng);
    return EndSomehow(history, number, rng);
  }
  if (what == 0) {
    // Perhaps with as many reports at the same steps, before anybody looks.
    history.Put(Begun(number));
    return ReportSome(history, number, rng);
  }
  if (what < 3) return EndSomehow(history, number, rng);
  ReportSome(history, number, rng);
}

Rule Drawn(Rng& rng) {
  const std::vector<double> percentiles = {0, 10, 25, 50, 90, 100};
  Rule rule;
  rule.percentile = percentiles[rng.Below(percentiles.size())];
  rule.startup_trials = static_cast<std::int64_t>(rng.Below(4));
  rule.warmup_steps = static_cast<std::int64_t>(rng.Below(4));
  rule.interval = 1 + static_cast<std::int64_t>(rng.Below(3));
  rule.min_trials = 1 + static_cast<std::int64_t>(rng.Below(3));
  return rule;
}

TEST(RunningPercentile, IsThatOfTheSortedValues) {
  Rng rng(3, 0);
  for (const double percentile : {0.0, 7.5, 25.0, 50.0, 62.0, 90.0, 100.0}) {
    RunningPercentile running(percentile);
    std::vector<double> values;
    for (int i = 0; i < 300; ++i) {
      const auto tied = static_cast<double>(rng.Below(40));
      values.push_back(rng.Below(2) == 0 ? tied : 40 * rng.Uniform());
      if (rng.Below(30) == 0) values.back() = kInfinity;
      running.Add(values.back());
      ASSERT_EQ(running.count(), values.size());
      ASSERT_EQ(running.Value(), SortedPercentile(values, percentile)) << i;
    }
  }
}

TEST(PercentilePruner, DecidesAsIfItLookedAtAllTrials) {
  int pruned = 0, spared = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Rng rng(seed, 1);
    const Rule rule = Drawn(rng);
    const auto& objectives = rng.Below(2) == 0 ? kLoss : kAccuracy;
    const auto pruner = Made("percentile", rule.ToOptions(), objectives);
    History history;
    for (int event = 0; event < 500; ++event) {
      HappenToAll(history, rng);
      if (rng.Below(3) == 0) continue;  // nobody looks
      const auto number = static_cast<std::int64_t>(rng.Below(kNumbers));
      const bool prune = pruner->Judge(history, number).prune;
      ASSERT_EQ(prune, PercentilePrunes(rule, objectives[0], history, number))
          << "seed " << seed << " event " << event;
      ++(prune ? pruned : spared);
    }
  }
  EXPECT_GT(pruned, 1000);
  EXPECT_GT(spared, 1000);
}

TEST(BestSucceeded, IsTheFirstOfTheBestOfAllTrials) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, 2);
    const Objective& objective = rng.Below(2) == 0 ? kLoss[0] : kAccuracy[0];
    BestSucceeded best(objective);
    History history;
    for (int event = 0; event < 150; ++event) {
      HappenToAll(history, rng);
      if (rng.Below(3) == 0) continue;
      ASSERT_EQ(best.In(history), BestOfAll(objective, history))
          << "seed " << seed << " event " << event;
    }
  }
}

TEST(BestSoFar, IsThatOfTheCurveAsItIs) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed, 4);
    BestSoFar best(kLoss[0]);
    History history;
    for (int event = 0; event < 150; ++event) {
      HappenToAll(history, rng);
      const Observation* const trial =
          history.Find(static_cast<std::int64_t>(rng.Below(kNumbers)));
      if (trial == nullptr || IsTerminal(trial->state)) continue;
      const std::size_t count = rng.Below(trial->intermediate.size() + 1);
      const double told = best.Of(history, *trial, count);
      const double read = BestLoss(kLoss[0], *trial, 0, count, kNaN);
      ASSERT_TRUE(told == read || (std::isnan(told) && std::isnan(read)))
          << "seed " << seed << " event " << event;
    }
  }
}

// However many trials there are and however often somebody asks.
TEST(Pruners, ReadEachChangeOnce) {
  constexpr std::int64_t kTrials = 2000, kSteps = 4;
  StepPercentiles percentiles(50.0, 0);
  BestSucceeded best(kLoss[0]);
  History history;
  for (std::int64_t n = 0; n < kTrials; ++n) {
    history.Put(Begun(n));
    for (std::int64_t step = 0; step < kSteps; ++step) {
      history.Append(n, {step, static_cast<double>(n)});
      percentiles.CatchUp(history);
      EXPECT_EQ(best.In(history) == nullptr, n == 0);
    }
    history.Amend(n, [n](Observation& trial) {
      trial.state = TrialState::kSucceeded;
      trial.values = {static_cast<double>(kTrials - n)};
    });
  }
  percentiles.CatchUp(history);
  EXPECT_EQ(best.In(history), &history.trials().back());
  EXPECT_EQ(percentiles.succeeded(), kTrials);
  EXPECT_EQ(percentiles.values_read(), kTrials * kSteps);
  EXPECT_EQ(best.trials_read(), history.revision());
}

}  // namespace
}  // namespace frostline::sampler
