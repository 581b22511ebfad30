// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/trial/trial_folders.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "worker/agent/link/outbox.h"
#include "worker/agent/process/protocol.h"
#include "worker/agent/trial/trial_run.h"

namespace frostline::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

v1::LeaseRef RefOf(std::int64_t attempt) {
  v1::LeaseRef ref;
  ref.set_trial("studies/a/trials/7");
  ref.set_attempt(attempt);
  return ref;
}

TEST(RunFolder, AnIdHasOneLivingAgent) {
  const TempFolder folder;
  ASSERT_OK_AND_ASSIGN(auto first, RunFolder::Open(folder.File("r"), "w1"));
  EXPECT_THAT(RunFolder::Open(folder.File("r"), "w1"),
              FailsAt(ErrorId::kRequestInvalid, "--id"));
  EXPECT_OK(RunFolder::Open(folder.File("r"), "w2"));
  first.reset();
  EXPECT_OK(RunFolder::Open(folder.File("r"), "w1"));
}

TEST(RunFolder, AdoptsTheDeadButNotTheLiving) {
  const TempFolder folder;
  ASSERT_OK_AND_ASSIGN(auto dead, RunFolder::Open(folder.File("r"), "dead"));
  ASSERT_OK_AND_ASSIGN(auto alive, RunFolder::Open(folder.File("r"), "alive"));
  ASSERT_OK(SpoolFile::Create(dead->SpoolPath(RefOf(1)), RefOf(1)));
  ASSERT_OK(SpoolFile::Create(alive->SpoolPath(RefOf(2)), RefOf(2)));
  const std::string left = dead->SpoolPath(RefOf(1));
  dead.reset();
  ASSERT_OK_AND_ASSIGN(auto heir, RunFolder::Open(folder.File("r"), "heir"));
  const auto orphans = heir->Adopt();
  ASSERT_THAT(orphans, SizeIs(1));
  EXPECT_EQ(orphans[0].path, left);
  EXPECT_FALSE(orphans[0].own);
  // A third one must not deliver the same.
  ASSERT_OK_AND_ASSIGN(auto third, RunFolder::Open(folder.File("r"), "third"));
  EXPECT_THAT(third->Adopt(), IsEmpty());
}

using ::testing::EndsWith;
using ::testing::HasSubstr;

v1::Lease LeaseOf(int trial, std::int64_t attempt) {
  v1::Lease lease;
  lease.set_trial("studies/a/trials/" + std::to_string(trial));
  lease.set_attempt(attempt);
  return lease;
}

v1::LeaseRef FolderRefOf(int trial, std::int64_t attempt) {
  v1::LeaseRef ref;
  ref.set_trial("studies/a/trials/" + std::to_string(trial));
  ref.set_attempt(attempt);
  return ref;
}

class TrialFoldersTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(
        std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }
  // An ended trial that left so many bytes.
  void LeaveEnded(int trial, std::size_t bytes, bool failed, bool checkpoint) {
    const auto path = folders_.Make(LeaseOf(trial, 1));
    ASSERT_OK(path);
    Write(*path + "/epoch-1", std::string(bytes, 'x'));
    folders_.MarkEnded(FolderRefOf(trial, 1), failed, checkpoint);
  }
  bool Has(int trial) const {
    return std::filesystem::exists(
        folder_.File("trials/a/" + std::to_string(trial)));
  }
  // The checkpoint "17.1.epoch-3" as a lease of `trial` names it.
  v1::Lease Resuming(int trial, std::int64_t attempt) {
    v1::Lease lease = LeaseOf(trial, attempt);
    lease.mutable_resume_from()->set_id("17.1.epoch-3");
    return lease;
  }

  const TempFolder folder_;
  TrialFolders folders_{folder_.File(""), folder_.File("agents/w/trash"), "w"};
};

