// SPDX-License-Identifier: Apache-2.0
#include "server/wire/settings.h"

#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <functional>
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/plain/training_table.h"
#include "gmock/gmock.h"
#include "server/wire/spec.h"
#include "tests/server/example_study.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(NamedWords, WhatTheTrainerTakesPasses) {
  v1::StudySpec spec;
  for (const LoraWord& each : LoraWords()) {
    spec.mutable_training()->mutable_lora()->add_modules(
        std::string(each.word));
  }
  for (const char* kind : {"classification", "regression", "tagging", "pair",
                           "answers", "choices", ""}) {
    spec.mutable_data()->set_task(kind);
    EXPECT_OK(CheckNamedWords(spec));
  }
}

TEST(NamedWords, AMapThatNoFamilyHasIsNamedWithTheNearest) {
  v1::StudySpec spec;
  v1::LoraSpec& lora = *spec.mutable_training()->mutable_lora();
  lora.add_modules("query");
  lora.add_modules("vlaue");
  const absl::Status status = CheckNamedWords(spec);
  EXPECT_THAT(status,
              FailsAt(ErrorId::kRequestInvalid, "training.lora.modules[1]"));
  EXPECT_THAT(DescribeError(status),
              AllOf(HasSubstr("names 'vlaue', which is no map of a layer"),
                    HasSubstr("did you mean 'value'? name some of query, key"),
                    HasSubstr("q_lin")));
}

TEST(NamedWords, RanksByModuleAndWhatElseTrainsInPlaceOfWeightsExclude) {
  v1::StudySpec ranked;
  v1::ModuleSpace& module = *ranked.mutable_space()->add_modules();
  module.set_select("layer.*");
  module.mutable_rank()->add_ranks(8);
  EXPECT_OK(CheckNamedWords(ranked));
  const auto refused = [&](const std::function<void(v1::StudySpec&)>& change) {
    v1::StudySpec spec = ranked;
    change(spec);
    return CheckNamedWords(spec);
  };
  EXPECT_THAT(refused([](v1::StudySpec& spec) {
                spec.mutable_training()->mutable_lora()->set_rank(4);
              }),
              FailsAt(ErrorId::kRequestInvalid, "training.lora.rank"));
  EXPECT_THAT(refused([](v1::StudySpec& spec) {
                spec.mutable_training()->mutable_adapters()->set_size(4);
              }),
              FailsAt(ErrorId::kRequestInvalid, "training.adapters"));
  EXPECT_THAT(refused([](v1::StudySpec& spec) {
                spec.mutable_training()->set_trains("biases");
              }),
              FailsAt(ErrorId::kRequestInvalid, "training.trains"));
  EXPECT_THAT(refused([](v1::StudySpec& spec) {
                spec.mutable_freeze()->set_virtual_tau(1e-4);
              }),
              FailsAt(ErrorId::kRequestInvalid, "freeze.virtual_tau"));
  EXPECT_THAT(
      refused([](v1::StudySpec& spec) {
        spec.mutable_training()->mutable_lora()->set_alpha(8);
        spec.mutable_training()->mutable_lora()->set_alpha_per_rank(1);
      }),
      FailsAt(ErrorId::kRequestInvalid, "training.lora.alpha_per_rank"));
}

TEST(NamedWords, AHalfOfALayerWithARankHasAMapToAdapt) {
  v1::StudySpec spec;
  v1::Tie& tie = *spec.mutable_space()->add_ties();
  tie.add_modules("layer.1.ffn");
  tie.mutable_rank()->add_ranks(8);
  EXPECT_THAT(CheckNamedWords(spec),
              FailsAt(ErrorId::kRequestInvalid, "space.ties[0].rank"));
  v1::LoraSpec& lora = *spec.mutable_training()->mutable_lora();
  lora.add_modules("lin1");
  EXPECT_OK(CheckNamedWords(spec));
  tie.set_modules(0, "layer.1.attention");
  EXPECT_THAT(CheckNamedWords(spec),
              FailsAt(ErrorId::kRequestInvalid, "space.ties[0].rank"));
}

