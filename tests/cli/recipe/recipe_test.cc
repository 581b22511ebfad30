// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "absl/strings/str_replace.h"
#include "cli/recipe/entry_table.h"
#include "cli/recipe/recipe_answer.h"
#include "cli/recipe/recipe_file.h"
#include "cli/recipe/recipe_page.h"
#include "cli/recipe/recipe_record.h"
#include "cli/recipe/recipe_stage.h"
#include "cli/recipe/recipe_survey.h"
#include "cli/recipe/run_table.h"
#include "cli/report/trial_figures.h"
#include "cli/study_file/yaml_sugar.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/report/small_record.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {

// A recipe of three stages: a search of a rate, runs for each language with
// that rate, and a second search that runs only where its data are.

inline std::string SmallRecipe() {
  return R"(recipe: first-layers
format: 1
title: How many first layers
question: What is lost?
highest_layer_rate: 1e-4
models:
  mini: {what: MiniLM, where: a package, layers: 4, no_pooler: false}
data:
  ewt: {what: UD English EWT, where: the web, add: frostline registry add dataset ewt.conllu}
scales:
  tiny: {about: small, model: mini, rows: 60, seeds: [1, 2]}
  full: {model: mini, rows: ~, seeds: [1, 2, 3]}
stages:
  line:
    study:
      model: {id: "${model}", layers: "${layers}"}
      data: ewt
      maximize: accuracy
      budget: 4
      space:
        modules: {"layer.*": [0, 1e-5]}
        parameters: {rate: {float: [1e-5, 5e-5]}}
  frozen:
    each: {english: {set: ewt}, pidgin: {set: naija}}
    skip_without_data: true
    runs:
      all trained: {strategy: {full: 1e-5}, at: 0}
      "first ${n}":
        for: {n: {from: 1, to: "${layers / 2}"}}
        strategy: {first_k: {k: "${n}", rate: "${line.best.rate}"}}
        at: "${n}"
    compare: {to: all trained, metric: test.accuracy, margin: 0.01}
    study:
      model: {id: "${model}", layers: "${layers}"}
      data: {id: "${set}", train_rows: "${rows}", test_split: test}
      maximize: accuracy
      space: {modules: {"layer.*": [0, 1e-3]}}
published:
  frozen-english:
    examples: 544
    runs:
      all trained: {accuracy: 0.93}
      first 1: {accuracy: 0.92, seconds: 10}
)";
}

namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string MistakeIn(const std::string& from, const std::string& to) {
  const std::string text = absl::StrReplaceAll(SmallRecipe(), {{from, to}});
  EXPECT_NE(text, SmallRecipe());
  return std::string(ParseRecipe(text, "r.yaml").status().message());
}

TEST(RecipeFile, IsReadWhole) {
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  ASSERT_OK(recipe);
  EXPECT_EQ(recipe->name, "first-layers");
  EXPECT_EQ(recipe->scales[0].name, "tiny");
  EXPECT_EQ(recipe->scales[0].about, "small");
  ASSERT_EQ(recipe->stages.size(), 2u);
  EXPECT_EQ(recipe->stages[1].compare->to, "all trained");
  EXPECT_TRUE(recipe->stages[1].skip_without_data);
  EXPECT_EQ(recipe->published.at("frozen-english").examples, 544);
  EXPECT_EQ(recipe->models.at("mini").facts.at("layers")->text, "4");
}

TEST(RecipeFile, NamesAKeyThatDoesNotExist) {
  EXPECT_THAT(MistakeIn("question:", "qestion:"), HasSubstr("question"));
  EXPECT_THAT(MistakeIn("  skip_without_data:", "  skip_without_dta:"),
              HasSubstr("r.yaml:"));
  EXPECT_THAT(MistakeIn("where: the web", "were: the web"),
              HasSubstr("data set ewt"));
}

TEST(RecipeFile, OfALaterFormatIsRefusedBeforeAnythingElse) {
  const auto recipe = ParseRecipe("format: 2\nnew_key: 1\n", "r.yaml");
  ASSERT_FALSE(recipe.ok());
  EXPECT_THAT(recipe.status().message(), HasSubstr("format 2"));
}

TEST(RecipeFile, WithoutStagesOrScalesIsNone) {
  const auto recipe =
      ParseRecipe("recipe: a\nformat: 1\ntitle: b\nquestion: c\n", "r.yaml");
  ASSERT_FALSE(recipe.ok());
  EXPECT_THAT(recipe.status().message(), HasSubstr("scales"));
}

TEST(RecipeFile, HasTheScalesThatItNames) {
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  ASSERT_OK(recipe);
  EXPECT_OK(FindScale(*recipe, "full"));
  EXPECT_THAT(FindScale(*recipe, "huge").status().message(), HasSubstr("huge"));
}

TEST(KnownRecipes, AreAllReadable) {
  EXPECT_EQ(KnownRecipes().size(), 9u);
  for (const KnownRecipe& known : KnownRecipes()) {
    const auto recipe = OpenRecipe(known.name);
    ASSERT_OK(recipe) << known.name;
    EXPECT_EQ(recipe->name, known.name);
  }
}

TEST(KnownRecipes, AreSuggested) {
  EXPECT_FALSE(OpenRecipe("esla").ok());
  EXPECT_FALSE(OpenRecipe("no/such.yaml").ok());
}

