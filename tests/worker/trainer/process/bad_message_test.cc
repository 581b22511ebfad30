// SPDX-License-Identifier: Apache-2.0
//
// Trials that ask for what cannot be: each fails alone, with the number of its
// fault and what to do about it, and the next one trains. One process takes
// them all.
#include <memory>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/trainer/process/small_world.h"
#include "tests/worker/trainer/process/trainer_under_test.h"

namespace frostline::trainer {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class BadMessage : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    world_ = std::make_unique<SmallWorld>();
    world_->AddData("pairs", "format: tsv\ncolumns: {second: other}",
                    {{"train", "text\tother\tlabel\nw1\tw2\ta\nw3\tw4\tb\n"},
                     {"validation", "text\tother\tlabel\nw1\tw2\ta\n"}});
    world_->Write();
    trainer_ = std::make_unique<TrainerUnderTest>(world_->registry());
  }
  static void TearDownTestSuite() {
    trainer_.reset();
    world_.reset();
  }

  // The trial with this in the place of what was at `at`.
  static nlohmann::json With(const std::string& at,
                             const nlohmann::json& value) {
    nlohmann::json trial = world_->Trial();
    trial[nlohmann::json::json_pointer(at)] = value;
    return trial;
  }

  // Its cause; fails the test when it did not fail as it should.
  static std::string CauseOf(const nlohmann::json& trial) {
    const Conversation heard = trainer_->Train(trial);
    if (heard.finish.is_null()) {
      ADD_FAILURE() << "the process has died: " << trainer_->Errors();
      trainer_ = std::make_unique<TrainerUnderTest>(world_->registry());
      return "";
    }
    const std::string cause = heard.finish.value("cause", "");
    EXPECT_EQ(heard.finish["state"], "failed") << trial;
    EXPECT_EQ(heard.finish.value("class", ""), "trial");
    EXPECT_THAT(cause,
                AllOf(StartsWith("FL-50"), HasSubstr(" ("), EndsWith(")")))
        << trial;
    return cause;
  }

  static void ExpectItLives() {
    EXPECT_EQ(trainer_->Train(world_->Trial()).finish["state"], "succeeded");
  }

  static std::unique_ptr<SmallWorld> world_;
  static std::unique_ptr<TrainerUnderTest> trainer_;
};

std::unique_ptr<SmallWorld> BadMessage::world_;
std::unique_ptr<TrainerUnderTest> BadMessage::trainer_;

struct Mistake {
  const char* at;
  nlohmann::json value;
  const char* cause;  // a part of it
};

TEST_F(BadMessage, NamesTheFieldAndTheRemedy) {
  const Mistake mistakes[] = {
      {"/protocol", 2, "protocol"},
      {"/model/id", "../m", "is no id"},
      {"/model/layers", 6, "has 6 layers; it has 3"},
      {"/model/sha256", std::string(64, 'a'), "SHA-256"},
      {"/data/id", "/etc/passwd", "is no id"},
      {"/data/sha256", std::string(64, 'a'), "data.sha256 is not that"},
      {"/data/train_split", "nowhere", "nowhere"},
      {"/data/test_split", "nowhere", "nowhere"},
      {"/data/task", "singing", "data.task is unknown"},
      {"/data/train_share", 1.5, "data.train_share"},
      {"/data/columns", {{"label", "nowhere"}}, "nowhere"},
      {"/rates/layer.3", 1e-3, "no module layer.3"},
      {"/rates/layer.1", -1e-3, "the rate of layer.1 is -0.001"},
      {"/rates/layer.1", "NaN", "rates is no map of numbers"},
      {"/training/epochs", 0, "training.epochs"},
      {"/training/epochs", 1'000'000'000'000, "training.epochs"},
      {"/training/epochs", 1.5, "training.epochs"},
      {"/training/batch_size", -1, "training.batch_size"},
      {"/training/batch_size", 0, "training.batch_size"},
      {"/training/max_length", 65, "at most 64 tokens"},
      {"/training/max_length", 2, "training.max_length"},
      {"/training/optimizer", "lion", "training.optimizer is unknown"},
      {"/training/schedule", "zigzag", "training.schedule is unknown"},
      {"/training/precision", "fp8", "\"fp8\" is no precision"},
      {"/training/warmup_share", 1.1, "training.warmup_share"},
      {"/training/label_smoothing", 1, "training.label_smoothing"},
      {"/training/clip_norm", -1, "training.clip_norm"},
      {"/training/accumulation", 0, "training.accumulation"},
      {"/training/also_evaluate", {"d", "test"}, "names a data set test"},
      {"/training/early_stopping", {{"metric", "wit"}}, "no metric 'wit'"},
      {"/training/lora", {{"rank", 0}}, "training.lora.rank"},
      {"/training/lora", {{"rank", 33}}, "give a rank of 1 to 32"},
      {"/training/lora",
       {{"rank", 4}, {"modules", {"pooler"}}},
       "unknown part: 'pooler'"},
      {"/training/lora", {{"rank", 4}, {"alpha", -1}}, "training.lora.alpha"},
      {"/training/lora",
       {{"rank", 4}, {"dropout", 1}},
       "training.lora.dropout"},
      {"/training/extra/beta1", 1.0, "training.extra.beta1"},
      {"/training/extra/head", "cosine", "cosine"},
      {"/freeze/mode", "soft", "freeze.mode is unknown"},
      {"/freeze/virtual_tau", 2, "freeze.virtual_tau"},
      {"/parameters/colour", "red", "the parameter 'colour'"},
      {"/parameters/batch_size", "many", "training.batch_size"},
      {"/objectives", {{{"metric", "span_f1"}}}, "no metric 'span_f1'"},
      {"/objectives", {{{"metric", "pearson"}}}, "no metric 'pearson'"},
      {"/objectives", {{{"metric", ""}}}, "without a metric"},
      {"/folder", "", "trial.folder is missing"},
  };
  for (const Mistake& each : mistakes) {
    SCOPED_TRACE(each.at + (" = " + each.value.dump()));
    EXPECT_THAT(CauseOf(With(each.at, each.value)), HasSubstr(each.cause));
  }
  ExpectItLives();
}