TEST(NamedWords, AKindOfTaskIsOneThatThereIs) {
  v1::StudySpec one, two;
  one.mutable_data()->set_task("clasification");
  two.add_tasks()->mutable_data()->set_task("tagging");
  two.add_tasks()->mutable_data()->set_task("ranking");
  const absl::Status status = CheckNamedWords(one);
  EXPECT_THAT(status, FailsAt(ErrorId::kRequestInvalid, "data.task"));
  EXPECT_THAT(
      DescribeError(status),
      HasSubstr("did you mean 'classification'? write one of "
                "classification, regression, tagging, pair, answers, choices"));
  EXPECT_THAT(CheckNamedWords(two),
              FailsAt(ErrorId::kRequestInvalid, "tasks[1].data.task"));
}

TEST(NamedWords, ATaskFreezesNoSingleAttentionHeads) {
  for (const char* selector : {"layer.0.head.3", "layer.*.head.*"}) {
    v1::StudySpec spec;
    v1::TaskSpec& task = *spec.add_tasks();
    for (const char* whole : {"layer.1.attention", "head.sst", "head"}) {
      task.add_freeze(whole);
    }
    EXPECT_OK(CheckNamedWords(spec));
    task.add_freeze(selector);
    EXPECT_THAT(CheckNamedWords(spec),
                FailsAt(ErrorId::kRequestInvalid, "tasks[0].freeze[3]"));
  }
}

TEST(NamedWords, SixteenFurtherSetsAreTheMost) {
  v1::StudySpec spec;
  for (int i = 0; i < 16; ++i) {
    spec.mutable_training()->add_also_evaluate(absl::StrCat("set", i));
  }
  EXPECT_OK(CheckNamedWords(spec));
  spec.mutable_training()->add_also_evaluate("one_more");
  const absl::Status status = CheckNamedWords(spec);
  EXPECT_THAT(status,
              FailsAt(ErrorId::kRequestInvalid, "training.also_evaluate"));
  EXPECT_THAT(DescribeError(status), HasSubstr("name at most 16"));
}

TEST(NamedWords, AWarmUpIsAShareOrANumberOfSteps) {
  v1::StudySpec spec;
  spec.mutable_training()->set_warmup_share(0.1);
  EXPECT_OK(CheckNamedWords(spec));
  spec.mutable_training()->set_warmup_steps(100);
  EXPECT_THAT(CheckNamedWords(spec),
              FailsAt(ErrorId::kRequestInvalid, "training.warmup_share"));
}

v1::StudySpec Predicting(const std::vector<std::string>& sets) {
  v1::StudySpec spec;
  for (const std::string& set : sets) {
    spec.mutable_training()->add_predictions(set);
  }
  return spec;
}

TEST(PredictedSets, OfEveryStudyAreTheRowsItTrainsAndValidatesWith) {
  EXPECT_OK(CheckTrainingBounds(Predicting({"validation", "dev", "train"})));
}

TEST(PredictedSets, TheTestSplitMustBeThere) {
  v1::StudySpec spec = Predicting({"dev", "test"});
  const absl::Status status = CheckTrainingBounds(spec);
  EXPECT_THAT(status,
              FailsAt(ErrorId::kRequestInvalid, "training.predictions[1]"));
  EXPECT_THAT(DescribeError(status),
              AllOf(HasSubstr("data has no test split"),
                    HasSubstr("give data.test_split, or name some of "
                              "validation, train")));
  spec.mutable_data()->set_test_split("test");
  EXPECT_OK(CheckTrainingBounds(spec));
}

TEST(PredictedSets, FurtherDataSetsAreThoseThatAreEvaluated) {
  v1::StudySpec spec = Predicting({"imdb"});
  spec.mutable_training()->add_also_evaluate("imbd");
  spec.mutable_training()->add_also_evaluate("yelp");
  const absl::Status status = CheckTrainingBounds(spec);
  EXPECT_THAT(status,
              FailsAt(ErrorId::kRequestInvalid, "training.predictions[0]"));
  EXPECT_THAT(DescribeError(status),
              AllOf(HasSubstr("names 'imdb'"), HasSubstr("mean 'imbd'?"),
                    HasSubstr("validation, train, imbd, yelp")));
  spec.mutable_training()->add_also_evaluate("imdb");
  EXPECT_OK(CheckTrainingBounds(spec));
}

