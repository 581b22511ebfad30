// SPDX-License-Identifier: Apache-2.0
//
// A study file of two tasks, from the command line to what it shows of each.
#include <fstream>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "tests/flow/trainer_world.h"
#include "worker/trainer/data/input_file.h"

namespace frostline::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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
