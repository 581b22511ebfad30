// SPDX-License-Identifier: Apache-2.0
//
// A full disk refuses new work, loses nothing, and is no reason to restart.
// "Full" is a limit on the size of files, or a small file system where the
// machine lets us mount one.
#include <fcntl.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "storage/sqlite/data_folder.h"
#include "tests/storage/small_disk.h"
#include "tests/storage/sqlite_fixture.h"

namespace frostline::storage {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kDiskMiB = 1 << 20;

class FullDiskTest : public SqliteFixture {
 protected:
  // Writes beyond fail with EFBIG.
  static void LimitFiles(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit;
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }

  absl::Status InsertTrial(StudyKey study, int number) {
    return test::Write(*store_, [&](Transaction& transaction) {
      return transaction.InsertTrial(test::FullTrial(study, number));
    });
  }
  absl::Status PutOutcome(StudyKey study, std::int64_t bytes) {
    OutcomeRow outcome = test::FullOutcome(study, next_++);
    outcome.data = std::string(static_cast<std::size_t>(bytes), 'x');
    return test::Write(*store_, [&](Transaction& transaction) -> absl::Status {
      RETURN_IF_ERROR(
          transaction.InsertTrial(test::FullTrial(study, outcome.number)));
      return transaction.PutOutcome(outcome);
    });
  }
  // Puts outcomes until one is refused; how many were not.
  int FillUp(StudyKey study) {
    for (int stored = 0;; ++stored) {
      const absl::Status status = PutOutcome(study, kDiskMiB);
      if (status.ok() && stored < 1000) continue;
      EXPECT_THAT(status, FailsWith(ErrorId::kStoreFull));
      return stored;
    }
  }
  // What a worker brings that has run while the disk became full; it comes
  // again when it was refused.
  absl::Status Finish(StudyKey study, int number) {
    TrialRow trial = test::FullTrial(study, number);
    const TrialGuard guard = test::GuardOf(trial);
    trial.state = TrialState::kSucceeded;
    return test::Write(*store_, [&](Transaction& transaction) -> absl::Status {
      RETURN_IF_ERROR(transaction.PutOutcome(test::FullOutcome(study, number)));
      return transaction.UpdateTrial(trial, guard);
    });
  }
  std::size_t CountTrials(StudyKey study) {
    return store_->ListTrials(test::TrialsOf(study, 10'000))->size();
  }

  int next_ = 0;
};

TEST_F(FullDiskTest, NothingIsLostAndItWorksAgainAfterwards) {
  EXPECT_EQ(
      RunInChild([this] {
        Open();
        const StudyKey study = Fill(0);
        LimitFiles(fs::file_size(DatabaseFile() + "-wal") + 100'000);
        int stored = 0;
        absl::Status status;
        while ((status = InsertTrial(study, stored)).ok()) ++stored;
        EXPECT_THAT(status, FailsWith(ErrorId::kStoreFull));
        EXPECT_GT(stored, 2);
        EXPECT_EQ(CountTrials(study), static_cast<std::size_t>(stored));
        EXPECT_THAT(InsertTrial(study, stored), FailsWith(ErrorId::kStoreFull));

        LimitFiles(RLIM_INFINITY);
        EXPECT_OK(InsertTrial(study, stored));
        Reopen();
        EXPECT_EQ(CountTrials(study), static_cast<std::size_t>(stored) + 1);
      }),
      0);
}

TEST_F(FullDiskTest, TheWholeTransactionFailsWithTheOperationThatFoundNoRoom) {
  EXPECT_EQ(
      RunInChild([this] {
        Open();
        const StudyKey study = Fill(1);
        LimitFiles(8 * kDiskMiB);
        OutcomeRow large =
            test::FullOutcome(study, 0);  // more than fits in memory
        large.data = std::string(40 * kDiskMiB, 'x');
        ASSERT_OK_AND_ASSIGN(auto transaction, test::Begin(*store_));
        EXPECT_OK(transaction->Operation([&] {
          return transaction->PutWorker(test::FullWorker("before"));
        }));
        EXPECT_THAT(transaction->Operation([&]() -> absl::Status {
          transaction->PutOutcome(large).IgnoreError();  // even if overlooked
          return absl::OkStatus();
        }),
                    FailsWith(ErrorId::kStoreFull));
        EXPECT_THAT(transaction->Operation([&] {
          return transaction->PutWorker(test::FullWorker("after"));
        }),
                    FailsWith(ErrorId::kStoreFull));
        EXPECT_THAT(transaction->Commit(), FailsWith(ErrorId::kStoreFull));
        EXPECT_TRUE(store_->ListWorkers("", 9)->empty());
        EXPECT_OK(test::Write(*store_, [](Transaction& again) {
          return again.PutWorker(test::FullWorker("again"));
        }));
      }),
      0);
}

TEST_F(FullDiskTest, TheBallastLetsResultsInAndComesBack) {
  const int code = RunInChild([this] {
    fs::create_directory(Folder());
    MountOrExit(Folder(), "mode=700,size=96m");
    Open();
    const StudyKey study = Fill(0);
    ASSERT_EQ(fs::file_size(File("frostline.ballast")), 8u * kDiskMiB);
    const int hog = open(File("hog").c_str(), O_CREAT | O_RDWR, 0600);
    ASSERT_EQ(posix_fallocate(hog, 0, 64 * kDiskMiB), 0);
    int stored = FillUp(study);
    EXPECT_EQ(fs::file_size(File("frostline.ballast")), 0u);
    const int more = FillUp(study);
    EXPECT_GE(more, 2);
    stored += more;
    EXPECT_EQ(CountTrials(study), static_cast<std::size_t>(stored));

    fs::remove(File("hog"));
    close(hog);
    for (int i = 0; i < 10; ++i, ++stored)
      EXPECT_OK(PutOutcome(study, kDiskMiB));
    EXPECT_EQ(fs::file_size(File("frostline.ballast")), 8u * kDiskMiB);
    Reopen();
    EXPECT_EQ(CountTrials(study), static_cast<std::size_t>(stored));
    Close();
  });
  if (code == kCannotMount) GTEST_SKIP() << "no right to mount a file system";
  EXPECT_EQ(code, 0);
}

TEST_F(FullDiskTest, NothingIsLostAtAnyPointOfFilling) {
  constexpr int kRunning = 10;
  const int code = RunInChild([this] {
    limits_ = {.ballast_bytes = 256 << 10, .pages_per_checkpoint = 20};
    for (std::int64_t left = 0; left < 400 << 10; left += 10 << 10) {
      SCOPED_TRACE(absl::StrCat(left, " bytes are left"));
      fs::create_directory(Folder());
      MountOrExit(Folder(), left % (20 << 10) == 0 ? "mode=700,size=6m"
                                                   : "mode=700,size=16m");
      Open();
      const StudyKey study = Fill(kRunning);
      HogAllBut(File("hog"), Folder(), left);
      int stored = kRunning;
      absl::Status status;
      while ((status = InsertTrial(study, stored)).ok()) ++stored;
      ASSERT_THAT(status, FailsWith(ErrorId::kStoreFull));
      for (int i = 0; i < kRunning; ++i) ASSERT_OK(Finish(study, i));
      fs::remove(File("hog"));
      for (int i = 0; i < 30; ++i) ASSERT_OK(InsertTrial(study, stored++));
      EXPECT_EQ(fs::file_size(File("frostline.ballast")), 256u << 10);
      Reopen();
      ASSERT_EQ(CountTrials(study), static_cast<std::size_t>(stored));
      for (int i = 0; i < kRunning; ++i) {
        ASSERT_EQ(store_->FindTrial(study, i)->state, TrialState::kSucceeded);
      }
      Close();
      ASSERT_EQ(umount(Folder().c_str()), 0);
    }
  });
  if (code == kCannotMount) GTEST_SKIP() << "no right to mount a file system";
  EXPECT_EQ(code, 0);
}

TEST_F(FullDiskTest, ABallastTakesItsRoomAndGivesItBack) {
  Ballast ballast(folder_.File("ballast"), kDiskMiB);
  EXPECT_FALSE(ballast.Release());  // there is none yet
  EXPECT_TRUE(ballast.Refill());
  EXPECT_EQ(fs::file_size(folder_.File("ballast")), 1u * kDiskMiB);
  EXPECT_TRUE(ballast.Refill());
  EXPECT_TRUE(ballast.Release());
  EXPECT_EQ(fs::file_size(folder_.File("ballast")), 0u);
  EXPECT_FALSE(Ballast(folder_.File("ballast"), kDiskMiB << 40).Refill());
}

}  // namespace
}  // namespace frostline::storage
