// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/trial_message.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/plain/training_table.h"
#include "gmock/gmock.h"
#include "worker/trainer/trial/progress.h"
#include "worker/trainer/trial/trial_end.h"
#include "worker/trainer/trial/trial_preparer.h"

namespace frostline::trainer {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// A good message with these members besides; the first of a name counts.
Expected<TrialMessage> Read(const std::string& members) {
  const std::string bytes = "{" + members + R"(
      "trial": "studies/s/trials/3", "folder": "/f",
      "rates": {"layer.0": 0.5, "head": 0.25},
      "model": {"id": "tiny"}, "data": {"id": "words"}})";
  const Expected<Json> json = Json::Parse(bytes);
  EXPECT_TRUE(json.ok()) << bytes;
  return ReadTrialMessage(json.value().root());
}

TrainingSettings Settings(const std::string& members) {
  const Expected<TrialMessage> trial = Read(members);
  EXPECT_TRUE(trial.ok()) << trial.fault().cause;
  return trial.value().training;
}

TEST(TrialMessage, WhatIsNotSaidHasADefault) {
  const TrialMessage trial = Read("").value();
  EXPECT_THAT(trial.rates,
              UnorderedElementsAre(Pair("layer.0", 0.5), Pair("head", 0.25)));
  EXPECT_EQ(trial.training.epochs, 3);
  EXPECT_EQ(trial.training.clip_norm, 1.0);
  EXPECT_EQ(trial.training.optimizer.kind, OptimizerKind::kAdamW);
  EXPECT_EQ(trial.training.freeze.mode, FreezeMode::kHard);
  EXPECT_EQ(trial.training.precision, "auto");
}

TEST(TrialMessage, AllThatIsSaidArrives) {
  const TrainingSettings settings = Settings(R"(
      "training": {"epochs": 9, "optimizer": "sgd", "schedule": "cosine",
        "weight_decay": 0.01, "label_smoothing": 0.1, "accumulation": 4,
        "early_stopping": {"metric": "f1", "patience": 5},
        "also_evaluate": ["yelp"], "extra": {"head": "cosine",
        "pooling": "mean", "epsilon": 1e-6, "dropout": 0.3}},
      "freeze": {"mode": "lr0", "prefix_dropout": "off", "virtual_tau": 1e-4},)");
  EXPECT_EQ(settings.optimizer.kind, OptimizerKind::kSgd);
  EXPECT_EQ(settings.schedule, ScheduleKind::kCosine);
  EXPECT_EQ(settings.accumulation, 4);
  EXPECT_EQ(settings.early_stopping.patience, 5);
  EXPECT_EQ(settings.also_evaluate.front(), "yelp");
  EXPECT_TRUE(settings.pair.cosine);
  EXPECT_EQ(settings.pair.pooling, Pooling::kMean);
  EXPECT_EQ(settings.optimizer.epsilon, 1e-6);
  EXPECT_EQ(settings.dropout, 0.3);
  EXPECT_EQ(settings.freeze.mode, FreezeMode::kLr0);
  EXPECT_EQ(settings.virtual_tau, 1e-4);
}

TEST(TrialMessage, ASearchedParameterGoesBeforeWhatTheStudyFixed) {
  const TrainingSettings settings = Settings(R"(
      "parameters": {"batch_size": 16.0, "dropout": 0.2, "optimizer": "adam"},
      "training": {"batch_size": 8},)");
  EXPECT_EQ(settings.batch_size, 16);
  EXPECT_EQ(settings.dropout, 0.2);
  EXPECT_EQ(settings.optimizer.kind, OptimizerKind::kAdam);
}

// `head` is a module's name, and a word of `extra` too.
TEST(TrialMessage, ASearchedRateOfTheHeadIsNoWordAboutTheHead) {
  EXPECT_FALSE(Settings(R"("parameters": {"head": 0.25},)").pair.cosine);
  EXPECT_TRUE(Settings(R"("parameters": {"head": 0.25},
      "training": {"extra": {"head": "cosine"}},)")
                  .pair.cosine);
}