TEST_F(TrialFoldersTest, TheLogOfAnAttemptThatWasCutOffIsFound) {
  EXPECT_FALSE(folders_.LeftLogOf(FolderRefOf(17, 1)).has_place());
  ASSERT_OK_AND_ASSIGN(const auto path, folders_.Make(LeaseOf(17, 1)));
  Write(path + ".log", std::string(100'000, 'x') + "\nlast \x1b words\n");
  const v1::LeftLog log = folders_.LeftLogOf(FolderRefOf(17, 1));
  EXPECT_EQ(log.lease().attempt(), 1);
  EXPECT_THAT(log.tail(), EndsWith("x\nlast   words\n"));
  EXPECT_LE(log.tail().size(), 65'536U);
  EXPECT_EQ(log.place().path(), path + ".log");
  EXPECT_TRUE(log.place().kept());
}

TEST_F(TrialFoldersTest, AnAttemptFindsWhatAnEarlierOneWrote) {
  ASSERT_OK_AND_ASSIGN(const auto first, folders_.Make(LeaseOf(17, 1)));
  EXPECT_THAT(folders_.FindCheckpoint(Resuming(17, 2)).status().message(),
              HasSubstr("not on this node"));
  Write(first + "/epoch-3", "state");
  ASSERT_OK_AND_ASSIGN(const auto path,
                       folders_.FindCheckpoint(Resuming(17, 2)));
  EXPECT_THAT(path, EndsWith("/trials/a/17/1/epoch-3"));
  // A retry of it has a number of its own.
  ASSERT_OK(folders_.Make(LeaseOf(40, 1)));
  EXPECT_EQ(*folders_.FindCheckpoint(Resuming(40, 1)), path);
  EXPECT_EQ(TrialFolders::CheckpointTrial(Resuming(40, 1)),
            "studies/a/trials/17");
}

TEST_F(TrialFoldersTest, AHarmedCheckpointIsNotGivenToATrainer) {
  Write(folder_.File("trials/a/17/1/epoch-3"), "abc");
  v1::Lease lease = Resuming(17, 2);
  v1::Checkpoint& wanted = *lease.mutable_resume_from();
  wanted.set_bytes(3);
  wanted.set_sha256(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_OK(folders_.FindCheckpoint(lease));
  Write(folder_.File("trials/a/17/1/epoch-3"), "abd");
  EXPECT_THAT(folders_.FindCheckpoint(lease).status().message(),
              HasSubstr("SHA-256"));
  wanted.set_bytes(4);
  EXPECT_THAT(folders_.FindCheckpoint(lease).status().message(),
              HasSubstr("3 bytes instead of 4"));
}

TEST_F(TrialFoldersTest, ACheckpointIsANameNeverAPath) {
  Write(folder_.File("trials/a/17/1/epoch-3"), "state");
  v1::Lease lease = LeaseOf(18, 1);
  for (const char* id :
       {"17.1.../1/epoch-3", "17.1.../../17/1/epoch-3", "17.01.epoch-3",
        "-17.1.epoch-3", "epoch-3", "17.1", "17.1.", "/etc/passwd", ""}) {
    lease.mutable_resume_from()->set_id(id);
    EXPECT_FALSE(folders_.FindCheckpoint(lease).ok()) << id;
  }
}

TEST_F(TrialFoldersTest, AFirstAttemptFindsNothingOfAnEarlierStudy) {
  ASSERT_OK_AND_ASSIGN(const auto stale, folders_.Make(LeaseOf(7, 2)));
  ASSERT_OK(folders_.Make(LeaseOf(7, 1)));
  EXPECT_FALSE(std::filesystem::exists(stale));
}

TEST_F(TrialFoldersTest, ANewerAttemptKeepsItsFiles) {
  ASSERT_OK_AND_ASSIGN(const auto first, folders_.Make(LeaseOf(7, 1)));
  ASSERT_OK_AND_ASSIGN(const auto second, folders_.Make(LeaseOf(7, 2)));
  Write(TrialFolders::LogPath(first), "log");
  folders_.RemoveAttempts(FolderRefOf(7, 1));
  EXPECT_FALSE(std::filesystem::exists(first));
  EXPECT_FALSE(std::filesystem::exists(TrialFolders::LogPath(first)));
  EXPECT_TRUE(std::filesystem::exists(second));
  folders_.MarkEnded(FolderRefOf(7, 2), false, false);
  folders_.RemoveAttempts(FolderRefOf(7, 2));
  EXPECT_FALSE(Has(7));
}

TEST_F(TrialFoldersTest, AHostileTrialNameMakesNoFolder) {
  v1::Lease lease = LeaseOf(1, 1);
  lease.set_trial("studies/../../etc/trials/1");
  EXPECT_THAT(folders_.Make(lease), FailsWith(ErrorId::kNameInvalid));
}

TEST_F(TrialFoldersTest, CleaningSparesWhatRunsAndWhatIsUndelivered) {
  for (int trial = 1; trial <= 4; ++trial) LeaveEnded(trial, 9, false, false);
  ASSERT_OK(folders_.Make(LeaseOf(5, 1)));  // not ended: it may go on
  Write(folder_.File("agents/other/spool/a~2~1.spool"), "a finish");
  {
    const TrialFolders::Use use(folders_, "studies/a/trials/1");
    folders_.Clean({KeepPolicy::kNone, 1, 1});
  }
  EXPECT_TRUE(Has(1));
  EXPECT_TRUE(Has(2));
  EXPECT_FALSE(Has(3));
  EXPECT_FALSE(Has(4));
  EXPECT_TRUE(Has(5));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.File("agents/w/trash")));
  folders_.Clean({KeepPolicy::kNone, 1, 1});
  EXPECT_FALSE(Has(1));
}

TEST_F(TrialFoldersTest, WhatIsUsefulStaysUntilItIsTooMuch) {
  LeaveEnded(1, 1000, true, false);
  LeaveEnded(2, 1000, false, true);
  LeaveEnded(3, 1000, false, false);
  folders_.Clean({KeepPolicy::kUseful, 0, 0});
  EXPECT_TRUE(Has(1));
  EXPECT_TRUE(Has(2));
  EXPECT_FALSE(Has(3));
  folders_.Clean({KeepPolicy::kUseful, 1500, 0});
  EXPECT_NE(Has(1), Has(2));
}

TEST(KeepRules, TheOldestGoFirstAndOnlyAsManyAsMust) {
  std::vector<TrialFolderInfo> trials;
  for (int i = 1; i <= 5; ++i) {
    TrialFolderInfo trial;
    trial.path = std::to_string(i);
    trial.ended = trial.failed = true;
    trial.bytes = 10;
    trial.touched = std::chrono::seconds(10 - i);  // 5 is the oldest
    trials.push_back(trial);
  }
  trials[3].in_use = true;
  using ::testing::ElementsAre;
  EXPECT_THAT(FoldersToRemove({KeepPolicy::kAll, 30, 0}, trials),
              ElementsAre("5", "3"));
  EXPECT_THAT(FoldersToRemove({KeepPolicy::kAll, 0, 4}, trials),
              ElementsAre("5"));
  EXPECT_THAT(FoldersToRemove({KeepPolicy::kNone, 0, 0}, trials),
              ElementsAre("5", "3", "2", "1"));
  EXPECT_THAT(FoldersToRemove({KeepPolicy::kFailed, 0, 0}, trials),
              ElementsAre());
}

v1::TrialSpec WantsAccuracy() {
  v1::TrialSpec spec;
  spec.add_objectives()->set_metric("accuracy");
  return spec;
}

FinishMessage Succeeded(Metrics metrics) {
  FinishMessage finish;
  finish.metrics = std::move(metrics);
  return finish;
}

TEST(OutcomeOf, ASuccessNeedsEveryObjective) {
  const auto good = OutcomeOf(Succeeded({{"accuracy", 0.9}}), WantsAccuracy());
  EXPECT_EQ(good.kind(), v1::Outcome::SUCCEEDED);
  const auto lacks = OutcomeOf(Succeeded({{"acc", 0.9}}), WantsAccuracy());
  EXPECT_EQ(lacks.kind(), v1::Outcome::FAILED);
  EXPECT_EQ(lacks.failure(), v1::FAILURE_CLASS_TRIAL);
  EXPECT_THAT(lacks.cause(), HasSubstr("accuracy"));
}

TEST(OutcomeOf, ANonFiniteObjectiveIsInfeasible) {
  const auto outcome =
      OutcomeOf(Succeeded({{"accuracy", NAN}}), WantsAccuracy());
  EXPECT_EQ(outcome.kind(), v1::Outcome::INFEASIBLE);
}

TEST(OutcomeOf, StoppedWithoutAnOrderIsTheTrainersFault) {
  FinishMessage finish;
  finish.state = FinishMessage::State::kStopped;
  EXPECT_EQ(OutcomeOf(finish, {}).kind(), v1::Outcome::FAILED);
}

// Wait statuses as the kernel encodes them.
constexpr int Exited(int code) { return code << 8; }
constexpr int Killed(int signal) { return signal; }

TEST(OutcomeOfExit, WhoIsToBlame) {
  const auto blame = [](int status, bool spoke) {
    return OutcomeOfExit(status, spoke).failure();
  };
  EXPECT_EQ(blame(Exited(1), true), v1::FAILURE_CLASS_TRIAL);
  EXPECT_EQ(blame(Exited(0), true), v1::FAILURE_CLASS_TRIAL);
  EXPECT_EQ(blame(Killed(11), true), v1::FAILURE_CLASS_TRIAL);
  EXPECT_EQ(blame(Killed(9), true), v1::FAILURE_CLASS_OUT_OF_MEMORY);
  EXPECT_EQ(blame(Exited(137), true), v1::FAILURE_CLASS_OUT_OF_MEMORY);
  EXPECT_EQ(blame(Killed(15), true), v1::FAILURE_CLASS_INFRASTRUCTURE);
  EXPECT_EQ(blame(Exited(75), true), v1::FAILURE_CLASS_INFRASTRUCTURE);
  EXPECT_EQ(blame(Exited(127), false), v1::FAILURE_CLASS_INFRASTRUCTURE);
  EXPECT_EQ(blame(Exited(127), true), v1::FAILURE_CLASS_TRIAL);
  EXPECT_THAT(OutcomeOfExit(Exited(127), false).cause(), HasSubstr("FL-5001"));
  EXPECT_THAT(OutcomeOfExit(Exited(3), true).cause(), HasSubstr("code 3"));
}

TEST(OutcomeOfExit, WhatTheTrainerSaidLastIsTheCause) {
  const std::string last =
      LastLineOf("Traceback:\n  at x\nCUDA error: out of memory\n\n");
  EXPECT_EQ(last, "CUDA error: out of memory");
  EXPECT_EQ(
      OutcomeOfExit(Exited(1), true, last).cause(),
      "FL-5003: CUDA error: out of memory (the trainer exited with code 1 "
      "before its finish)");
  EXPECT_EQ(LastLineOf(""), "");
}

}  // namespace
}  // namespace frostline::agent
