// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sampler/cost.h"
#include "sampler/factory.h"
#include "sampler/tpe/cells.h"
#include "sampler/tpe/tpe.h"
#include "tests/sampler/odd_spaces.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {

// Spaces, trials and short searches for the tests of TPE.

// Modules with the levels frozen, 2e-10 … 2e-5.
inline Space SevenLevels(int modules) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < modules; ++i) {
    parameters.push_back({"layer." + std::to_string(i),
                          Levels{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}},
                          {}});
  }
  return Space(parameters, {}, std::nullopt);
}

// Layer i is active where the depth is at most i.
inline Space DepthAndLayers(int layers) {
  std::vector<Parameter> parameters = {
      {"depth", IntRange{0, layers, 1, false}, {}}};
  for (int i = 0; i < layers; ++i) {
    parameters.push_back({"layer." + std::to_string(i), Levels{{0, 2e-6, 2e-5}},
                          Condition{0, {}, 0.0, static_cast<double>(i)}});
  }
  return Space(parameters, {}, std::nullopt);
}

inline Observation InState(TrialState state, std::int64_t number,
                           const Point& point) {
  Observation trial;
  trial.number = number;
  trial.state = state;
  trial.point = point;
  return trial;
}

inline Observation Succeeded(std::int64_t number, const Point& point,
                             double value) {
  Observation trial = InState(TrialState::kSucceeded, number, point);
  trial.values = {value};
  return trial;
}

inline std::unique_ptr<NativeTpe> MakeTpe(
    const Space& space, const Options& options = {},
    std::vector<PriorStudy> priors = {},
    const std::vector<Objective>& objectives = kLoss) {
  const SamplerInput input{.options = options,
                           .space = space,
                           .objectives = objectives,
                           .prior_studies = std::move(priors)};
  auto read = ReadTpeOptions(input);
  EXPECT_OK(read);
  return std::make_unique<NativeTpe>(*read, input);
}

// One trial after the other; `run` tells how each ended.
inline History Search(
    NativeTpe& tpe, int trials, std::uint64_t seed,
    const std::function<Observation(std::int64_t, const Point&)>& run) {
  History history;
  for (std::int64_t number = 0; number < trials; ++number) {
    Rng rng(seed, static_cast<std::uint64_t>(number));
    const auto point = tpe.Propose(history, number, rng);
    EXPECT_OK(point);
    if (!point.ok()) return history;
    history.Put(run(number, *point));
  }
  return history;
}

// Levels by their distance from level 4, all modules adding up.
inline double BowlAtFour(const Point& point) {
  double loss = 0.0;
  for (const double level : point) loss += (level - 4.0) * (level - 4.0);
  return loss;
}

inline Observation RunBowl(std::int64_t number, const Point& point) {
  return Succeeded(number, point, BowlAtFour(point));
}

inline double BestOf(const History& history) {
  double best = std::numeric_limits<double>::infinity();
  for (const Observation& trial : history.trials()) {
    for (const double value : trial.values) best = std::min(best, value);
  }
  return best;
}

inline std::size_t CountDistinct(const History& history) {
  std::set<std::uint64_t> points;
  for (const Observation& trial : history.trials()) {
    points.insert(HashPoint(trial.point));
  }
  return points.size();
}

namespace {

// Which distance good trials with these levels speak for.
double LearntSteps(const std::vector<Cell>& levels, double width) {
  const std::vector<CellAxis> axes = {
      {Levels{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}}, true, 0.2}};
  KernelCache kernels(axes);
  std::vector<WeightedCells> good;
  for (const Cell& level : levels) good.push_back({{&level, 1}, 1.0, false});
  return LearnFrozenSteps(axes, kernels, good, {width});
}

TEST(NativeTpe, LearnsHowFarFrozenIsFromTheLowestRate) {
  EXPECT_LE(LearntSteps({0, 1, 2, 3}, 0.1), 0.5);  // one of a row
  EXPECT_LE(LearntSteps({1, 1, 2, 1, 0, 1, 2, 1}, 0.1), 1.0);
  EXPECT_GE(LearntSteps({0, 0, 4, 5, 4, 5}, 0.25), 4.0);  // apart
  EXPECT_EQ(LearntSteps({4, 4, 5, 5}, 0.1), 2.0);         // nothing was near
}

