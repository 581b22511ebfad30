// SPDX-License-Identifier: Apache-2.0
//
// What an agent keeps of trained models, and what it says of them: with a
// trainer that leaves a folder `model`, as any trainer may.
#include <filesystem>

#include "gmock/gmock.h"
#include "tests/worker/agent/rig.h"
#include "worker/agent/trial/kept_models.h"

namespace frostline::agent {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Each trial's score is in its label; a kilobyte is its model.
constexpr char kExporting[] = R"(report(1, 0.5)
os.mkdir(t["folder"] + "/model")
with open(t["folder"] + "/model/weights", "w") as f: f.write("w" * 1000)
with open(t["folder"] + "/model/config.json", "w") as f: f.write("{}")
finish("succeeded", float(t["labels"]["score"]))
)";

v1::Lease LeaseOf(int number, double score, const std::string& word) {
  v1::Lease lease = ScriptedCoordinator::LeaseOf(number);
  v1::TrialSpec& spec = *lease.mutable_spec();
  spec.mutable_objectives(0)->set_direction(v1::DIRECTION_MAXIMIZE);
  (*spec.mutable_labels())["score"] = std::to_string(score);
  (*spec.mutable_training()->mutable_extra()->mutable_fields())["export"]
      .set_string_value(word);
  return lease;
}

class AgentModelTest : public ::testing::Test {
 protected:
  // Runs them one after the other, to the agent's end.
  void Run(const std::vector<double>& scores, const std::string& word) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      rig_.coordinator().Offer(
          LeaseOf(static_cast<int>(i) + 1, scores[i], word));
    }
    rig_.Start();
    ASSERT_TRUE(rig_.coordinator().Await([&](const Heard& heard) {
      return heard.finishes.size() == scores.size();
    }));
    rig_.coordinator().EndStudy();
    EXPECT_EQ(rig_.Join(), 0);
  }
  std::vector<int> Models() const {
    std::vector<int> numbers;
    for (int trial = 1; trial <= 12; ++trial) {
      if (fs::exists(ModelOf(trial))) numbers.push_back(trial);
    }
    return numbers;
  }
  std::string ModelOf(int trial) const {
    return rig_.File("runs/trials/s/" + std::to_string(trial) + "/1/model");
  }
  // Bytes of everything that trials left, and how many folders.
  std::pair<std::int64_t, int> Left() const {
    std::pair<std::int64_t, int> left;
    for (const auto& entry :
         fs::recursive_directory_iterator(rig_.File("runs/trials"))) {
      if (entry.is_directory()) ++left.second;
      if (entry.is_regular_file()) {
        left.first += static_cast<std::int64_t>(entry.file_size());
      }
    }
    return left;
  }

  Rig rig_{kExporting};
};

TEST_F(AgentModelTest, OfSixTrialsOneModelIsLeftAndItsPlaceIsSaid) {
  Run({0.1, 0.3, 0.2, 0.9, 0.8, 0.4}, "best");
  EXPECT_THAT(Models(), ElementsAre(4));
  // The study's folder, trial 4's, its attempt's and its model's; the logs of
  // 1 and 2, which were the best once, go with the janitor's next pass.
  const auto [bytes, folders] = Left();
  EXPECT_LE(folders, 4 + 2 * 2);
  EXPECT_LT(bytes, 2 * 1000);
  std::vector<int> told;
  for (const v1::FinishRequest& finish : rig_.coordinator().heard().finishes) {
    const v1::TrainedModel& model = finish.outcome().usage().model();
    if (!finish.outcome().usage().has_model()) continue;
    told.push_back(std::stoi(fs::path(finish.lease().trial()).filename()));
    EXPECT_EQ(model.folder(), ModelOf(told.back()));
    EXPECT_FALSE(model.host().empty());
    EXPECT_EQ(model.sums_sha256().size(), 64u);
    EXPECT_GT(model.bytes(), 1000);
  }
  EXPECT_THAT(told, ElementsAre(1, 2, 4));  // each the best when it ended
}

TEST_F(AgentModelTest, AllAreLeftWhereAllAreWanted) {
  Run({0.3, 0.2, 0.1}, "all");
  EXPECT_THAT(Models(), ElementsAre(1, 2, 3));
  for (const v1::FinishRequest& finish : rig_.coordinator().heard().finishes) {
    EXPECT_TRUE(finish.outcome().usage().has_model());
  }
}

TEST_F(AgentModelTest, WhatIsNotKeptIsNotToldOf) {
  rig_.options().keep.policy = KeepPolicy::kNone;
  Run({0.3, 0.9}, "best");
  EXPECT_THAT(Models(), IsEmpty());
  for (const v1::FinishRequest& finish : rig_.coordinator().heard().finishes) {
    EXPECT_FALSE(finish.outcome().usage().has_model());
  }
}

TEST_F(AgentModelTest, ARefusedEndingLeavesNoModel) {
  rig_.coordinator().Refuse("Finish", ErrorId::kLeaseLost);
  Run({0.3}, "best");
  EXPECT_THAT(Models(), IsEmpty());
}

}  // namespace
}  // namespace frostline::agent
