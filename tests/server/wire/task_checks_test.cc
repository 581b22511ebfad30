// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "gmock/gmock.h"
#include "server/wire/convert.h"
#include "server/wire/study_checks.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

v1::StudySpec TwoTasks() {
  v1::StudySpec spec;
  for (const char* name : {"sst", "sts"}) {
    v1::TaskSpec* const task = spec.add_tasks();
    task->set_name(name);
    task->mutable_data()->set_id(name);
  }
  spec.mutable_tasks(1)->mutable_data()->set_task("regression");
  spec.add_objectives()->set_metric("mean");
  return spec;
}

absl::Status CheckSpecOf(const std::function<void(v1::StudySpec&)>& spoil) {
  v1::StudySpec spec = TwoTasks();
  spoil(spec);
  return CheckTasks(spec, {.num_layers = 3, .tasks = NamesOfTasks(spec)});
}

void At(const char* field, const std::function<void(v1::StudySpec&)>& spoil) {
  EXPECT_THAT(CheckSpecOf(spoil), FailsAt(ErrorId::kRequestInvalid, field));
}

TEST(TaskChecks, TasksThatGoTogetherPass) {
  EXPECT_OK(CheckSpecOf([](v1::StudySpec& spec) {
    spec.mutable_tasks(0)->mutable_head()->set_kind("mlp");
    spec.mutable_tasks(0)->set_share(1);
    spec.mutable_tasks(1)->set_share(2);
    spec.mutable_tasks(1)->mutable_head()->set_kind("two_map_cosine");
    spec.mutable_tasks(1)->mutable_head()->set_scale(2);
    spec.mutable_tasks(1)->set_loss("squared_error");
    spec.mutable_tasks(1)->add_freeze("layer.0-1");
    spec.mutable_training()->set_accumulation(2);
    spec.mutable_training()->set_gradient_surgery("dominant");
    spec.mutable_objectives(0)->set_metric("sts.pearson");
  }));
}

TEST(TaskChecks, WhatDoesNotFitNamesItsField) {
  At("tasks[1].name",
     [](v1::StudySpec& spec) { spec.mutable_tasks(1)->set_name("sst"); });
  At("tasks[0].name",
     [](v1::StudySpec& spec) { spec.mutable_tasks(0)->set_name("mean"); });
  At("tasks[0].data.id",
     [](v1::StudySpec& spec) { spec.mutable_tasks(0)->clear_data(); });
  At("tasks[1].share",
     [](v1::StudySpec& spec) { spec.mutable_tasks(0)->set_share(1); });
  At("tasks[1].loss", [](v1::StudySpec& spec) {
    spec.mutable_tasks(1)->set_loss("cross_entropy");
  });
  At("tasks[0].head.kind", [](v1::StudySpec& spec) {
    spec.mutable_tasks(0)->mutable_data()->set_task("classification");
    spec.mutable_tasks(0)->mutable_head()->set_kind("cosine");
  });
  At("tasks[0].head.kind", [](v1::StudySpec& spec) {
    spec.mutable_tasks(0)->mutable_data()->set_task("classification");
    spec.mutable_tasks(0)->mutable_head()->set_kind("two_map_cosine");
  });
  At("tasks[0].head.scale", [](v1::StudySpec& spec) {
    spec.mutable_tasks(0)->mutable_head()->set_scale(2);
  });
  At("training.gradient_surgery", [](v1::StudySpec& spec) {
    spec.mutable_training()->set_gradient_surgery("pcgrad");
  });
  At("data", [](v1::StudySpec& spec) { spec.mutable_data()->set_id("imdb"); });
}

TEST(TaskChecks, AnObjectiveOfNoTaskAndAModuleThatIsNotThereAreNamed) {
  for (const char* metric : {"cola.accuracy", "accuracy"}) {
    EXPECT_THAT(CheckSpecOf([&](v1::StudySpec& spec) {
                  spec.mutable_objectives(0)->set_metric(metric);
                }),
                FailsAt(ErrorId::kObjectiveInvalid, "objectives[0].metric"));
  }
  EXPECT_THAT(CheckSpecOf([](v1::StudySpec& spec) {
                spec.mutable_tasks(1)->add_freeze("layer.7");
              }),
              FailsAt(ErrorId::kModuleUnknown, "tasks[1].freeze[0]"));
}

TEST(TaskChecks, SelectorsBecomeModules) {
  v1::TaskSpec task;
  task.add_freeze("layer.1-2");
  task.add_freeze("head");
  ResolveFreeze({.num_layers = 3, .tasks = {"a", "b"}}, task);
  EXPECT_THAT(task.freeze(),
              ElementsAre("head.a", "head.b", "layer.1", "layer.2"));
}

