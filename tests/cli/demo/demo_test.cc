// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/error.h"
#include "cli/demo/demo_registry.h"
#include "cli/study_file/study_file.h"
#include "cli/term/text_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {

// The demo when things go wrong: the real `frostline` in a folder where a
// script stands for each program it starts. (tests/flow runs the real demo.)

// The demo's recorded study, as it is built in.

namespace {

TEST(DemoExample, HasTrialsOfItsStudy) {
  ASSERT_OK_AND_ASSIGN(const StudyFile study,
                       ParseStudyFile(kExampleRecipe, "example"));
  ASSERT_OK_AND_ASSIGN(const auto trials, ReadImported(kExampleTrials));
  EXPECT_EQ(study.id, "example");
  ASSERT_EQ(trials.size(), 200U);
  const std::string metric = study.spec.objectives(0).metric();
  for (const v1::ImportedTrial& trial : trials) {
    EXPECT_EQ(trial.state(), v1::TRIAL_STATE_SUCCEEDED);
    EXPECT_EQ(trial.parameters_size(), 7);
    EXPECT_EQ(trial.metrics().count(metric), 1U);
    EXPECT_GT(trial.usage().train_seconds(), 0.0);
  }
}

TEST(DemoExample, RefusesALineThatIsNoTrial) {
  EXPECT_TRUE(HasErrorId(ReadImported("{\"state\": 1}\n{\n").status(),
                         ErrorId::kInternal));
}

using ::testing::HasSubstr;

class DemoTest : public testing::Test {
 protected:
  DemoTest() {
    std::filesystem::copy_file(
        std::filesystem::path(std::getenv("FROSTLINE_BIN_DIR")) / "frostline",
        folder_.File("frostline"));
    Script("frostline-worker", "exec sleep 1000");
    Script("frostline-demo-trainer", "exit 0");
  }

  void Script(const std::string& name, const std::string& lines) {
    std::ofstream(folder_.File(name)) << "#!/bin/sh\n" << lines << "\n";
    std::filesystem::permissions(folder_.File(name),
                                 std::filesystem::perms::owner_all);
  }

