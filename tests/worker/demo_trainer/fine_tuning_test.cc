// SPDX-License-Identifier: Apache-2.0
#include "worker/demo_trainer/fine_tuning.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "worker/agent/process/protocol.h"
#include "worker/agent/process/trainer_process.h"

namespace frostline::demo_trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::size_t kLayer3 = 4;
constexpr std::size_t kHead = 7;
constexpr int kEpochs = 20;

const Task& SharedTask() {
  static const auto* task = new Task(MakeTask());
  return *task;
}

Settings Train(std::vector<std::size_t> modules, double rate) {
  Settings settings;
  for (const std::size_t m : modules) settings.rates[m] = rate;
  return settings;
}

std::vector<std::size_t> AllModules() { return {0, 1, 2, 3, 4, 5, 6, 7}; }

// Mean over seeds of the order of the examples.
double AccuracyOf(std::vector<std::size_t> modules, double rate) {
  double sum = 0.0;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    Settings settings = Train(modules, rate);
    settings.seed = seed;
    FineTuning training(SharedTask().pretrained, SharedTask().train, settings);
    for (int i = 0; i < kEpochs; ++i) training.Epoch();
    sum += Accuracy(training.network(), SharedTask().validation);
  }
  return sum / 3.0;
}

TEST(FineTuning, IsTheSameToTheLastBit) {
  const Settings settings = Train(AllModules(), 3e-3);
  FineTuning first(SharedTask().pretrained, SharedTask().train, settings);
  FineTuning second(MakeTask().pretrained, SharedTask().train, settings);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(first.Epoch(), second.Epoch());
  EXPECT_EQ(first.Save(), second.Save());
}

TEST(FineTuning, GoesOnAfterACheckpointAsIfNothingHadHappened) {
  const Settings settings = Train({kLayer3, kHead}, 1e-2);
  FineTuning whole(SharedTask().pretrained, SharedTask().train, settings);
  FineTuning half(SharedTask().pretrained, SharedTask().train, settings);
  for (int i = 0; i < 4; ++i) whole.Epoch();
  for (int i = 0; i < 2; ++i) half.Epoch();
  FineTuning rest(SharedTask().pretrained, SharedTask().train, settings);
  ASSERT_TRUE(rest.Restore(half.Save()));
  for (int i = 0; i < 2; ++i) rest.Epoch();
  EXPECT_EQ(rest.Save(), whole.Save());
  EXPECT_FALSE(rest.Restore("too short"));
}

TEST(FineTuning, FrozenModulesDoNotMove) {
  FineTuning training(SharedTask().pretrained, SharedTask().train,
                      Train({kLayer3, kHead}, 1e-2));
  training.Epoch();
  for (std::size_t m = 0; m < kModules; ++m) {
    const bool moved = training.network().module(m).weights !=
                       SharedTask().pretrained.module(m).weights;
    EXPECT_EQ(moved, m == kLayer3 || m == kHead) << ModuleNames()[m];
  }
  EXPECT_EQ(training.trained_parameters(), 16 * 16 + 16 + 16 * 4 + 4);
}

TEST(FineTuning, FreezingIsNotPaidFor) {
  const FineTuning all(SharedTask().pretrained, SharedTask().train,
                       Train(AllModules(), 1e-2));
  const FineTuning head(SharedTask().pretrained, SharedTask().train,
                        Train({kHead}, 1e-2));
  EXPECT_EQ(all.flops_skipped_per_example(), 0.0);
  EXPECT_LT(head.flops_per_example(), 0.4 * all.flops_per_example());
}

// The point of the demonstration: which layers train matters, and which ones is
// known.
TEST(Task, TheShiftedLayerAndTheHeadAreWhatToTrain) {
  const double right = AccuracyOf({kLayer3, kHead}, 1e-2);
  EXPECT_GT(right, AccuracyOf({kHead}, 1e-2) + 0.03);
  EXPECT_GT(right, AccuracyOf({kLayer3}, 1e-2) + 0.03);
  EXPECT_GT(right, AccuracyOf({1, kHead}, 1e-2) + 0.03);
  EXPECT_GT(right, AccuracyOf(AllModules(), 1e-2) + 0.08);
  EXPECT_GT(right,
            Accuracy(SharedTask().pretrained, SharedTask().validation) + 0.15);
}

constexpr double kStep = 1e-6;

Example SomeExample(Rng& rng) {
  Example example;
  for (std::size_t i = 0; i < kInputs; ++i) {
    example.input.push_back(rng.Normal());
  }
  example.label = rng.Below(kClasses);
  return example;
}

