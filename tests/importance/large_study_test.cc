// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <stop_token>
#include <string>

#include "base/error.h"
#include "gmock/gmock.h"
#include "importance/curves.h"
#include "importance/evaluator.h"
#include "importance/measure/evaluate_options.h"
#include "importance/plan/frontier.h"
#include "importance/plan/plan_trials.h"
#include "importance/plan/study_plan.h"
#include "importance/ranking.h"
#include "tests/importance/allocations.h"
#include "tests/importance/plan/plan_trials.h"
#include "tests/importance/trials.h"
#include "tests/support/objectives.h"
#include "tests/support/status_matchers.h"
#include "tests/support/watched.h"

namespace frostline::importance {
namespace {

// Ten thousand trials of five hundred parameters: what is asked of them is
// answered, or refused with the reason, and takes memory by the trials and the
// parameters. Seconds are for the benchmark.

constexpr int kManyTrials = 10000;
constexpr int kParameters = 500;
// Several copies of all values, and far fewer allocations than there are.
constexpr std::int64_t kMostBytes = 8LL * 8 * kManyTrials * kParameters;
constexpr std::int64_t kMostCalls = 1LL * kManyTrials * kParameters / 2;

// Every third parameter is the rate of a layer by levels, every third one that
// may be frozen, the others are numbers.
Space LargeSpace() {
  std::vector<Parameter> parameters;
  std::vector<ModuleBinding> modules;
  for (int i = 0; i < kParameters; ++i) {
    const std::string name = "layer." + std::to_string(i);
    Domain domain = FloatRange{0.0, 1.0, 0.0, false};
    if (i % 3 == 0) domain = Levels{{0.0, 1e-5, 2e-5, 5e-5, 1e-4}};
    if (i % 3 == 1) domain = LogUniform{1e-6, 1e-3, true};
    parameters.push_back({name, domain, {}});
    if (i % 3 != 2) modules.push_back({name, i, 0.0, {}});
  }
  return Space(parameters, modules, std::nullopt);
}

class LargeStudy : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (kWatched) return;
    space = new Space(LargeSpace());
    history = new History(
        UniformTrials(*space, kManyTrials, [](const Point& point, Rng& rng) {
          return (point[0] + point[3] / 2.0) * 1e4 + 0.3 * rng.Normal();
        }));
  }
  static void TearDownTestSuite() {
    delete history;
    delete space;
  }
  void SetUp() override {
    if (kWatched) GTEST_SKIP() << kMeasuresOnly;
  }

  template <typename Ask>
  static void ExpectWithinBounds(const Ask& ask) {
    const Allocations taken = AllocationsOf(ask);
    EXPECT_LE(taken.most_bytes, kMostBytes);
    EXPECT_LE(taken.calls, kMostCalls);
  }

  static EvaluateOptions With(const std::string& evaluator) {
    EvaluateOptions options;
    options.evaluator = evaluator;
    options.trees = 1;
    options.threads = 2;
    return options;
  }

  static const Space* space;
  static const History* history;
};

const Space* LargeStudy::space = nullptr;
const History* LargeStudy::history = nullptr;

TEST_F(LargeStudy, IsExplainedWithinBounds) {
  for (const std::string name : {"fanova", "levels", "ped-anova"}) {
    ExpectWithinBounds([&] {
      ASSERT_OK_AND_ASSIGN(const Report report,
                           Evaluate(*space, kLoss, *history, With(name)));
      EXPECT_EQ(report.trials_used, kManyTrials);
      EXPECT_EQ(report.parameters[0].rank, 1) << name;
      EXPECT_GT(report.parameters[0].main.hi95, report.parameters[0].main.lo95);
      EXPECT_TRUE(report.parameters[0].distinguishable) << name;
    });
  }
}

// Four parameters together, which only trees describe; for the noise they split
// on all the others.
TEST_F(LargeStudy, IsExplainedWithinBoundsWhereTheForestCarries) {
  const History cliff =
      UniformTrials(*space, kManyTrials, [](const Point& point, Rng& rng) {
        const bool falls = point[0] > 0.0 && point[2] > 0.3 && point[5] > 0.3 &&
                           point[8] > 0.3;
        return (falls ? 2.0 : 0.0) + 0.3 * rng.Normal();
      });
  ExpectWithinBounds([&] {
    EvaluateOptions options = With("fanova");
    options.subsets = {{498, 499}};
    ASSERT_OK_AND_ASSIGN(const Report report,
                         Evaluate(*space, kLoss, cliff, options));
    EXPECT_EQ(report.carried_by.back().first, "forest");
    EXPECT_GT(report.carried_by.back().second, 0.5);
    EXPECT_LE(report.parameters[0].rank, 4);
    const auto& strongest = report.pairs.front();
    EXPECT_EQ(strongest.first, 2);
    EXPECT_EQ(strongest.second, 5);
    EXPECT_LE(report.pairs.size(), 2u * 64 * 63 / 2 + 1);
    EXPECT_NE(FindPair(report.pairs, {498, 499}), nullptr) << "asked for";
  });
}

