// SPDX-License-Identifier: Apache-2.0
//
// What is computed after a stop: nothing that anybody gets, and little at all.
// Counted in what it asks of memory, which is the same on any machine.
#include <stop_token>

#include "base/error.h"
#include "gmock/gmock.h"
#include "importance/curves.h"
#include "importance/evaluator.h"
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