TEST(PredictedSets, OfSeveralTasksEachMustHaveATestSplit) {
  v1::StudySpec spec = Predicting({"test"});
  for (const char* const name : {"sst", "sts"})
    spec.add_tasks()->set_name(name);
  spec.mutable_tasks(0)->mutable_data()->set_test_split("test");
  const absl::Status status = CheckPredictedSets(spec);
  EXPECT_THAT(status,
              FailsAt(ErrorId::kRequestInvalid, "training.predictions[0]"));
  EXPECT_THAT(DescribeError(status),
              AllOf(HasSubstr("the task 'sts' has no test split"),
                    HasSubstr("give tasks[1].data.test_split")));
  spec.mutable_tasks(1)->mutable_data()->set_test_split("test");
  EXPECT_OK(CheckPredictedSets(spec));
}

TEST(TrainingBounds, WhatIsNotGivenIsNotJudged) {
  EXPECT_OK(CheckTrainingBounds({}));
}

TEST(TrainingBounds, WhatCanBeTrainedWithPasses) {
  v1::StudySpec spec;
  spec.mutable_training()->set_epochs(100'000);
  spec.mutable_training()->set_label_smoothing(0.999);
  spec.mutable_training()->mutable_lora()->set_rank(65'536);
  spec.mutable_freeze()->set_virtual_tau(1.0);
  EXPECT_OK(CheckTrainingBounds(spec));
}

TEST(TrainingBounds, ANumberOutOfRangeNamesItsField) {
  v1::StudySpec smooth, deep, impatient, stiff;
  smooth.mutable_training()->set_label_smoothing(1.5);
  deep.mutable_training()->mutable_lora()->set_rank(1 << 20);
  impatient.mutable_training()->mutable_early_stopping()->set_patience(-1);
  stiff.mutable_freeze()->set_virtual_tau(2.0);

  EXPECT_THAT(CheckTrainingBounds(smooth),
              FailsAt(ErrorId::kRequestInvalid, "training.label_smoothing"));
  EXPECT_THAT(CheckTrainingBounds(deep),
              FailsAt(ErrorId::kRequestInvalid, "training.lora.rank"));
  EXPECT_THAT(
      CheckTrainingBounds(impatient),
      FailsAt(ErrorId::kRequestInvalid, "training.early_stopping.patience"));
  EXPECT_THAT(CheckTrainingBounds(stiff),
              FailsAt(ErrorId::kRequestInvalid, "freeze.virtual_tau"));
}

TEST(TrainingBounds, ADataSetCalledTestWouldTakeTheTestSplitsMetrics) {
  v1::StudySpec spec;
  spec.mutable_training()->add_also_evaluate("tests");
  EXPECT_OK(CheckTrainingBounds(spec));
  spec.mutable_training()->add_also_evaluate("test");
  EXPECT_THAT(CheckTrainingBounds(spec),
              FailsAt(ErrorId::kRequestInvalid, "training.also_evaluate"));
}

// Writes a word where a study has it: "optimizer", "head.kind", "freeze.mode".
v1::StudySpec SpecWith(const SettingRow& row, const std::string& word) {
  v1::StudySpec spec;
  google::protobuf::Message* message = spec.mutable_training();
  if (row.block() == "freeze.") message = spec.mutable_freeze();
  const auto field_of = [&](std::string_view name) {
    return message->GetDescriptor()->FindFieldByName(std::string(name));
  };
  if (!row.block().empty() && row.block() != "freeze.") {
    const std::string_view block = row.block();
    message = message->GetReflection()->MutableMessage(
        message, field_of(block.substr(0, block.size() - 1)));
  }
  const auto* const field = field_of(row.name());
  if (field->enum_type() == nullptr) {
    message->GetReflection()->SetString(message, field, word);
    return spec;
  }
  const auto* const value =
      field->enum_type()->FindValueByName(absl::AsciiStrToUpper(word));
  message->GetReflection()->SetEnumValue(
      message, field, value == nullptr ? 77 : value->number());
  return spec;
}

std::string FieldOf(const SettingRow& row) {
  return (row.block() == "freeze." ? "" : "training.") + std::string(row.key);
}

TEST(TrainingBounds, AWordIsOneOfItsRow) {
  int rows = 0;
  for (const SettingRow& row : TrainingTable()) {
    if (row.kind != SettingKind::kWord || row.block() == "extra.") continue;
    ++rows;
    for (const std::string_view word : WordsOf(row)) {
      EXPECT_OK(CheckTrainingBounds(SpecWith(row, std::string(word))));
    }
    const absl::Status status = CheckTrainingBounds(SpecWith(row, "xylophone"));
    EXPECT_THAT(status, FailsAt(ErrorId::kRequestInvalid, FieldOf(row)));
    EXPECT_THAT(DescribeError(status),
                HasSubstr("write one of " + std::string(row.words)));
  }
  EXPECT_GE(rows, 14);
}

TEST(TrainingBounds, OfAMisspeltWordTheNearestIsNamed) {
  const absl::Status status =
      CheckTrainingBounds(SpecWith(SettingOf("optimizer"), "adamx"));
  EXPECT_THAT(DescribeError(status),
              AllOf(HasSubstr("training.optimizer is 'adamx'"),
                    HasSubstr("did you mean 'adamw'? write one of adamw, adam, "
                              "sgd")));
}

TEST(TrainingBounds, EachTasksHeadIsJudgedToo) {
  v1::StudySpec spec;
  spec.add_tasks();
  spec.add_tasks()->mutable_head()->set_pooling("middle");
  EXPECT_THAT(CheckTrainingBounds(spec),
              FailsAt(ErrorId::kRequestInvalid, "tasks[1].head.pooling"));
}

// The table speaks of what the contract has, by the same names.
TEST(TrainingBounds, EveryRowButThoseOfExtraIsAFieldOfTheContract) {
  for (const SettingRow& row : TrainingTable()) {
    const google::protobuf::Descriptor* type = v1::Training::descriptor();
    if (row.block() == "lora.") type = v1::LoraSpec::descriptor();
    if (row.block() == "adapters.") type = v1::AdapterSpec::descriptor();
    if (row.block() == "smart.") type = v1::SmartSpec::descriptor();
    if (row.block() == "early_stopping.")
      type = v1::EarlyStopping::descriptor();
    if (row.block() == "head.") type = v1::HeadSpec::descriptor();
    if (row.block() == "freeze.") type = v1::FreezeSemantics::descriptor();
    if (row.block() == "extra.") continue;
    EXPECT_NE(type->FindFieldByName(std::string(row.name())), nullptr)
        << row.key;
  }
}

// `extra` as JSON, of a study that names a model.
absl::Status CheckExtra(const std::string& extra) {
  v1::StudySpec spec;
  spec.mutable_model()->set_id("minilm");
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(
                  extra, spec.mutable_training()->mutable_extra())
                  .ok());
  return CheckTrainingBounds(spec);
}

v1::StudySpec Searching(const std::string& parameter) {
  v1::StudySpec spec;
  spec.mutable_model()->set_id("minilm");
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(
                  parameter, spec.mutable_space()->add_parameters())
                  .ok());
  return spec;
}