TEST(TrialMessage, AdaptersHaveTheDefaultsOfPeft) {
  const LoraSpec lora = Settings(R"("training": {"lora": {"rank": 8}},)").lora;
  EXPECT_EQ(lora.rank, 8);
  EXPECT_EQ(lora.ScaleOf(lora.rank), 1.0);
  EXPECT_EQ(lora.dropout, 0.0);
  EXPECT_THAT(lora.parts, ElementsAre(LoraPart::kQuery, LoraPart::kValue));
  EXPECT_FALSE(Settings("").lora.any());
  EXPECT_FALSE(Settings(R"("training": {"lora": null},)").lora.any());
}

TEST(TrialMessage, AdaptersArriveAsTheStudyOrTheTrialHasThem) {
  const std::string lora = R"("training": {"lora": {"rank": 8, "alpha": 16,
      "dropout": 0.1, "modules": ["k_lin", "ffn_out", "key"]}},)";
  const LoraSpec fixed = Settings(lora).lora;
  EXPECT_EQ(fixed.ScaleOf(fixed.rank), 2.0);
  EXPECT_EQ(fixed.dropout, 0.1);
  EXPECT_THAT(fixed.parts,
              ElementsAre(LoraPart::kKey, LoraPart::kFeedForwardOut));
  const LoraSpec searched = Settings(R"("parameters": {"lora_rank": 4.0,
      "lora_alpha": 2, "lora_dropout": 0.25},)" +
                                     lora)
                                .lora;
  EXPECT_EQ(searched.rank, 4);
  EXPECT_EQ(searched.ScaleOf(searched.rank), 0.5);
  EXPECT_EQ(searched.dropout, 0.25);
}

TEST(TrialMessage, RanksArriveByModuleWithTheirAlpha) {
  const std::string ranks = R"("ranks": {"layer.0": 0, "layer.1": 8},)";
  const LoraSpec plain = Settings(ranks).lora;
  EXPECT_EQ(plain.RankOf(LoraPart::kQuery, 0), 0);
  EXPECT_EQ(plain.RankOf(LoraPart::kQuery, 1), 8);
  EXPECT_EQ(plain.ScaleOf(8), 1.0);
  const std::string searched =
      R"("parameters": {"rank.layer.1": 8, "lora_alpha_per_rank": 2},)" + ranks;
  EXPECT_EQ(Settings(searched).lora.ScaleOf(4), 2.0);
  EXPECT_EQ(Settings(ranks + R"("training": {"lora": {"alpha": 4}},)")
                .lora.ScaleOf(8),
            0.5);
  EXPECT_TRUE(Read(R"("parameters": {"both": 8},)" + ranks).ok());  // a tie
  EXPECT_FALSE(Read(R"("parameters": {"both": 7},)" + ranks).ok());
}

TEST(TrialMessage, RanksThatCannotBeAreNamed) {
  const std::pair<const char*, const char*> mistakes[] = {
      {R"("ranks": [8],)", "ranks is no map"},
      {R"("ranks": {"layer.0": -1},)", "rank of 'layer.0'"},
      {R"("ranks": {"layer.0": 1.5},)", "rank of 'layer.0'"},
      {R"("ranks": {"layer.0": 8}, "training": {"lora": {"rank": 4}},)",
       "training.lora.rank is given"},
      {R"("ranks": {"layer.0": 8},
          "training": {"lora": {"alpha": 4, "alpha_per_rank": 2}},)",
       "training.lora.alpha_per_rank is given beside alpha"},
      {R"("ranks": {"layer.0": 8}, "training": {"adapters": {"size": 4}},)",
       "ranks of the space"},
      {R"("ranks": {"layer.0": 8}, "freeze": {"virtual_tau": 1e-4},)",
       "freeze.virtual_tau"}};
  for (const auto& [members, says] : mistakes) {
    const auto trial = Read(members);
    ASSERT_FALSE(trial.ok()) << members;
    EXPECT_THAT(trial.fault().cause, HasSubstr(says));
  }
}

// Its importance would be 0, and nobody would know why.
TEST(TrialMessage, AParameterWithoutEffectIsRefused) {
  const auto trial = Read(R"("parameters": {"temperature": 0.7},)");
  ASSERT_FALSE(trial.ok());
  EXPECT_THAT(trial.fault().cause, HasSubstr("'temperature'"));
  EXPECT_TRUE(Read(R"("parameters": {"lower": 0.5},)").ok());  // a tie's rate
  EXPECT_TRUE(Read(R"("parameters": {"prefix_depth": 4},)").ok());
}

