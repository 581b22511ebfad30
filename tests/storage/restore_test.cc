// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "storage/factory.h"
#include "storage/row_codec.h"
#include "storage/row_columns.h"
#include "storage/sqlite/backup.h"
#include "storage/sqlite/data_folder.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/row_codec.h"
#include "storage/sqlite/schema.h"
#include "study/space.h"
#include "tests/contract/old_schema.h"
#include "tests/contract/row_text.h"
#include "tests/storage/sqlite_fixture.h"
#include "tests/support/status_matchers.h"

namespace frostline::storage {
namespace {

// The way back from a backup, and everything it must refuse.

namespace fs = std::filesystem;

class RestoreTest : public SqliteFixture {
 protected:
  // A backup of a store with every kind of row.
  void MakeBackup() {
    Open();
    FillAllTables(50);
    ASSERT_OK(store_->Backup(Copy()));
    truth_ = test::Texts(*store_->ListTrials(test::TrialsOf(1, 1000)));
    Close();
  }
  std::string Copy() const { return folder_.File("copy"); }
  std::string Target() const { return folder_.File("restored"); }
  std::string Restored() const { return Target() + "/frostline.sqlite"; }
  void ExpectRestored() {
    ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(Target()));
    EXPECT_EQ(test::Texts(*store->ListTrials(test::TrialsOf(1, 1000))), truth_);
    EXPECT_EQ(test::Text(**store->FindLog(1, 0, 1)),
              test::Text(test::FullLog(1, 0, 1)));
  }
  void ExpectRefused(ErrorId id) {
    EXPECT_THAT(RestoreBackup(Copy(), Target()), FailsWith(id));
    EXPECT_FALSE(fs::exists(Restored() + ".partial"));
  }

