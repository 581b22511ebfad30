// SPDX-License-Identifier: Apache-2.0
//
// Which trained models stay: of a study that exports its best one alone.
#include "worker/agent/trial/kept_models.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "worker/agent/file.h"
#include "worker/agent/trial/trial_folders.h"

namespace frostline::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

constexpr char kMetrics[][8] = {"score", "seconds"};

class KeptModelsTest : public ::testing::Test {
 protected:
  // One objective, `score`, that is maximised; the second is minimised.
  v1::Lease LeaseOf(int trial, std::int64_t attempt = 1) const {
    v1::Lease lease;
    lease.set_trial("studies/s/trials/" + std::to_string(trial));
    lease.set_attempt(attempt);
    v1::TrialSpec& spec = *lease.mutable_spec();
    spec.mutable_study_create_time()->set_seconds(created_);
    for (int i = 0; i < objectives_; ++i) {
      v1::Objective& objective = *spec.add_objectives();
      objective.set_metric(kMetrics[i]);
      objective.set_direction(i == 0 ? v1::DIRECTION_MAXIMIZE
                                     : v1::DIRECTION_MINIMIZE);
    }
    *(*spec.mutable_training()->mutable_extra()->mutable_fields())["export"]
         .mutable_string_value() = word_;
    for (const auto& [metric, bound] : constraints_) {
      v1::MetricConstraint& constraint = *spec.add_constraints();
      constraint.set_metric(metric);
      constraint.set_upper_bound(bound);
    }
    return lease;
  }

  // A trainer writes two files.
  std::string Train(const v1::Lease& lease) {
    const auto folder = folders_.Make(lease);
    EXPECT_OK(folder);
    folders_.models().Begin(lease, *folder);
    fs::create_directories(*folder + "/model/onnx");
    std::ofstream(*folder + "/model/config.json") << "{}";
    std::ofstream(*folder + "/model/onnx/graph") << "graph";
    return *folder;
  }

  // Whether the model was still there when the ending was spooled.
  bool End(const v1::Lease& lease, const std::map<std::string, double>& metrics,
           v1::FinishReply::Verdict verdict = v1::FinishReply::ACCEPTED) {
    v1::FinishRequest finish;
    finish.mutable_lease()->set_trial(lease.trial());
    finish.mutable_lease()->set_attempt(lease.attempt());
    v1::Outcome& outcome = *finish.mutable_outcome();
    outcome.set_kind(v1::Outcome::SUCCEEDED);
    outcome.mutable_metrics()->insert(metrics.begin(), metrics.end());
    const std::string folder = folder_.File(
        absl::StrCat("trials/s/", fs::path(lease.trial()).filename().string(),
                     "/", lease.attempt()));
    const bool stays = folders_.models().Offer(lease.spec(), folder, outcome);
    v1::FinishReply reply;
    reply.set_verdict(verdict);
    reply.mutable_trial()->set_revision(++revision_);
    folders_.models().Settle(finish, reply);
    folders_.MarkEnded(finish.lease(), false, false);
    return stays;
  }
  bool Run(int trial, const std::map<std::string, double>& metrics) {
    const v1::Lease lease = LeaseOf(trial);
    Train(lease);
    return End(lease, metrics);
  }

  void Clean() { folders_.Clean({KeepPolicy::kUseful, 0, 0}); }

  // The numbers of the trials whose models are there, and those with a record.
  std::vector<int> Models() const { return Numbers("1/model"); }
  std::vector<int> Records() const { return Numbers("1.model"); }
  std::vector<int> Folders() const { return Numbers(""); }
  std::vector<int> Numbers(const std::string& file) const {
    std::vector<int> numbers;
    for (int trial = 0; trial < 30; ++trial) {
      const fs::path path = folder_.File(absl::StrCat("trials/s/", trial));
      if (fs::exists(path / file)) numbers.push_back(trial);
    }
    return numbers;
  }

  const TempFolder folder_;
  TrialFolders folders_{folder_.File(""), folder_.File("agents/w/trash"), "w"};
  std::string word_ = "best";
  int objectives_ = 1;
  std::map<std::string, double> constraints_;
  std::int64_t created_ = 1'700'000'000;
  std::int64_t revision_ = 10;
};