absl::StatusOr<YamlPtr> Put(const std::string& text,
                            const std::string& values) {
  const auto named = ParseYaml(values, "values");
  const auto tree = ParseYaml(text, "file");
  RecipeValues scope;
  for (const YamlEntry& entry : (*named)->entries) {
    scope[entry.key] = entry.value;
  }
  return PutValues(*tree, "file", FromScopes({&scope}));
}

TEST(RecipeValues, StandWhereTheyAreNamed) {
  const auto put =
      Put("k: \"${n}\"\n\"first ${n} of ${m}\": x", "{n: 3, m: 6}");
  ASSERT_OK(put);
  EXPECT_EQ((*put)->Find("k")->value->text, "3");
  ASSERT_NE((*put)->Find("first 3 of 6"), nullptr);
}

TEST(RecipeValues, MayBeListsAndMapsWhereTheyAreAll) {
  const auto put = Put("k: \"${list}\"", "{list: [1, 2]}");
  ASSERT_OK(put);
  EXPECT_EQ((*put)->Find("k")->value->items.size(), 2u);
  const auto within = Put("k: \"a ${list}\"", "{list: [1, 2]}");
  EXPECT_THAT(within.status().message(), HasSubstr("file:1:4"));
}

TEST(RecipeValues, AreComputed) {
  const auto put = Put(
      "a: \"${n / 2}\"\nb: \"${n - 3}\"\nc: \"${r * 0.5}\"\nd: \"${n + 1}\"",
      "{n: 7, r: 2e-5}");
  ASSERT_OK(put);
  EXPECT_EQ((*put)->Find("a")->value->text, "3");
  EXPECT_EQ((*put)->Find("b")->value->text, "4");
  EXPECT_EQ(std::stod((*put)->Find("c")->value->text), 1e-5);
  EXPECT_EQ((*put)->Find("d")->value->text, "8");
  EXPECT_EQ((*Put("a: \"${n / 2 - 1}\"", "{n: 7}"))->Find("a")->value->text,
            "2");
  for (const char* text :
       {"n / 0", "n / 2 -", "n / 2 -1", "n / two", "n - 1 % 2"}) {
    EXPECT_FALSE(Put(absl::StrCat("a: \"${", text, "}\""), "{n: 7}").ok())
        << text;
  }
}

TEST(RecipeValues, ThatComeToNothingLeaveTheirKeyOut) {
  const auto put = Put("train_rows: \"${rows}\"\nid: x", "{rows: ~}");
  ASSERT_OK(put);
  EXPECT_EQ((*put)->Find("train_rows"), nullptr);
  EXPECT_NE((*put)->Find("id"), nullptr);
}

TEST(RecipeValues, ThatNobodyKnowsAreMistakesAtTheirPlace) {
  const auto put = Put("a: 1\nb: \"${nosuch}\"", "{n: 7}");
  ASSERT_FALSE(put.ok());
  EXPECT_THAT(put.status().message(), HasSubstr("file:2:4"));
  EXPECT_THAT(put.status().message(), HasSubstr("nosuch"));
}

class RecipeStages : public ::testing::Test {
 protected:
  // Both stages' studies, with the rate that the first one is said to have
  // found.
  absl::StatusOr<std::vector<StageStudy>> Make(const std::string& text) {
    auto read = ParseRecipe(text, "r.yaml");
    if (!read.ok()) return read.status();
    recipe_ = *std::move(read);
    const RecipeScale& scale = **FindScale(recipe_, wish_.scale);
    const StageWorld world = {
        recipe_, scale, wish_,
        [this](const std::string& model) {
          return recipe_.models.at(model).facts;
        },
        [](const StageStudy& earlier,
           const std::string& what) -> absl::StatusOr<YamlPtr> {
          EXPECT_EQ(earlier.stage, "line");
          EXPECT_EQ(what, "best.rate");
          return ScalarNode("3e-5", {});
        }};
    std::vector<StageStudy> all;
    for (const RecipeStage& stage : recipe_.stages) {
      const auto studies = StudiesOf(world, stage, all);
      if (!studies.ok()) return studies.status();
      all.insert(all.end(), studies->begin(), studies->end());
    }
    return all;
  }

  Recipe recipe_;
  RecipeOptions wish_ = {"tiny", "", "", "", {}};
};

TEST_F(RecipeStages, BecomeStudies) {
  const auto all = Make(SmallRecipe());
  ASSERT_OK(all);
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ((*all)[0].study.id, "first-layers-tiny-line");
  EXPECT_EQ((*all)[1].study.id, "first-layers-tiny-frozen-english");
  EXPECT_EQ((*all)[2].study.spec.data().id(), "naija");
  EXPECT_EQ((*all)[1].study.spec.model().layers(), 4);
  EXPECT_EQ((*all)[1].study.spec.data().train_rows(), 60);
  EXPECT_EQ((*all)[1].study.settings.labels().at("recipe_compare"),
            "all trained");
}