absl::Status CheckSearched(const std::string& parameter) {
  return CheckTrainingBounds(Searching(parameter));
}

TEST(ExtraSettings, WhatTheTrainerTakesPasses) {
  for (const char* const extra : {
           R"({"head": "cosine", "pooling": "mean", "scale": 5})",
           R"({"batches": "by_chance", "momentum": 0.9, "dropout": 0})",
           R"({"class_weights": "balanced"})",
           R"({"class_weights": [1, 2.5]})",
           R"({"no_decay": ["bias", "LayerNorm.weight"]})",
           R"({"export": "all"})",
           R"({"export": true})",
           R"({"head": null, "pooling": ""})",
       }) {
    EXPECT_OK(CheckExtra(extra)) << extra;
  }
}

TEST(ExtraSettings, WhatItDoesNotTakeNamesItsField) {
  const std::pair<const char*, const char*> kWrong[] = {
      {R"({"head": "cosin"})", "training.extra.head"},
      {R"({"pooling": "max"})", "training.extra.pooling"},
      {R"({"batches": 3})", "training.extra.batches"},
      {R"({"class_weights": "even"})", "training.extra.class_weights"},
      {R"({"class_weights": [1, 0]})", "training.extra.class_weights"},
      {R"({"class_weights": 2})", "training.extra.class_weights"},
      {R"({"export": "last"})", "training.extra.export"},
      {R"({"no_decay": "bias"})", "training.extra.no_decay"},
      {R"({"momentum": 1})", "training.extra.momentum"},
      {R"({"epsilon": 0})", "training.extra.epsilon"},
      {R"({"scale": "5"})", "training.extra.scale"},
  };
  for (const auto& [extra, field] : kWrong) {
    EXPECT_THAT(CheckExtra(extra), FailsAt(ErrorId::kRequestInvalid, field));
  }
  EXPECT_THAT(DescribeError(CheckExtra(R"({"head": "cosin"})")),
              AllOf(HasSubstr("did you mean 'cosine'? write one of joint, "
                              "cosine; for a trainer of your own call it")));
}

