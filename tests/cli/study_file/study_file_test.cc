// SPDX-License-Identifier: Apache-2.0
#include "cli/study_file/study_file.h"

#include <fstream>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

StarterFacts Facts() {
  StarterFacts facts;
  facts.id = "my";
  facts.model = "minilm";
  facts.layers = 6;
  facts.longest_text = 512;
  facts.data = "my-data";
  facts.task = "classification";
  facts.rows = 1'000'000;
  facts.largest_class = 0.5;
  facts.text_tokens = 61;
  return facts;
}

TEST(StarterStudy, IsAStudyFileOfFewRowsWhateverTheData) {
  const StarterStudy study = WriteStarterStudy(Facts());
  EXPECT_EQ(study.max_length, 64);
  EXPECT_EQ(study.train_rows, 200);
  EXPECT_EQ(study.metric, "accuracy");
  ASSERT_OK_AND_ASSIGN(const StudyFile file,
                       ParseStudyFile(study.text, "my.yaml"));
  EXPECT_EQ(file.id, "my");
  EXPECT_EQ(file.spec.model().layers(), 6);
  EXPECT_EQ(file.spec.data().train_rows(), 200);
  EXPECT_NEAR(file.spec.data().validation_share(), 0.0002, 1e-9);
  EXPECT_EQ(file.spec.sampler().name(), "auto");
  EXPECT_EQ(file.settings.budget().trials(), 24);
}

TEST(StarterStudy, AnIdThatIsNothingInYamlIsQuoted) {
  StarterFacts facts = Facts();
  facts.id = facts.data = "null";
  ASSERT_OK_AND_ASSIGN(
      const StudyFile file,
      ParseStudyFile(WriteStarterStudy(facts).text, "null.yaml"));
  EXPECT_EQ(file.id, "null");
  EXPECT_EQ(file.spec.data().id(), "null");
}

TEST(StarterStudy, OfAModelWithoutAPoolerItSearchesNone) {
  StarterFacts facts = Facts();
  facts.has_pooler = false;
  const StarterStudy study = WriteStarterStudy(facts);
  ASSERT_OK_AND_ASSIGN(const StudyFile file,
                       ParseStudyFile(study.text, "my.yaml"));
  EXPECT_TRUE(file.spec.model().no_pooler());
}

TEST(StarterStudy, OfLittleDataItTakesAllThatIsNotHeldOut) {
  StarterFacts facts = Facts();
  facts.rows = 100;
  EXPECT_EQ(WriteStarterStudy(facts).train_rows, 80);
  facts.has_validation = true;
  const StarterStudy study = WriteStarterStudy(facts);
  EXPECT_EQ(study.train_rows, 100);
  EXPECT_THAT(study.text, Not(HasSubstr("validation_share")));
  EXPECT_THAT(study.text, Not(HasSubstr("train_rows")));
}

TEST(StarterStudy, TheMetricIsOfTheTaskAndOfTheClasses) {
  StarterFacts facts = Facts();
  facts.largest_class = 0.95;
  EXPECT_EQ(WriteStarterStudy(facts).metric, "f1_macro");
  facts.task = "tagging";
  EXPECT_EQ(WriteStarterStudy(facts).metric, "f1");
  facts.task = "regression";
  EXPECT_THAT(WriteStarterStudy(facts).text, HasSubstr("minimize: rmse"));
}

TEST(StarterStudy, TextsAreCutWhereTheModelOrTheClockWantsIt) {
  StarterFacts facts = Facts();
  facts.text_tokens = 3;
  EXPECT_EQ(WriteStarterStudy(facts).max_length, 16);
  facts.text_tokens = 8'000;
  EXPECT_EQ(WriteStarterStudy(facts).max_length, 128);
  facts.longest_text = 40;
  EXPECT_EQ(WriteStarterStudy(facts).max_length, 40);
}

TEST(StarterStudy, SaysWhatItsTrialsAndRowsCanTell) {
  StarterFacts facts = Facts();
  facts.rows = 2'000;
  EXPECT_EQ(WhatItCanTell(facts, WriteStarterStudy(facts)),
            "24 trials find good rates; which modules can stay frozen takes "
            "about 49 (--trials 49); on 200 held-out rows an accuracy of 0.85 "
            "is sure to 5 points");
  facts.trials = 60;
  facts.has_validation = true;
  EXPECT_EQ(WhatItCanTell(facts, WriteStarterStudy(facts)),
            "60 trials are enough to say which modules can stay frozen");
}