double Slope(Network& network, double& weight, const Example& example) {
  const double before = weight;
  weight = before + kStep;
  const double above = network.Loss(example);
  weight = before - kStep;
  const double below = network.Loss(example);
  weight = before;
  return (above - below) / (2.0 * kStep);
}

// Every weight of every module against a finite difference.
TEST(Network, BackpropagationIsTheSlopeOfTheLoss) {
  Rng rng(3);
  Network network(1.0, rng);
  const Example example = SomeExample(rng);
  Network gradient = network;
  gradient.SetZero();
  network.AddGradient(example, std::vector<bool>(kModules, true), &gradient);
  for (std::size_t m = 0; m < kModules; ++m) {
    Dense& dense = network.module(m);
    for (std::size_t i = 0; i < dense.weights.size(); ++i) {
      EXPECT_NEAR(gradient.module(m).weights[i],
                  Slope(network, dense.weights[i], example), 1e-7)
          << ModuleNames()[m] << " weight " << i;
    }
    for (std::size_t i = 0; i < dense.bias.size(); ++i) {
      EXPECT_NEAR(gradient.module(m).bias[i],
                  Slope(network, dense.bias[i], example), 1e-7)
          << ModuleNames()[m] << " bias " << i;
    }
  }
}

TEST(Network, FrozenModulesGetNoGradientAndOthersTheSame) {
  Rng rng(4);
  const Network network(1.0, rng);
  const Example example = SomeExample(rng);
  Network all = network;
  all.SetZero();
  Network some = all;
  std::vector<bool> trains(kModules, true);
  network.AddGradient(example, trains, &all);
  trains[0] = trains[1] = trains[4] = false;
  network.AddGradient(example, trains, &some);
  for (std::size_t m = 0; m < kModules; ++m) {
    const Vector frozen(all.module(m).weights.size());
    EXPECT_EQ(some.module(m).weights,
              trains[m] ? all.module(m).weights : frozen)
        << ModuleNames()[m];
  }
}

// frostline-demo-trainer as the agent sees it.

class DemoTrainer : public ::testing::Test {
 protected:
  struct Answer {
    std::vector<double> curve;
    std::optional<v1::Checkpoint> checkpoint;
    std::optional<agent::FinishMessage> finish;
  };

  void SetUp() override {
    const std::string program = std::string(std::getenv("FROSTLINE_BIN_DIR")) +
                                "/frostline-demo-trainer";
    auto started = agent::TrainerProcess::Start({program, {}}, log_);
    ASSERT_OK(started);
    trainer_ = *std::move(started);
  }

  v1::Lease TrialWith(double rate, int epochs) {
    v1::Lease lease;
    lease.set_trial("studies/a/trials/1");
    lease.mutable_spec()->set_seed(5);
    lease.mutable_spec()->mutable_training()->set_epochs(epochs);
    for (const char* module : {"layer.3", "head", "pooler"}) {
      auto* const entry = lease.mutable_spec()->add_rates();
      entry->set_module(module);
      entry->set_rate(rate);
    }
    return lease;
  }

  Answer Run(const v1::Lease& lease, const std::string& checkpoint,
             std::size_t stop_after) {
    Answer answer;
    trainer_->Send(
        agent::TrialLine(lease, folder_.path().string(), checkpoint));
    while (!answer.finish.has_value()) {
      const auto output = trainer_->Wait(wakeup_, std::chrono::seconds(20));
      for (const std::string& line : output.lines)
        Take(line, stop_after, &answer);
      if (output.ended) break;
    }
    return answer;
  }

  void Take(const std::string& line, std::size_t stop_after, Answer* answer) {
    const auto message = agent::ParseTrainerLine(line);
    ASSERT_OK(message);
    if (const auto* report = std::get_if<agent::ReportMessage>(&*message)) {
      answer->curve.push_back(report->metrics.at("accuracy"));
      ASSERT_TRUE(report->progress.has_value());
      EXPECT_EQ(report->progress->epoch, static_cast<double>(report->step));
      if (answer->curve.size() == stop_after)
        trainer_->Send(agent::StopLine("preempt"));
    }
    if (const auto* saved = std::get_if<agent::CheckpointMessage>(&*message)) {
      answer->checkpoint = saved->checkpoint;
    }
    if (const auto* finish = std::get_if<agent::FinishMessage>(&*message)) {
      answer->finish = *finish;
    }
  }

  TempFolder folder_;
  agent::LogTail log_;
  agent::Wakeup wakeup_;
  std::unique_ptr<agent::TrainerProcess> trainer_;
};

