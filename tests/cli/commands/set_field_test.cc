// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/set_field.h"

#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "cli/commands/registry.h"
#include "cli/commands/study_watch.h"
#include "cli/commands/trial_files.h"
#include "cli/view/study_view.h"
#include "frostline/v1/study.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
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

class FieldChangesTest : public ::testing::Test {
 protected:
  FieldChangesTest() {
    from_.set_seed(1);
    from_.mutable_training()->set_epochs(3);
    for (const char* const select : {"head", "layer.0"}) {
      v1::ModuleSpace& module = *from_.mutable_space()->add_modules();
      module.set_select(select);
      module.mutable_levels()->add_rates(0);
      module.mutable_levels()->add_rates(2e-5);
    }
    to_ = from_;
  }
  std::string Text() const {
    return RenderFieldChanges(FieldChanges(from_, to_));
  }

  v1::StudySpec from_;
  v1::StudySpec to_;
};

TEST_F(FieldChangesTest, OfEqualMessagesThereIsNone) { EXPECT_EQ(Text(), ""); }

TEST_F(FieldChangesTest, AnotherOrderIsNoChange) {
  to_.mutable_space()->mutable_modules()->SwapElements(0, 1);
  EXPECT_EQ(Text(), "");
}

TEST_F(FieldChangesTest, NamesPathOldAndNew) {
  to_.mutable_training()->set_epochs(10);
  to_.mutable_space()->mutable_modules(1)->mutable_levels()->add_rates(1e-4);
  to_.set_recipe("alf");
  EXPECT_EQ(Text(),
            "recipe: - -> alf\n"
            "space.modules[layer.0].levels.rates: [0, 2e-05] -> "
            "[0, 2e-05, 1e-04]\n"
            "training.epochs: 3 -> 10\n");
}

TEST_F(FieldChangesTest, WhatIsLeftOutIsSaid) {
  to_.mutable_space()->mutable_modules()->RemoveLast();
  EXPECT_THAT(Text(), HasSubstr("space.modules[layer.0]: there -> -\n"));
}

TEST_F(FieldChangesTest, SmallDifferencesOfNumbersCount) {
  to_.mutable_space()->mutable_modules(0)->mutable_levels()->set_rates(
      1, 2.0000000000000005e-5);
  EXPECT_THAT(Text(), HasSubstr("space.modules[head].levels.rates: "));
}

TEST(IdleFix, NamesTheAddressAndTheFlagsThatAWorkerNeeds) {
  unsetenv("FROSTLINE_REGISTRY");
  v1::ExplainStudyReply::Reason reason;
  reason.set_code("NO_WORKERS");
  reason.set_fix("start one: frostline worker --connect HOST:PORT");
  EXPECT_EQ(IdleFix(reason, "127.0.0.1:7071"),
            "start one: frostline worker --connect 127.0.0.1:7071 --registry "
            "DIR");
}

TEST(IdleFix, EveryOtherStaysAsTheCoordinatorSaysIt) {
  v1::ExplainStudyReply::Reason reason;
  reason.set_code("PAUSED");
  reason.set_fix("resume it");
  EXPECT_EQ(IdleFix(reason, "127.0.0.1:7071"), "resume it");
}

TEST(WaitGoalTest, EachIsMetByWhatItSays) {
  v1::Study study;
  study.set_state(v1::STUDY_STATE_ACTIVE);
  study.mutable_counts()->set_succeeded(2);
  study.mutable_counts()->set_failed(1);
  const auto met = [&study](const std::string& text) {
    return IsMet(*ParseGoal(text), study, {0.9});
  };
  EXPECT_TRUE(met("trials=3"));
  EXPECT_FALSE(met("trials=4"));
  EXPECT_TRUE(met("best>=0.9"));
  EXPECT_FALSE(met("best>=0.91"));
  EXPECT_FALSE(met("best<=0.8"));
  EXPECT_FALSE(met("running"));
  EXPECT_FALSE(met("ended"));
  study.mutable_counts()->set_running(1);
  study.set_state(v1::STUDY_STATE_STOPPED);
  EXPECT_TRUE(met("running"));
  EXPECT_TRUE(met("ended"));
}

TEST(WaitGoalTest, NoValueMeetsABound) {
  ASSERT_OK_AND_ASSIGN(const WaitGoal goal, ParseGoal("best<=1"));
  EXPECT_FALSE(IsMet(goal, v1::Study(), {}));
}

TEST(WaitGoalTest, RefusesWhatIsNoGoal) {
  for (const char* const bad : {"", "done", "trials=0", "trials=x", "best>0.9",
                                "best>=", "best>=nan", "best=1"}) {
    EXPECT_TRUE(HasErrorId(ParseGoal(bad).status(), ErrorId::kRequestInvalid))
        << bad;
  }
  EXPECT_THAT(DetailOf(ParseGoal("best").status())->fix, HasSubstr("quote"));
}

TEST(WaitGoalTest, RefusesABoundThatTheWorstWouldMeet) {
  v1::StudySpec spec;
  v1::Objective& objective = *spec.add_objectives();
  objective.set_metric("loss");
  objective.set_direction(v1::DIRECTION_MINIMIZE);
  const absl::Status refused = CheckGoal(*ParseGoal("best>=0.25"), spec);
  EXPECT_THAT(DetailOf(refused)->fix, HasSubstr("'best<=0.25'"));
  EXPECT_OK(CheckGoal(*ParseGoal("best<=0.25"), spec));
}

}  // namespace
}  // namespace frostline::cli
