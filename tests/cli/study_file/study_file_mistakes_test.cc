// SPDX-License-Identifier: Apache-2.0
//
// Every way to write a study file wrong: the id of the error, the place, and
// what the user is told.
#include <ostream>

#include "cli/study_file/study_file.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

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
