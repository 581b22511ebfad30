// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/linalg_vector_norm.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/worker/trainer/fixtures.h"
#include "tests/worker/trainer/trial/trial_world.h"
#include "worker/trainer/freeze/layer_rules.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Whole trials whose layers a rule chooses (freeze/layer_rules.h).

constexpr char kAllHaveRates[] =
    R"("embeddings": 1e-3, "layer.0": 1e-3, "layer.1": 1e-3, "layer.2": 1e-3,
       "pooler": 1e-3, "head": 1e-2)";
constexpr char kAllButEmbeddings[] =
    R"("embeddings": 0, "layer.0": 1e-3, "layer.1": 1e-3, "layer.2": 1e-3,
       "pooler": 1e-3, "head": 1e-2)";

std::string ChosenBy(const std::string& rule) {
  return R"("epochs": 2, "extra": {"dropout": 0, "layers_by": )" + rule + "},";
}

TrialMessage Audited(const TrialWorld& world, const std::string& training,
                     const std::string& rates = kAllHaveRates) {
  TrialMessage trial = world.Trial(training, rates);
  trial.takes_audit = true;
  return trial;
}

std::map<std::string, ModuleAudit> AuditByModule(const TrialEnd& end) {
  std::map<std::string, ModuleAudit> audit;
  for (const ModuleAudit& each : end.usage->audit) audit[each.module] = each;
  return audit;
}

std::set<std::string> MovedModules(const TrialEnd& end) {
  std::set<std::string> moved;
  for (const auto& [module, row] : AuditByModule(end)) {
    if (row.moved > 0.0) moved.insert(module);
    EXPECT_EQ(row.moved > 0.0, row.rate > 0.0) << module;
    EXPECT_EQ(row.had_gradient, row.rate > 0.0) << module;
  }
  return moved;
}

// What does not depend on the clock.
Metrics WithoutClock(TrialEnd end) {
  end.metrics.erase("train_seconds");
  end.metrics.erase("peak_memory_mib");
  return end.metrics;
}