  std::vector<std::string> truth_;
};

TEST_F(RestoreTest, ABackupBecomesTheDatabaseOfANewFolder) {
  MakeBackup();
  ASSERT_OK_AND_ASSIGN(const BackupReport report,
                       RestoreStore(Copy(), Target()));
  EXPECT_EQ(report.path, Restored());
  EXPECT_EQ(report.studies, 1);
  EXPECT_EQ(report.trials, 50);
  struct stat facts;
  ASSERT_EQ(stat(Restored().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  ExpectRestored();
  EXPECT_TRUE(fs::exists(Copy()));
}

TEST_F(RestoreTest, AnEmptyDatabaseIsReplacedAndAnyOtherIsNot) {
  MakeBackup();
  ASSERT_OK(SqliteStore::Open(Target()));  // started once, never used
  ASSERT_OK(RestoreBackup(Copy(), Target()));
  ExpectRestored();
  ExpectRefused(ErrorId::kStoreUnwritable);
  fs::remove(Restored());
  std::ofstream(Restored()) << std::string(4096, 'x');  // who knows
  ExpectRefused(ErrorId::kStoreUnwritable);
  EXPECT_EQ(fs::file_size(Restored()), 4096u);
  fs::resize_file(Restored(), 0);
  EXPECT_OK(RestoreBackup(Copy(), Target()));
}

TEST_F(RestoreTest, ARunningCoordinatorIsLeftAlone) {
  MakeBackup();
  ASSERT_OK_AND_ASSIGN(const auto running, SqliteStore::Open(Target()));
  ExpectRefused(ErrorId::kStoreLocked);
  EXPECT_OK(running->ListStudies({}));
}

TEST_F(RestoreTest, TheLogOfAnOlderDatabaseIsNeverMadePartOfIt) {
  MakeBackup();
  fs::create_directory(Target());
  for (const char* const suffix : {"-wal", "-shm", "-journal"}) {
    std::ofstream(Restored() + suffix) << "older";
    ExpectRefused(ErrorId::kStoreUnwritable);
    EXPECT_TRUE(fs::remove(Restored() + suffix));
  }
  EXPECT_OK(RestoreBackup(Copy(), Target()));
}

TEST_F(RestoreTest, WhatIsNoBackupIsRefused) {
  ExpectRefused(ErrorId::kRequestInvalid);  // there is none
  std::ofstream(Copy()) << std::string(8192, 'x');
  ExpectRefused(ErrorId::kStoreCorrupt);
  std::ofstream(Copy(), std::ios::trunc).close();
  ExpectRefused(ErrorId::kStoreVersion);
  fs::remove(Copy());
  MakeBackup();
  fs::copy(DatabaseFile(), folder_.File("live"));
  EXPECT_THAT(RestoreBackup(folder_.File("live"), Target()),
              FailsWith(ErrorId::kStoreVersion));
  EXPECT_FALSE(fs::exists(Restored()));
}

TEST_F(RestoreTest, ABackupOfANewerFrostlineIsRefused) {
  MakeBackup();
  TamperWith(Copy(), "PRAGMA user_version = 1000");
  ExpectRefused(ErrorId::kStoreVersion);
}

TEST_F(RestoreTest, ADamagedRowOfAnyTableIsFound) {
  MakeBackup();
  for (const char* const change :
       {"UPDATE studies SET seed = seed + 1",
        "UPDATE trials SET priority = priority + 1 WHERE number = 49",
        "UPDATE attempts SET started = started + 1",
        "UPDATE attempts SET request_id = ''",
        "UPDATE summaries SET failed = failed + 1",
        "UPDATE best_trials SET objective_values = x'00'",
        "UPDATE measurements SET measured = x'00'",
        "UPDATE outcomes SET count = count + 1", "UPDATE logs SET tail = x'00'",
        "UPDATE workers SET last_seen = last_seen + 1",
        "UPDATE tokens SET revoked = 0", "UPDATE certificates SET revoked = 0",
        "UPDATE audit SET lines = x'00'", "UPDATE studies SET owner = 'eve'",
        "UPDATE replies SET created = created + 1",
        "UPDATE notifications SET body = x'00'",
        "PRAGMA foreign_keys = OFF; DELETE FROM trials WHERE number = 0"}) {
    fs::copy(Copy(), folder_.File("good"),
             fs::copy_options::overwrite_existing);
    TamperWith(Copy(), change);
    ExpectRefused(ErrorId::kStoreCorrupt);
    EXPECT_FALSE(fs::exists(Restored())) << change;
    fs::rename(folder_.File("good"), Copy());
  }
  EXPECT_OK(RestoreBackup(Copy(), Target()));
}

TEST_F(RestoreTest, ABackupOfAnOlderVersionIsBroughtForwardAtTheStart) {
  Open();
  FillAllTables(50);
  AttemptRow old = test::FullAttempt(1, 0, 1);
  old.request_id.clear();  // sealed as if there were no such column
  OutcomeRow known = test::FullOutcome(1, 0);
  known.evaluations.clear();
  ASSERT_OK(test::Write(*store_, [&](Transaction& transaction) {
    const absl::Status put = transaction.PutOutcome(known);
    return put.ok() ? transaction.PutAttempt(old) : put;
  }));
  truth_ = test::Texts(*store_->ListTrials(test::TrialsOf(1, 1000)));
  ASSERT_OK(store_->Backup(Copy()));
  Close();
  TamperWith(Copy(), test::kToVersion1);
  ASSERT_OK(RestoreBackup(Copy(), Target()));
  ASSERT_OK_AND_ASSIGN(const auto store, SqliteStore::Open(Target()));
  EXPECT_EQ(test::Texts(*store->ListTrials(test::TrialsOf(1, 1000))), truth_);
  EXPECT_FALSE(store->FindLog(1, 0, 1)->has_value());
  EXPECT_EQ(test::Texts(*store->ListAttempts(1, 0)),
            std::vector<std::string>{test::Text(old)});
  EXPECT_TRUE(store->ListSummaries(0, 10)->empty());
}

TEST_F(RestoreTest, ANameMayHoldWhatAnAddressMayNot) {
  MakeBackup();
  const std::string folder = folder_.File("50% of #1?");
  ASSERT_OK(RestoreBackup(Copy(), folder));
  EXPECT_THAT(RestoreBackup(Copy(), folder),
              FailsWith(ErrorId::kStoreUnwritable));
}

// The small parts of storage/sqlite.

TEST(RowSum, StringsDoNotRunIntoEachOther) {
  RowSum first;
  first.AddString("ab");
  first.AddString("c");
  RowSum second;
  second.AddString("a");
  second.AddString("bc");
  EXPECT_NE(first.value(), second.value());
}

TEST(Blobs, EveryBitOfADoubleComesBack) {
  Measurement measurement;
  measurement.elapsed_s = kAbsent;
  measurement.metrics = {{"a", -0.0},
                         {"", std::numeric_limits<double>::denorm_min()},
                         {"\xff", -std::numeric_limits<double>::infinity()},
                         {"nan", -kAbsent}};
  Measurement back;
  ASSERT_TRUE(DecodeMeasurement(EncodeMeasurement(measurement), back));
  EXPECT_EQ(test::Text(back), test::Text(measurement));
  EXPECT_EQ(EncodeDoubles({1.0}), std::string("\0\0\0\0\0\0\xf0\x3f", 8));
}

TEST(Blobs, HalfANumberIsRefused) {
  Measurement measurement;
  measurement.metrics = {{"loss", 1.0}, {"accuracy", 2.0}};
  const std::string whole = EncodeMeasurement(measurement);
  Measurement back;
  int accepted = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    if (DecodeMeasurement(whole.substr(0, size), back)) ++accepted;
  }
  EXPECT_EQ(accepted, 2);  // none, and the first metric alone
  std::vector<double> values;
  EXPECT_FALSE(DecodeDoubles("1234567", values));
  EXPECT_TRUE(DecodeDoubles("", values));
  EXPECT_TRUE(values.empty());
}

TEST(SqliteVersion, TheFlawEndsWithTheFixAndItsBackports) {
  for (const int flawed :
       {3'007'000, 3'040'001, 3'044'005, 3'045'000, 3'050'006, 3'051'002}) {
    EXPECT_TRUE(HasWalResetFlaw(flawed)) << flawed;
  }
  for (const int mended :
       {3'006'023, 3'044'006, 3'050'007, 3'051'003, 3'052'000}) {
    EXPECT_FALSE(HasWalResetFlaw(mended)) << mended;
  }
}

TEST(Files, NetworkFileSystemsAreRefused) {
  for (const unsigned long magic :
       {0x6969ul, 0xff534d42ul, 0xffffffffff534d42ul, 0x0bd00bd0ul,
        0x65735546ul}) {
    EXPECT_THAT(CheckFileSystemKind(magic, "/data"),
                FailsWith(ErrorId::kStoreFileSystem))
        << std::hex << magic;
  }
  for (const unsigned long local : {0xef53ul, 0x58465342ul, 0x9123683eul}) {
    EXPECT_OK(CheckFileSystemKind(local, "/data"));
  }
}

}  // namespace
}  // namespace frostline::storage