TEST_F(KeptModelsTest, OfAHundredTrialsTheBestModelStaysAlone) {
  for (int trial = 0; trial < 25; ++trial) {
    // Rises and falls: 0, 7, 14, … modulo 25, the highest at trial 7.
    Run(trial, {{"score", (trial * 7) % 25}});
    Clean();
    EXPECT_EQ(Models().size(), 1u) << trial;
    EXPECT_EQ(Folders().size(), 1u) << trial;
  }
  EXPECT_THAT(Models(), ElementsAre(7));
  EXPECT_THAT(Records(), ElementsAre(7));
  EXPECT_TRUE(fs::is_empty(folder_.File("agents/w/trash")));
}

TEST_F(KeptModelsTest, AWorseModelGoesBeforeItsEndingIsSent) {
  EXPECT_TRUE(Run(0, {{"score", 0.9}}));
  EXPECT_FALSE(Run(1, {{"score", 0.8}}));
  EXPECT_FALSE(Run(2, {{"score", 0.9}}));  // of equals the earlier stays
  EXPECT_THAT(Models(), ElementsAre(0));
  EXPECT_TRUE(Run(3, {{"score", 0.91}}));
  EXPECT_THAT(Models(), ElementsAre(3));  // before any look
}

TEST_F(KeptModelsTest, OfTwoThatRanTogetherTheFirstThatWasTakenStays) {
  Train(LeaseOf(0));
  Train(LeaseOf(1));
  EXPECT_TRUE(End(LeaseOf(1), {{"score", 0.5}}));
  EXPECT_FALSE(End(LeaseOf(0), {{"score", 0.5}}));
  Clean();
  EXPECT_THAT(Models(), ElementsAre(1));
}

TEST_F(KeptModelsTest, WithSeveralObjectivesTheFrontStays) {
  objectives_ = 2;
  Run(0, {{"score", 0.9}, {"seconds", 10}});
  Run(1, {{"score", 0.8}, {"seconds", 5}});
  Run(2, {{"score", 0.8}, {"seconds", 6}});
  Run(3, {{"score", 0.95}, {"seconds", 10}});
  Run(4, {{"score", 0.8}, {"seconds", 5}});
  Clean();
  EXPECT_THAT(Models(), ElementsAre(1, 3, 4));
}

TEST_F(KeptModelsTest, ABetterTrialThatBreaksAConstraintBeatsNone) {
  constraints_ = {{"mib", 100}};
  Run(0, {{"score", 0.9}, {"mib", 120}});
  Run(1, {{"score", 0.95}, {"mib", 130}});  // breaks it by more
  Clean();
  EXPECT_THAT(Models(), ElementsAre(0));
  Run(2, {{"score", 0.2}, {"mib", 100}});
  Run(3, {{"score", 0.99}});  // it did not say
  Clean();
  EXPECT_THAT(Models(), ElementsAre(2));
}

TEST_F(KeptModelsTest, WhatIsNotTheTrialsResultGoes) {
  for (const auto verdict :
       {v1::FinishReply::SUPERSEDED, v1::FinishReply::CANCELLED,
        v1::FinishReply::REQUEUED, v1::FinishReply::VERDICT_UNSPECIFIED}) {
    Train(LeaseOf(0));
    End(LeaseOf(0), {{"score", 0.9}}, verdict);
    EXPECT_THAT(Models(), IsEmpty()) << verdict;
    EXPECT_THAT(Records(), IsEmpty()) << verdict;
  }
}

TEST_F(KeptModelsTest, ADeadAgentsModelGoesOnlyWhereNobodyRunsIt) {
  Train(LeaseOf(0));
  {
    const TrialFolders::Use use(folders_, "studies/s/trials/0");
    Clean();
    EXPECT_THAT(Models(), ElementsAre(0));
  }
  TrialFolders others(folder_.File(""), folder_.File("agents/x/trash"), "x");
  others.Clean({KeepPolicy::kUseful, 0, 0});
  EXPECT_THAT(Models(), ElementsAre(0));
  Clean();  // by the next life of the agent that began it
  EXPECT_THAT(Models(), IsEmpty());
}