TEST_F(RecipeStages, TrainEachRunWithEachSeed) {
  const auto all = Make(SmallRecipe());
  ASSERT_OK(all);
  const v1::StudySpec& spec = (*all)[1].study.spec;
  ASSERT_EQ(spec.enqueue_size(), 6);  // three runs, two seeds
  EXPECT_EQ((*all)[1].study.settings.budget().trials(), 6);
  EXPECT_EQ(spec.enqueue(0).labels().at("run"), "all trained");
  EXPECT_EQ(spec.enqueue(5).labels().at("run"), "first 2");
  EXPECT_EQ(spec.enqueue(5).labels().at("at"), "2");
  EXPECT_EQ(spec.enqueue(5).seed(), 2u);
  EXPECT_EQ(spec.enqueue(5).strategy().k(), 2);
}

TEST_F(RecipeStages, TakeWhatAnEarlierOneFound) {
  const auto all = Make(SmallRecipe());
  ASSERT_OK(all);
  EXPECT_EQ((*all)[1].study.spec.enqueue(5).strategy().rate(), 3e-5);
}

TEST_F(RecipeStages, TakeAllRowsWhereTheScaleSaysNone) {
  wish_.scale = "full";
  const auto all = Make(SmallRecipe());
  ASSERT_OK(all);
  EXPECT_EQ((*all)[1].study.spec.data().train_rows(), 0);
  EXPECT_EQ((*all)[1].study.spec.enqueue_size(), 9);
}

TEST_F(RecipeStages, TakeWhatTheCommandLineSays) {
  wish_.id = "mine";
  wish_.set["seeds"] = *ParseValue("[7]", "--set");
  const auto all = Make(SmallRecipe());
  ASSERT_OK(all);
  EXPECT_EQ((*all)[1].study.id, "mine-frozen-english");
  EXPECT_EQ((*all)[1].study.spec.enqueue_size(), 3);
  EXPECT_EQ((*all)[1].study.spec.enqueue(0).seed(), 7u);
}

TEST_F(RecipeStages, EntriesMayCountTheLayersOfTheScalesModel) {
  const auto all = Make(absl::StrReplaceAll(
      SmallRecipe(), {{"{set: ewt}", "{set: \"ewt-${layers - 1}\"}"}}));
  ASSERT_OK(all);
  EXPECT_EQ((*all)[1].study.spec.data().id(), "ewt-3");
}

TEST_F(RecipeStages, TellMistakesAtTheRecipesLine) {
  const auto unknown = Make(
      absl::StrReplaceAll(SmallRecipe(), {{"${line.best", "${lien.best"}}));
  EXPECT_THAT(unknown.status().message(), HasSubstr("'lien'"));
  const auto key =
      Make(absl::StrReplaceAll(SmallRecipe(), {{"train_rows", "train_rowz"}}));
  EXPECT_THAT(key.status().message(), HasSubstr("r.yaml:"));
  const auto to = Make(absl::StrReplaceAll(
      SmallRecipe(), {{"to: all trained", "to: everything"}}));
  EXPECT_THAT(to.status().message(), HasSubstr("everything"));
}

TEST(RecipeEntries, AreEveryCombination) {
  const auto each = ParseYaml("[{a: {x: 1}, b: {x: 2}}, {c: {y: 3}}]", "f");
  const auto entries = EntriesOfEach(*each, "f", {});
  ASSERT_OK(entries);
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_THAT((*entries)[1].names, ElementsAre("b", "c"));
  EXPECT_EQ((*entries)[1].values.at("y")->text, "3");
}

TEST(RecipeEntries, AreThoseOfTheModelThatIsWanted) {
  const auto each =
      ParseYaml("{base: {model: bert}, large: {model: bert-large}}", "f");
  const auto one = EntriesOfEach(*each, "f", {{"model", "bert-large"}});
  ASSERT_OK(one);
  ASSERT_EQ(one->size(), 1u);
  EXPECT_EQ((*one)[0].names[0], "large");
  const auto other = EntriesOfEach(*each, "f", {{"model", "mini"}});
  ASSERT_OK(other);
  ASSERT_EQ(other->size(), 1u);
  EXPECT_EQ((*other)[0].names[0], "mini");
  EXPECT_EQ((*other)[0].values.at("model")->text, "mini");
}

RecipeStock StockWith(std::set<std::string> data) {
  RecipeStock stock;
  stock.models = {"mini"};
  stock.data = std::move(data);
  stock.model_facts = [](const std::string&) { return RecipeValues(); };
  return stock;
}

TEST(RecipeSurvey, SkipsWhatHasNoDataAndMayBeSkipped) {
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  const auto survey = SurveyRecipe(
      *recipe, recipe->scales[0], {"tiny", "", "", "", {}}, StockWith({"ewt"}));
  ASSERT_OK(survey);
  EXPECT_EQ(survey->studies.size(), 2u);
  ASSERT_EQ(survey->skipped.size(), 1u);
  EXPECT_EQ(survey->skipped[0].missing[0].id, "naija");
  EXPECT_TRUE(survey->missing.empty());
  EXPECT_TRUE(survey->studies[1].takes_earlier);
}

TEST(RecipeSurvey, SaysWhatIsMissingAndHowToRegisterIt) {
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  const auto survey = SurveyRecipe(*recipe, recipe->scales[0],
                                   {"tiny", "", "", "", {}}, StockWith({}));
  ASSERT_OK(survey);
  ASSERT_EQ(survey->missing.size(), 1u);
  const std::string text = DescribeMissing(*recipe, survey->missing);
  EXPECT_THAT(text, HasSubstr("data set ewt is missing"));
  EXPECT_THAT(text, HasSubstr("the web"));
  EXPECT_THAT(text, HasSubstr("frostline registry add dataset ewt.conllu"));
}

