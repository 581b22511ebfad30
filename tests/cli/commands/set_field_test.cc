// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/set_field.h"

#include "base/error.h"
#include "cli/commands/trial_files.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SetFieldTest : public ::testing::Test {
 protected:
  SetFieldTest() {
    v1::ModuleSpace& head = *spec_.mutable_space()->add_modules();
    head.set_select("head");
    head.set_fixed(1e-3);
    spec_.mutable_training()->set_epochs(1);
    (*settings_.mutable_labels())["team"] = "nlp";
  }
  absl::Status Set(const std::string& assignment) {
    return SetField(assignment, spec_, settings_);
  }

  v1::StudySpec spec_;
  v1::StudySettings settings_;
};

TEST_F(SetFieldTest, ReplacesFieldsOfSpecAndSettings) {
  EXPECT_OK(Set("training.epochs=3"));
  EXPECT_OK(Set("budget=40"));
  EXPECT_OK(Set("labels.team=vision"));
  EXPECT_OK(Set("labels.a.b=c"));
  EXPECT_OK(Set("training.extra.dropout=0.2"));
  EXPECT_EQ(spec_.training().epochs(), 3);
  EXPECT_EQ(settings_.budget().trials(), 40);
  EXPECT_EQ(settings_.labels().at("team"), "vision");
  EXPECT_EQ(settings_.labels().at("a.b"), "c");
  EXPECT_EQ(spec_.training().extra().fields().at("dropout").number_value(),
            0.2);
}

TEST_F(SetFieldTest, TakesTheOtherSideOfAChoice) {
  EXPECT_OK(Set("space.modules[0].levels=[0, 2e-5]"));
  EXPECT_THAT(spec_.space().modules(0).levels().rates(), ElementsAre(0, 2e-5));
}

TEST_F(SetFieldTest, SaysWhatIsWrong) {
  EXPECT_THAT(DetailOf(Set("training.epocs=3"))->fix, HasSubstr("epochs"));
  EXPECT_THAT(DetailOf(Set("trainning.epochs=3"))->fix, HasSubstr("training"));
  for (const char* const bad :
       {"epochs", "=3", "training.epochs=many", "space.modules[7].fixed=0",
        "space.modules[x].fixed=0", "training.epochs.more=1"}) {
    EXPECT_FALSE(Set(bad).ok()) << bad;
  }
}

TEST(SetValuesTest, AnUnquotedFrozenIsTheRateZero) {
  PointMap values;
  EXPECT_OK(SetPointValues({"layer.0=frozen", "x=\"frozen\"", "n=16", "b=true"},
                           values));
  EXPECT_EQ(values.at("layer.0").kind_case(),
            google::protobuf::Value::kNumberValue);
  EXPECT_EQ(values.at("x").string_value(), "frozen");
  EXPECT_EQ(values.at("n").number_value(), 16);
  EXPECT_TRUE(values.at("b").bool_value());
  EXPECT_FALSE(SetPointValues({"n=17"}, values).ok());
}

TEST(EnqueuePointsTest, ReadsListsKeysAndLines) {
  for (const char* const text :
       {"- {values: {x: 1}, seed: 7}\n- strategy: {full: 1e-3}\n",
        "enqueue:\n  - {values: {x: 1}, seed: 7}\n"
        "  - {strategy: {full: 1e-3}}\n",
        "{\"values\": {\"x\": 1}, \"seed\": 7}\n\n"
        "{\"strategy\": {\"full\": 1e-3}}\n"}) {
    ASSERT_OK_AND_ASSIGN(const EnqueuePoints points,
                         ParseEnqueuePoints(text, "points"));
    ASSERT_EQ(points.trials.size(), 2u) << text;
    EXPECT_EQ(points.trials[0].seed(), 7u);
    EXPECT_EQ(points.trials[0].values().at("x").number_value(), 1);
    EXPECT_EQ(points.trials[1].strategy().name(), "full");
  }
}

TEST(EnqueuePointsTest, APointWithoutKeysOfATrialIsItsValues) {
  ASSERT_OK_AND_ASSIGN(
      const EnqueuePoints points,
      ParseEnqueuePoints("{\"layer.0\": 0}\n{\"layer.0\": 1e-5}\n", "p.jsonl"));
  ASSERT_EQ(points.trials.size(), 2u);
  EXPECT_EQ(points.trials[1].values().at("layer.0").number_value(), 1e-5);
  EXPECT_EQ(points.places[1].line, 2);
}

TEST(EnqueuePointsTest, NamesThePlaceOfAMistake) {
  const absl::Status bad =
      ParseEnqueuePoints("{\"x\": 1}\n{\"values\": 3}\n", "p.jsonl").status();
  EXPECT_THAT(bad.message(), HasSubstr("p.jsonl:2:"));
  EXPECT_FALSE(ParseEnqueuePoints("\n", "p").ok());
  EXPECT_FALSE(ParseEnqueuePoints("enqueue: []\n", "p").ok());
}

}  // namespace
}  // namespace frostline::cli
