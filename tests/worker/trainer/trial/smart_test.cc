// SPDX-License-Identifier: Apache-2.0
//
// What SMART's formulas compute is recorded (tests/parity); here is what a
// trial makes of them.
#include "gmock/gmock.h"
#include "tests/worker/trainer/trial/trial_world.h"

namespace frostline::trainer {
namespace {

using ::testing::HasSubstr;

constexpr char kPrefix[] = R"("embeddings": 0, "layer.0": 0, "layer.1": 1e-3,
    "layer.2": 1e-3, "pooler": 1e-3, "head": 1e-2)";

std::string Training(const std::string& smart) {
  return R"("epochs": 2, "extra": {"dropout": 0.1}, "smart": {"weight": 1,
      "radius": 0.05, "step_size": 0.05, "noise_variance": 1e-4, )" +
         smart + "},";
}

Metrics ScoredSmart(TrialEnd end) {
  EXPECT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  end.metrics.erase("train_seconds");
  return end.metrics;
}

TEST(SmartTrial, BothWaysToEnterAreTheSameBitsWithAStoredPrefix) {
  TrialWorld world;
  for (const char* enter : {"embeddings", "boundary"}) {
    world.prefixes.reset();
    TrialMessage trial = world.Trial(
        Training("\"enter\": \"" + std::string(enter) + "\""), kPrefix);
    trial.training.freeze.prefix_dropout = PrefixDropout::kOff;
    const Metrics alone = ScoredSmart(world.Run(trial));
    world.prefixes =
        PrefixStore::Open(world.folder() + "/prefix", 1U << 30U).value();
    EXPECT_EQ(alone, ScoredSmart(world.Run(trial)));
    const TrialEnd found = world.Run(trial);
    EXPECT_EQ(alone, ScoredSmart(found));
    EXPECT_EQ(found.usage->prefix.misses, 0);
  }
}

TEST(SmartTrial, TheMeanOfWeightsGoesOnAfterAnyStop) {
  TrialWorld world;
  const TrialMessage whole =
      world.Trial(Training(R"("bregman": 1, "momentum": 0.5)"), kPrefix);
  const Metrics expected = ScoredSmart(world.Run(whole));
  EXPECT_NE(expected, ScoredSmart(world.Run(
                          world.Trial(Training(R"("bregman": 0)"), kPrefix))));
  int stops = 0;
  for (int asked = 2; asked < 24; asked += 3) {
    Witness first;
    first.StopAfter(asked, StopReason::kPreempt);
    if (world.Run(whole, first).state != TrialState::kStopped) break;
    if (first.checkpoint.empty()) continue;
    ++stops;
    TrialMessage rest = whole;
    rest.resume_path = world.folder() + "/" + first.checkpoint;
    rest.resume_step = first.checkpoint_step;
    Witness second;
    EXPECT_EQ(ScoredSmart(world.Run(rest, second)), expected) << asked;
    EXPECT_THAT(second.log, HasSubstr("goes on from step"));
  }
  EXPECT_GT(stops, 1);
}

double SpentOn(const std::string& smart, const std::string& rates) {
  TrialWorld world;
  TrialMessage trial = world.Trial(smart, rates);
  trial.training.freeze.prefix_dropout = PrefixDropout::kOff;
  const TrialEnd end = world.Run(trial);
  EXPECT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  return end.usage ? end.usage->flops_spent : 0.0;
}

// Where all trains a step is three passes forward; each further one of the
// adversary goes back as far, but to no weight.
TEST(SmartTrial, AllItsPassesAreCounted) {
  const std::string all = R"("embeddings": 1e-4, "layer.0": 1e-4,
      "layer.1": 1e-4, "layer.2": 1e-4, "pooler": 1e-4, "head": 1e-4)";
  const double plain = SpentOn(R"("epochs": 2,)", all);
  const double one = SpentOn(Training(R"("steps": 1)"), all);
  const double pass = SpentOn(Training(R"("steps": 2)"), all) - one;
  EXPECT_GT(pass, plain * 2.0 / 3.0);
  EXPECT_LT(pass, plain);
  EXPECT_DOUBLE_EQ(one, 2.0 * plain + pass);
  EXPECT_DOUBLE_EQ(SpentOn(Training(R"("bregman": 1)"), all),
                   one + plain / 3.0);
}

// Two of three layers are frozen, and their boundary is taken by both.
TEST(SmartTrial, AtTheBoundaryNothingBelowIsComputed) {
  const std::string rates = R"("embeddings": 0, "layer.0": 0, "layer.1": 0,
      "layer.2": 1e-4, "pooler": 1e-4, "head": 1e-4)";
  const double plain = SpentOn(R"("epochs": 2,)", rates);
  const double above = SpentOn(Training(R"("enter": "boundary")"), rates);
  EXPECT_GT(above, plain);
  EXPECT_GT(SpentOn(Training(R"("enter": "embeddings")"), rates), 2.0 * above);
}

TEST(SmartTrial, AnAdversaryThatIsNoNumberEndsTheTrialByItsName) {
  TrialWorld world;
  const TrialEnd end = world.Run(world.Trial(
      R"("smart": {"weight": 1, "noise_variance": 1e70, "radius": 1e36},)"));
  EXPECT_EQ(end.state, TrialState::kInfeasible);
  EXPECT_THAT(end.cause, HasSubstr("FL-5017"));
  EXPECT_THAT(end.cause, HasSubstr("the adversary (training.smart) at step 1"));
  EXPECT_THAT(end.cause, HasSubstr("smaller training.smart.radius"));
}

}  // namespace
}  // namespace frostline::trainer