TEST_F(LargeStudy, HasNoIntervalsOfForestsThatWouldTakeTooLong) {
  for (const std::string name : {"fanova-optuna", "forest", "mdi"}) {
    ExpectWithinBounds([&] {
      ASSERT_OK_AND_ASSIGN(const Report report,
                           Evaluate(*space, kLoss, *history, With(name)));
      ASSERT_FALSE(report.warnings.empty()) << name;
      EXPECT_EQ(report.warnings.back().code, "INTERVALS_LEFT_OUT");
      const ParameterImportance& one = report.parameters[0];
      EXPECT_GT(one.main.value, 0.0) << name;
      EXPECT_EQ(one.main.lo95, one.main.hi95) << "none was measured";
      EXPECT_FALSE(one.distinguishable) << "nobody looked";
    });
  }
}

TEST_F(LargeStudy, RefusesAForestThatWouldTakeTooLong) {
  for (const std::string name : {"fanova-optuna", "forest", "mdi"}) {
    EvaluateOptions many = With(name);
    many.trees = 1024;
    EXPECT_THAT(Evaluate(*space, kLoss, *history, many),
                FailsAt(ErrorId::kRequestInvalid, "options.trees"));
  }
}

TEST_F(LargeStudy, HasCurvesWithinBounds) {
  ExpectWithinBounds([&] {
    ASSERT_OK_AND_ASSIGN(
        const auto curves,
        MarginalCurves(*space, kLoss, *history, With("fanova")));
    ASSERT_EQ(curves.size(), kParameters);
    EXPECT_EQ(curves[0].best, 0.0);
    EXPECT_EQ(curves[3].best, 0.0);
  });
}

TEST_F(LargeStudy, IsPlannedForWithinBounds) {
  ExpectWithinBounds([&] {
    ASSERT_OK_AND_ASSIGN(const StudyPlan plan,
                         MakePlan(*space, kLoss, *history, {}));
    EXPECT_EQ(plan.modules[0].module, "layer.0");
    EXPECT_TRUE(plan.modules[0].freeze);
    EXPECT_TRUE(std::isfinite(plan.predicted_score.value));
  });
}

TEST_F(LargeStudy, HasAVerdictOnItsRankingWithinBounds) {
  EvaluateOptions options = With("ped-anova");
  options.bootstraps = 0;
  const Allocations taken = AllocationsOf([&] {
    ASSERT_OK_AND_ASSIGN(const Stability stability,
                         EvaluateStability(*space, kLoss, *history, options,
                                           /*points=*/2));
    EXPECT_EQ(stability.points.size(), 2u);
    EXPECT_TRUE(std::isfinite(stability.verdict.half_tau.value));
    EXPECT_FALSE(stability.verdict.sentence.empty());
  });
  EXPECT_LE(taken.most_bytes, kMostBytes) << "two parts at the same time";
}