TEST(TrialMessage, StepsAloneMeanAsManyEpochsAsItTakes) {
  EXPECT_GT(Settings(R"("training": {"max_steps": 500},)").epochs, 1'000);
}

TEST(TrialMessage, SeedsKeepAllTheirBits) {
  EXPECT_EQ(Read(R"("seed": 18446744073709551615,)").value().seed,
            ~std::uint64_t{0});
  EXPECT_EQ(Read(R"("seed": 5, "training": {"seed": 42},)").value().seed, 42U);
  EXPECT_EQ(Read(R"("seed": 5, "training": {"seed": 42},
                    "parameters": {"seed": 3},)")
                .value()
                .seed,
            3U);
}

TEST(TrialMessage, AMistakeNamesItsField) {
  const std::pair<const char*, const char*> mistakes[] = {
      {R"("training": {"epochs": 0.5},)", "training.epochs"},
      {R"("training": {"epochs": 1e12},)", "training.epochs"},
      {R"("training": {"batch_size": -1},)", "training.batch_size"},
      {R"("training": {"optimizer": "adamx"},)", "training.optimizer"},
      {R"("training": {"schedule": 3},)", "training.schedule"},
      {R"("training": {"label_smoothing": 1},)", "training.label_smoothing"},
      {R"("training": {"warmup_share": 2},)", "training.warmup_share"},
      {R"("training": {"warmup_share": 0.1, "warmup_steps": 5},)", "both"},
      {R"("training": {"lora": 8},)", "training.lora is no object"},
      {R"("training": {"lora": {}},)", "training.lora.rank is 0 or missing"},
      {R"("training": {"lora": {"rank": 0}},)", "training.lora.rank"},
      {R"("training": {"lora": {"rank": -4}},)", "training.lora.rank"},
      {R"("training": {"lora": {"rank": 1.5}},)", "training.lora.rank"},
      {R"("training": {"lora": {"rank": 1e9}},)", "training.lora.rank"},
      {R"("training": {"lora": {"rank": 4, "alpha": -1}},)",
       "training.lora.alpha"},
      {R"("training": {"lora": {"rank": 4, "dropout": 1}},)",
       "training.lora.dropout"},
      {R"("training": {"lora": {"rank": 4, "dropout": -0.1}},)",
       "training.lora.dropout"},
      {R"("training": {"lora": {"rank": 4, "modules": ["query", "dense"]}},)",
       "training.lora.modules names an unknown part: 'dense'"},
      {R"("training": {"lora": {"rank": 4, "modules": "query"}},)",
       "training.lora.modules"},
      {R"("training": {"lora": {"rank": 4}}, "freeze": {"virtual_tau": 1e-4},)",
       "freeze.virtual_tau"},
      {R"("training": {"optimizer": "sgd", "clip_norm": 0},
          "freeze": {"virtual_tau": 1e-4},)",
       "sgd without clipping has none"},
      {R"("training": {"extra": {"beta1": 0.99, "beta2": 0.9}},
          "freeze": {"virtual_tau": 1e-4},)",
       "unless beta1^2 is below beta2"},
      {R"("training": {"extra": {"virtual_audit": 1}},)",
       "training.extra.virtual_audit"},
      {R"("training": {"extra": {"tasks_weigh": "alike"}},)",
       "training.extra.tasks_weigh changes nothing"},
      {R"("training": {"accumulation": 2, "extra": {"tasks_weigh": "alike"}},)",
       "the trial has no tasks"},
      {R"("training": {"extra": {"smart_pairs": "together"}},)",
       "training.extra.smart_pairs is of training.smart"},
      {R"("parameters": {"lora_rank": 4},)", "'lora_rank'"},
      {R"("parameters": {"lora_rank": 0}, "training": {"lora": {"rank": 4}},)",
       "parameters.lora_rank"},
      {R"("training": {"extra": {"head": "cos"}},)", "training.extra.head"},
      {R"("training": {"extra": {"exprot": true}},)", "'exprot'"},
      {R"("training": {"extra": {"class_weights": "even"}},)",
       "training.extra.class_weights is unknown: 'even'"},
      {R"("training": {"extra": {"class_weights": [1, 0]}},)",
       "training.extra.class_weights"},
      {R"("freeze": {"mode": "soft"},)", "freeze.mode"},
      {R"("protocol": 2,)", "protocol"},
      {R"("objectives": [{"direction": "maximize"}],)", "objectives"}};
  for (const auto& [members, field] : mistakes) {
    const Expected<TrialMessage> trial = Read(members);
    ASSERT_FALSE(trial.ok()) << members;
    EXPECT_THAT(trial.fault().cause, HasSubstr(field));
    EXPECT_FALSE(trial.fault().fix.empty());
  }
}