TEST(RecipeSurvey, SaysOfAModelThatNobodyKnowsThatItIsMissing) {
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  const auto survey =
      SurveyRecipe(*recipe, recipe->scales[0], {"tiny", "", "nothing", "", {}},
                   StockWith({"ewt"}));
  ASSERT_OK(survey);
  EXPECT_TRUE(survey->studies.empty());
  ASSERT_EQ(survey->missing.size(), 1u);
  EXPECT_THAT(DescribeMissing(*recipe, survey->missing),
              HasSubstr("frostline registry add model FOLDER --id nothing"));
}

TEST(RecipeSurvey, WarnsOfRatesFromWhereLayersForget) {
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  const auto survey = SurveyRecipe(
      *recipe, recipe->scales[0], {"tiny", "", "", "", {}}, StockWith({"ewt"}));
  ASSERT_OK(survey);
  ASSERT_EQ(survey->warnings.size(), 1u);
  EXPECT_THAT(survey->warnings[0], HasSubstr("0.001"));
}

// What a run of a recipe comes to: tables, pictures and the judgement of what
// was published.

// Two runs of two seeds: all trained scores .90 and .94, first 1 .80 and .84.
StudyRecord RunsRecord() {
  StudyRecord record = SmallRecord();
  record.plan.reset();
  record.missing.clear();
  auto& labels = *record.study.mutable_settings()->mutable_labels();
  labels["recipe"] = "first-layers";
  labels["recipe_entry"] = "frozen-english";
  labels["recipe_stage"] = "frozen";
  labels["recipe_compare"] = "all trained";
  record.trials.Clear();
  const std::vector<std::pair<std::string, double>> runs = {
      {"all trained", 0.90},
      {"all trained", 0.94},
      {"first 1", 0.80},
      {"first 1", 0.84}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    v1::Trial trial = TrialOf(static_cast<std::int64_t>(i), runs[i].second,
                              i < 2 ? 4'000'000 : 3'000'000, 9.0, {0.0, 1e-3});
    trial.mutable_usage()->set_train_seconds(i < 2 ? 10.0 : 4.0);
    (*trial.mutable_labels())["run"] = runs[i].first;
    (*trial.mutable_labels())["at"] = i < 2 ? "0" : "1";
    *record.trials.add_trials() = trial;
  }
  return record;
}

TEST(RunTable, HasMeanAndDeviationOverSeeds) {
  const StudyRecord record = RunsRecord();
  const ReportTable table = RunTable(record, "runs", nullptr);
  EXPECT_THAT(table.columns,
              ElementsAre("run", "seeds", "accuracy", "trained weights",
                          "train seconds", "time saved"));
  EXPECT_THAT(table.rows[1], ElementsAre("first 1", "2", "0.82 ± 0.03", "3 M",
                                         "4", "60.0 % ± 0.0"));
}

TEST(RunTable, HasWhatWasPublishedBeside) {
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  const ReportTable table =
      RunTable(RunsRecord(), "runs", &recipe->published.at("frozen-english"));
  EXPECT_THAT(table.columns,
              ElementsAre("run", "seeds", "accuracy", "their accuracy",
                          "trained weights", "train seconds", "time saved",
                          "their seconds"));
  EXPECT_EQ(table.rows[0][3], "0.93");
  EXPECT_EQ(table.rows[1][7], "10");
}

TEST(RunTable, NamesWhatWasPublishedAsPeopleDo) {
  PublishedStage published;
  published.runs["all trained"] = {{"accuracy", 0.96},
                                   {"trained_parameters", 134e6}};
  published.runs["first 1"] = {{"seconds_saved", 0.16}};
  published.runs["first 9"] = {{"accuracy", 0.5}};  // published alone
  const ReportTable table = RunTable(RunsRecord(), "runs", &published);
  EXPECT_THAT(table.columns,
              ElementsAre("run", "seeds", "accuracy", "their accuracy",
                          "trained weights", "their trained weights",
                          "train seconds", "time saved", "their time saved"));
  EXPECT_EQ(table.rows[0][5], "134 M");
  EXPECT_EQ(table.rows[1][8], "16.0 %");
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_THAT(table.rows[2],
              ElementsAre("first 9", "", "", "0.5", "", "", "", "", ""));
}

// Processor seconds of each trial of RunsRecord(), on this device.
StudyRecord TimedRecord(const std::vector<double>& processor,
                        const std::vector<double>& clock,
                        const std::string& device = "cpu") {
  StudyRecord record = RunsRecord();
  for (int i = 0; i < record.trials.trials_size(); ++i) {
    v1::Usage& usage = *record.trials.mutable_trials(i)->mutable_usage();
    usage.set_device(device);
    usage.set_processor_seconds(processor[static_cast<std::size_t>(i)]);
    usage.set_train_seconds(clock[static_cast<std::size_t>(i)]);
  }
  return record;
}