TEST_F(DemoTrainer, TrainsTrialAfterTrialTheSameWay) {
  const Answer first = Run(TrialWith(0.01, 4), "", 0);
  const Answer second = Run(TrialWith(0.01, 4), "", 0);
  ASSERT_TRUE(first.finish.has_value() && second.finish.has_value());
  EXPECT_EQ(first.finish->state, agent::FinishMessage::State::kSucceeded);
  EXPECT_THAT(first.curve, SizeIs(4));
  EXPECT_EQ(first.curve, second.curve);
  EXPECT_EQ(first.finish->metrics.at("accuracy"), first.curve.back());
  EXPECT_EQ(first.finish->metrics.at("trained_parameters"), 340);
  EXPECT_GT(first.finish->usage->flops_skipped(), 0);
}

TEST_F(DemoTrainer, StopsWithACheckpointAndResumesToTheSameCurve) {
  const Answer whole = Run(TrialWith(0.01, 6), "", 0);
  v1::Lease slow = TrialWith(0.01, 6);
  (*slow.mutable_spec()
        ->mutable_training()
        ->mutable_extra()
        ->mutable_fields())["seconds_per_epoch"]
      .set_number_value(0.3);
  const Answer begun = Run(slow, "", 2);
  ASSERT_TRUE(begun.checkpoint.has_value());
  EXPECT_EQ(begun.finish->state, agent::FinishMessage::State::kStopped);
  v1::Lease again = TrialWith(0.01, 6);
  *again.mutable_resume_from() = *begun.checkpoint;
  const Answer rest = Run(again, folder_.File(begun.checkpoint->id()), 0);
  std::vector<double> joined = begun.curve;
  joined.insert(joined.end(), rest.curve.begin(), rest.curve.end());
  EXPECT_EQ(joined, whole.curve);
}

TEST_F(DemoTrainer, BadSettingsFailTheTrialNotTheTrainer) {
  v1::Lease bad = TrialWith(0.01, 4);
  bad.mutable_spec()->mutable_training()->set_optimizer("magic");
  EXPECT_EQ(Run(bad, "", 0).finish->state,
            agent::FinishMessage::State::kFailed);
  std::ofstream(folder_.File("torn")) << "short";
  v1::Lease torn = TrialWith(0.01, 4);
  torn.mutable_resume_from()->set_id("torn");
  EXPECT_EQ(Run(torn, folder_.File("torn"), 0).finish->state,
            agent::FinishMessage::State::kFailed);
  EXPECT_EQ(Run(TrialWith(0.01, 1), "", 0).finish->state,
            agent::FinishMessage::State::kSucceeded);
}

TEST_F(DemoTrainer, ARateThatIsNoNumberFailsItsTrialAlone) {
  const std::string good =
      agent::TrialLine(TrialWith(0.25, 4), folder_.path().string(), "");
  for (const char* const word : {"NaN", "Infinity", "1e999"}) {
    std::string bad = good;
    bad.replace(bad.find("0.25"), 4, word);
    trainer_->Send(bad);
    const Answer next = Run(TrialWith(0.01, 4), "", 0);
    ASSERT_TRUE(next.finish.has_value()) << word;
    EXPECT_EQ(next.finish->state, agent::FinishMessage::State::kFailed);
    EXPECT_THAT(next.finish->cause, HasSubstr("NaN"));
    EXPECT_EQ(Run(TrialWith(0.01, 4), "", 0).finish->state,
              agent::FinishMessage::State::kSucceeded);
  }
}

TEST_F(DemoTrainer, NeverPassesItsToyOffAsAnotherModel) {
  v1::Lease lease = TrialWith(0.01, 1);
  lease.mutable_spec()->mutable_model()->set_id("minilm");
  const Answer refused = Run(lease, "", 0);
  EXPECT_EQ(refused.finish->state, agent::FinishMessage::State::kFailed);
  EXPECT_EQ(refused.finish->failure, v1::FAILURE_CLASS_INFRASTRUCTURE);
  EXPECT_THAT(refused.finish->cause, HasSubstr("the study trains minilm"));
  EXPECT_THAT(refused.curve, SizeIs(0));
  lease.mutable_spec()->mutable_model()->set_id("demo-mlp");
  EXPECT_EQ(Run(lease, "", 0).finish->state,
            agent::FinishMessage::State::kSucceeded);
}

TEST_F(DemoTrainer, AnAbsurdRateIsInfeasibleOrFiniteButNeverACrash) {
  const Answer answer = Run(TrialWith(1e300, 3), "", 0);
  ASSERT_TRUE(answer.finish.has_value());
  EXPECT_FALSE(trainer_->ended());
}

}  // namespace
}  // namespace frostline::demo_trainer
