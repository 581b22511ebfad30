// SPDX-License-Identifier: Apache-2.0
//
// What holds for every pruner.
#include "sampler/pruner/pruner.h"

#include "base/rng.h"
#include "tests/sampler/pruner/pruner_world.h"

namespace frostline::sampler {
namespace {

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

}  // namespace
}  // namespace frostline::sampler
