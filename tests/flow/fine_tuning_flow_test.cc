// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/flow/real_world.h"
#include "tests/server/example_study.h"
#include "tests/support/status_matchers.h"
#include "tests/worker/trainer/tiny_registry.h"
#include "worker/trainer/data/input_file.h"

namespace frostline::test {

// Coordinator, workers and frostline-trainer together, with a tiny model and
// small sets, and the command line beside them.
class TrainerWorld : public ::testing::Test {
 protected:
  TrainerWorld() {
    trainer::WriteTinyRegistry(world_.folder().path().string());
  }

  void StartWorker(const std::string& id, const std::string& exec = "") {
    std::vector<std::string> options = {
        "--registry", world_.folder().path().string(), "--run-dir",
        world_.folder().File("runs")};
    if (!exec.empty()) options.insert(options.end(), {"--exec", exec});
    world_.StartWorkerWith(id, options);
  }

  std::vector<v1::Trial> Finished(const std::string& study, int count) {
    for (int i = 0; i < 1200; ++i) {
      const auto now = world_.GetStudy(study);
      if (now.ok() && now->counts().budget_used() >= count) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    auto trials = world_.ListTrials(study);
    EXPECT_OK(trials.status());
    return *std::move(trials);
  }

  // Its exit code; what was said is in said_.
  int Frostline(const std::string& arguments) {
    const std::string command = RealWorld::Binary("frostline") + " " +
                                arguments + " --connect " + world_.address() +
                                " </dev/null 2>&1";
    std::FILE* const pipe = popen(command.c_str(), "r");
    said_.clear();
    std::array<char, 4096> buffer{};
    for (std::size_t size = 0;
         (size = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
      said_.append(buffer.data(), size);
    }
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  RealWorld world_;
  std::string said_;
};

namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// Coordinator, worker and frostline-trainer together, with a tiny model.

class FineTuningFlow : public TrainerWorld {
 protected:
  // Two levels for each of three layers; the head always trains.
  static v1::CreateStudyRequest Study(const std::string& id, int budget,
                                      int epochs) {
    v1::CreateStudyRequest request = server::ExampleStudy(id, budget);
    v1::StudySpec& spec = *request.mutable_spec();
    spec.mutable_model()->set_layers(3);
    spec.mutable_data()->set_id("words");
    spec.mutable_space()->clear_modules();
    v1::ModuleSpace* const layers = spec.mutable_space()->add_modules();
    layers->set_select("layer.*");
    layers->mutable_levels()->add_rates(0.0);
    layers->mutable_levels()->add_rates(1e-3);
    for (const char* module : {"embeddings", "pooler", "head"}) {
      v1::ModuleSpace* const fixed = spec.mutable_space()->add_modules();
      fixed->set_select(module);
      fixed->set_fixed(1e-3);
    }
    spec.mutable_training()->set_epochs(epochs);
    spec.mutable_training()->set_batch_size(8);
    spec.mutable_training()->set_max_length(16);
    return request;
  }

  // True once the trial of a study of one is known to have taken `steps`.
  bool HasTaken(const std::string& study, int steps) {
    for (int i = 0; i < 1200; ++i) {
      const auto trials = world_.ListTrials(study);
      if (trials.ok() && !trials->empty() &&
          trials->at(0).last_step() >= steps) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }

  // The numbers of the trials whose models are there.
  std::vector<std::string> ModelsOf(const std::string& study) const {
    std::vector<std::string> numbers;
    for (const auto& trial : std::filesystem::directory_iterator(
             world_.folder().File("runs/trials/" + study))) {
      if (std::filesystem::exists(trial.path() / "1" / "model")) {
        numbers.push_back(trial.path().filename().string());
      }
    }
    return numbers;
  }
};

TEST_F(FineTuningFlow, AStudyOfARealModelRunsWithARegistryAlone) {
  ASSERT_OK(world_.CreateStudy(Study("tiny", 4, 2)));
  StartWorker("w");
  for (const v1::Trial& trial : Finished("studies/tiny", 4)) {
    EXPECT_EQ(trial.state(), v1::TRIAL_STATE_SUCCEEDED) << trial.cause();
    EXPECT_EQ(trial.usage().steps(), 6);
    EXPECT_GT(trial.usage().trained_parameters(), 0);
    EXPECT_THAT(trial.usage().software(), HasSubstr("LibTorch"));
  }
}

TEST_F(FineTuningFlow, WhatAnotherWorkerGoesOnWithEndsAsIfNothingHadBeen) {
  ASSERT_OK(world_.CreateStudy(Study("calm", 1, 150)));
  StartWorker("calm");
  const v1::Trial calm = Finished("studies/calm", 1).at(0);
  ASSERT_EQ(world_.DrainWorker("calm"), 75);

  // The same seed and the same trial, handed back in the middle.
  ASSERT_OK(world_.CreateStudy(Study("rough", 1, 150)));
  StartWorker("first", RealWorld::Binary("frostline-trainer") +
                           " --checkpoint-every 0.1s");
  ASSERT_TRUE(HasTaken("studies/rough", 60));
  ASSERT_EQ(world_.DrainWorker("first"), 75);
  StartWorker("second");
  const v1::Trial rough = Finished("studies/rough", 1).at(0);

  EXPECT_EQ(rough.state(), v1::TRIAL_STATE_SUCCEEDED) << rough.cause();
  EXPECT_EQ(rough.worker(), "workers/second");
  EXPECT_EQ(rough.attempt(), 2);
  EXPECT_EQ(rough.metrics().at("train_loss"), calm.metrics().at("train_loss"));
  EXPECT_EQ(rough.metrics().at("loss"), calm.metrics().at("loss"));
  std::ifstream log(world_.folder().File("runs/trials/rough/0/2.log"));
  const std::string said(std::istreambuf_iterator<char>(log), {});
  EXPECT_THAT(said, HasSubstr("goes on from step"));  // and not anew
}

TEST_F(FineTuningFlow, AModelThatWasAskedForStays) {
  v1::CreateStudyRequest study = Study("kept", 1, 1);
  (*study.mutable_spec()
        ->mutable_training()
        ->mutable_extra()
        ->mutable_fields())["export"]
      .set_bool_value(true);
  ASSERT_OK(world_.CreateStudy(study));
  StartWorker("w");
  EXPECT_EQ(Finished("studies/kept", 1).at(0).state(),
            v1::TRIAL_STATE_SUCCEEDED);
  EXPECT_EQ(world_.DrainWorker("w"), 75);
  EXPECT_TRUE(std::filesystem::exists(
      world_.folder().File("runs/trials/kept/0/1/model/model.safetensors")));
}

TEST_F(FineTuningFlow, OfManyModelsTheBestIsLeftAndCanBeFetched) {
  v1::CreateStudyRequest study = Study("one", 6, 1);
  (*study.mutable_spec()
        ->mutable_training()
        ->mutable_extra()
        ->mutable_fields())["export"]
      .set_string_value("best");
  ASSERT_OK(world_.CreateStudy(study));
  StartWorker("w");
  EXPECT_THAT(Finished("studies/one", 6), SizeIs(6));
  EXPECT_EQ(world_.DrainWorker("w"), 75);

  const auto best = world_.GetStudy("studies/one");
  ASSERT_OK(best);
  ASSERT_EQ(best->best_trials_size(), 1);
  const std::string number =
      std::filesystem::path(best->best_trials(0)).filename().string();
  EXPECT_THAT(ModelsOf("one"), ElementsAre(number));

  const std::string copy = world_.folder().File("copy");
  EXPECT_EQ(Frostline("model export one " + copy), 0) << said_;
  EXPECT_THAT(said_, HasSubstr("copied the model of trial " + number));
  for (const char* file : {"config.json", "model.safetensors", "SHA256SUMS"}) {
    EXPECT_TRUE(std::filesystem::exists(copy + "/" + file)) << file;
  }
  EXPECT_EQ(Frostline("model export one " + copy), 2);  // it is full
  EXPECT_EQ(Frostline("model export one/99 " + copy + "2"), 3);
  EXPECT_EQ(Frostline("model export one/x " + copy + "2"), 2);
  EXPECT_EQ(Frostline("model export nobody " + copy + "2"), 3);
  EXPECT_FALSE(std::filesystem::exists(copy + "2"));
  // Another trial's is gone, or was never told of.
  const std::string other = number == "0" ? "1" : "0";
  EXPECT_EQ(Frostline("model export one/" + other + " " + copy + "2"), 5);
  EXPECT_THAT(said_, HasSubstr("FL-2005"));
}

TEST_F(FineTuningFlow, AModelThatNobodyHasIsWaitedForAndNoAttemptIsUsed) {
  v1::CreateStudyRequest study = Study("absent", 1, 1);
  study.mutable_spec()->mutable_model()->set_id("nobody");
  ASSERT_OK(world_.CreateStudy(study));
  StartWorker("w");
  std::vector<std::string> codes;
  for (int i = 0; i < 200 && codes != std::vector{std::string("NOT_IN_STOCK")};
       ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_OK_AND_ASSIGN(codes, world_.Explain("studies/absent"));
  }
  EXPECT_THAT(codes, testing::ElementsAre("NOT_IN_STOCK"));
  EXPECT_EQ(world_.GetStudy("studies/absent")->counts().budget_used(), 0);
}

// A study file of two tasks, from the command line to what it shows of each.

// Only the heads train: a middle and two outputs of one, three of the other.
constexpr char kStudy[] = R"(id: both
model: {id: tiny, layers: 3}
tasks:
  words: {data: words, head: mlp}
  colours: {data: {id: colours, task: classification}}
training:
  epochs: 3
  batch_size: 8
  max_length: 16
  precision: fp32
  report_example_outcomes: true
maximize: mean
budget: 1
seed: 3
sampler: random
space:
  modules:
    embeddings: frozen
    "layer.*": frozen
    pooler: frozen
    head: [1e-3, 1e-2]
)";

class TaskFlow : public TrainerWorld {
 protected:
  // A second set beside that of the tiny registry, of three labels.
  TaskFlow() {
    std::string splits;
    for (const auto& [split, count] :
         {std::pair("train", 18), std::pair("validation", 9)}) {
      std::string rows = "text\tlabel\n";
      for (int i = 0; i < count; ++i) {
        rows += "w" + std::to_string(i % 3 * 20 + i / 3) + " w" +
                std::to_string(i % 3) + "\t" + kColours[i % 3] + "\n";
      }
      const std::string name = std::string("colours-") + split + ".tsv";
      const std::string path = world_.folder().File(name);
      std::ofstream(path, std::ios::binary) << rows;
      splits += "    " + std::string(split) + ": {path: " + name +
                ", sha256: " +
                trainer::InputFile::Open(path).value().Sha256().value() + "}\n";
    }
    std::ofstream(world_.folder().File("datasets.yaml"), std::ios::app)
        << "colours:\n  format: tsv\n  splits:\n"
        << splits;
    std::ofstream(world_.folder().File("study.yaml")) << kStudy;
  }

  static constexpr const char* kColours[] = {"maroon", "ochre", "teal"};
};

TEST_F(TaskFlow, AStudyOfTwoTasksTrainsBothAndShowsEach) {
  const std::string file = world_.folder().File("study.yaml");
  ASSERT_EQ(Frostline("study create " + file), 0) << said_;
  StartWorker("w");
  const v1::Trial trial = Finished("studies/both", 1).at(0);
  ASSERT_EQ(trial.state(), v1::TRIAL_STATE_SUCCEEDED) << trial.cause();

  const auto& metrics = trial.metrics();
  ASSERT_TRUE(metrics.contains("words.accuracy"));
  ASSERT_TRUE(metrics.contains("colours.accuracy"));
  ASSERT_TRUE(metrics.contains("mean"));
  EXPECT_DOUBLE_EQ(
      metrics.at("mean"),
      (metrics.at("words.accuracy") + metrics.at("colours.accuracy")) / 2);
  // Weights and biases of a hidden width of 32.
  EXPECT_EQ(trial.usage().trained_parameters(),
            (32 * 32 + 32) + (2 * 32 + 2) + (3 * 32 + 3));

  EXPECT_EQ(Frostline("trial confusion both 0 --task colours"), 0) << said_;
  EXPECT_THAT(said_, AllOf(HasSubstr("maroon"), HasSubstr("ochre"),
                           HasSubstr("teal"), Not(HasSubstr("yes"))));
  EXPECT_EQ(Frostline("trial confusion both 0 --task words"), 0) << said_;
  EXPECT_THAT(said_, AllOf(HasSubstr("yes"), Not(HasSubstr("teal"))));
  EXPECT_NE(Frostline("trial confusion both 0 --task nobody"), 0) << said_;
}

}  // namespace
}  // namespace frostline::test