// The best half of the first module fails. A search that forgets failures
// comes back to it for ever, for all it sees of it is that it knows nothing.
TEST(NativeTpe, AvoidsWhereTrialsFail) {
  const auto count_failed = [](const char* failures) {
    int failed = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      auto tpe = MakeTpe(SevenLevels(5), {{"failures", failures}});
      const auto run = [&failed](std::int64_t number, const Point& point) {
        if (point[0] < 3.0) return RunBowl(number, point);
        failed += number >= 20;
        return InState(TrialState::kFailed, number, point);
      };
      Search(*tpe, 100, seed, run);
    }
    return failed;
  };
  const int avoiding = count_failed("avoid");
  EXPECT_LT(avoiding, 5 * 80 / 5);
  EXPECT_LT(2 * avoiding, count_failed("ignore"));
}

// Nothing ever works: proposals still move on, away from what failed.
TEST(NativeTpe, TriesOtherPointsWhenAllFail) {
  auto tpe = MakeTpe(SevenLevels(2));
  const History history =
      Search(*tpe, 49, 3, [](std::int64_t number, const Point& point) {
        return InState(TrialState::kInfeasible, number, point);
      });
  EXPECT_EQ(CountDistinct(history), 49u);
}

// Only the last module matters; the others cost time alone.
Observation RunForTime(const WorkCounter& counter, std::int64_t number,
                       const Point& point) {
  Observation trial = Succeeded(number, point, std::abs(point[7] - 4.0));
  trial.cost_s = 5.0 + 4.0 * counter.CountOf(point).passes();
  return trial;
}

TEST(NativeTpe, PrefersTheCheaperOfTwoThatAreAsGood) {
  const Space space = SevenLevels(8);
  const WorkCounter counter(space);
  const auto seconds = [&](const char* cost_aware) {
    auto tpe = MakeTpe(space, {{"cost_aware", cost_aware}});
    double sum = 0.0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const History history =
          Search(*tpe, 100, seed, [&](std::int64_t number, const Point& point) {
            return RunForTime(counter, number, point);
          });
      EXPECT_EQ(BestOf(history), 0.0);
      for (const Observation& trial : history.trials()) sum += trial.cost_s;
    }
    return sum;
  };
  EXPECT_LT(seconds("true"), 0.93 * seconds("false"));
}

// Until seconds are known, and where they hang on something else, a search is
// as without the option, to the bit.
TEST(NativeTpe, WhileCostsAreNotKnownNothingChanges) {
  const Space space = SevenLevels(4);
  auto aware = MakeTpe(space, {{"cost_aware", "true"}});
  auto plain = MakeTpe(space);
  Rng chance(3);
  const auto run = [&chance](std::int64_t number, const Point& point) {
    Observation trial = RunBowl(number, point);
    trial.cost_s = std::exp(8.0 * chance.Uniform());
    return trial;
  };
  const History history = Search(*plain, 60, 5, run);
  for (std::int64_t number = 60; number < 80; ++number) {
    Rng one(3, static_cast<std::uint64_t>(number));
    Rng two(3, static_cast<std::uint64_t>(number));
    EXPECT_TRUE(SamePoint(*aware->Propose(history, number, one),
                          *plain->Propose(history, number, two)));
  }
}

// 64 at once, in a space where chance alone would not repeat a point.
TEST(NativeTpe, KeepsABatchApart) {
  auto tpe = MakeTpe(SevenLevels(5));
  History history = Search(*tpe, 40, 6, RunBowl);
  for (std::int64_t number = 40; number < 104; ++number) {
    Rng rng(6, static_cast<std::uint64_t>(number));
    ASSERT_OK_AND_ASSIGN(const Point point, tpe->Propose(history, number, rng));
    history.Put(InState(TrialState::kRunning, number, point));
  }
  EXPECT_EQ(CountDistinct(history), 104u);
}

// What was enqueued and waits is not proposed once more.
TEST(NativeTpe, LeavesEnqueuedPointsToTheQueue) {
  auto tpe = MakeTpe(SevenLevels(1), {{"startup_trials", "1"}});
  History history;
  history.Put(Succeeded(0, {4.0}, 0.0));
  for (std::int64_t i = 1; i < 6; ++i) {
    history.Put(InState(TrialState::kQueued, i, {static_cast<double>(i % 4)}));
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    ASSERT_OK_AND_ASSIGN(const Point point, tpe->Propose(history, 9, rng));
    EXPECT_GT(point[0], 4.0);
  }
}