// Returns a value that is wrong for any type of the table: no number in bounds,
// no word, no list.
std::string Wrong(const SettingRow& row) {
  const bool text = row.kind == SettingKind::kSwitch;
  return "\"" + std::string(row.name()) + "\": " + (text ? "\"x\"" : "-1.5");
}

TEST(TrainingTable, EveryRowIsReadAndRefusesWhatItSays) {
  for (const SettingRow& row : TrainingTable()) {
    const std::string block(row.block().substr(0, row.block().find('.')));
    std::string members = Wrong(row);
    if (block == "adapters" && row.name() != "size") members += ", \"size\": 4";
    if (block == "smart" && row.name() != "weight") {
      members += ", \"weight\": 1";
    }
    if (block == "lora" && row.name() != "rank") members += ", \"rank\": 4";
    if (!block.empty()) members = "\"" + block + "\": {" + members + "}";
    if (block != "freeze") members = "\"training\": {" + members + "}";

    const auto trial = Read(members + ",");
    ASSERT_FALSE(trial.ok()) << members;
    EXPECT_THAT(trial.fault().cause, HasSubstr(std::string(row.key)));
  }
}

TEST(TrainingTable, WhatMayBeSearchedIsTakenFromTheTrial) {
  for (const SettingRow& row : TrainingTable()) {
    if (row.searched_as.empty()) continue;
    const std::string name(row.searched_as);
    const auto trial =
        Read(R"("training": {"lora": {"rank": 4}, "adapters": {"size": 4},
        "smart": {"weight": 1}},
        "parameters": {")" +
             name + "\": -1.5},");
    ASSERT_FALSE(trial.ok()) << name;
    EXPECT_THAT(trial.fault().cause, HasSubstr("." + name));
  }
}

TEST(TrainingTable, AKeyWithoutARowIsRefused) {
  for (const char* members :
       {R"("training": {"momemtum": 1},)", R"("freeze": {"momemtum": 1},)",
        R"("training": {"lora": {"rank": 4, "momemtum": 1}},)",
        R"("training": {"extra": {"momemtum": 1}},)"}) {
    const auto trial = Read(members);
    ASSERT_FALSE(trial.ok()) << members;
    EXPECT_THAT(trial.fault().cause, HasSubstr("'momemtum'"));
  }
}

// An attempt may be asked for auto, and the next for what the study has
// decided.
TEST(TrialMessage, ItsPrecisionIsNoPartOfWhichTrialItIs) {
  const auto identity = [](const std::string& training) {
    return Read(R"("training": {)" + training + "},").value().identity;
  };
  EXPECT_EQ(identity(R"("epochs": 2, "precision": "auto")"),
            identity(R"("epochs": 2, "precision": "bf16")"));
  EXPECT_NE(identity(R"("epochs": 2)"), identity(R"("epochs": 3)"));
}

TEST(TrialMessage, ADeviceMustComputeInWhatTheStudyHasDecided) {
  const TrialMessage decided = Read(R"("auto_precision": "bf16",)").value();
  EXPECT_FALSE(WhyUnfit(decided, {"fp32", "bf16"}).has_value());
  const auto why = WhyUnfit(decided, {"fp32"});
  ASSERT_TRUE(why.has_value());
  EXPECT_THAT(why->cause, HasSubstr("computed in bf16"));
  EXPECT_FALSE(WhyUnfit(Read("").value(), {"fp32"}).has_value());
}