TEST_F(KeptModelsTest, AnAnswerThatComesInAnotherLifeSettlesIt) {
  Run(0, {{"score", 0.5}});
  const v1::Lease lease = LeaseOf(1);
  const std::string folder = Train(lease);
  v1::FinishRequest finish;
  finish.mutable_lease()->set_trial(lease.trial());
  finish.mutable_lease()->set_attempt(1);
  finish.mutable_outcome()->set_kind(v1::Outcome::SUCCEEDED);
  (*finish.mutable_outcome()->mutable_metrics())["score"] = 0.6;
  ASSERT_TRUE(folders_.models().Offer(lease.spec(), folder, finish.outcome()));
  Clean();
  EXPECT_THAT(Models(), ElementsAre(0, 1));  // nobody has answered yet
  TrialFolders later(folder_.File(""), folder_.File("agents/w/trash"), "w");
  v1::FinishReply reply;
  reply.set_verdict(v1::FinishReply::ACCEPTED);
  later.models().Settle(finish, reply);
  later.Clean({KeepPolicy::kUseful, 0, 0});
  EXPECT_THAT(Models(), ElementsAre(1));
}

TEST_F(KeptModelsTest, AnEarlierStudyOfThisNameBeatsNothing) {
  Run(7, {{"score", 0.99}});
  created_ += 60;
  EXPECT_TRUE(Run(3, {{"score", 0.1}}));
  Clean();
  EXPECT_THAT(Models(), ElementsAre(3, 7));
}

TEST_F(KeptModelsTest, WhereAllAreWantedNobodyJudges) {
  for (const char* word : {"all", "none", "onnx", ""}) {
    word_ = word;
    Run(0, {{"score", 0.9}});
    Run(1, {{"score", 0.8}});
    Clean();
    EXPECT_THAT(Models(), ElementsAre(0, 1)) << word;
    EXPECT_THAT(Records(), IsEmpty()) << word;
  }
}

TEST_F(KeptModelsTest, TheOldTrueIsBest) {
  v1::Lease lease = LeaseOf(0);
  auto& fields = *lease.mutable_spec()->mutable_training()->mutable_extra();
  (*fields.mutable_fields())["export"].set_bool_value(true);
  EXPECT_TRUE(ExportsBestOnly(lease.spec()));
  (*fields.mutable_fields())["export"].set_bool_value(false);
  EXPECT_FALSE(ExportsBestOnly(lease.spec()));
}

TEST_F(KeptModelsTest, BeyondTheBoundsModelsGoLast) {
  Run(0, {{"score", 0.9}});
  v1::LeaseRef failed;
  failed.set_trial("studies/s/trials/1");
  failed.set_attempt(1);
  ASSERT_OK(folders_.Make(LeaseOf(1)));
  folders_.MarkEnded(failed, true, false);
  folders_.Clean({KeepPolicy::kUseful, 0, 1});
  EXPECT_THAT(Folders(), ElementsAre(0));
}

TEST_F(KeptModelsTest, ADamagedRecordIsNobodysAndHarmsNothing) {
  for (const char* text : {"revision x\n", "losses 1 b\n", "agent\n", "what 1",
                           "\x7f\xff", "agent w w\n"}) {
    Train(LeaseOf(0));
    const std::string path = folder_.File("trials/s/0/1.model");
    std::ofstream(path) << text;
    EXPECT_EQ(ReadRecord(path), std::nullopt) << text;
    Clean();
    EXPECT_THAT(Models(), ElementsAre(0)) << text;
  }
}

TEST_F(KeptModelsTest, SumsAreAsSha256sumReadsThem) {
  const std::string model = Train(LeaseOf(0)) + "/model";
  ASSERT_OK_AND_ASSIGN(const auto told, DescribeModel(model, "gpu03"));
  EXPECT_EQ(told.host(), "gpu03");
  EXPECT_EQ(told.folder(), model);
  ASSERT_OK_AND_ASSIGN(const auto sums, ReadFile(model + "/SHA256SUMS"));
  EXPECT_THAT(sums, HasSubstr("  config.json\n"));
  EXPECT_THAT(sums, HasSubstr("  onnx/graph\n"));
  EXPECT_EQ(told.bytes(), static_cast<std::int64_t>(sums.size()) + 2 + 5);
  const std::string check =
      "cd " + model + " && sha256sum --status -c SHA256SUMS";
  EXPECT_EQ(std::system(check.c_str()), 0);  // NOLINT(cert-env33-c)
  // Told twice it is the same.
  ASSERT_OK_AND_ASSIGN(const auto again, DescribeModel(model, "gpu03"));
  EXPECT_EQ(again.sums_sha256(), told.sums_sha256());
  fs::create_symlink("/etc/passwd", model + "/link");
  EXPECT_FALSE(DescribeModel(model, "gpu03").ok());
}

}  // namespace
}  // namespace frostline::agent