// The work of a proposal stops growing: as many kernels at 6,000 trials as
// at 3,000, and the same proposal as a sampler that sees all of it first now.
TEST(NativeTpe, DoesNotWorkMoreForALongHistory) {
  auto tpe = MakeTpe(SevenLevels(6));
  History history;
  Rng rng(8);
  std::vector<std::size_t> kernels;
  for (std::int64_t number = 0; number < 6'000; ++number) {
    Point point(6);
    for (double& level : point) level = static_cast<double>(rng.Below(7));
    history.Put(InState(TrialState::kRunning, number, point));
    history.Put(RunBowl(number, point));
    if (number % 3'000 != 2'999) continue;
    auto fresh = MakeTpe(SevenLevels(6));
    Rng one(2), two(2);
    EXPECT_TRUE(SamePoint(*tpe->Propose(history, number + 1, one),
                          *fresh->Propose(history, number + 1, two)));
    kernels.push_back(tpe->kernels_used());
  }
  EXPECT_EQ(tpe->table().rebuilds(), 0u);
  EXPECT_LE(kernels[1], 256u + 25u);
  EXPECT_LE(kernels[1], kernels[0] + 8);
}

TEST(NativeTpe, RefusesADedupThatIsNone) {
  for (const char* dedup : {"", "replicate", "replicate:0", "replicate:2x"}) {
    EXPECT_THAT(ReadTpeOptions({{{"dedup", dedup}}, SevenLevels(1), kLoss, {}}),
                FailsAt(ErrorId::kSamplerInvalid, "sampler.options.dedup"));
  }
}

TEST(NativeTpe, CoversASmallSpaceWithoutRepeatingAPoint) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    auto tpe = MakeTpe(SevenLevels(2));
    const History history = Search(*tpe, 60, seed, RunBowl);
    EXPECT_EQ(history.size(), 60u);  // and goes on when all is known
    EXPECT_EQ(CountDistinct(history), 49u);
    std::set<std::uint64_t> first;
    for (std::size_t i = 0; i < 49; ++i) {
      first.insert(HashPoint(history.trials()[i].point));
    }
    EXPECT_EQ(first.size(), 49u);
  }
}

TEST(NativeTpe, TriesAPointAsOftenAsItIsTold) {
  for (const int times : {1, 2, 3}) {
    auto tpe = MakeTpe(SevenLevels(1),
                       {{"dedup", "replicate:" + std::to_string(times)}});
    const History history = Search(*tpe, 7 * times, 1, RunBowl);
    std::vector<int> count(7, 0);
    for (const Observation& trial : history.trials()) {
      ++count[static_cast<std::size_t>(trial.point[0])];
    }
    EXPECT_EQ(count, std::vector<int>(7, times));
  }
  auto off = MakeTpe(SevenLevels(2), {{"dedup", "off"}});
  EXPECT_LT(CountDistinct(Search(*off, 49, 1, RunBowl)), 45u);
}

// A trial is one try, however often its state changed.
TEST(NativeTpe, CountsATryOnce) {
  auto tpe = MakeTpe(SevenLevels(1), {{"dedup", "replicate:2"}});
  History history;
  std::vector<int> count(7, 0);
  for (std::int64_t number = 0; number < 14; ++number) {
    Rng rng(1, static_cast<std::uint64_t>(number));
    ASSERT_OK_AND_ASSIGN(const Point point, tpe->Propose(history, number, rng));
    history.Put(InState(TrialState::kRunning, number, point));
    ASSERT_OK(tpe->Propose(history, number, rng));  // asked while it runs
    history.Put(RunBowl(number, point));
    ++count[static_cast<std::size_t>(point[0])];
  }
  EXPECT_EQ(count, std::vector<int>(7, 2));
}

// Depth 3 is one point, depth 0 is 27: a small branch is neither repeated nor
// shunned, and each of the 40 points is found.
TEST(NativeTpe, CoversEveryBranchOfAConditionalSpace) {
  auto tpe = MakeTpe(DepthAndLayers(3));
  const History history =
      Search(*tpe, 40, 2, [](std::int64_t number, const Point& point) {
        return Succeeded(number, point, point[0]);
      });
  EXPECT_EQ(CountDistinct(history), 40u);
}