// Another worker may have it: no fault of the study.
TEST_F(BadMessage, WhatTheRegistryLacksIsInfrastructure) {
  const Mistake lacks[] = {
      {"/model/id", "nowhere", "FL-5010: this worker's registry has no model"},
      {"/data/id", "nowhere", "FL-5010: this worker's registry has no data"},
      {"/training/also_evaluate", {"nowhere"}, "has no data set 'nowhere'"},
  };
  for (const Mistake& each : lacks) {
    const nlohmann::json finish =
        trainer_->Train(With(each.at, each.value)).finish;
    EXPECT_EQ(finish.value("class", ""), "infrastructure") << finish;
    EXPECT_THAT(finish.value("cause", ""), HasSubstr(each.cause));
  }
  ExpectItLives();
}

TEST_F(BadMessage, AModuleWithoutARateIsNamed) {
  nlohmann::json trial = world_->Trial();
  trial["rates"].erase("layer.1");
  EXPECT_THAT(CauseOf(trial), HasSubstr("no rate for layer.1"));
  trial["rates"].clear();
  EXPECT_THAT(CauseOf(trial), HasSubstr("no rate for embeddings"));
}

// Pairs that are compared have a score, not a class.
TEST_F(BadMessage, ACosineHeadIsForRegressionAlone) {
  nlohmann::json trial = With("/data/id", "pairs");
  trial["training"]["extra"]["head"] = "cosine";
  EXPECT_THAT(CauseOf(trial), HasSubstr("cosine"));
  ExpectItLives();
}

// What the trial needs, by its place, and a value that is right.
TEST_F(BadMessage, AFieldOfAnotherTypeIsNotTakenForAbsent) {
  nlohmann::json whole = world_->Trial();
  whole["data"].update({{"train_rows", 40},
                        {"train_split", "train"},
                        {"validation_split", "validation"},
                        {"validation_share", 0.1},
                        {"split_seed", 3},
                        {"columns", {{"text", "text"}}},
                        {"task", "classification"}});
  whole["training"].update(
      {{"optimizer", "adamw"},
       {"schedule", "linear"},
       {"weight_decay", 0.0},
       {"warmup_steps", 1},
       {"clip_norm", 1.0},
       {"accumulation", 1},
       {"batch_tokens", 0},
       {"max_steps", 3},
       {"precision", "fp32"},
       {"label_smoothing", 0.1},
       {"evaluate_every_steps", 1},
       {"unfreeze_every_steps", 0},
       {"unfreeze_every_epochs", 0},
       {"report_example_outcomes", true},
       {"seed", 4},
       {"also_evaluate", {"d"}},
       {"early_stopping",
        {{"metric", "loss"}, {"patience", 9}, {"min_delta", 0.0}}}});
  whole["training"]["extra"].update({{"batches", "by_length"},
                                     {"head", "joint"},
                                     {"export", false},
                                     {"epsilon", 1e-8}});
  whole["freeze"] = {
      {"mode", "hard"}, {"prefix_dropout", "off"}, {"virtual_tau", 0.0}};
  whole["resume_from"] = {{"step", 1}};
  ASSERT_EQ(trainer_->Train(whole).finish["state"], "succeeded");
  // The trainer does not look at these, or they only name the trial.
  const std::set<std::string> unread = {"/prefix_depth", "/type"};
  const nlohmann::json fields = whole.flatten();
  for (const auto& [at, value] : fields.items()) {
    if (unread.contains(at) || value.is_null()) continue;  // of empty objects
    SCOPED_TRACE(at);
    nlohmann::json trial = whole;
    trial[nlohmann::json::json_pointer(at)] =
        value.is_string() ? nlohmann::json(7) : nlohmann::json("seven");
    CauseOf(trial);
  }
  for (const char* at :
       {"/parameters", "/rates", "/objectives", "/objectives/0", "/model",
        "/data", "/data/columns", "/training", "/training/also_evaluate",
        "/training/early_stopping", "/training/extra", "/freeze",
        "/resume_from"}) {
    for (const nlohmann::json& value :
         {nlohmann::json("text"), nlohmann::json(7), nlohmann::json(true)}) {
      SCOPED_TRACE(at + (" = " + value.dump()));
      nlohmann::json trial = whole;
      trial[nlohmann::json::json_pointer(at)] = value;
      CauseOf(trial);
    }
  }
  ExpectItLives();
}