TEST(TimeSaved, IsOfProcessorTimeWithAnError) {
  // Given a machine that was busy in the second trial alone.
  const StudyRecord record = TimedRecord({20, 22, 12, 14}, {10, 40, 6, 7});
  const std::vector<TimeSaved> saved = TimeSavedBy(record);
  ASSERT_EQ(saved.size(), 2u);
  EXPECT_NEAR(saved[1].share, 1.0 - 13.0 / 21.0, 1e-12);
  // Both means have a standard error of 1.
  EXPECT_NEAR(saved[1].error, 13.0 / 21.0 * std::hypot(1.0 / 13.0, 1.0 / 21.0),
              1e-12);
  EXPECT_THAT(RunTable(record, "runs", nullptr).columns,
              Contains("processor time saved"));
  EXPECT_THAT(TimeDoubt(record), HasSubstr("the machine was busy"));
  EXPECT_EQ(TimeDoubt(TimedRecord({20, 22, 12, 14}, {10, 11, 6, 7})), "");
}

TEST(TimeSaved, IsByTheClockOnAGpuAndDoubtedWhereSeedsDiffer) {
  const StudyRecord record =
      TimedRecord({1, 1, 1, 1}, {10, 10, 4, 9}, "NVIDIA H200");
  EXPECT_NEAR(TimeSavedBy(record)[1].share, 0.35, 1e-12);
  EXPECT_THAT(TimeDoubt(record),
              HasSubstr("seeds of 'first 1' took between 4 and 9 seconds"));
}

v1::TrialComparison Compared(double difference, double lo, double hi,
                             bool differs) {
  v1::TrialComparison comparison;
  comparison.set_metric("accuracy");
  v1::PairedTest& test = *comparison.add_tests();
  test.set_method(v1::PairedTest::SEEDS);
  test.set_first("all trained");
  test.set_second("first 1");
  test.set_difference(difference);
  test.set_lo95(lo);
  test.set_hi95(hi);
  test.set_p(differs ? 0.01 : 0.4);
  test.set_differs(differs);
  test.set_smallest_difference(0.09);
  return comparison;
}

TEST(RecipeAnswer, SaysWhatIsSavedAndAtWhatPrice) {
  RecipeRecord record;
  record.stages.push_back({TimedRecord({20, 22, 12, 14}, {10, 11, 6, 7}),
                           Compared(-0.011, -0.032, 0.01, false)});
  for (int i = 2; i < 4; ++i) {
    (*record.stages[0]
          .study.trials.mutable_trials(i)
          ->mutable_metrics())["accuracy"] = 0.909;
  }
  EXPECT_EQ(AnswerOf(record, std::nullopt),
            "'first 1' saves 38.1 % ± 5.6 of the processor time and costs 1.1 "
            "points of accuracy (95 %: -1.0 to 3.2), which "
            "cannot be told from nothing.");
}