TEST(NativeTpe, FindsTheBestOfASmallBranch) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    auto tpe = MakeTpe(DepthAndLayers(6));
    const auto run = [](std::int64_t number, const Point& point) {
      double loss = 2.0 * std::abs(point[0] - 5.0);
      for (std::size_t i = 1; i < point.size(); ++i) {
        if (!IsAbsent(point[i])) loss += 2.0 - point[i];
      }
      return Succeeded(number, point, loss);
    };
    found += BestOf(Search(*tpe, 40, seed, run)) == 0.0;
  }
  EXPECT_GE(found, 9);  // 1 of 1093 points
}

// A bowl with its lowest point at level `center` of every module.
double Bowl(const Point& point, double center) {
  double loss = 0.0;
  for (const double level : point) loss += (level - center) * (level - center);
  return loss;
}

// A search for the bowl at `center`.
PriorStudy Earlier(double center, double weight) {
  auto tpe = MakeTpe(SevenLevels(8));
  const auto run = [center](std::int64_t number, const Point& point) {
    return Succeeded(number, point, Bowl(point, center));
  };
  return {.name = "earlier",
          .weight = weight,
          .trials = Search(*tpe, 60, 99, run).trials()};
}

// The mean of the best of 30 trials over seeds; the study's bowl is at 5.
double MeanBest(const std::vector<PriorStudy>& priors,
                const Options& options = {}) {
  double sum = 0.0;
  constexpr int kSeeds = 20;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    auto tpe = MakeTpe(SevenLevels(8), options, priors);
    double best = INFINITY;
    Search(*tpe, 30, seed, [&best](std::int64_t number, const Point& point) {
      const double loss = Bowl(point, 5.0);
      best = std::min(best, loss);
      return Succeeded(number, point, loss);
    });
    sum += best / kSeeds;
  }
  return sum;
}

TEST(WarmStart, ARelatedStudyHelpsAndAnUnrelatedOneDoesNotHurt) {
  const double alone = MeanBest({});
  EXPECT_LT(MeanBest({Earlier(5.0, 0.0)}), 0.4 * alone);
  EXPECT_LT(MeanBest({Earlier(4.0, 0.0)}), 0.8 * alone);
  EXPECT_LT(MeanBest({Earlier(1.0, 0.0)}), 1.2 * alone);
}

TEST(WarmStart, AGivenWeightIsNotJudged) {
  EXPECT_LT(MeanBest({Earlier(5.0, 1.0)}), 0.4 * MeanBest({}));
  EXPECT_GT(MeanBest({Earlier(1.0, 1.0)}), 2 * MeanBest({Earlier(1.0, 0.0)}));
}

TEST(WarmStart, CanBeSwitchedOff) {
  EXPECT_EQ(MeanBest({Earlier(5.0, 1.0)}, {{"warm_start", "false"}}),
            MeanBest({}));
}

TEST(WarmStart, TrialsThatTellNothingAreNone) {
  PriorStudy study = Earlier(5.0, 0.0);
  for (Observation& trial : study.trials) trial.state = TrialState::kFailed;
  EXPECT_EQ(MeanBest({study}), MeanBest({}));
}

// A study is its log: from the order in which trials were leased and ended,
// and the study's seed, every proposal comes out again, bit for bit.

struct Event {
  std::int64_t number = 0;
  bool lease = true;  // else it ended
  Observation outcome;
};

Observation Outcome(std::int64_t number, const Point& point, Rng& rng) {
  if (rng.Uniform() < 0.1) return InState(TrialState::kFailed, number, point);
  Observation trial = Succeeded(number, point, rng.Normal());
  if (rng.Uniform() < 0.2) {
    trial.state = TrialState::kPruned;
    trial.intermediate = {{1, rng.Normal()}};
    trial.values.clear();
  }
  return trial;
}

// Runs 60 trials on eight workers; what was proposed is in the history.
std::vector<Event> RunParallel(const Space& space, std::uint64_t seed,
                               History& history) {
  auto tpe = MakeTpe(space);
  Rng chance(seed + 100);
  std::vector<Event> log;
  std::vector<std::int64_t> running;
  for (std::int64_t next = 0; next < 60 || !running.empty();) {
    if (next < 60 && running.size() < 8 && chance.Uniform() < 0.7) {
      Rng rng(seed, static_cast<std::uint64_t>(next));
      const Point point = *tpe->Propose(history, next, rng);
      history.Put(InState(TrialState::kRunning, next, point));
      log.push_back({next, true, {}});
      running.push_back(next++);
    } else if (!running.empty()) {
      const auto which = running.begin() + static_cast<std::ptrdiff_t>(
                                               chance.Below(running.size()));
      const Point& point = history.Find(*which)->point;
      log.push_back({*which, false, Outcome(*which, point, chance)});
      history.Put(log.back().outcome);
      running.erase(which);
    }
  }
  return log;
}