using ::testing::ElementsAre;

constexpr char kSmall[] = R"(
maximize: accuracy
budget: 40
space: {modules: {head: [0, 1e-3]}}
)";

StudyFile Parsed(const std::string& text) {
  auto study = ParseStudyFile(text, "study.yaml");
  EXPECT_OK(study);
  return study.ok() ? *study : StudyFile();
}

TEST(StudyFile, RanksAreAListOrOneAndStandBesideARate) {
  const StudyFile file = Parsed(R"(
maximize: accuracy
budget: 40
space:
  modules:
    layer.0: {rank: [8, 0, 4], fixed: 1e-3}
    layer.1: {rank: 8, levels: [1e-3, 1e-4]}
  tie: {both: {modules: [layer.2, layer.3], rank: [16, 4]}}
)");
  const v1::SearchSpace& space = file.spec.space();
  EXPECT_THAT(space.modules(0).rank().ranks(), ElementsAre(0, 4, 8));
  EXPECT_EQ(space.modules(0).fixed(), 1e-3);
  EXPECT_THAT(space.modules(1).rank().ranks(), ElementsAre(8));
  EXPECT_THAT(space.modules(1).levels().rates(), ElementsAre(1e-4, 1e-3));
  EXPECT_THAT(space.ties(0).rank().ranks(), ElementsAre(4, 16));
}

StudyFile WithSmall(const std::string& more) { return Parsed(kSmall + more); }

TEST(StudyFile, ReadsTheNamesOfTheProto) {
  const StudyFile study = Parsed(R"(
model: {id: minilm, layers: 6, no_pooler: true}
objectives: [{metric: loss, direction: DIRECTION_MINIMIZE}]
space:
  modules:
    - {select: head, levels: {rates: [0, 2e-5]}}
sampler: {name: random, options: {n_startup: 10}}
lease: {ttl: 90s}
seed: 18446744073709551615
budget: {trials: 200, time: 1h30m}
required_worker_labels: {pool: a100}
)");
  EXPECT_EQ(study.spec.model().layers(), 6);
  EXPECT_TRUE(study.spec.model().no_pooler());
  EXPECT_EQ(study.spec.objectives(0).direction(), v1::DIRECTION_MINIMIZE);
  EXPECT_EQ(study.spec.space().modules(0).levels().rates(1), 2e-5);
  EXPECT_EQ(study.spec.sampler().options().at("n_startup"), "10");
  EXPECT_EQ(study.spec.lease().ttl().seconds(), 90);
  EXPECT_EQ(study.spec.seed(), 18446744073709551615u);
  EXPECT_EQ(study.settings.budget().trials(), 200);
  EXPECT_EQ(study.settings.budget().time().seconds(), 5400);
  EXPECT_EQ(study.settings.required_worker_labels().at("pool"), "a100");
}

TEST(StudyFile, ATrainerIsALabelThatItsWorkersCarry) {
  const std::string rest =
      "maximize: score\nbudget: 4\nspace: {modules: {head: [0, 1e-5]}}\n";
  const StudyFile study =
      Parsed("trainer: train.py\nrequired_worker_labels: {pool: a}\n" + rest);
  const auto& labels = study.settings.required_worker_labels();
  EXPECT_EQ(labels.at("trainer"), "train.py");
  EXPECT_EQ(labels.at("pool"), "a");
  EXPECT_THAT(ParseStudyFile("trainer: [a]\n" + rest, "s.yaml"),
              FailsWith(ErrorId::kStudyFileSyntax));
}

TEST(StudyFile, ReadsShortFormsOfModules) {
  const StudyFile study = Parsed(R"(
maximize: accuracy
budget: 40
space:
  modules:
    embeddings: frozen
    "layer.0-3": [frozen, 2e-6, 2e-5]
    "layer.4": {log_uniform: [1e-7, 1e-4]}
    head: 1e-3
  prefix_depth: [0, 6]
)");
  const auto& modules = study.spec.space().modules();
  ASSERT_EQ(modules.size(), 4);
  EXPECT_EQ(modules[0].select(), "embeddings");
  EXPECT_EQ(modules[0].domain_case(), v1::ModuleSpace::kFixed);
  EXPECT_EQ(modules[0].fixed(), 0.0);
  EXPECT_THAT(modules[1].levels().rates(), ElementsAre(0.0, 2e-6, 2e-5));
  EXPECT_EQ(modules[2].log_uniform().hi(), 1e-4);
  EXPECT_EQ(modules[3].fixed(), 1e-3);
  EXPECT_EQ(study.spec.space().prefix_depth().hi(), 6);
}