TEST(RecipeAnswer, SaysWhetherAnyRunBeatsTheFirst) {
  auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  ASSERT_OK(recipe);
  recipe->answer = RecipeAnswer{RecipeAnswer::As::kBetter, {"frozen"}};
  RecipeRecord record;
  record.stages.push_back({RunsRecord(), Compared(0.02, -0.1, 0.14, false)});
  EXPECT_EQ(AnswerOf(record, *recipe),
            "No setting beats 'all trained' for sure: "
            "the most is 2.0 points of accuracy more, where 9.0 points would "
            "surely have been seen.");
  record.stages[0].comparison = Compared(0.12, 0.1, 0.14, true);
  EXPECT_EQ(AnswerOf(record, *recipe),
            "'all trained' is beaten for sure: "
            "frozen-english: 'first 1' (+12.0 points).");
}

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// A record of two entries of the stage `judged`, full and lora-4, whose run
// `tuned` has two seeds, and their comparison.
RecipeRecord EntriesRecord(bool differs, bool not_worse) {
  RecipeRecord record;
  for (const bool is_full : {true, false}) {
    StudyRecord study = RunsRecord();
    auto& labels = *study.study.mutable_settings()->mutable_labels();
    labels.clear();
    labels["recipe_stage"] = "judged";
    labels["recipe_entry"] = is_full ? "judged-full" : "judged-lora-4";
    for (v1::Trial& trial : *study.trials.mutable_trials()) {
      (*trial.mutable_labels())["run"] = "tuned";
      v1::Usage& usage = *trial.mutable_usage();
      usage.set_trained_parameters(is_full ? 4'000'000 : 50'000);
      usage.set_train_seconds(is_full ? 10.0 : 6.0);
      usage.set_peak_memory_bytes((is_full ? 300LL : 120LL) << 20);
    }
    record.stages.push_back({study, {}});
  }
  v1::TrialComparison comparison = Compared(0.012, -0.02, 0.04, differs);
  comparison.set_margin(0.02);
  for (const char* name : {"full", "lora-4"}) {
    comparison.add_contenders()->set_name(name);
  }
  comparison.mutable_tests(0)->set_first("full");
  comparison.mutable_tests(0)->set_second("lora-4");
  comparison.mutable_tests(0)->set_not_worse(not_worse);
  record.across.push_back({"judged", "tuned", comparison});
  return record;
}

TEST(EntryAnswer, SaysWhetherTryingRulesWasWorthIt) {
  EXPECT_EQ(EntryAnswer(EntriesRecord(false, true).across[0]),
            "Trying rules was not worth it: none beats 'full' for sure, where "
            "9.0 points of accuracy would have been seen. Surely not worse by "
            "2.0 points or more: 'lora-4' (+1.2 points).");
  EXPECT_THAT(EntryAnswer(EntriesRecord(false, false).across[0]),
              HasSubstr("That any rule is not worse by 2.0 points or more is "
                        "not shown."));
  EXPECT_THAT(EntryAnswer(EntriesRecord(true, true).across[0]),
              StartsWith("Trying rules was worth it: 'lora-4' (+1.2 points) "
                         "surely beats 'full'; 9.0 points of accuracy would"));
  // A worse one does not make it worth it.
  RecipeRecord worse = EntriesRecord(true, false);
  worse.across[0].comparison.mutable_tests(0)->set_difference(-0.2);
  EXPECT_THAT(EntryAnswer(worse.across[0]), StartsWith("Trying rules was not"));
  // Nothing could be tested.
  worse.across[0].comparison.mutable_tests(0)->set_p(
      std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(EntryAnswer(worse.across[0]), "");
}

TEST(EntryAnswer, IsThatOfARecipeThatAsksForRivals) {
  auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  ASSERT_OK(recipe);
  recipe->answer = RecipeAnswer{RecipeAnswer::As::kRivals, {"judged"}};
  const RecipeRecord record = EntriesRecord(false, true);
  EXPECT_EQ(AnswerOf(record, *recipe), EntryAnswer(record.across[0]));
}

// Tests of two rules against the plan.
v1::TrialComparison AgainstPlan(double first, bool first_differs, double second,
                                bool second_differs) {
  v1::TrialComparison comparison = Compared(first, -0.1, 0.1, first_differs);
  comparison.mutable_tests(0)->set_first("the plan");
  comparison.mutable_tests(0)->set_second("full");
  v1::PairedTest& other = *comparison.add_tests();
  other = Compared(second, -0.1, 0.1, second_differs).tests(0);
  other.set_first("the plan");
  other.set_second("lora-4");
  return comparison;
}

TEST(SearchAnswer, SaysWhetherASearchWasWorthIt) {
  EXPECT_EQ(SearchAnswer(AgainstPlan(-0.01, false, 0.003, false)),
            "The search was not worth it: 'lora-4' (+0.3 points) and 1 other "
            "rule cannot be told from the plan, where 9.0 points of accuracy "
            "would have been seen.");
  EXPECT_THAT(SearchAnswer(AgainstPlan(0.2, true, 0.003, false)),
              StartsWith("The search was not worth it: 'full' (+20.0 points) "
                         "surely beats the plan, where"));
  EXPECT_EQ(SearchAnswer(AgainstPlan(-0.2, true, -0.1, true)),
            "The search was worth it: the plan surely beats each of 2 rules "
            "that need none, where 9.0 points of accuracy would have been "
            "seen.");
  EXPECT_EQ(SearchAnswer(v1::TrialComparison()), "");
}

TEST(EntryTable, HasWhatEachEntryCostsBesideItsScore) {
  const RecipeRecord record = EntriesRecord(false, true);
  const ReportTable table = EntryTable(record, record.across[0]);
  EXPECT_THAT(table.columns, ElementsAre("entry", "accuracy", "trained weights",
                                         "train seconds", "peak MiB",
                                         "difference", "95 %", "verdict"));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0][0], "full");
  EXPECT_EQ(table.rows[0][7], "");
  EXPECT_EQ(table.rows[1][2], "50,000");
  EXPECT_EQ(table.rows[1][3], "6");
  EXPECT_EQ(table.rows[1][4], "120");
  EXPECT_EQ(table.rows[1][5], "+1.2 points");
  EXPECT_EQ(table.rows[1][7], "not worse");
  EXPECT_THAT(RenderEntries(record, 100), HasSubstr("lora-4"));
}

TEST(EntryTable, IsAPictureOfThreePlotsToo) {
  RecipeRecord record = EntriesRecord(false, true);
  const std::string svg = EntryCostsSvg(record, record.across[0]);
  for (const char* axis : {"trained weights", "train seconds", "peak MiB"}) {
    EXPECT_EQ(CountOf(svg, axis), 1u) << axis;
  }
  EXPECT_EQ(CountOf(svg, "<circle"), 6u);
  // What nobody measured has no plot.
  for (StageRecord& stage : record.stages) {
    for (v1::Trial& trial : *stage.study.trials.mutable_trials()) {
      trial.mutable_usage()->clear_peak_memory_bytes();
    }
  }
  EXPECT_EQ(CountOf(EntryCostsSvg(record, record.across[0]), "<circle"), 4u);
  record.across[0].comparison.clear_contenders();
  EXPECT_EQ(EntryCostsSvg(record, record.across[0]), "");
}

TEST_F(RecipeStages, MayComeWithAMarginOfTheScale) {
  const auto with = [](const std::string& margin) {
    std::string text = SmallRecipe();
    const std::string compare = "    compare:";
    const std::size_t at = text.find(compare);
    return text.insert(at,
                       "    across: {to: english, margin: " + margin + "}\n");
  };
  const auto all = Make(with("\"${rows}\""));
  ASSERT_OK(all);
  EXPECT_EQ((*all)[1].study.settings.labels().at("recipe_across_margin"), "60");
  EXPECT_THAT(Make(with("wide")).status().message(),
              HasSubstr("'wide', which is no number"));
}

