// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "storage/sqlite/data_folder.h"
#include "storage/sqlite/schema.h"
#include "tests/storage/child_process.h"
#include "tests/storage/sqlite_fixture.h"

namespace frostline::storage {

// A small file system for a process of a test's own, where the machine lets us
// mount one.

inline constexpr int kCannotMount = 77;  // the child's exit code

// REQUIRES: this process is a child (child_process.h).
inline void MountOrExit(const std::string& folder, const char* size) {
  if (unshare(CLONE_NEWNS) != 0 ||
      mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", folder.c_str(), "tmpfs", 0, size) != 0) {
    _exit(kCannotMount);
  }
}

// Makes a file that leaves so many bytes.
inline void HogAllBut(const std::string& hog, const std::string& folder,
                      std::int64_t left) {
  struct statvfs room{};
  ASSERT_EQ(statvfs(folder.c_str(), &room), 0);
  const auto free = static_cast<std::int64_t>(room.f_bavail * room.f_frsize);
  const int file = open(hog.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_EQ(posix_fallocate(file, 0, free - left), 0);
  close(file);
}

namespace {

// A full disk refuses new work, loses nothing, and is no reason to restart.
// "Full" is a limit on the size of files, or a small file system where the
// machine lets us mount one.

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

// What studies that were removed leave free in the database counts as room, is
// used again, and goes back to the disk in slices.

constexpr std::int64_t kMiB = 1 << 20;

class PagesTest : public SqliteFixture {
 protected:
  PagesTest() { limits_ = {.ballast_bytes = 0, .pages_per_checkpoint = 200}; }

  // A study "large" of so many MiB.
  StudyKey AddLarge(int mebibytes) {
    StudyKey study = 0;
    EXPECT_OK(test::Write(*store_, [&](Transaction& transaction) {
      auto key = transaction.InsertStudy(test::FullStudy("large"));
      study = key.value_or(0);
      return key.status();
    }));
    for (int i = 0; i < mebibytes; ++i) {
      EXPECT_OK(test::Write(*store_, [&](Transaction& transaction) {
        OutcomeRow outcome = test::FullOutcome(study, i);
        outcome.data = std::string(kMiB, 'x');
        const absl::Status added =
            transaction.InsertTrial(test::FullTrial(study, i));
        return added.ok() ? transaction.PutOutcome(outcome) : added;
      }));
    }
    return study;
  }
  // In so many transactions.
  int Purge(StudyKey study) {
    int slices = 0;
    for (bool some_left = true; some_left && slices < 1000; ++slices) {
      EXPECT_OK(test::Write(*store_, [&](Transaction& transaction) {
        const auto purged = transaction.PurgeStudy(study, 500);
        some_left = purged.ok() && *purged;
        return purged.status();
      }));
    }
    return slices;
  }
  // How many calls it took.
  int TendAll() {
    for (int calls = 1;; ++calls) {
      const absl::StatusOr<bool> more = store_->Tend();
      EXPECT_OK(more);
      if (!more.ok() || !*more || calls == 1000) return calls;
    }
  }
  std::int64_t FileBytes() const {
    return static_cast<std::int64_t>(fs::file_size(DatabaseFile()));
  }
  // As files were before stores gave pages back.
  void MakeOld() { Vacuum("NONE"); }
  void Vacuum(const std::string& mode) {
    Close();
    {
      ASSERT_OK_AND_ASSIGN(
          const auto database,
          Database::Open(DatabaseFile(), Database::Role::kWriter));
      sqlite3_limit(database->handle(), SQLITE_LIMIT_ATTACHED, 1);
      ASSERT_OK(database->Execute("PRAGMA auto_vacuum = " + mode + ";VACUUM"));
    }
    Open();
  }
};

TEST_F(PagesTest, AStudyThatIsGoneGivesItsPagesBackInSlices) {
  Open();
  Fill(300);
  const std::int64_t small = FileBytes() + kMiB;
  Purge(AddLarge(24));
  ASSERT_GT(FileBytes(), 20 * kMiB);
  // 1 MiB each, but for what is kept.
  const int calls = TendAll();
  EXPECT_GE(calls, 15);
  EXPECT_LE(calls, 30);
  EXPECT_LT(FileBytes(), small + 5 * kMiB);
  EXPECT_EQ(TendAll(), 1);
  EXPECT_EQ(store_->ListTrials(test::TrialsOf(1, 1000))->size(), 300u);
  Reopen();
  EXPECT_EQ(store_->ListTrials(test::TrialsOf(1, 1000))->size(), 300u);
  ASSERT_OK_AND_ASSIGN(const auto reader,
                       Database::Open(DatabaseFile(), Database::Role::kReader));
  EXPECT_EQ(*reader->ReadText("PRAGMA integrity_check"), "ok");
}

// A MiB each: that many rows of another kind are a slice.
TEST_F(PagesTest, FewLargeRowsGoAtATime) {
  Open();
  EXPECT_GE(Purge(AddLarge(44)), 3);
}

TEST_F(PagesTest, ALittleIsKeptForWhatComes) {
  Open();
  Purge(AddLarge(3));
  const std::int64_t before = FileBytes();
  EXPECT_EQ(TendAll(), 1);
  EXPECT_EQ(FileBytes(), before);
}

TEST_F(PagesTest, AnOlderDatabaseFillsItsPagesAgain) {
  Open();
  MakeOld();
  Purge(AddLarge(24));
  const std::int64_t before = FileBytes();
  EXPECT_EQ(TendAll(), 1);
  EXPECT_EQ(FileBytes(), before);
  AddLarge(20);
  EXPECT_LT(FileBytes(), before + 2 * kMiB);
}

TEST_F(PagesTest, RemovedStudiesEndANearlyFullDisk) {
  const int code = RunInChild([this] {
    fs::create_directory(Folder());
    MountOrExit(Folder(), "mode=700,size=40m");
    limits_.no_new_studies_bytes = 16 * kMiB;
    limits_.no_new_leases_bytes = 8 * kMiB;
    Open();
    EXPECT_EQ(store_->RoomLeft().room, Room::kAmple);
    for (const bool old : {true, false}) {
      SCOPED_TRACE(old);
      if (old) MakeOld();
      const StudyKey study = AddLarge(28);
      EXPECT_EQ(store_->RoomLeft().room, Room::kNoNewStudies);
      Purge(study);
      EXPECT_EQ(store_->RoomLeft().room, Room::kAmple);
      Reopen();
      EXPECT_EQ(store_->RoomLeft().room, Room::kAmple);
      if (!old) continue;
      Vacuum("INCREMENTAL");
    }
    TendAll();
    EXPECT_LT(FileBytes(), 6 * kMiB);
    EXPECT_EQ(store_->RoomLeft().room, Room::kAmple);
    Close();
  });
  if (code == kCannotMount) GTEST_SKIP() << "no right to mount a file system";
  EXPECT_EQ(code, 0);
}

// Somebody reads what was before meanwhile, so the log cannot be moved whole.
TEST_F(PagesTest, WhatIsGivenBackCountsUntilTheFileIsShorter) {
  const int code = RunInChild([this] {
    fs::create_directory(Folder());
    MountOrExit(Folder(), "mode=700,size=80m");
    limits_.no_new_studies_bytes = 56 * kMiB;
    limits_.no_new_leases_bytes = 8 * kMiB;
    Open();
    const StudyKey study = AddLarge(28);
    EXPECT_EQ(store_->RoomLeft().room, Room::kNoNewStudies);
    ASSERT_OK_AND_ASSIGN(
        const auto reader,
        Database::Open(DatabaseFile(), Database::Role::kReader));
    ASSERT_OK(reader->Execute("BEGIN; SELECT count(*) FROM studies"));
    Purge(study);
    TendAll();
    EXPECT_GT(FileBytes(), 20 * kMiB);
    EXPECT_EQ(store_->RoomLeft().room, Room::kAmple);
    ASSERT_OK(reader->Execute("ROLLBACK"));
    EXPECT_EQ(TendAll(), 1);
    EXPECT_LT(FileBytes(), 6 * kMiB);
    EXPECT_EQ(store_->RoomLeft().room, Room::kAmple);
    EXPECT_LT(store_->RoomLeft().free_bytes, 80 * kMiB);
    Close();
  });
  if (code == kCannotMount) GTEST_SKIP() << "no right to mount a file system";
  EXPECT_EQ(code, 0);
}

TEST_F(PagesTest, OpeningAnOldDatabaseWritesNothing) {
  Open();
  Fill(3);
  Close();
  ASSERT_OK_AND_ASSIGN(const auto writer,
                       Database::Open(DatabaseFile(), Database::Role::kWriter));
  const std::string log = DatabaseFile() + "-wal";
  EXPECT_TRUE(!fs::exists(log) || fs::is_empty(log));
  EXPECT_EQ(*writer->ReadInt("PRAGMA auto_vacuum"), 2);
}

// The log needs room of its own, whatever is free in the database.
TEST_F(PagesTest, FreePagesAreNoRoomForTheLog) {
  const int code = RunInChild([this] {
    fs::create_directory(Folder());
    MountOrExit(Folder(), "mode=700,size=40m");
    limits_.no_new_studies_bytes = 16 * kMiB;
    limits_.no_new_leases_bytes = 8 * kMiB;
    Open();
    Purge(AddLarge(28));
    HogAllBut(File("hog"), Folder(), kMiB);
    EXPECT_GT(store_->RoomLeft().free_bytes, 20 * kMiB);
    EXPECT_EQ(store_->RoomLeft().room, Room::kNoNewLeases);
    Close();
  });
  if (code == kCannotMount) GTEST_SKIP() << "no right to mount a file system";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace frostline::storage