TEST(StudyFile, ReadsNumbersOfLayerwiseDecay) {
  const StudyFile study = Parsed(R"(
maximize: accuracy
budget: 40
space:
  layerwise_decay: {base_rate: 2e-5, decay: [0.85, 0.9, 0.95, 1]}
)");
  const auto& decay = study.spec.space().layerwise_decay();
  EXPECT_EQ(decay.base_rate().fixed(), 2e-5);
  EXPECT_THAT(decay.decay().levels().rates(), ElementsAre(.85, .9, .95, 1.0));
}

TEST(StudyFile, ReadsTiesStrategiesAndParameters) {
  const StudyFile study = Parsed(R"(
maximize: accuracy
budget: 40
space:
  tie: {lower: {modules: [embeddings, "layer.0-3"], levels: [0, 1e-5]}}
  default: {first_k: {k: 2, rate: 1e-4, embeddings: train}}
  parameters:
    dropout: {float: [0, 0.3]}
    batch: {int: {lo: 8, hi: 64, log: true}}
    optimizer: [adam, sgd, no, 3, true]
    momentum: {float: [0, 1], when: {parent: optimizer, values: [sgd]}}
enqueue: [{strategy: {full: 1e-4}}]
)");
  const v1::SearchSpace& space = study.spec.space();
  EXPECT_EQ(space.ties(0).name(), "lower");
  EXPECT_THAT(space.ties(0).modules(), ElementsAre("embeddings", "layer.0-3"));
  EXPECT_EQ(space.default_().name(), "first_k");
  EXPECT_EQ(space.default_().k(), 2);
  EXPECT_EQ(space.parameters(0).float_().hi(), 0.3);
  EXPECT_TRUE(space.parameters(1).int_().log());
  const auto& choices = space.parameters(2).choices().values();
  EXPECT_EQ(choices[2].string_value(), "no");
  EXPECT_EQ(choices[3].number_value(), 3.0);
  EXPECT_TRUE(choices[4].bool_value());
  EXPECT_THAT(space.parameters(3).when().values(), ElementsAre("sgd"));
  EXPECT_EQ(study.spec.enqueue(0).strategy().rate(), 1e-4);
}

TEST(StudyFile, ReadsEveryFormOfObjectives) {
  const auto directions = [](const std::string& objective) {
    const StudyFile study =
        Parsed("budget: 1\nspace: {modules: {head: 1}}\n" + objective);
    std::string text;
    for (const v1::Objective& one : study.spec.objectives()) {
      text += one.metric() +
              (one.direction() == v1::DIRECTION_MAXIMIZE ? "+" : "-");
    }
    return text;
  };
  EXPECT_EQ(directions("objective: accuracy"), "accuracy+");
  EXPECT_EQ(directions("objective: loss"), "loss-");
  EXPECT_EQ(directions("maximize: bananas"), "bananas+");
  EXPECT_EQ(directions("maximize: [f1, mcc]\nminimize: train_seconds"),
            "f1+mcc+train_seconds-");
  EXPECT_EQ(directions("objectives: {f1: maximize, loss: minimize}"),
            "f1+loss-");
}

std::string RangesOf(const std::string& objective) {
  const StudyFile study =
      Parsed("budget: 1\nspace: {modules: {head: 1}}\n" + objective);
  std::string text;
  for (const v1::Objective& one : study.spec.objectives()) {
    const v1::MetricRange& range = one.range();
    absl::StrAppend(&text, one.metric(), one.has_range() ? "[" : "");
    if (range.has_lo()) absl::StrAppend(&text, range.lo());
    if (range.has_hi()) absl::StrAppend(&text, ":", range.hi());
    absl::StrAppend(&text, one.has_range() ? "]" : "");
  }
  return text;
}