TEST(RecipeAnswer, NamesAStageThatIsThere) {
  const std::string known =
      SmallRecipe() + "answer: {as: kept, stages: [frozen]}\n";
  EXPECT_OK(ParseRecipe(known, "r.yaml"));
  const auto other =
      ParseRecipe(SmallRecipe() + "answer: {as: kept, stages: [frzen]}\n", "r");
  EXPECT_THAT(other.status().message(), HasSubstr("frzen"));
  EXPECT_FALSE(
      ParseRecipe(SmallRecipe() + "answer: {as: odd, stages: [line]}\n", "r")
          .ok());
}

TEST(ComparedRuns, SayWhichTheyHaveNoRoomFor) {
  // Given three runs of 60 seeds, where a comparison takes 128 trials.
  StudyRecord record = RunsRecord();
  record.trials.Clear();
  for (std::int64_t i = 0; i < 180; ++i) {
    v1::Trial trial = TrialOf(i, 0.9, 4'000'000, 9.0, {0.0, 1e-3});
    (*trial.mutable_labels())["run"] = std::vector{
        "first 1", "first 2", "all trained"}[static_cast<std::size_t>(i) % 3];
    *record.trials.add_trials() = trial;
  }
  ComparedRuns compared = RunsToCompare(record);
  ASSERT_EQ(compared.request().contenders_size(), 2);
  EXPECT_EQ(compared.request().contenders(0).name(), "all trained");
  EXPECT_EQ(compared.request().contenders(1).name(), "first 1");
  std::vector<std::string> missing;
  compared.SayLeftOut("The test", missing);
  EXPECT_THAT(missing, ElementsAre("The test leaves out first 2: it takes 16 "
                                   "runs and 128 trials at most."));
}

TEST(ComparedRuns, SayNothingWhereAllHaveRoom) {
  std::vector<std::string> missing;
  RunsToCompare(RunsRecord()).SayLeftOut("The test", missing);
  EXPECT_THAT(missing, ElementsAre());
}

TEST(RunFigures, TellWhatShareOfTheScoreIsLeft) {
  const auto scores = RelativeScores(RunsRecord());
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_NEAR(scores[1].share, 0.82 / 0.92, 1e-12);
  EXPECT_NEAR(scores[1].error, 0.02 / 0.92, 1e-9);
  EXPECT_EQ(FurthestThatKeeps(scores, 0.85)->run, "first 1");
  EXPECT_EQ(FurthestThatKeeps(scores, 0.95)->run, "all trained");
  EXPECT_THAT(RelativeScoreSvg(RunsRecord()), HasSubstr("first 1"));
}

TEST(RunFigures, DrawALineForEachFamilyOfRuns) {
  StudyRecord record = RunsRecord();
  EXPECT_EQ(CountOf(RelativeScoreSvg(record), "stroke-dasharray=\""), 1u);
  // Given another run at the same place, of a family of its own.
  for (int i = 2; i < 4; ++i) {
    v1::Trial trial = record.trials.trials(i);
    (*trial.mutable_labels())["run"] = "first 1, embeddings frozen";
    (*trial.mutable_labels())["line"] = "embeddings frozen";
    (*record.trials.mutable_trials(i)->mutable_labels())["line"] =
        "embeddings trained";
    *record.trials.add_trials() = trial;
  }
  const std::string picture = RelativeScoreSvg(record);
  // Two lines, and a sample of each beside its name.
  EXPECT_EQ(CountOf(picture, "stroke-dasharray=\""), 4u);
  EXPECT_EQ(CountOf(picture, "#d55e00"), 2u);
  EXPECT_THAT(picture, HasSubstr(">embeddings frozen<"));
}

TEST(RunFigures, GiveNineLinesNineColoursOrDashes) {
  std::set<std::string> drawn;
  for (std::size_t i = 0; i < 9; ++i) {
    Svg svg(10, 10, "");
    svg.Series({{0, 0}, {1, 1}}, i);
    drawn.insert(svg.Finish());
  }
  EXPECT_EQ(drawn.size(), 9u);
}

// Returns what is said of "first 1" with these two scores; the whole model has
// .90 and .94.
std::string KeptBy(double one, double other) {
  StudyRecord record = RunsRecord();
  (*record.trials.mutable_trials(2)->mutable_metrics())["accuracy"] = one;
  (*record.trials.mutable_trials(3)->mutable_metrics())["accuracy"] = other;
  return FindingsOf({record, {}}, nullptr)[0];
}

TEST(Findings, SayWhetherSeedsLeaveItSureThatMostIsKept) {
  EXPECT_EQ(KeptBy(0.86, 0.90),
            "'first 1' is the furthest that keeps 90 % of the accuracy of 'all "
            "trained' in the mean: 95.7 % ± 3.0 %.");
  EXPECT_THAT(KeptBy(0.84, 0.88), HasSubstr("93.5 % ± 3.0 %, which is not "
                                            "sure."));
  EXPECT_EQ(KeptBy(0.80, 0.84),
            "No run keeps 90 % of the accuracy of 'all trained'.");
}