TEST(TrialMessage, LayersThawByStepsOrByEpochs) {
  const auto trial = Read(
      R"("training": {"unfreeze_every_steps": 9, "unfreeze_every_epochs": 1},)");
  ASSERT_FALSE(trial.ok());
  EXPECT_THAT(trial.fault().cause, HasSubstr("unfreeze_every_epochs"));
}

TEST(TrialMessage, ARuleForLayersHasItsOwnSettings) {
  const auto read = [](const std::string& extra, const std::string& rest = "") {
    return Read("\"training\": {" + rest + "\"extra\": {" + extra + "}},");
  };
  const TrialMessage lisa =
      read(R"("layers_by": "lisa", "layers_at_once": 3)").value();
  EXPECT_EQ(lisa.training.layers.rule, LayerRule::kLisa);
  EXPECT_EQ(lisa.training.layers.at_once, 3);
  EXPECT_EQ(lisa.training.layers.every_steps, 20);
  EXPECT_FALSE(Read("").value().training.layers.any());
  for (const auto& [extra, said] :
       {std::pair(R"("layers_by": "lisa", "layers_share": 0.5)",
                  "layers_share is of layers_by: spectrum, gradient, "
                  "autofreeze, and layers_by is lisa"),
        std::pair(R"("layers_at_once": 2)", "layers_by is rates"),
        std::pair(R"("layers_by": "spectrum", "layers_batches": 2)",
                  "layers_batches is of layers_by: gradient"),
        std::pair(R"("layers_by": "spectrum", "layers_share": 0)",
                  "layers_share"),
        std::pair(R"("layers_by": "spectum")", "layers_by is unknown")}) {
    const auto trial = read(extra);
    ASSERT_FALSE(trial.ok()) << extra;
    EXPECT_EQ(trial.fault().kind, FaultKind::kMisuse);
    EXPECT_THAT(trial.fault().cause, HasSubstr(said));
  }
  for (const char* rest :
       {R"("lora": {"rank": 4}, )", R"("adapters": {"size": 4}, )",
        R"("trains": "biases", )", R"("unfreeze_every_steps": 2, )"}) {
    const auto trial = read(R"("layers_by": "lisa")", rest);
    ASSERT_FALSE(trial.ok()) << rest;
    EXPECT_THAT(trial.fault().cause, HasSubstr("layers_by: lisa and "));
  }
  EXPECT_TRUE(
      read(R"("layers_by": "spectrum")", R"("unfreeze_every_steps": 2, )")
          .ok());
  const auto both =
      read(R"("layers_by": "autofreeze")", R"("unfreeze_every_steps": 2, )");
  ASSERT_FALSE(both.ok());
  EXPECT_THAT(both.fault().cause, HasSubstr("layers_by: autofreeze and "));
  EXPECT_EQ(read(R"("layers_by": "autofreeze", "layers_share": 0.7)")
                .value()
                .training.layers.share,
            0.7);
}

TEST(TrialMessage, OneThingTrainsInThePlaceOfWeights) {
  for (const char* both : {R"("lora": {"rank": 4}, "adapters": {"size": 4})",
                           R"("lora": {"rank": 4}, "trains": "biases")",
                           R"("adapters": {"size": 4}, "trains": "biases")"}) {
    const auto trial = Read("\"training\": {" + std::string(both) + "},");
    ASSERT_FALSE(trial.ok()) << both;
    EXPECT_THAT(trial.fault().cause, HasSubstr("each say what trains"));
  }
  const auto adapters = Read(R"("training": {"adapters": {}},)");
  ASSERT_FALSE(adapters.ok());
  EXPECT_THAT(adapters.fault().cause, HasSubstr("training.adapters.size"));
}

TEST(TrialMessage, MomentumIsOfSgdAlone) {
  const char* const searched = R"("parameters": {"momentum": 0.9},)";
  EXPECT_EQ(
      Settings(std::string(searched) + R"("training": {"optimizer": "sgd"},)")
          .optimizer.momentum,
      0.9);
  const auto adam = Read(searched);
  ASSERT_FALSE(adam.ok());
  EXPECT_THAT(adam.fault().cause, HasSubstr("momentum is of sgd alone"));
}

// The decisions of a trial that need no tensor.

