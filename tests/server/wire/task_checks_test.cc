// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "gmock/gmock.h"
#include "server/wire/study_checks.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::ElementsAre;

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

}  // namespace
}  // namespace frostline::server