TEST(PublishedJudge, KnowsWhatSoManyExamplesCanShow) {
  EXPECT_NEAR(LeastVisibleDifference(0.93, 0.93, 544), 0.0303, 1e-4);
  EXPECT_TRUE(std::isnan(LeastVisibleDifference(0.93, 0.93, 0)));
  const auto recipe = ParseRecipe(SmallRecipe(), "r.yaml");
  const auto sentences = JudgePublished(recipe->published.at("frozen-english"),
                                        "all trained", "test.accuracy");
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_THAT(sentences[0],
              HasSubstr("Not to be told from chance: first 1 (-1.0 points)."));
  EXPECT_THAT(sentences[0], HasSubstr("differ by 3.1 points once in twenty"));
}

TEST(RateCorrelation, IsSpearmansWithItsInterval) {
  StudyRecord record = SmallRecord();
  record.trials.Clear();
  for (int i = 0; i < 8; ++i) {
    *record.trials.add_trials() =
        TrialOf(i, 0.5 + 0.01 * i, 1, 1.0, {1e-5 * (i == 3 ? 4.5 : i), 1e-3});
  }
  const auto all = CorrelateRates(record);
  ASSERT_EQ(all.size(), 1u);  // layer.1 has one rate
  EXPECT_EQ(all[0].module, "layer.0");
  // Ranks 0 1 2 4 3 5 6 7: 1 - 6 * 2 / (8 * 63).
  EXPECT_NEAR(all[0].correlation, 1.0 - 12.0 / 504.0, 1e-12);
  const double z = std::atanh(all[0].correlation);
  EXPECT_NEAR(all[0].lo95, std::tanh(z - 1.96 * 1.06 / std::sqrt(5.0)), 1e-4);
}

TEST(RankedPoints, AreRankedByTheMeanOfTheirTrials) {
  const StudyRecord record = RunsRecord();
  std::vector<v1::Trial> trials(record.trials.trials().begin(),
                                record.trials.trials().end());
  // One lucky run of a point does not go before two good ones of another.
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].clear_parameters();
    v1::ParameterValue* const value = trials[i].add_parameters();
    value->set_name("rate");
    value->mutable_value()->set_number_value(i % 2 == 0 ? 1e-5 : 2e-5);
  }
  const auto points = RankPoints(record.study, trials);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_NEAR(points[0].mean, 0.89, 1e-12);
  EXPECT_EQ(points[0].trials.size(), 2u);
  EXPECT_EQ(points[0].values()[0].value().number_value(), 2e-5);
}

// Their mean is off them in the last digit.
TEST(RunTable, EqualValuesHaveNoDeviation) {
  EXPECT_EQ(SpreadOf({0.8, 0.8, 0.8}).deviation, 0.0);
  EXPECT_NEAR(SpreadOf({0.8, 0.9}).deviation, std::sqrt(0.005), 1e-12);
}

// The second seed is bad for all: a point that was spared it does not lead.
TEST(RankedPoints, AreJudgedAtEqualSeeds) {
  const double accuracies[] = {0.80, 0.70, 0.81, 0.71, 0.79};
  std::vector<v1::Trial> trials;
  for (int i = 0; i < 5; ++i) {
    trials.push_back(TrialOf(i, accuracies[i], 1, 1.0, {1e-5, 1e-3}));
    trials.back().set_seed(i % 2 == 0 ? 1 : 2);
    v1::ParameterValue* const value = trials.back().add_parameters();
    value->set_name("rate");
    value->mutable_value()->set_number_value(1e-5 * (i / 2));
  }
  const auto points = RankPoints(RunsRecord().study, trials);
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].trials[0].number(), 2);
  EXPECT_EQ(points[1].trials[0].number(), 0);
  EXPECT_NEAR(points[1].mean, 0.75, 1e-12);
  EXPECT_LT(points[2].judged, points[1].judged);
}

TEST(RecipeRecord, GivesTheSamePageAgain) {
  const RecipeRecord record = {
      "first-layers-tiny", "r.yaml", SmallRecipe(), {{RunsRecord(), {}}}};
  const std::string text = ToText(record);
  EXPECT_TRUE(IsRecipeRecord(text));
  const auto read = ReadRecipeRecord(text);
  ASSERT_OK(read);
  const auto page = ComposeRecipeReport(*read);
  ASSERT_OK(page);
  const auto again = ComposeRecipeReport(*ReadRecipeRecord(ToText(*read)));
  EXPECT_EQ(ToHtml(*page), ToHtml(*again));
  EXPECT_EQ(page->title, "How many first layers");
  EXPECT_EQ(page->sections[0].heading, "Verdict");
  EXPECT_THAT(ToMarkdown(*page, "f"), HasSubstr("Not to be told from chance"));
}

TEST(RecipeRecord, OfALaterVersionOrNoneIsRefused) {
  EXPECT_THAT(
      ReadRecipeRecord("{\"frostline_recipe_report\": 2}").status().message(),
      HasSubstr("later version"));
  EXPECT_THAT(ReadRecipeRecord("{}").status().message(),
              HasSubstr("no record of a recipe's run"));
}

}  // namespace
}  // namespace frostline::cli