TEST(EarlyStopping, EndsAfterSoManyThatAreNotBetter) {
  EarlyStopping maximize(true, 2, 0.01);
  EXPECT_FALSE(maximize.Note(0.80));
  EXPECT_FALSE(maximize.Note(0.805));  // better, and not by enough
  EXPECT_FALSE(maximize.Note(0.82));   // so that it counts from here
  EXPECT_FALSE(maximize.Note(0.70));
  EXPECT_TRUE(maximize.Note(0.82));

  EarlyStopping minimize(false, 1, 0.0);
  EXPECT_FALSE(minimize.Note(2.0));
  EXPECT_FALSE(minimize.Note(1.0));
  EXPECT_TRUE(minimize.Note(1.0));
}

TEST(EarlyStopping, WhatIsNoNumberIsNeverBetter) {
  EarlyStopping stopping(true, 2, 0.0);
  EXPECT_FALSE(stopping.Note(std::nan("")));
  EXPECT_FALSE(stopping.state().best.has_value());
  EXPECT_TRUE(stopping.Note(std::numeric_limits<double>::infinity()));
}

TEST(EarlyStopping, GoesOnFromItsState) {
  EarlyStopping before(true, 2, 0.0);
  before.Note(0.9);
  before.Note(0.8);
  EarlyStopping after(true, 2, 0.0);
  after.Restore(before.state());
  EXPECT_TRUE(after.Note(0.85));
}