TEST(StudyFile, ReadsRangesOfMetrics) {
  EXPECT_EQ(RangesOf("maximize: {reward: [-5, 10]}"), "reward[-5:10]");
  EXPECT_EQ(RangesOf("maximize: [f1, {reward: {lo: 0}}]"), "f1reward[0]");
  EXPECT_EQ(RangesOf("minimize: {cost: {hi: 7}, regret: {}}"),
            "cost[:7]regret[]");
  EXPECT_EQ(RangesOf("objectives: [{metric: reward, direction: maximize, "
                     "range: [-5, 10]}]"),
            "reward[-5:10]");
  EXPECT_EQ(RangesOf("objectives: {reward: {direction: maximize, "
                     "range: {lo: -5, hi: 10}}}"),
            "reward[-5:10]");
}

TEST(StudyFile, ReadsSeedsAndRepeats) {
  const StudyFile study = WithSmall(
      "seeds: paired\ntraining_seeds: [5, 9]\nrepeat: 3\nenqueue: [{values: "
      "{head: 0}, seed: 9}]\n");
  EXPECT_EQ(study.spec.seeds(), v1::SEED_MODE_PAIRED);
  ASSERT_EQ(study.spec.training_seeds_size(), 2);
  EXPECT_EQ(study.spec.training_seeds(1), 9u);
  EXPECT_EQ(study.spec.repeat().times(), 3);
  EXPECT_EQ(study.spec.enqueue(0).seed(), 9u);
  const StudyFile full =
      WithSmall("seeds: per_trial\nrepeat: {times: 2, leaders: 5, after: 9}\n");
  EXPECT_EQ(full.spec.seeds(), v1::SEED_MODE_PER_TRIAL);
  EXPECT_EQ(full.spec.repeat().leaders(), 5);
  EXPECT_EQ(full.spec.repeat().after(), 9);
}

TEST(StudyFile, ReadsConstraintsInShort) {
  const auto bounds = [](const std::string& lines) {
    const v1::StudySpec spec = WithSmall(lines + "\n").spec;
    std::string text;
    for (const v1::MetricConstraint& one : spec.constraints()) {
      absl::StrAppend(&text, one.metric(), " ", one.upper_bound(), ";");
    }
    return text;
  };
  EXPECT_EQ(bounds("constraint: peak_memory_mib <= 8000"),
            "peak_memory_mib 8000;");
  EXPECT_EQ(bounds("constraint: [a<=1, b <= 2.5]"), "a 1;b 2.5;");
  EXPECT_EQ(bounds("constraints: {a: 1}"), "a 1;");
}

TEST(StudyFile, ReadsWhatTrialsAreFor) {
  EXPECT_EQ(WithSmall("purpose: understand\n").spec.purpose(),
            v1::PURPOSE_UNDERSTAND);
  EXPECT_EQ(WithSmall("").spec.purpose(), v1::PURPOSE_UNSPECIFIED);
}

TEST(StudyFile, ReadsScalarsInPlaceOfMessages) {
  const StudyFile study = WithSmall(
      "model: minilm\ndata: sst2\nsampler: grid\npruner: median\nfreeze: lr0\n"
      "warm_start: [studies/old]\nconstraints: {loss: 0.5}\n");
  EXPECT_EQ(study.spec.model().id(), "minilm");
  EXPECT_EQ(study.spec.data().id(), "sst2");
  EXPECT_EQ(study.spec.sampler().name(), "grid");
  EXPECT_EQ(study.settings.pruner().name(), "median");
  EXPECT_EQ(study.spec.freeze().mode(), v1::FreezeSemantics::LR0);
  EXPECT_EQ(study.spec.warm_start(0).study(), "studies/old");
  EXPECT_EQ(study.spec.constraints(0).upper_bound(), 0.5);
}