// JSON has no such number, Python's json writes it. The trial behind it waits
// in the pipe already.
TEST_F(BadMessage, ANumberThatIsNoneFailsItsTrialAlone) {
  nlohmann::json whole = world_->Trial();
  whole["training"].update({{"warmup_share", 0.1},
                            {"clip_norm", 1.0},
                            {"weight_decay", 0.01},
                            {"label_smoothing", 0.1},
                            {"max_steps", 3},
                            {"seed", 4}});
  whole["freeze"]["virtual_tau"] = 0.0;
  const nlohmann::json fields = whole.flatten();
  constexpr const char* kWords[] = {"NaN", "Infinity", "-Infinity", "1e999"};
  for (const auto& [at, value] : fields.items()) {
    if (!value.is_number() || at == "/prefix_depth") continue;
    SCOPED_TRACE(at);
    nlohmann::json trial = whole;
    trial[nlohmann::json::json_pointer(at)] = "@";
    const std::string line = trial.dump();
    std::string lines;
    for (const char* const word : kWords) {
      lines += std::string(line).replace(line.find("\"@\""), 3, word) + "\n";
    }
    trainer_->SendBytes(lines + world_->Trial().dump() + "\n");
    for (const char* const word : kWords) {
      const nlohmann::json finish = trainer_->ReadToFinish().finish;
      ASSERT_FALSE(finish.is_null()) << word << trainer_->Errors();
      EXPECT_EQ(finish["state"], "failed") << word;
      EXPECT_THAT(finish.value("cause", ""),
                  AllOf(StartsWith("FL-5015: "),
                        HasSubstr(at.substr(at.rfind('/') + 1))));
    }
    EXPECT_EQ(trainer_->ReadToFinish().finish["state"], "succeeded");
  }
}

TEST_F(BadMessage, EverySeedIsASeed) {
  std::set<double> losses;
  for (const std::uint64_t seed :
       {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << 63),
        ~std::uint64_t{0}, ~std::uint64_t{0} - 1}) {
    const nlohmann::json finish = trainer_->Train(With("/seed", seed)).finish;
    EXPECT_EQ(finish["state"], "succeeded");
    losses.insert(finish["metrics"]["loss"].get<double>());
  }
  EXPECT_EQ(losses.size(), 5);
}

// By value: rates that no weight survives.
TEST_F(BadMessage, RatesThatBlowUpAreInfeasible) {
  for (const double rate : {1e30, 1e300}) {
    nlohmann::json trial = world_->Trial();
    for (auto& each : trial["rates"]) each = rate;
    const nlohmann::json finish = trainer_->Train(trial).finish;
    EXPECT_EQ(finish["state"], "infeasible");
    EXPECT_THAT(
        finish["cause"].get<std::string>(),
        AllOf(StartsWith("FL-5017: "), HasSubstr("at step 2, epoch 1")));
    EXPECT_EQ(finish["usage"]["steps"], 2);
    ExpectItLives();
  }
}

// A folder that is not there fails where something must be written, and only
// there.
TEST_F(BadMessage, AFolderThatIsNotThereFailsTheExport) {
  nlohmann::json trial = With("/folder", "/proc/nowhere/at/all");
  EXPECT_EQ(trainer_->Train(trial).finish["state"], "succeeded");
  trial["training"]["extra"]["export"] = true;
  const nlohmann::json finish = trainer_->Train(trial).finish;
  EXPECT_EQ(finish["state"], "failed");
  EXPECT_EQ(finish["class"], "infrastructure");
  EXPECT_THAT(finish["cause"].get<std::string>(),
              AllOf(StartsWith("FL-5010"), HasSubstr("/proc/nowhere")));
  ExpectItLives();
}

}  // namespace
}  // namespace frostline::trainer