TEST(Thaw, OneMoreLayerFromTheTopEachSoManySteps) {
  EXPECT_EQ(ThawedBlocks(0, 10, 3), 0);
  EXPECT_EQ(ThawedBlocks(9, 10, 3), 0);
  EXPECT_EQ(ThawedBlocks(10, 10, 3), 1);
  EXPECT_EQ(ThawedBlocks(1'000, 10, 3), 4);  // embeddings too
  EXPECT_EQ(ThawedBlocks(0, 0, 3), 4);       // not asked for
}

TEST(Thaw, LeavesHeadAndPoolerAndWhatIsFrozenAnyway) {
  const ModuleRates rates = {{"embeddings", 1.0}, {"layer.0.ffn", 1.0},
                             {"layer.1", 0.0},    {"layer.2", 1.0},
                             {"pooler", 1.0},     {"head", 1.0}};
  EXPECT_THAT(ThawedRates(rates, 1, 3),
              ElementsAre(Pair("embeddings", 0.0), Pair("head", 1.0),
                          Pair("layer.0.ffn", 0.0), Pair("layer.1", 0.0),
                          Pair("layer.2", 1.0), Pair("pooler", 1.0)));
  EXPECT_THAT(ThawedRates(rates, 3, 3), Contains(Pair("layer.0.ffn", 1.0)));
  EXPECT_EQ(ThawedRates(rates, 4, 3), rates);
}

// 24 rows, 8 to a batch: three batches an epoch.
class CourseOfThree : public ::testing::Test {
 protected:
  CourseOfThree() { settings_.epochs = 2; }

  Course Made() const { return {settings_, batches_, progress_, 3}; }
  // A whole epoch that nobody has evaluated.
  void TrainAnEpoch() {
    for (int i = 0; i < 3; ++i) batches_.Next();
    progress_.steps += 3;
    progress_.loss_steps = 3;
  }

  TrainingSettings settings_;
  TrialProgress progress_;
  TaskBatches batches_{{std::vector<std::uint32_t>(24, 5)},
                       {.batches = {.batch_size = 8}, .shares = {1.0}}};
};

TEST_F(CourseOfThree, StepsAloneMakeEpochsWithFractions) {
  settings_.max_steps = 4;
  const Course course = Made();
  EXPECT_EQ(course.total_steps(), 4);
  EXPECT_EQ(course.total_epochs(), 4.0 / 3.0);
  EXPECT_EQ(course.EpochsBegun(), 2);
  progress_.steps = 3;
  EXPECT_NEAR(course.epochs_done(), 1.0, 1e-9);
}

TEST_F(CourseOfThree, AnEvaluationIsDueOnceAtTheEndOfEachEpoch) {
  const Course course = Made();
  EXPECT_EQ(course.EvaluationsLeft(), 2);
  TrainAnEpoch();
  EXPECT_TRUE(course.EvaluationIsDue());
  EXPECT_EQ(course.EvaluationsLeft(), 2);
  progress_.loss_steps = 0;
  EXPECT_FALSE(course.EvaluationIsDue());
  EXPECT_EQ(course.EvaluationsLeft(), 1);
  TrainAnEpoch();
  EXPECT_TRUE(course.IsOver());
  EXPECT_EQ(course.EvaluationsLeft(), 1);
}

TEST_F(CourseOfThree, IsOverWhenEvaluationsDoNotBecomeBetter) {
  settings_.early_stopping.patience = 2;
  const Course course = Made();
  TrainAnEpoch();
  progress_.early_stopping.worse = 1;
  EXPECT_FALSE(course.IsOver());
  progress_.early_stopping.worse = 2;
  EXPECT_TRUE(course.IsOver());
}

TEST_F(CourseOfThree, ThawsAtTheEndsOfEpochs) {
  settings_.unfreeze_every_epochs = 1;
  settings_.accumulation = 2;  // two steps of three batches
  const Course course = Made();
  EXPECT_EQ(course.ThawedAfter(1), 0);
  EXPECT_EQ(course.ThawedAfter(2), 1);
  EXPECT_EQ(course.ThawedAfter(100), 2);
}

TEST(TrialProgress, ComesBackToTheLastBit) {
  TrialProgress progress;
  progress.position = {{3, 41}, {{1, 2}, {0, 7}}};
  progress.loss_sum = 0.1 + 0.2;
  progress.loss_steps = 7;
  progress.early_stopping = {1.0 / 3.0, 2};
  progress.last = {{"accuracy", 0.7}, {"odd", -1e-310}};
  progress.train_seconds = 12.5;
  progress.processor_seconds = 24.5;
  progress.flops_spent = 1e18 / 7;
  const Notes notes = PrintProgress(progress);
  const TrialProgress back = ParseProgress(notes).value();
  EXPECT_EQ(back.position, progress.position);
  EXPECT_EQ(back.loss_sum, progress.loss_sum);
  EXPECT_EQ(back.early_stopping.best, progress.early_stopping.best);
  EXPECT_EQ(back.last, progress.last);
  EXPECT_EQ(PrintProgress(back), notes);
}

TEST(TrialProgress, ANoteThatIsMissingOrNoNumberIsNamed) {
  Notes notes = PrintProgress({});
  notes["batch"] = "seven";
  EXPECT_EQ(ParseProgress(notes).fault().kind, FaultKind::kInconsistent);
  notes.erase("batch");
  EXPECT_THAT(ParseProgress(notes).fault().cause, testing::HasSubstr("batch"));
}

TEST(LruCache, TheOneLongestUnusedGoesAndWhoHoldsItKeepsIt) {
  LruCache<int, std::string> cache(2);
  const auto one = cache.Put(1, "one");
  cache.Put(2, "two");
  EXPECT_EQ(cache.Find(1), one);  // so that two is the older
  cache.Put(3, "three");
  EXPECT_EQ(cache.Find(2), nullptr);
  EXPECT_NE(cache.Find(1), nullptr);
  cache.Put(4, "four");
  cache.Put(5, "five");
  EXPECT_EQ(cache.Find(1), nullptr);
  EXPECT_EQ(*one, "one");
}

TEST(FaultText, HasAnIdOfTheCatalogue) {
  std::vector<int> known;
#define FROSTLINE_NUMBER(name, number, code, reason, text) \
  known.push_back(number);
  FROSTLINE_ERRORS(FROSTLINE_NUMBER)
#undef FROSTLINE_NUMBER
  for (const FaultKind kind :
       {FaultKind::kUnreadable, FaultKind::kSyntax, FaultKind::kTooLarge,
        FaultKind::kUnsupported, FaultKind::kInconsistent, FaultKind::kMisuse,
        FaultKind::kOutOfMemory, FaultKind::kInternal}) {
    EXPECT_THAT(known, Contains(IdOf(kind)));
  }
  EXPECT_THAT(known, Contains(kNotFiniteId));
  EXPECT_EQ(FaultText({FaultKind::kMisuse, "no", "yes"}), "FL-5015: no (yes)");
}

}  // namespace
}  // namespace frostline::trainer