std::string BytesAt(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// By numpy the places of the layers are 1.667, 1.833 and 2.5
// (freeze/layer_rules_test.cc).
TEST(ChosenLayers, SpectrumTrainsTheBestOnesAlone) {
  TrialWorld world;
  const TrialEnd half =
      world.Run(Audited(world, ChosenBy(R"("spectrum", "layers_share": 0.5)"),
                        kAllButEmbeddings));
  ASSERT_EQ(half.state, TrialState::kSucceeded) << half.cause;
  EXPECT_THAT(MovedModules(half), ElementsAre("head", "layer.0", "pooler"));
  EXPECT_THAT(world.witness.log,
              HasSubstr("layers by spectrum: layer.0 (1.667) train, layer.1 "
                        "(1.833), layer.2 (2.5) frozen"));
  EXPECT_THAT(world.witness.log, Not(HasSubstr("should have moved")));
  Witness second;
  const TrialEnd two = world.Run(
      Audited(world, ChosenBy(R"("spectrum", "layers_share": 0.7)")), second);
  EXPECT_THAT(MovedModules(two), ElementsAre("embeddings", "head", "layer.0",
                                             "layer.1", "pooler"));
}

TEST(ChosenLayers, ItIsTheTrialThatFreezesTheOthersByItsRates) {
  TrialWorld world;
  TrialMessage chosen = Audited(world, ChosenBy(R"("spectrum")"));
  const TrialMessage frozen = Audited(
      world, R"("epochs": 2, "extra": {"dropout": 0},)",
      R"("embeddings": 1e-3, "layer.0": 1e-3, "layer.1": 0, "layer.2": 0,
         "pooler": 1e-3, "head": 1e-2)");
  Witness second;
  EXPECT_EQ(WithoutClock(world.Run(chosen)),
            WithoutClock(world.Run(frozen, second)));
}

// The gradient by hand: a mean over the labels of the batches, through
// autograd, of a model that is as the trial's begins.
TEST(ChosenLayers, TheGradientIsThatOfAutogradByHand) {
  TrialWorld world;
  const std::string training =
      ChosenBy(R"("gradient", "layers_batches": 3, "layers_share": 0.4)");
  const TrialMessage trial = Audited(world, training, kAllButEmbeddings);
  const TrialEnd end = world.Run(trial);
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;

  std::vector<std::string> log;
  const TrialSetup setup =
      world.trial_preparer().Prepare(trial, {}, log).value();
  const Model& begun = setup.pretrained->loaded.model;
  ModelConfig config = begun.config();
  config.hidden_dropout = config.attention_dropout = 0.0;
  Model model = TrainableCopy(setup.pretrained->loaded, config,
                              std::vector<bool>(begun.weights().size(), true),
                              SeedOf(trial, Draws::kHead));
  for (Weight& each : model.weights()) each.value.set_requires_grad(true);
  // All 24 rows are in three batches of 8, whatever their order.
  BatchMaker maker(setup.tasks[0].train, config, setup.tasks[0].head, true);
  const Batch all = maker.Make(maker.labelled());
  ASSERT_EQ(all.ids.size(0), 24);
  const at::Tensor logits = model.Forward(all, Pass{});  // [24, 2]
  LossOf(model.head().spec(), logits, all.labels, 0.0, {}).backward();
  std::map<std::string, double> gradients;
  std::map<std::string, double> sizes;
  const auto square = [](const at::Tensor& tensor) {
    return std::pow(at::linalg_vector_norm(tensor).item<double>(), 2);
  };
  for (const Weight& each : model.weights()) {
    if (each.spec.layer < 0) continue;
    gradients[ModuleOf(each.spec)] += square(each.value.grad());
    sizes[ModuleOf(each.spec)] += square(each.value.detach());
  }
  std::string best;
  double most = 0.0;
  for (const auto& [layer, gradient] : gradients) {
    const double ratio = std::sqrt(gradient / sizes.at(layer));
    if (ratio > most) best = layer, most = ratio;
    std::smatch told;
    const std::regex figure(layer + " \\(([0-9.e-]+)\\)");
    ASSERT_TRUE(std::regex_search(world.witness.log, told, figure))
        << world.witness.log;
    EXPECT_NEAR(std::stod(told[1]), ratio, 2e-3 * ratio) << layer;
  }
  EXPECT_THAT(MovedModules(end), ElementsAre("head", best, "pooler"));
}

TEST(ChosenLayers, AProbeLeavesNoTrace) {
  TrialWorld world;
  TrialMessage probed =
      Audited(world, ChosenBy(R"("gradient", "layers_share": 1)"));
  probed.training.seed = 5;
  TrialMessage plain =
      Audited(world, R"("epochs": 2, "extra": {"dropout": 0},)");
  plain.training.seed = 5;
  Witness second;
  EXPECT_EQ(WithoutClock(world.Run(probed)),
            WithoutClock(world.Run(plain, second)));
}

TEST(ChosenLayers, LisaDrawsAnewAndAlwaysTrainsWhatIsAroundTheLayers) {
  TrialWorld world;
  const TrialMessage trial =
      Audited(world,
              R"("epochs": 4, "report_every_steps": 1, "extra": {"dropout": 0,
         "layers_by": "lisa", "layers_at_once": 1, "layers_every_steps": 2},)");
  const TrialEnd end = world.Run(trial);  // 12 steps, 6 turns
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  const std::vector<std::string> layers = {"layer.0", "layer.1", "layer.2"};
  std::set<std::string> ever = {"embeddings", "head", "pooler"};
  std::map<std::int64_t, std::set<std::string>> by_step;
  for (const Told& told : world.witness.reports) {
    for (const auto& [name, value] : told.metrics) {
      if (!name.starts_with("update_norm.") || value == 0.0) continue;
      by_step[told.step].insert(name.substr(12));
    }
  }
  ASSERT_EQ(by_step.size(), 12U);
  for (const auto& [step, moved] : by_step) {
    std::set<std::string> expected =
        DrawLayers(layers, 1, SeedOf(trial, Draws::kLayers), (step - 1) / 2);
    ASSERT_EQ(expected.size(), 1U);
    ever.merge(std::set<std::string>(expected));
    expected.merge(std::set<std::string>{"embeddings", "head", "pooler"});
    EXPECT_EQ(moved, expected) << step;
  }
  EXPECT_EQ(MovedModules(end), ever);
  EXPECT_THAT(world.witness.log,
              HasSubstr("layers by lisa, drawn 6 times, each 2 steps: "));
  EXPECT_THAT(world.witness.log, Not(HasSubstr("should have moved")));
}

TEST(ChosenLayers, LisaOfAllLayersIsTrainingAll) {
  TrialWorld world;
  const TrialMessage all = Audited(
      world,
      ChosenBy(R"("lisa", "layers_at_once": 3, "layers_every_steps": 2)"));
  const TrialMessage plain =
      Audited(world, R"("epochs": 2, "extra": {"dropout": 0},)");
  Witness second;
  EXPECT_EQ(WithoutClock(world.Run(all)),
            WithoutClock(world.Run(plain, second)));
}