TEST(SearchedSettings, ValuesThatTheTrainerTakesPass) {
  for (const char* const parameter : {
           R"({"name": "optimizer", "choices": ["adamw", "sgd"]})",
           R"({"name": "batch_size", "int": {"lo": 8, "hi": 64, "log": true}})",
           R"({"name": "batch_size", "float": {"lo": 8, "hi": 64, "step": 8}})",
           R"({"name": "epochs", "choices": [1, 2, 4]})",
           R"({"name": "epochs", "levels": {"rates": [1, 2]}})",
           R"({"name": "weight_decay", "logUniform":
               {"lo": 1e-6, "hi": 0.1, "freeze": true}})",
           R"({"name": "seed", "int": {"lo": 1, "hi": 5}})",
           R"({"name": "colour", "choices": ["red", "blue"]})",
       }) {
    EXPECT_OK(CheckSearched(parameter)) << parameter;
  }
}

TEST(SearchedSettings, ValuesThatNoTrialCouldTrainWithNameTheirField) {
  const std::pair<const char*, const char*> kWrong[] = {
      {R"({"name": "optimizer", "choices": ["adam", "adamx"]})",
       "space.parameters[0].choices[1]"},
      {R"({"name": "schedule", "int": {"lo": 0, "hi": 2}})",
       "space.parameters[0]"},
      {R"({"name": "batch_size", "int": {"lo": 0, "hi": 64}})",
       "space.parameters[0].int.lo"},
      {R"({"name": "batch_size", "float": {"lo": 8, "hi": 64}})",
       "space.parameters[0]"},
      {R"({"name": "epochs", "choices": [1, "2"]})",
       "space.parameters[0].choices[1]"},
      {R"({"name": "epochs", "levels": {"rates": [1, 2.5]}})",
       "space.parameters[0].levels.rates[1]"},
      {R"({"name": "dropout", "float": {"lo": 0, "hi": 1}})",
       "space.parameters[0].float.hi"},
      {R"({"name": "epsilon", "logUniform":
           {"lo": 1e-9, "hi": 1e-6, "freeze": true}})",
       "space.parameters[0].log_uniform.freeze"},
      {R"({"name": "seed", "int": {"lo": -1, "hi": 5}})",
       "space.parameters[0].int.lo"},
  };
  for (const auto& [parameter, field] : kWrong) {
    EXPECT_THAT(CheckSearched(parameter),
                FailsAt(ErrorId::kRequestInvalid, field));
  }
}

TEST(SearchedSettings, AStudyWithoutAModelIsForAnotherTrainer) {
  v1::StudySpec spec =
      Searching(R"({"name": "optimizer", "choices": ["lamb", "lion"]})");
  EXPECT_THAT(
      CheckUntypedSettings(spec),
      FailsAt(ErrorId::kRequestInvalid, "space.parameters[0].choices[0]"));
  spec.clear_model();
  EXPECT_OK(CheckUntypedSettings(spec));
}

constexpr std::uint64_t kMostInInt32 = (1ull << 31) - 1;

v1::StudySpec SpecWithSeed(v1::SeedMode seeds) {
  v1::StudySpec spec = ExampleSpec();
  spec.set_seeds(seeds);
  return spec;
}