v1::ExampleOutcomes Marks(const std::string& set) {
  v1::ExampleOutcomes one;
  one.set_set(set);
  one.set_data_fingerprint("of " + set);
  one.set_encoding(v1::ExampleOutcomes::PACKED_BITS);
  one.set_count(3);
  one.set_data("\x05");
  return one;
}

v1::Outcome TwoSets() {
  v1::Outcome outcome;
  *outcome.add_evaluations() = Marks("");
  outcome.mutable_evaluations(0)->add_classes("neg");
  *outcome.add_evaluations() = Marks("test");
  return outcome;
}

TEST(ExampleOutcomes, EverySetComesBackWhole) {
  const auto row = OutcomeRowOf(TwoSets());
  ASSERT_TRUE(row.has_value());
  const auto validation = OutcomesOfSet(*row, "", "");
  ASSERT_TRUE(validation.has_value());
  EXPECT_EQ(validation->data_fingerprint(), "of ");
  EXPECT_EQ(validation->data(), "\x05");
  EXPECT_THAT(validation->classes(), SizeIs(1));
  EXPECT_EQ(OutcomesOfSet(*row, "test", "")->data_fingerprint(), "of test");
  EXPECT_EQ(OutcomesOfSet(*row, "dev", "")->set(), "validation");
  EXPECT_FALSE(OutcomesOfSet(*row, "test", "sst2").has_value());
}

TEST(ExampleOutcomes, MarksOfTheValidationSetAreStoredOnce) {
  const auto row = OutcomeRowOf(TwoSets());
  v1::Outcome kept;
  ASSERT_TRUE(kept.ParseFromString(row->evaluations));
  EXPECT_THAT(kept.evaluations(0).data(), IsEmpty());
  EXPECT_EQ(row->data, "\x05");
}

TEST(ExampleOutcomes, WhatAnEarlierTrainerSaysIsARowWithoutABlob) {
  v1::Outcome outcome;
  *outcome.mutable_examples() = Marks("");
  const auto row = OutcomeRowOf(outcome);
  EXPECT_THAT(row->evaluations, IsEmpty());
  EXPECT_EQ(OutcomesOfSet(*row, "", "")->count(), 3);
  EXPECT_FALSE(OutcomeRowOf(v1::Outcome()).has_value());
}

TEST(ExampleOutcomes, ATrialWithoutAValidationSetHasNone) {
  v1::Outcome outcome;
  *outcome.add_evaluations() = Marks("test");
  const auto row = OutcomeRowOf(outcome);
  EXPECT_FALSE(OutcomesOfSet(*row, "", "").has_value());
  EXPECT_THAT(NoOutcomes("studies/a/trials/0", "", "", &*row, "set"),
              FailsWith(ErrorId::kOutcomesMissing));
  EXPECT_EQ(DescribeSets(*row), "test");
}

TEST(ExampleOutcomes, ASetComesOnceAndAllOfThemFit) {
  EXPECT_OK(CheckExamples(TwoSets()));
  v1::Outcome twice = TwoSets();
  *twice.add_evaluations() = Marks("validation");
  EXPECT_THAT(CheckExamples(twice), FailsWith(ErrorId::kRequestInvalid));
  v1::Outcome large = TwoSets();
  large.mutable_evaluations(1)->set_true_class(std::string(700'000, 'x'));
  EXPECT_THAT(CheckExamples(large), FailsWith(ErrorId::kRequestInvalid));
  v1::Outcome both = TwoSets();
  *both.mutable_examples() = Marks("");
  EXPECT_THAT(CheckExamples(both), FailsWith(ErrorId::kRequestInvalid));
}

TEST(ExampleOutcomes, TheTrialNamesItsSetsAndARetryForgetsThem) {
  storage::TrialRow row;
  NoteEvaluations(TwoSets(), row);
  v1::Trial noted;
  ASSERT_TRUE(noted.ParseFromString(row.labels));
  ASSERT_THAT(noted.evaluations(), SizeIs(2));
  EXPECT_EQ(noted.evaluations(0).set(), "validation");
  EXPECT_EQ(noted.evaluations(1).count(), 3);
  ForgetEvaluations(row);
  ASSERT_TRUE(noted.ParseFromString(row.labels));
  EXPECT_THAT(noted.evaluations(), IsEmpty());
}

TEST(ExampleOutcomes, DevIsTheValidationSetUnlessADataSetHasThatId) {
  v1::Training training;
  EXPECT_EQ(CanonicalSet("dev", training), "validation");
  EXPECT_EQ(CanonicalSet("", training), "validation");
  training.add_also_evaluate("dev");
  EXPECT_EQ(CanonicalSet("dev", training), "dev");
  EXPECT_EQ(MetricPrefix("test", ""), "test.");
  EXPECT_EQ(MetricPrefix("", "sst2"), "sst2.");
}

}  // namespace
}  // namespace frostline::server