// Decides by hand from the gradients that each step reports.
TEST(ChosenLayers, AutoFreezeFreezesOnTheWayByTheGradientsOfItsSteps) {
  TrialWorld world;
  const TrialEnd end =
      world.Run(Audited(world, R"("epochs": 6, "report_every_steps": 1, "extra":
              {"dropout": 0, "layers_by": "autofreeze",
               "layers_every_steps": 3},)"));  // 18 steps
  ASSERT_EQ(end.state, TrialState::kSucceeded) << end.cause;
  const std::vector<std::string> blocks = {"embeddings", "layer.0", "layer.1",
                                           "layer.2"};
  AutoFreezeState by_hand;
  std::int64_t steps = 0;
  for (const Told& told : world.witness.reports) {
    if (!told.metrics.contains("rate_factor")) continue;
    ASSERT_EQ(told.step, ++steps);
    LayerScores gradients;
    for (const auto& [name, value] : told.metrics) {
      if (name.starts_with("grad_norm.")) gradients[name.substr(10)] = value;
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_EQ(gradients.contains(blocks[i]), i >= by_hand.frozen)
          << blocks[i] << " at step " << steps;
    }
    by_hand.Note(blocks, gradients);
    if (steps % 3 == 0) by_hand.EndInterval(blocks, 0.5);
  }
  EXPECT_EQ(steps, 18);
  EXPECT_GT(by_hand.frozen, 0U);
  EXPECT_THAT(world.witness.log, HasSubstr("autofreeze after step "));
  EXPECT_THAT(MovedModules(end), ElementsAre("embeddings", "head", "layer.0",
                                             "layer.1", "layer.2", "pooler"));
  EXPECT_THAT(world.witness.log, Not(HasSubstr("should have moved")));
}

TEST(ChosenLayers, AutoFreezeThatNeverComesToFreezeIsTrainingAll) {
  TrialWorld world;
  const TrialMessage never =
      Audited(world, ChosenBy(R"("autofreeze", "layers_every_steps": 99)"));
  const TrialMessage plain =
      Audited(world, R"("epochs": 2, "extra": {"dropout": 0},)");
  Witness second;
  EXPECT_EQ(WithoutClock(world.Run(never)),
            WithoutClock(world.Run(plain, second)));
}

TEST(ChosenLayers, GoOnAfterAnyStopAsIfNothingHadBeen) {
  for (const auto& [rule, apart] :
       {std::pair(R"("lisa", "layers_at_once": 1, "layers_every_steps": 2)", 1),
        std::pair(R"("autofreeze", "layers_every_steps": 2)", 1),
        std::pair(R"("gradient", "layers_batches": 2)", 7),
        std::pair(R"("spectrum")", 7)}) {
    TrialWorld world;
    const TrialMessage whole = Audited(
        world, R"("epochs": 3, "extra": {"export": true, "layers_by": )" +
                   std::string(rule) + "},");
    const Metrics expected = WithoutClock(world.Run(whole));
    const std::string weights =
        BytesAt(world.folder() + "/model/model.safetensors");
    ASSERT_FALSE(weights.empty());
    int stops = 0;
    for (int asked = 2; asked < 40; asked += apart) {
      Witness first;
      first.StopAfter(asked, StopReason::kPreempt);
      const TrialEnd stopped = world.Run(whole, first);
      if (stopped.state != TrialState::kStopped) break;
      if (first.checkpoint.empty()) continue;  // not a step was taken
      ++stops;
      TrialMessage rest = whole;
      rest.resume_path = world.folder() + "/" + first.checkpoint;
      rest.resume_step = first.checkpoint_step;
      Witness second;
      const TrialEnd end = world.Run(rest, second);
      EXPECT_THAT(second.log, HasSubstr("goes on from step"));
      EXPECT_EQ(WithoutClock(end), expected) << rule << ", stop " << asked;
      EXPECT_TRUE(BytesAt(world.folder() + "/model/model.safetensors") ==
                  weights)
          << rule << ", stop " << asked;
    }
    EXPECT_GT(stops, apart == 1 ? 6 : 0) << rule;
  }
}

// A layer that will be drawn later has not moved, and that is as it should be.
TEST(ChosenLayers, APrunedTrialIsNotAskedForLaterDraws) {
  TrialWorld world;
  world.witness.StopAfter(1, StopReason::kPruned);
  const TrialEnd end = world.Run(Audited(
      world,
      ChosenBy(R"("lisa", "layers_at_once": 1, "layers_every_steps": 1)")));
  ASSERT_EQ(end.state, TrialState::kStopped) << end.cause;
  std::size_t moved = 0;
  std::size_t waiting = 0;
  for (const auto& [module, row] : AuditByModule(end)) {
    if (!module.starts_with("layer.") || row.rate == 0.0) continue;
    ++(row.moved > 0.0 ? moved : waiting);
  }
  EXPECT_EQ(moved, 1U);  // of the only step
  EXPECT_GT(waiting, 0U);
  EXPECT_THAT(world.witness.log, Not(HasSubstr("should have moved")));
}

TEST(ChosenLayers, ARuleSaysWhatItCannotDo) {
  TrialWorld world;
  const auto cause = [&](const std::string& rule, const std::string& rates) {
    Witness witness;
    const TrialEnd end = world.Run(world.Trial(ChosenBy(rule), rates), witness);
    EXPECT_EQ(end.state, TrialState::kFailed);
    return end.cause;
  };
  EXPECT_THAT(cause(R"("lisa")", kAllButEmbeddings),
              HasSubstr("lisa trains embeddings in each step, and its rate is "
                        "0 (give embeddings a rate"));
  EXPECT_THAT(cause(R"("spectrum")",
                    R"("embeddings": 0, "layer.0": 0, "layer.1": 1e-3,
                       "layer.2.head.1": 0, "layer.2": 1e-3, "pooler": 1e-3,
                       "head": 1e-2)"),
              HasSubstr("single attention heads (layer.2.head.1)"));
}

}  // namespace
}  // namespace frostline::trainer