TEST(TrainingSeed, EveryTrialHasOneOfItsOwnThatAnyProgramCanHold) {
  const v1::StudySpec spec = ExampleSpec();
  EXPECT_EQ(SeedModeOf(spec), v1::SEED_MODE_PER_TRIAL);
  std::set<std::uint64_t> seeds;
  for (std::int64_t number = 0; number < 1000; ++number) {
    const std::uint64_t seed = TrainingSeed(spec, number, number % 3);
    EXPECT_EQ(seed, TrainingSeed(spec, number, 0));
    EXPECT_GE(seed, 1u);
    EXPECT_LE(seed, kMostInInt32);
    seeds.insert(seed);
  }
  EXPECT_EQ(seeds.size(), 1000u);
  v1::StudySpec other = spec;
  other.set_seed(spec.seed() + 1);
  EXPECT_NE(TrainingSeed(other, 0, 0), TrainingSeed(spec, 0, 0));
}

TEST(TrainingSeed, PairedRunsOfAnyPointsShareTheirSeed) {
  const v1::StudySpec spec = SpecWithSeed(v1::SEED_MODE_PAIRED);
  EXPECT_EQ(TrainingSeed(spec, 4, 0), TrainingSeed(spec, 17, 0));
  EXPECT_EQ(TrainingSeed(spec, 4, 2), TrainingSeed(spec, 17, 2));
  EXPECT_NE(TrainingSeed(spec, 4, 0), TrainingSeed(spec, 4, 1));
}

TEST(TrainingSeed, PairedRunsTakeTheSeedsOfTheListFirst) {
  v1::StudySpec spec = SpecWithSeed(v1::SEED_MODE_PAIRED);
  const std::uint64_t third = TrainingSeed(spec, 4, 2);
  spec.add_training_seeds(41);
  spec.add_training_seeds(7);
  EXPECT_EQ(TrainingSeed(spec, 4, 0), 41u);
  EXPECT_EQ(TrainingSeed(spec, 17, 1), 7u);
  EXPECT_EQ(TrainingSeed(spec, 17, 2), third);
}

TEST(TrainingSeed, IsSharedUnlessEachTrialHasItsOwn) {
  EXPECT_FALSE(SharesSeeds(ExampleSpec()));
  EXPECT_TRUE(SharesSeeds(SpecWithSeed(v1::SEED_MODE_PAIRED)));
  EXPECT_TRUE(SharesSeeds(SpecWithSeed(v1::SEED_MODE_FIXED)));
}

TEST(TrainingSeed, AFixedSeedIsTheStudysOwnOrTheOneGiven) {
  v1::StudySpec spec = SpecWithSeed(v1::SEED_MODE_FIXED);
  EXPECT_EQ(TrainingSeed(spec, 4, 0), TrainingSeed(spec, 17, 5));
  spec.mutable_training()->set_seed(1);
  EXPECT_EQ(TrainingSeed(spec, 4, 0), 1u);
  spec.clear_seeds();
  EXPECT_EQ(SeedModeOf(spec), v1::SEED_MODE_FIXED);
  EXPECT_EQ(TrainingSeed(spec, 4, 0), 1u);
}

TEST(TrainingSeed, IsNotedBesideWhatPeopleWrote) {
  v1::Trial written;
  (*written.mutable_labels())["by"] = "ada";
  storage::TrialRow row;
  row.labels = written.SerializeAsString();
  NoteSeed({.seed = 12, .repeat = 2}, row);
  EXPECT_EQ(NotedSeedOf(row).seed, 12u);
  EXPECT_EQ(NotedSeedOf(row).repeat, 2);
  v1::Trial kept;
  ASSERT_TRUE(kept.ParseFromString(row.labels));
  EXPECT_EQ(kept.labels().at("by"), "ada");
}

// A trial that an earlier version queued keeps the seed that version had sent.
TEST(TrainingSeed, OfOldRowsIsWhatItWas) {
  storage::TrialRow row;
  row.number = 3;
  v1::StudySpec spec = ExampleSpec();
  EXPECT_EQ(SeedToTrainWith(row, spec), Rng(7, 3ull | (1ull << 62)).Next());
  spec.mutable_training()->set_seed(1);
  EXPECT_EQ(SeedToTrainWith(row, spec), 1u);
  NoteSeed({.seed = 99, .repeat = 0}, row);
  EXPECT_EQ(SeedToTrainWith(row, spec), 99u);
}