TEST(Replay, ProposalsComeOutOfTheLogAgain) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Rng rng(seed);
    const Space space = seed % 2 == 0 ? SevenLevels(6) : OddSpace(rng, false);
    History history;
    const std::vector<Event> log = RunParallel(space, seed, history);
    History again;
    for (const Event& event : log) {
      if (!event.lease) {
        again.Put(event.outcome);
        continue;
      }
      // A fresh sampler each time: nothing but the log may matter.
      auto tpe = MakeTpe(space);
      Rng stream(seed, static_cast<std::uint64_t>(event.number));
      ASSERT_OK_AND_ASSIGN(const Point point,
                           tpe->Propose(again, event.number, stream));
      ASSERT_TRUE(SamePoint(point, history.Find(event.number)->point))
          << "seed " << seed << " trial " << event.number;
      again.Put(InState(TrialState::kRunning, event.number, point));
    }
  }
}

const Levels kSeven{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}};

double Sum(const CellKernel& kernel, std::size_t cells, Cell center) {
  double sum = 0.0;
  for (Cell x = 0; x < cells; ++x) sum += kernel.Probability(center, x);
  return sum;
}

TEST(CellKernel, ProbabilitiesOfEveryCenterSumToOne) {
  const std::vector<CellAxis> axes = {
      {kSeven, true, 0.2},
      {kSeven, false, 0.2},
      {Categorical{{"1", "2", "3"}}, true, 0.2},
      {LogUniform{1e-6, 1e-2, true}, true, 0.2},
      {FloatRange{0.0, 1.0, 0.0, false}, true, 0.2}};
  for (const CellAxis& axis : axes) {
    for (const double width : {0.01, 0.1, 1.0}) {
      const CellKernel kernel(axis, width, 2.0);
      for (Cell c = 0; c < axis.cells(); ++c) {
        EXPECT_NEAR(Sum(kernel, axis.cells(), c), 1.0, 1e-9);
      }
    }
  }
}

TEST(CellKernel, NeighbouringLevelsAreAlike) {
  const CellAxis axis(kSeven, true, 0.2);
  const CellKernel kernel(axis, 0.1, 1.0);
  for (Cell x = 4; x < 6; ++x) {
    EXPECT_GT(kernel.Probability(3, x), 2 * kernel.Probability(3, x + 1));
  }
  const CellAxis choices(kSeven, false, 0.2);
  const CellKernel flat(choices, 0.1, 1.0);
  EXPECT_DOUBLE_EQ(flat.Probability(3, 4), flat.Probability(3, 6));
}

TEST(CellKernel, FrozenIsAsFarAsItIsSaidToBe) {
  const CellAxis axis(kSeven, true, 0.2);
  const CellKernel near(axis, 0.1, 1.0), far(axis, 0.1, 4.0);
  // One step away is what the lowest rate is from the next one.
  EXPECT_NEAR(near.Probability(0, 1) / near.Probability(0, 0),
              near.Probability(2, 1) / near.Probability(2, 2), 1e-12);
  EXPECT_LT(far.Probability(0, 1), 1e-3 * near.Probability(0, 1));
  EXPECT_NEAR(far.Probability(3, 2), near.Probability(3, 2), 0.01);
}

TEST(CellKernel, FrozenAmongRatesHasItsShareOfThePrior) {
  const CellAxis axis(LogUniform{1e-6, 1e-2, true}, true, 0.3);
  EXPECT_TRUE(axis.frozen());
  EXPECT_DOUBLE_EQ(axis.prior(0), 0.3);
  EXPECT_EQ(axis.CellOf(0.0), 0);
  EXPECT_EQ(axis.CellOf(1e-6), 1);
  EXPECT_EQ(axis.CellOf(1e-2), CellAxis::kBins);
}