  // The synthetic one, unless `option` is another.
  pid_t StartDemo(const char* option = "--synthetic") {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    const int out = open(folder_.File("out").c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    const std::string program = folder_.File("frostline");
    setenv("FROSTLINE_CACHE", folder_.File("cache").c_str(), 1);
    execl(program.c_str(), "frostline", "demo", option, "--dir",
          folder_.File("data").c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }

  static int CodeOf(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string Output() { return LastLines(folder_.File("out"), 100); }

  TempFolder folder_;
};

TEST_F(DemoTest, ShowsTheLastWordsOfAChildThatDies) {
  Script("frostline-coordinator", "echo the disk is full; exit 1");
  EXPECT_EQ(CodeOf(StartDemo()), 5);
  EXPECT_THAT(Output(), HasSubstr("the coordinator ended with code 1"));
  EXPECT_THAT(Output(), HasSubstr("the disk is full"));
}

TEST_F(DemoTest, EndsWithCode7WhenTheCoordinatorDoesNotAnswer) {
  Script("frostline-coordinator",
         "echo listening on 127.0.0.1:1; echo page on http://127.0.0.1:2/; "
         "exec sleep 1000");
  EXPECT_EQ(CodeOf(StartDemo()), 7);
}

TEST_F(DemoTest, CtrlCStopsTheChildrenAndEndsWithCode130) {
  const std::string ready = folder_.File("ready");
  const std::string pid_file = folder_.File("pid");
  Script("frostline-coordinator",
         "echo $$ > " + pid_file + "; touch " + ready + "; exec sleep 1000");
  const pid_t demo = StartDemo();
  while (!std::filesystem::exists(ready)) std::this_thread::yield();
  kill(demo, SIGINT);
  EXPECT_EQ(CodeOf(demo), 130);
  pid_t child = 0;
  std::ifstream(pid_file) >> child;
  ASSERT_GT(child, 0);
  EXPECT_EQ(kill(child, 0), -1);
}

TEST_F(DemoTest, SaysWhichProgramIsMissing) {
  EXPECT_EQ(CodeOf(StartDemo()), 5);
  EXPECT_THAT(Output(), HasSubstr("frostline-coordinator: No such file"));
}

TEST_F(DemoTest, SaysHowToGetTheModelWhenItIsNotThere) {
  EXPECT_EQ(CodeOf(StartDemo("--trials=2")), 100);
  EXPECT_THAT(Output(), HasSubstr(folder_.File("cache/demo-model-")));
  EXPECT_THAT(Output(), HasSubstr("./dev setup"));
  EXPECT_THAT(Output(), HasSubstr("--synthetic"));
}

TEST_F(DemoTest, SaysWhenTheTrainerWasNotBuilt) {
  const std::string model = folder_.File("model");
  std::filesystem::create_directory(model);
  for (const char* const file :
       {"config.json", "model.safetensors", "tokenizer.json"}) {
    std::ofstream(model + "/" + file) << "{}";
  }
  EXPECT_EQ(CodeOf(StartDemo(("--model=" + model).c_str())), 5);
  EXPECT_THAT(Output(), HasSubstr("frostline-trainer"));
}

v1::PlannedModule& AddModule(v1::FreezePlan& plan, const std::string& name,
                             bool freeze, double cost) {
  v1::PlannedModule& module = *plan.add_modules();
  module.set_module(name);
  module.set_freeze(freeze);
  module.mutable_cost_of_freezing()->set_value(cost);
  module.set_reason("a reason: with # marks");
  return module;
}

v1::SearchSpace SpaceAfter(const v1::FreezePlan& plan) {
  const auto study =
      ParseStudyFile(NextStudyFile(kRatesRecipe, "demo-next", plan), "next");
  EXPECT_OK(study.status());
  EXPECT_EQ(study->id, "demo-next");
  EXPECT_EQ(study->spec.training().batch_size(), 32);
  return study->spec.space();
}

TEST(DemoPlan, WritesAStudyFileThatFreezesWhatThePlanFreezes) {
  v1::FreezePlan plan;
  AddModule(plan, "embeddings", true, 0.0);
  AddModule(plan, "layer.3", false, 0.1);
  AddModule(plan, "pooler", false, std::nan("")).set_rate(1e-3);
  const v1::SearchSpace space = SpaceAfter(plan);
  ASSERT_EQ(space.modules_size(), 4);  // with pooler and head
  EXPECT_TRUE(space.modules(0).has_fixed());
  EXPECT_EQ(space.modules(0).fixed(), 0.0);
  EXPECT_EQ(space.modules(1).levels().rates_size(), 5);
}

TEST(DemoPlan, FreezesOnlyWhatIsSureWhereSomethingIs) {
  v1::FreezePlan plan;
  AddModule(plan, "embeddings", true, 0.0).set_advice(v1::PLAN_ADVICE_FREEZE);
  AddModule(plan, "layer.0", true, 0.0).set_advice(v1::PLAN_ADVICE_NOT_KNOWN);
  const v1::SearchSpace space = SpaceAfter(plan);
  EXPECT_TRUE(space.modules(0).has_fixed());
  EXPECT_TRUE(space.modules(1).has_levels());
}

TEST(DemoPlan, LeavesSomethingToSearch) {
  v1::FreezePlan plan;
  AddModule(plan, "embeddings", true, 0.01);
  AddModule(plan, "layer.0", true, 0.02);
  const v1::SearchSpace space = SpaceAfter(plan);
  EXPECT_TRUE(space.modules(0).has_fixed());
  EXPECT_TRUE(space.modules(1).has_levels());
}

TEST(WaysOn, OfTheSyntheticDemoLookAtItsStudy) {
  EXPECT_EQ(WaysOnText({.folder = "demo"}, "frostline"),
            "Next, type\n"
            "  frostline serve --data demo &\n"
            "  frostline study show demo\n");
  EXPECT_EQ(WaysOnText({.folder = "demo", .has_importance = true}, "frostline"),
            "Next, type\n"
            "  frostline serve --data demo &\n"
            "  frostline study show demo\n"
            "  frostline importance demo\n");
}

TEST(WaysOn, OfTheRealOneSearchAgain) {
  const WaysOn ways = {.folder = "my demo",
                       .has_importance = true,
                       .has_next = true,
                       .has_example = true};
  EXPECT_EQ(WaysOnText(ways, "bin/frostline"),
            "Next, type\n"
            "  bin/frostline serve --data 'my demo' &\n"
            "  bin/frostline worker --registry 'my demo/registry' --slots 2 &\n"
            "  bin/frostline study create 'my demo/next.yaml'"
            "  # then: study watch demo-next\n"
            "  bin/frostline report example -o example.html\n");
}

TEST(Recipes, AllParseAndHaveAnId) {
  const std::filesystem::path recipes =
      std::filesystem::path(std::getenv("FROSTLINE_SOURCE_DIR")) / "recipes";
  int count = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(recipes)) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string name = entry.path().filename().string();
    if (name == "recipe.yaml" || name == "datasets.yaml" ||
        name == "models.yaml") {
      continue;
    }
    ++count;
    const auto study = ReadStudyFile(entry.path().string());
    ASSERT_OK(study);
    EXPECT_NE(study->id, "") << entry.path();
  }
  EXPECT_GE(count, 1);
}

TEST(Recipes, TheDemosAreBuiltIn) {
  ASSERT_OK_AND_ASSIGN(const StudyFile real,
                       ParseStudyFile(kDemoRecipe, "demo"));
  EXPECT_EQ(real.id, "demo");
  EXPECT_EQ(real.settings.budget().trials(), 114);
  EXPECT_EQ(real.spec.model().id(), "minilm");
  ASSERT_OK_AND_ASSIGN(const StudyFile synthetic,
                       ParseStudyFile(kSyntheticRecipe, "synthetic"));
  EXPECT_EQ(synthetic.id, real.id);  // so that a folder holds one of them
  EXPECT_EQ(synthetic.settings.budget().trials(), 40);
  EXPECT_EQ(synthetic.spec.model().layers(), 6);
}

}  // namespace
}  // namespace frostline::cli