TEST(TrainingSeed, RepeatsEndTheBudgetUnlessTheStudySaysWhen) {
  v1::StudySettings settings;
  settings.mutable_budget()->set_trials(36);
  v1::StudySpec spec = ExampleSpec();
  spec.mutable_repeat()->set_times(3);
  FillRepeat(settings, spec);
  EXPECT_EQ(spec.repeat().leaders(), 3);
  EXPECT_EQ(spec.repeat().after(), 30);
  spec.mutable_repeat()->set_after(12);
  FillRepeat(settings, spec);
  EXPECT_EQ(spec.repeat().after(), 12);
  EXPECT_OK(CheckSeeds(spec, settings));
}

struct SeedMistake {
  const char* name;
  ErrorId id;
  const char* field;
  std::function<void(v1::StudySpec&)> spoil;
};

const SeedMistake kSeedMistakes[] = {
    {"unknown_mode", ErrorId::kRequestInvalid, "seeds",
     [](auto& spec) { spec.set_seeds(static_cast<v1::SeedMode>(9)); }},
    {"fixed_and_paired", ErrorId::kRequestInvalid, "seeds",
     [](auto& spec) {
       spec.set_seeds(v1::SEED_MODE_PAIRED);
       spec.mutable_training()->set_seed(1);
     }},
    {"a_list_without_pairs", ErrorId::kRequestInvalid, "training_seeds",
     [](auto& spec) { spec.add_training_seeds(3); }},
    {"a_seed_of_zero", ErrorId::kRequestInvalid, "training_seeds",
     [](auto& spec) {
       spec.set_seeds(v1::SEED_MODE_PAIRED);
       spec.add_training_seeds(0);
     }},
    {"a_seed_twice", ErrorId::kRequestInvalid, "training_seeds",
     [](auto& spec) {
       spec.set_seeds(v1::SEED_MODE_PAIRED);
       spec.add_training_seeds(3);
       spec.add_training_seeds(3);
     }},
    {"too_many_seeds", ErrorId::kRequestInvalid, "training_seeds",
     [](auto& spec) {
       spec.set_seeds(v1::SEED_MODE_PAIRED);
       for (std::uint64_t i = 1; i < 102; ++i) spec.add_training_seeds(i);
     }},
    {"repeat_of_one_seed", ErrorId::kRequestInvalid, "repeat",
     [](auto& spec) {
       spec.mutable_repeat()->set_times(3);
       spec.mutable_training()->set_seed(1);
     }},
    {"repeat_once", ErrorId::kRequestInvalid, "repeat.times",
     [](auto& spec) { spec.mutable_repeat()->set_times(1); }},
    {"repeat_for_ever", ErrorId::kRequestInvalid, "repeat.times",
     [](auto& spec) { spec.mutable_repeat()->set_times(2'000'000'000); }},
    {"negative_leaders", ErrorId::kRequestInvalid, "repeat.leaders",
     [](auto& spec) {
       spec.mutable_repeat()->set_times(2);
       spec.mutable_repeat()->set_leaders(-1);
     }},
    {"all_points_lead", ErrorId::kRequestInvalid, "repeat.leaders",
     [](auto& spec) {
       spec.mutable_repeat()->set_times(2);
       spec.mutable_repeat()->set_leaders(2'000'000'000);
     }},
    {"negative_after", ErrorId::kRequestInvalid, "repeat.after",
     [](auto& spec) {
       spec.mutable_repeat()->set_times(2);
       spec.mutable_repeat()->set_after(-5);
     }},
    {"nothing_but_repeats", ErrorId::kBudgetInvalid, "repeat",
     [](auto& spec) { spec.mutable_repeat()->set_times(11); }},
};

class BadSeeds : public ::testing::TestWithParam<SeedMistake> {};

TEST_P(BadSeeds, AreRefusedWithTheirFieldAndFix) {
  v1::StudySettings settings;
  settings.mutable_budget()->set_trials(30);
  v1::StudySpec spec = ExampleSpec();
  GetParam().spoil(spec);
  FillRepeat(settings, spec);
  const absl::Status refused = CheckSeeds(spec, settings);
  ASSERT_THAT(refused, FailsWith(GetParam().id));
  EXPECT_EQ(DetailOf(refused)->field, GetParam().field);
  EXPECT_NE(DetailOf(refused)->fix, "");
}

INSTANTIATE_TEST_SUITE_P(All, BadSeeds, ::testing::ValuesIn(kSeedMistakes),
                         [](const auto& test) {
                           return std::string(test.param.name);
                         });

}  // namespace
}  // namespace frostline::server
