// SPDX-License-Identifier: Apache-2.0
//
// What studies that were removed leave free in the database counts as room, is
// used again, and goes back to the disk in slices.
#include <sqlite3.h>

#include <filesystem>

#include "storage/sqlite/schema.h"
#include "tests/storage/small_disk.h"
#include "tests/storage/sqlite_fixture.h"

namespace frostline::storage {
namespace {

namespace fs = std::filesystem;

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
