// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/freezing_check.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/worker/trainer/trial/trial_world.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Whole trials that tell what became of their modules.

// Embeddings and two of three layers are frozen.
constexpr char kFrozen[] =
    R"("embeddings": 0, "layer.0": 0, "layer.1": 0, "layer.2": 1e-3,
       "pooler": 1e-3, "head": 1e-2)";

TrialMessage Told(const TrialWorld& world, const std::string& training,
                  const std::string& rates = kFrozen) {
  TrialMessage trial = world.Trial(training, rates);
  trial.takes_audit = true;
  return trial;
}

// Changes a frozen weight behind the trial's back, at its first report.
class Meddler : public Witness {
 public:
  explicit Meddler(std::shared_ptr<const Pretrained> pretrained)
      : pretrained_(std::move(pretrained)) {}

  void Report(std::int64_t step, std::int64_t total,
              const Metrics& metrics) override {
    Witness::Report(step, total, metrics);
    for (const Weight& each : pretrained_->loaded.model.weights()) {
      if (each.spec.layer != 1 || done_) continue;
      const at::Tensor value = each.value.detach();
      value.view({-1})[0] += 0.5;
      done_ = true;
    }
  }

 private:
  std::shared_ptr<const Pretrained> pretrained_;
  bool done_ = false;
};

std::vector<double> Moved(const TrialEnd& end) {
  std::vector<double> moved;
  for (const ModuleAudit& each : end.usage->audit) moved.push_back(each.moved);
  return moved;
}

TEST(FreezingCheck, AFinishedTrialTellsWhatMoved) {
  TrialWorld world;
  const TrialEnd end = world.Run(Told(world, R"("epochs": 2,)"));
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  std::vector<std::string> names;
  for (const ModuleAudit& each : end.usage->audit) {
    names.push_back(each.module);
    EXPECT_EQ(each.moved > 0.0, each.rate > 0.0) << each.module;
    EXPECT_EQ(each.had_gradient, each.rate > 0.0) << each.module;
    EXPECT_EQ(each.activation_bytes > 0,
              each.rate > 0.0 && each.module != "pooler")
        << each.module;
  }
  EXPECT_THAT(names, ElementsAre("embeddings", "layer.0", "layer.1", "layer.2",
                                 "pooler", "head"));
  // An agent that does not take it is told nothing.
  TrialMessage silent = Told(world, R"("epochs": 1,)");
  silent.takes_audit = false;
  EXPECT_TRUE(world.Run(silent).usage->audit.empty());
}

TEST(FreezingCheck, AFrozenLayerChangedBehindItsBackFailsTheTrial) {
  TrialWorld world;
  const TrialMessage trial = Told(world, R"("epochs": 2,)");
  const TrialEnd clean = world.Run(trial);
  std::vector<std::string> log;
  const TrialSetup setup =
      world.trial_preparer().Prepare(trial, {}, log).value();
  Meddler meddler(setup.pretrained);
  const TrialEnd end = world.Run(trial, meddler);
  EXPECT_EQ(end.state, TrialState::kFailed);
  EXPECT_EQ(end.failure, FailureClass::kTrial);
  EXPECT_THAT(end.cause, StartsWith("FL-5018: layer.1 is frozen and moved ("));
  EXPECT_THAT(end.cause, Not(HasSubstr("layer.0")));
  EXPECT_GT(end.usage->audit[2].moved, 0.0);
  // The next trial does not go on from the weights that were changed.
  TrialEnd next = world.Run(trial);
  ASSERT_EQ(next.state, TrialState::kSucceeded) << next.cause;
  EXPECT_EQ(next.metrics.at("loss"), clean.metrics.at("loss"));
}

// Sums are taken once for all trials of a model.
TEST(FreezingCheck, AChangeBetweenTwoTrialsIsFoundByTheNext) {
  TrialWorld world;
  const TrialMessage trial = Told(world, R"("epochs": 1,)");
  ASSERT_EQ(world.Run(trial).state, TrialState::kSucceeded);
  std::vector<std::string> log;
  const TrialSetup setup =
      world.trial_preparer().Prepare(trial, {}, log).value();
  Meddler(setup.pretrained).Report(1, 1, {});
  const TrialEnd end = world.Run(trial);
  EXPECT_EQ(end.state, TrialState::kFailed);
  EXPECT_THAT(end.cause, StartsWith("FL-5018: layer.1 is frozen and moved ("));
}

TEST(FreezingCheck, AResumedTrialIsHeldAgainstItsVeryBeginning) {
  TrialWorld world;
  const TrialMessage trial = Told(world, R"("epochs": 3,)");
  const TrialEnd whole = world.Run(trial);
  Witness first;
  first.StopAfter(5, StopReason::kPreempt);
  ASSERT_EQ(world.Run(trial, first).state, TrialState::kStopped);
  ASSERT_GT(first.checkpoint_step, 0);
  TrialMessage rest = trial;
  rest.resume_path = world.folder() + "/" + first.checkpoint;
  rest.resume_step = first.checkpoint_step;
  Witness second;
  const TrialEnd resumed = world.Run(rest, second);
  ASSERT_EQ(resumed.state, TrialState::kSucceeded) << resumed.cause;
  EXPECT_EQ(second.begun_step, first.checkpoint_step);
  EXPECT_EQ(Moved(resumed), Moved(whole));
  EXPECT_GT(Moved(resumed)[3], 0.0);
}

TEST(FreezingCheck, ASharedPrefixChangesNothing) {
  TrialWorld world;
  TrialMessage trial = Told(world, R"("epochs": 2, "extra": {"dropout": 0},)");
  trial.training.freeze.prefix_dropout = PrefixDropout::kOff;
  const TrialEnd alone = world.Run(trial);
  world.prefixes =
      PrefixStore::Open(world.folder() + "/prefix", 1U << 30U).value();
  world.Run(trial);
  const TrialEnd shared = world.Run(trial);
  ASSERT_GT(shared.usage->prefix.hits, 0);
  EXPECT_EQ(Moved(shared), Moved(alone));
  EXPECT_EQ(shared.usage->audit[3].activation_bytes,
            alone.usage->audit[3].activation_bytes);
}

// What thaws late trains all the same, and is held against the first weights.
TEST(FreezingCheck, TheKeptWeightsMayBeThoseOfAnEarlierStep) {
  TrialWorld world;
  const TrialEnd end =
      world.Run(Told(world, R"("epochs": 3, "keep": "best",)"));
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  const TrialEnd last =
      world.Run(Told(world, R"("epochs": 3, "keep": "last",)"));
  EXPECT_EQ(Moved(end), Moved(last));
}

}  // namespace
}  // namespace frostline::trainer