TEST(StudyFile, ReadsTasksByNameOrInAList) {
  const StudyFile named = WithSmall(R"(
tasks:
  sst: {data: sst5, head: mlp}
  para: {data: {id: quora, columns: {second: q2}}, head: inner_product, share: 2}
  sts:
    data: {id: stsb, task: regression}
    head: {kind: cosine, scale: 5}
    loss: squared_error
    loss_weight: 0.5
    freeze: ["layer.0-2", embeddings]
)");
  ASSERT_EQ(named.spec.tasks_size(), 3);
  const v1::TaskSpec& sst = named.spec.tasks(0);
  EXPECT_EQ(sst.name(), "sst");
  EXPECT_EQ(sst.data().id(), "sst5");
  EXPECT_EQ(sst.head().kind(), "mlp");
  EXPECT_EQ(named.spec.tasks(1).data().columns().at("second"), "q2");
  EXPECT_EQ(named.spec.tasks(1).share(), 2);
  const v1::TaskSpec& sts = named.spec.tasks(2);
  EXPECT_EQ(sts.head().scale(), 5);
  EXPECT_EQ(sts.loss(), "squared_error");
  EXPECT_EQ(sts.loss_weight(), 0.5);
  EXPECT_THAT(sts.freeze(), ElementsAre("layer.0-2", "embeddings"));

  const StudyFile listed = WithSmall(
      "tasks: [{name: a, data: x}, {name: b, data: y, head: features}]\n");
  ASSERT_EQ(listed.spec.tasks_size(), 2);
  EXPECT_EQ(listed.spec.tasks(0).name(), "a");
  EXPECT_EQ(listed.spec.tasks(1).data().id(), "y");
  EXPECT_EQ(listed.spec.tasks(1).head().kind(), "features");
}

TEST(StudyFile, ReadsJsonAndAnchors) {
  const StudyFile json = Parsed(
      R"({"maximize": "f1", "budget": 3, "space": {"modules": {"head": 1}}})");
  EXPECT_EQ(json.settings.budget().trials(), 3);
  const StudyFile yaml = Parsed(
      "maximize: f1\nbudget: 3\nspace: {modules: "
      "{embeddings: &rates [0, 1e-5], head: *rates}}");
  EXPECT_THAT(yaml.spec.space().modules(1).levels().rates(),
              ElementsAre(0.0, 1e-5));
}

TEST(StudyFile, TakesTheIdFromTheKeyOrTheFileName) {
  const TempFolder folder;
  std::ofstream(folder.File("imdb.yaml")) << kSmall;
  std::ofstream(folder.File("b.yaml")) << "id: other\n" << kSmall;
  ASSERT_OK_AND_ASSIGN(const StudyFile a,
                       ReadStudyFile(folder.File("imdb.yaml")));
  ASSERT_OK_AND_ASSIGN(const StudyFile b, ReadStudyFile(folder.File("b.yaml")));
  EXPECT_EQ(a.id, "imdb");
  EXPECT_EQ(b.id, "other");
}

TEST(StudyFile, GivesTheCoordinatorsVerdictALine) {
  const StudyFile study = Parsed(
      "maximize: f1\nbudget: 3\nspace:\n  modules:\n"
      "    embeddings: [0, 1e-5]\n    head: [1, 1]\n");
  const auto placed = [&](const std::string& field) {
    return std::string(
        PlaceError(MakeError(ErrorId::kLevelsInvalid, "not rising", "", field),
                   study)
            .message());
  };
  EXPECT_EQ(placed("space.modules[1].levels"), "study.yaml:6:11: not rising");
  EXPECT_EQ(placed("spec.space.modules[1]"), "study.yaml:6:5: not rising");
  EXPECT_EQ(placed("budget.trials"), "study.yaml:2:9: not rising");
  EXPECT_EQ(placed("space.modules[7].levels.rates[2]"),
            "study.yaml:4:3: not rising");
  EXPECT_EQ(placed("nowhere"), "not rising");
}

TEST(StudyFile, GivesAVerdictOnATaskItsLine) {
  const StudyFile study = Parsed(
      "maximize: mean\nbudget: 3\nspace: {modules: {head: 1}}\ntasks:\n"
      "  sst: {data: sst5}\n  para: {data: quora, head: mpl, freeze: [layer.9]}"
      "\n");
  const auto placed = [&](const std::string& field) {
    return std::string(
        PlaceError(MakeError(ErrorId::kRequestInvalid, "wrong", "", field),
                   study)
            .message());
  };
  EXPECT_EQ(placed("tasks[1].head.kind"), "study.yaml:6:29: wrong");
  EXPECT_EQ(placed("tasks[1].freeze[0]"), "study.yaml:6:43: wrong");
  EXPECT_EQ(placed("tasks[1].name"), "study.yaml:6:3: wrong");
  EXPECT_EQ(placed("tasks[0].share"), "study.yaml:5:3: wrong");
}

TEST(StudyFile, AMissingFileIsAMistakeOfUse) {
  EXPECT_THAT(ReadStudyFile("/no/such/file.yaml"),
              FailsWith(ErrorId::kRequestInvalid));
  const TempFolder folder;
  EXPECT_THAT(ReadStudyFile(folder.path().string()),
              FailsWith(ErrorId::kRequestInvalid));
}