TEST(TreeWork, IsRefusedByTrialsTimesParameters) {
  EXPECT_OK(CheckTreeWork(10000, 500, 64));
  EXPECT_OK(CheckTreeWork(1000, 32, 1024));
  EXPECT_THAT(CheckTreeWork(100000, 500, 64),
              FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(CheckTreeWork(1000000, 10000, 1),
              FailsWith(ErrorId::kRequestInvalid));
  EXPECT_TRUE(CanGrowForIntervals(10000, 32, 640));
  EXPECT_FALSE(CanGrowForIntervals(10000, 500, 640));
}

// What is computed after a stop: nothing that anybody gets, and little at all.
// Counted in what it asks of memory, which is the same on any machine.

constexpr int kPlaces = 12;

// A cliff, so that there is something for every part of an evaluator to do.
History CliffTrials(const Space& space, int trials) {
  return UniformTrials(space, trials, [](const Point& p, Rng& rng) {
    return p[0] + (p[1] > 3 && p[2] > 3 && p[3] > 3 ? 6.0 : 0.0) +
           0.1 * rng.Normal();
  });
}

class StopTest : public testing::Test {
 protected:
  using Computation = std::function<absl::Status(const EvaluateOptions&)>;

  // Stops it at `kPlaces` places, evenly spread over all that it asks of
  // memory, and returns the largest part of that which came after a stop.
  static double MostAfterStop(EvaluateOptions options,
                              const Computation& compute) {
    options.threads = 1;
    const Allocations all = AllocationsOf([&] { EXPECT_OK(compute(options)); });
    double most = 0.0;
    for (int place = 1; place < kPlaces; ++place) {
      std::stop_source source;
      options.stop = source.get_token();
      absl::Status ended;
      const Allocations after =
          AllocationsAfterStop(all.calls * place / kPlaces, source,
                               [&] { ended = compute(options); });
      EXPECT_TRUE(absl::IsCancelled(ended)) << place << ": " << ended;
      most = std::max(
          {most, Part(after.calls, all.calls), Part(after.bytes, all.bytes)});
    }
    return most;
  }

 private:
  static double Part(std::int64_t some, std::int64_t all) {
    return static_cast<double>(some) / static_cast<double>(all);
  }

  void SetUp() override {
    if (kWatched) GTEST_SKIP() << "a sanitizer has its own operators";
  }
};

TEST_F(StopTest, EveryEvaluatorEndsSoon) {
  const Space space = LevelSpace(8, 7);
  const History history = CliffTrials(space, 300);
  for (const std::string& name : EvaluatorNames()) {
    EvaluateOptions options;
    options.evaluator = name;
    options.trees = 16;
    options.bootstraps = 16;
    const double most =
        MostAfterStop(options, [&](const EvaluateOptions& asked) {
          return Evaluate(space, kLoss, history, asked).status();
        });
    EXPECT_LT(most, 0.2) << name;
  }
}

TEST_F(StopTest, StabilityEndsSoon) {
  const Space space = LevelSpace(5, 5);
  const History history = CliffTrials(space, 60);
  EvaluateOptions options;
  options.bootstraps = 0;
  options.trees = 16;
  const double most = MostAfterStop(options, [&](const EvaluateOptions& asked) {
    return EvaluateStability(space, kLoss, history, asked, 5).status();
  });
  EXPECT_LT(most, 0.05);
}

TEST_F(StopTest, CurvesEndSoon) {
  const Space space = LevelSpace(12, 7);
  const History history = CliffTrials(space, 300);
  const double most = MostAfterStop({}, [&](const EvaluateOptions& asked) {
    return MarginalCurves(space, kLoss, history, asked).status();
  });
  EXPECT_LT(most, 0.2);
}

TEST_F(StopTest, PlansEndSoon) {
  const Space space = Modules(10, 5);
  const History history = UniformTrials(space, 100, TwoMatterNoisily);
  const auto of_basis = [&](const EvaluateOptions& asked, const auto& make) {
    const PlanOptions options{.evaluate = asked};
    const auto basis = MakePlanBasis(space, kLoss, history, options);
    return basis.ok() ? make(**basis, options).status() : basis.status();
  };
  const double most =
      MostAfterStop({}, [&](const EvaluateOptions& asked) -> absl::Status {
        RETURN_IF_ERROR(of_basis(asked, [](const auto& basis, const auto& how) {
          return MakeFrontier(basis, how);
        }));
        RETURN_IF_ERROR(of_basis(asked, [](const auto& basis, const auto& how) {
          return AskTrials(basis, {}, how, 8);
        }));
        return of_basis(asked, [](const auto& basis, const auto& how) {
          return MakePlan(basis, how);
        });
      });
  EXPECT_LT(most, 0.1);
}

// It is stopped before it begins; the rest of what was asked is as if never.
TEST_F(StopTest, AStopBeforeItBeginsLeavesNothingToDo) {
  const Space space = LevelSpace(8, 7);
  const History history = CliffTrials(space, 300);
  std::stop_source source;
  source.request_stop();
  EvaluateOptions options;
  options.stop = source.get_token();
  const Allocations asked = AllocationsOf([&] {
    EXPECT_TRUE(
        absl::IsCancelled(Evaluate(space, kLoss, history, options).status()));
  });
  EXPECT_LT(asked.calls, 100);
  options.stop = {};
  EXPECT_OK(Evaluate(space, kLoss, history, options).status());
}

}  // namespace
}  // namespace frostline::importance