TEST(CellKernel, DrawsAreAsLikelyAsItSays) {
  const CellAxis axis(kSeven, true, 0.2);
  CellKernel kernel(axis, 0.15, 2.0);
  Rng rng(3);
  std::vector<int> count(7, 0);
  for (int i = 0; i < 20'000; ++i) ++count[kernel.Draw(4, rng)];
  for (Cell x = 0; x < 7; ++x) {
    EXPECT_NEAR(count[x] / 20'000.0, kernel.Probability(4, x), 0.02);
  }
}

TEST(CellAxis, ACellHoldsItsValues) {
  Rng rng(1);
  for (int i = 0; i < 300; ++i) {
    const Space space = OddSpace(rng, false);
    for (const Parameter& parameter : space.parameters()) {
      const CellAxis axis(parameter.domain, true, 0.2);
      const auto cell = static_cast<Cell>(rng.Below(axis.cells()));
      const double value = axis.ValueIn(cell, rng);
      EXPECT_TRUE(Contains(parameter.domain, value)) << value;
      if (axis.exact()) {
        EXPECT_EQ(axis.CellOf(value), cell);
      }
    }
  }
}

class Density : public testing::Test {
 protected:
  // Three trials over two axes, the second one absent from the last.
  CellDensity Make(double separate_share) {
    CellDensity density(
        axes_, {&kernels_.Get(0, 0.2, 2.0), &kernels_.Get(1, 0.1, 2.0)},
        {.prior_weight = 0.5, .separate_share = separate_share});
    for (const CellRow& cells :
         {CellRow{2, 6}, CellRow{3, 1}, CellRow{0, kNoCell}}) {
      density.Add(cells, 1.0 + cells[0]);
    }
    density.Finish();
    return density;
  }

  std::vector<CellAxis> axes_ = {{Categorical{{"1", "2", "3", "4"}}, true, 0.2},
                                 {kSeven, true, 0.2}};
  KernelCache kernels_{axes_};
};

TEST_F(Density, IsOneOverAllCells) {
  for (const double share : {0.0, 0.5, 1.0}) {
    CellDensity density = Make(share);
    double sum = 0.0;
    for (Cell a = 0; a < 4; ++a) {
      for (Cell b = 0; b < 7; ++b) {
        sum += std::exp(density.LogRatio({a, b})) / 28.0;
      }
    }
    EXPECT_NEAR(sum, 1.0, 1e-6);
  }
}

TEST_F(Density, IsHighWhereTrialsLieTogether) {
  CellDensity together = Make(0.0), separately = Make(1.0);
  EXPECT_GT(together.LogRatio({2, 6}), together.LogRatio({2, 1}) + 1.0);
  EXPECT_GT(together.LogRatio({3, 1}), separately.LogRatio({3, 1}));
}

TEST_F(Density, MovesAreWhatTheyAreFromScratch) {
  CellDensity density = Make(0.4);
  const CellRow x = {1, 4};
  std::vector<double> moves;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    density.LogRatio(x);
    density.LogRatiosOfMoves(x, axis, moves);
    ASSERT_EQ(moves.size(), axes_[axis].cells());
    for (Cell v = 0; v < moves.size(); ++v) {
      CellRow moved = x;
      moved[axis] = v;
      EXPECT_NEAR(moves[v], Make(0.4).LogRatio(moved), 1e-9);
    }
  }
}

TEST_F(Density, OfNothingIsThePrior) {
  CellDensity density(axes_,
                      {&kernels_.Get(0, 0.2, 2.0), &kernels_.Get(1, 0.1, 2.0)},
                      {.prior_weight = 0.5, .separate_share = 0.5});
  density.Finish();
  EXPECT_DOUBLE_EQ(density.LogRatio({1, 4}), 0.0);
}

// 400 parameters: products of likenesses are far below the smallest double.
TEST(CellDensity, IsFiniteInManyDimensions) {
  const std::vector<CellAxis> axes(400, CellAxis(kSeven, true, 0.2));
  KernelCache kernels(axes);
  CellDensity density(axes, std::vector(400, &kernels.Get(0, 0.06, 1.0)),
                      {.prior_weight = 0.5, .separate_share = 0.5});
  density.Add(CellRow(400, 1), 1.0);
  density.Finish();
  EXPECT_TRUE(std::isfinite(density.LogRatio(CellRow(400, 6))));
  EXPECT_GT(density.LogRatio(CellRow(400, 1)),
            density.LogRatio(CellRow(400, 6)));
}

}  // namespace
}  // namespace frostline::sampler