// Every way to write a study file wrong: the id of the error, the place, and
// what the user is told.

struct Mistake {
  const char* name;
  std::string text;
  ErrorId id;
  std::string place;  // "LINE:COLUMN"
  std::string words;  // in the cause or the fix
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.name;
}

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreRefusedAtTheirPlace) {
  const Mistake& mistake = GetParam();
  const auto study = ParseStudyFile(mistake.text, "f.yaml");
  ASSERT_THAT(study, FailsWith(mistake.id));
  EXPECT_THAT(std::string(study.status().message()),
              StartsWith("f.yaml:" + mistake.place + ": "));
  EXPECT_THAT(DescribeError(study.status()), HasSubstr(mistake.words));
}

// Three lines that are right, so that the mistake stands in line 4.
std::string Line4(const std::string& text) {
  return "maximize: f1\nbudget: 3\nspace: {modules: {head: 1}}\n" + text;
}
std::string Space(const std::string& text) {
  return "maximize: f1\nbudget: 3\nspace:\n" + text;
}

constexpr ErrorId kSyntax = ErrorId::kStudyFileSyntax;
constexpr ErrorId kUnknown = ErrorId::kStudyFieldUnknown;
constexpr ErrorId kMissing = ErrorId::kStudyFieldMissing;

INSTANTIATE_TEST_SUITE_P(
    Keys, Mistakes,
    testing::Values(
        Mistake{"UnknownAtTop", Line4("sead: 3"), kUnknown, "4:1",
                "did you mean 'seed'?"},
        Mistake{"UnknownSetting", Line4("labls: {}"), kUnknown, "4:1",
                "did you mean 'labels'?"},
        Mistake{"UnknownWithin", Line4("model: {id: m, layer: 6}"), kUnknown,
                "4:16", "did you mean 'layers'?"},
        Mistake{"UnknownDeep", Space("  modules:\n    head: {levls: [0, 1]}"),
                kUnknown, "5:12", "did you mean 'levels'?"},
        Mistake{"NothingNear", Line4("lease: {zebra: 1}"), kUnknown, "4:9",
                "use one of ttl, heartbeat_interval"},
        Mistake{"Twice", Line4("seed: 1\nseed: 2"), kSyntax, "5:1",
                "first in line 4"},
        Mistake{"TwiceDeep", Space("  modules: {head: 1, head: 2}"), kSyntax,
                "4:22", "is given twice"},
        Mistake{"TwoDomains",
                Space("  modules:\n    head: {fixed: 1, levels: [0]}"), kSyntax,
                "5:22", "'levels' stands beside 'fixed'"},
        Mistake{"ShortAndLongTie", Space("  ties: []\n  tie: {}"), kSyntax,
                "5:3", "'tie' stands beside 'ties'"},
        Mistake{"SelectBesideKey", Space("  modules: {head: {select: x}}"),
                kSyntax, "4:20", "stands beside"},
        Mistake{"KeyIsList", "[a, b]: 1", kSyntax, "1:1", "where a key should"},
        Mistake{"KeyIsNull", "~: 1", kSyntax, "1:1", "where a key should"},
        Mistake{"NoObjective", "budget: 3\nspace: {modules: {head: 1}}",
                kMissing, "1:1", "maximize: accuracy"},
        Mistake{"NoSpace", "maximize: f1\nbudget: 3", kMissing, "1:1",
                "the study has no space"},
        Mistake{"NoBudget", "maximize: f1\nspace: {modules: {head: 1}}",
                kMissing, "1:1", "budget: {trials: 200}"},
        Mistake{"BadId", Line4("id: Big"), ErrorId::kNameInvalid, "4:5",
                "no valid id"},
        Mistake{"IdIsList", Line4("id: [a]"), kSyntax, "4:5", "one word"},
        Mistake{"UnknownMetric",
                "objective: bananas\nbudget: 3\nspace: {modules: {head: 1}}",
                ErrorId::kObjectiveInvalid, "1:12", "maximize: bananas"},
        Mistake{"NoMetricBesideRange",
                "maximize: {}\nbudget: 3\nspace: {modules: {head: 1}}",
                ErrorId::kObjectiveInvalid, "1:11", "{reward: [0, 1]}"},
        Mistake{"RangeOfThree",
                "maximize: {r: [0, 1, 2]}\nbudget: 3\nspace: {modules: {}}",
                kSyntax, "1:15", "describes a MetricRange"},
        Mistake{"RangeInWords",
                "maximize: {r: [0, much]}\nbudget: 3\nspace: {modules: {}}",
                kSyntax, "1:19", "not a finite number"},
        Mistake{"RangeWithUnknownEnd",
                "maximize: {r: {low: 0}}\nbudget: 3\nspace: {modules: {}}",
                kUnknown, "1:16", "did you mean 'lo'?"},
        Mistake{"ConstraintWithoutABound", Line4("constraint: loss < 3"),
                kSyntax, "4:13", "constraint: peak_memory_mib <= 8000"},
        Mistake{"ConstraintsShortAndLong",
                Line4("constraint: a <= 1\nconstraints: {b: 2}"), kSyntax,
                "4:1", "given twice"},
        Mistake{"UnknownSeeds", Line4("seeds: random"), kSyntax, "4:8",
                "per_trial"},
        Mistake{"RepeatInWords", Line4("repeat: often"), kSyntax, "4:9",
                "not a whole number"},
        Mistake{"UnknownOfATask", Line4("tasks: {sst: {data: a, hed: mlp}}"),
                kUnknown, "4:24", "did you mean 'head'?"},
        Mistake{"ATaskInAWord", Line4("tasks: {sst: sst5}"), kSyntax, "4:14",
                "describes a TaskSpec"},
        Mistake{"NameBesideATasksKey",
                Line4("tasks: {sst: {name: other, data: a}}"), kSyntax, "4:15",
                "stands beside"},
        Mistake{"ObjectivesTwice", Line4("objectives: [{metric: f1}]"),
                ErrorId::kObjectiveInvalid, "1:1", "short and long"}),
    [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Values, Mistakes,
    testing::Values(
        Mistake{"QuotedNumber", Line4("seed: \"5\""), kSyntax, "4:7",
                "in quotes, not a whole number"},
        Mistake{"QuotedRate", Space("  modules: {head: [0, '2e-5']}"), kSyntax,
                "4:23", "in quotes, not a finite number"},
        Mistake{"WordForNumber", Line4("seed: five"), kSyntax, "4:7",
                "'five', not a whole number"},
        Mistake{"FractionForInteger", "maximize: f1\nbudget: 2.5", kSyntax,
                "2:9", "not a whole number"},
        Mistake{"TooLargeForInt32", Line4("model: {layers: 3000000000}"),
                kSyntax, "4:17", "not a whole number in range"},
        Mistake{"NegativeSeed", Line4("seed: -1"), kSyntax, "4:7", "'-1'"},
        Mistake{"RateTooSmall", Space("  modules: {head: [0, 1e-999]}"),
                kSyntax, "4:23", "not a finite number"},
        Mistake{"NotANumber", Space("  modules: {head: [0, .nan]}"), kSyntax,
                "4:23", "not a finite number"},
        Mistake{"Hexadecimal", Line4("seed: 0x10"), kSyntax, "4:7", "'0x10'"},
        Mistake{"FrozenElsewhere",
                Space("  parameters: {d: {float: [frozen, 1]}}"), kSyntax,
                "4:28", "'frozen', not a finite number"},
        Mistake{"YesForTrue", Line4("model: {no_pooler: yes}"), kSyntax, "4:20",
                "not true or false"},
        Mistake{"BadEnum", Line4("freeze: {mode: hardd}"), kSyntax, "4:16",
                "did you mean 'hard'?"},
        Mistake{"NoTime", Line4("lease: {ttl: soon}"), kSyntax, "4:14",
                "write it like 60s"},
        Mistake{"Empty", Line4("seed:"), kSyntax, "4:1", "nothing"},
        Mistake{"MapForText", Line4("recipe: {a: b}"), kSyntax, "4:9",
                "a map, not a single value"},
        Mistake{"TextForList", Line4("notify: me"), kSyntax, "4:9",
                "not a list"},
        Mistake{"ListForMap", Line4("labels: [a]"), kSyntax, "4:9",
                "not a map"},
        Mistake{"ThreeEnds", Space("  prefix_depth: [0, 1, 2]"), kSyntax,
                "4:17", "a list, not a map"},
        Mistake{"FileIsList", "[1, 2]", kSyntax, "1:1",
                "a list instead of keys"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace frostline::cli
