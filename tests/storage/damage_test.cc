// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/rng.h"
#include "storage/sqlite/schema.h"
#include "tests/contract/full_rows.h"
#include "tests/contract/old_schema.h"
#include "tests/storage/sqlite_fixture.h"
#include "tests/support/record.h"

namespace frostline::storage {
namespace {

using testing::HasSubstr;

// Damaged files are found and named, and never crash a reader.

namespace fs = std::filesystem;

class DamageTest : public SqliteFixture {
 protected:
  void Overwrite(std::uint64_t offset, const std::string& bytes) {
    std::fstream file(DatabaseFile(),
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file << bytes;
  }

  // Reads all there is; the first error.
  absl::Status ReadEverything() {
    RETURN_IF_ERROR(store_->ListStudies({}).status());
    RETURN_IF_ERROR(store_->ListTrials(test::TrialsOf(1, 1000)).status());
    TrialQuery query = test::TrialsOf(1, 1000);
    query.order = TrialQuery::Order::kRevision;
    return store_->ListTrials(query).status();
  }
};

TEST_F(DamageTest, AFileThatIsNoDatabaseIsRefused) {
  fs::create_directory(Folder());
  std::ofstream(DatabaseFile()) << std::string(8192, 'x');
  EXPECT_THAT(SqliteStore::Open(Folder()), FailsWith(ErrorId::kStoreCorrupt));
}

TEST_F(DamageTest, ATruncatedDatabaseIsRefused) {
  Open();
  Fill(500);
  Close();
  fs::resize_file(DatabaseFile(), fs::file_size(DatabaseFile()) / 2);
  EXPECT_THAT(SqliteStore::Open(Folder()), FailsWith(ErrorId::kStoreCorrupt));
}

TEST_F(DamageTest, AChangedColumnIsNamedByTableAndKey) {
  Open();
  const StudyKey study = Fill(20);
  Tamper("UPDATE trials SET priority = priority + 1 WHERE number = 17");
  Tamper("UPDATE studies SET seed = 1");
  const auto trial = store_->FindTrial(study, 17);
  ASSERT_THAT(trial, FailsWith(ErrorId::kStoreCorrupt));
  EXPECT_THAT(std::string(trial.status().message()),
              HasSubstr("trials: trial 17 of study 1"));
  EXPECT_OK(store_->FindTrial(study, 16));
  EXPECT_THAT(store_->FindStudy("imdb"), FailsWith(ErrorId::kStoreCorrupt));
  Close();
  EXPECT_THAT(SqliteStore::Open(Folder()), FailsWith(ErrorId::kStoreCorrupt));
}

TEST_F(DamageTest, AChangedKeyHidesNoRow) {
  Open();
  FillAllTables(1);
  Close();
  for (const char* const table : {"attempts", "measurements", "logs"}) {
    Tamper(absl::StrCat("UPDATE ", table, " SET attempt = attempt + 1"));
    EXPECT_THAT(SqliteStore::Open(Folder()), FailsWith(ErrorId::kStoreCorrupt))
        << table;
    Tamper(absl::StrCat("UPDATE ", table, " SET attempt = attempt - 1"));
  }
  Open();
}

TEST_F(DamageTest, AnIndexThatHidesARowIsFound) {
  Open();
  Fill(3);
  Close();
  std::uint64_t root = 0;
  {
    ASSERT_OK_AND_ASSIGN(
        const auto database,
        Database::Open(DatabaseFile(), Database::Role::kWriter));
    root = static_cast<std::uint64_t>(*database->ReadInt(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'trials_by_state'"));
  }
  Overwrite((root - 1) * 4096 + 3,
            std::string("\0\2", 2));  // its number of entries
  EXPECT_THAT(SqliteStore::Open(Folder()), FailsWith(ErrorId::kStoreCorrupt));
}

TEST_F(DamageTest, EveryColumnOfATrialIsUnderASeal) {
  Open();
  Fill(1);
  Close();
  for (const char* const column : {"number",
                                   "origin",
                                   "point",
                                   "created",
                                   "fixed_crc",
                                   "attempt",
                                   "secret",
                                   "worker",
                                   "trial_faults",
                                   "infrastructure_faults",
                                   "priority",
                                   "revision",
                                   "started",
                                   "ended",
                                   "last_step",
                                   "metrics",
                                   "objective_values",
                                   "failure",
                                   "cause",
                                   "usage",
                                   "labels",
                                   "seen_revision",
                                   "ended_revision",
                                   "crc"}) {
    // Flips between two values of the column's type.
    Tamper(absl::StrCat("CREATE TABLE kept AS SELECT ", column,
                        " AS old FROM trials"));
    Tamper(absl::StrCat("UPDATE trials SET ", column, " = CASE typeof(", column,
                        ") WHEN 'integer' THEN ", column,
                        " + 1 WHEN 'blob' THEN x'01' ", "ELSE 'changed' END"));
    EXPECT_THAT(SqliteStore::Open(Folder()), FailsWith(ErrorId::kStoreCorrupt))
        << column;
    Tamper(absl::StrCat("UPDATE trials SET ", column,
                        " = (SELECT old FROM kept); DROP TABLE kept"));
  }
  Open();
  EXPECT_OK(ReadEverything());
}

TEST_F(DamageTest, ADamagedTrialIsNotTakenForALostLease) {
  Open();
  const StudyKey study = Fill(1);
  Tamper("UPDATE trials SET attempt = attempt + 1");
  const TrialRow trial = test::FullTrial(study, 0);
  // The store cannot go on: the commit fails, too.
  EXPECT_THAT(test::Write(*store_,
                          [&](Transaction& transaction) {
                            return transaction.UpdateTrial(
                                trial, test::GuardOf(trial));
                          }),
              FailsWith(ErrorId::kStoreCorrupt));
  EXPECT_THAT(store_->Begin(1), FailsWith(ErrorId::kStoreCorrupt));
}

// Else an old leader could write again.
TEST_F(DamageTest, ADamagedEpochLetsNobodyWrite) {
  Open();
  ASSERT_OK_AND_ASSIGN(const Epoch epoch, store_->TakeLead());
  Tamper("UPDATE lead SET epoch = epoch + 1");
  EXPECT_THAT(store_->Begin(epoch + 1), FailsWith(ErrorId::kStoreCorrupt));
  Close();
  EXPECT_THAT(SqliteStore::Open(Folder()), FailsWith(ErrorId::kStoreCorrupt));
}

TEST_F(DamageTest, GarbledPagesNeverGiveAWrongRow) {
  Open();
  Fill(300);
  const auto truth = test::Texts(*store_->ListTrials(test::TrialsOf(1, 1000)));
  Close();
  fs::copy(DatabaseFile(), folder_.File("good"));
  Rng rng(7);
  int found = 0;
  Record record;
  for (int round = 0; round < 60; ++round) {
    ++record["damaged_files"];
    record["detected"] = found;
    fs::copy(folder_.File("good"), DatabaseFile(),
             fs::copy_options::overwrite_existing);
    const std::uint64_t size = fs::file_size(DatabaseFile());
    for (int i = 0; i < 8; ++i) {
      Overwrite(rng.Below(size), std::string(1, static_cast<char>(rng.Next())));
    }
    auto opened = SqliteStore::Open(Folder());
    if (!opened.ok()) {
      ++found;
      continue;
    }
    const auto rows = (*opened)->ListTrials(test::TrialsOf(1, 1000));
    if (!rows.ok()) {
      EXPECT_THAT(rows, FailsWith(ErrorId::kStoreCorrupt));
      ++found;
    } else {
      EXPECT_EQ(test::Texts(*rows), truth) << "round " << round;
    }
  }
  EXPECT_GT(found, 20);
}

TEST_F(DamageTest, AnOlderDatabaseIsCopiedBeforeItIsBroughtForward) {
  Open();
  const StudyKey study = Fill(2);
  Close();
  std::vector<std::string> steps = SchemaSteps();
  steps.push_back("ALTER TABLE workers ADD COLUMN note TEXT;");
  const auto newest = static_cast<std::int64_t>(steps.size());
  const std::string copy = absl::StrCat(DatabaseFile(), ".v", newest - 1);
  {
    ASSERT_OK_AND_ASSIGN(
        const auto database,
        Database::Open(DatabaseFile(), Database::Role::kWriter));
    ASSERT_OK(Migrate(*database, DatabaseFile(), steps));
    EXPECT_EQ(*database->ReadInt("PRAGMA user_version"), newest);
    EXPECT_OK(database->Execute("SELECT note FROM workers"));
    ASSERT_OK(Migrate(*database, DatabaseFile(), steps));  // nothing to do
  }
  EXPECT_THAT(SqliteStore::Open(Folder()), FailsWith(ErrorId::kStoreVersion));
  fs::rename(copy, DatabaseFile());
  Open();
  EXPECT_OK(store_->FindTrial(study, 1));
}

TEST_F(DamageTest, ALogOfAnOlderDatabaseHasNoPlaceAndIsWhole) {
  Open();
  const StudyKey study = Fill(2);
  const LogRow row{.study = study,
                   .number = 1,
                   .attempt = 1,
                   .tail = "epoch 1\n",
                   .written = 60,
                   .place = ""};
  ASSERT_OK(test::Write(*store_, [&row](Transaction& transaction) {
    return transaction.PutLog(row);
  }));
  Close();
  Tamper(test::kToVersion5);
  Open();
  ASSERT_OK_AND_ASSIGN(const auto found, store_->FindLog(study, 1, 1));
  EXPECT_EQ(test::Text(*found), test::Text(row));
}

TEST_F(DamageTest, OutcomesFromBeforeTheirDetailsAreWhole) {
  Open();
  const StudyKey study = Fill(2);
  OutcomeRow row = test::FullOutcome(study, 1);
  row.evaluations.clear();
  ASSERT_OK(test::Write(*store_, [&row](Transaction& transaction) {
    return transaction.PutOutcome(row);
  }));
  Close();
  Tamper(test::kToVersion8);
  Open();
  ASSERT_OK_AND_ASSIGN(const auto found, store_->FindOutcome(study, 1));
  EXPECT_EQ(test::Text(*found), test::Text(row));
}

TEST_F(DamageTest, ADatabaseFromBeforeNotificationsTakesThem) {
  Open();
  const StudyKey study = Fill(2);
  Close();
  Tamper(test::kToVersion9);
  Open();
  EXPECT_OK(store_->FindTrial(study, 1));
  EXPECT_THAT(*store_->ListNotifications("", 9), testing::IsEmpty());
  EXPECT_OK(test::Write(*store_, [](Transaction& transaction) {
    return transaction.PutNotification(test::FullNotification("n"));
  }));
}

TEST_F(DamageTest, SummariesFromBeforeCostsWereSummedAreMadeAnew) {
  Open();
  const StudyKey study = Fill(2);
  const auto put = [&] {
    return test::Write(*store_, [study](Transaction& transaction) {
      return transaction.PutSummary(test::FullSummary(study));
    });
  };
  ASSERT_OK(put());
  Close();
  Tamper(test::kToVersion7);
  Open();
  EXPECT_THAT(*store_->ListSummaries(0, 9), testing::IsEmpty());
  ASSERT_OK(put());
  EXPECT_EQ(store_->ListSummaries(0, 9)->at(0).fastest_mega_flops, 18);
}

TEST_F(DamageTest, AStepThatFailsLeavesTheOlderVersion) {
  Open();
  Fill(2);
  Close();
  ASSERT_OK_AND_ASSIGN(const auto database,
                       Database::Open(DatabaseFile(), Database::Role::kWriter));
  std::vector<std::string> steps = SchemaSteps();
  steps.push_back("DELETE FROM trials; SELECT * FROM no_such_table;");
  const auto older = static_cast<std::int64_t>(SchemaSteps().size());
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_THAT(Migrate(*database, DatabaseFile(), steps),
                FailsWith(ErrorId::kInternal));
    EXPECT_EQ(*database->ReadInt("PRAGMA user_version"), older);
    EXPECT_EQ(*database->ReadInt("SELECT count(*) FROM trials"), 2);
  }
}

// The files of an open database are removed or replaced: from then on nothing
// is acknowledged, since nobody would ever find it.

class RemovedTest : public SqliteFixture,
                    public testing::WithParamInterface<const char*> {
 protected:
  std::string Victim() const { return DatabaseFile() + GetParam(); }
  absl::Status Write(const std::string& worker) {
    return test::Write(*store_, [&](Transaction& transaction) {
      return transaction.PutWorker(test::FullWorker(worker));
    });
  }
};

TEST_P(RemovedTest, ACommitAfterARemovalIsNotAcknowledged) {
  Open();
  ASSERT_OK(Write("before"));
  ASSERT_OK(store_->Tend());
  fs::remove(Victim());
  const absl::Status lost = Write("after");
  EXPECT_THAT(lost, FailsWith(ErrorId::kStoreRemoved));
  EXPECT_THAT(std::string(lost.message()),
              HasSubstr(Victim() + " was removed"));
  EXPECT_THAT(test::Begin(*store_), FailsWith(ErrorId::kStoreRemoved));
}

TEST_P(RemovedTest, ItIsNoticedWhereNothingIsWritten) {
  Open();
  fs::rename(Victim(), Victim() + ".old");
  EXPECT_THAT(store_->Tend(), FailsWith(ErrorId::kStoreRemoved));
  EXPECT_THAT(store_->Begin(1), FailsWith(ErrorId::kStoreRemoved));
}

TEST_P(RemovedTest, AnotherFileInItsPlaceIsNotTheSame) {
  Open();
  fs::copy_file(Victim(), Victim() + ".copy");
  fs::rename(Victim() + ".copy", Victim());
  const absl::Status replaced = store_->Tend().status();
  EXPECT_THAT(replaced, FailsWith(ErrorId::kStoreRemoved));
  EXPECT_THAT(std::string(replaced.message()), HasSubstr("was replaced"));
}

TEST_P(RemovedTest, ARemovalUnderATransactionIsNoticedAtItsEnd) {
  Open();
  ASSERT_OK_AND_ASSIGN(auto transaction, test::Begin(*store_));
  ASSERT_OK(transaction->PutWorker(test::FullWorker("w")));
  fs::remove(Victim());
  EXPECT_THAT(transaction->Commit(), FailsWith(ErrorId::kStoreRemoved));
}

INSTANTIATE_TEST_SUITE_P(OfEachFile, RemovedTest,
                         testing::Values("", "-wal", "-shm"));

class FolderRemovedTest : public SqliteFixture {};

TEST_F(FolderRemovedTest, AFolderThatIsGoneIsNoticed) {
  Open();
  fs::rename(Folder(), folder_.File("elsewhere"));
  EXPECT_THAT(store_->Tend(), FailsWith(ErrorId::kStoreRemoved));
}

TEST_F(FolderRemovedTest, StartsAreRemembered) {
  Open();
  EXPECT_THAT(store_->NoteStart(100), testing::ElementsAre());
  EXPECT_THAT(store_->NoteStart(200), testing::ElementsAre(100));
  Reopen();
  EXPECT_THAT(store_->NoteStart(300), testing::ElementsAre(100, 200));
  for (WallMicros start = 1000; start < 1200; ++start) store_->NoteStart(start);
  const std::vector<WallMicros> last = store_->NoteStart(2000);
  EXPECT_EQ(last.size(), 128u);
  EXPECT_EQ(last.back(), 1199);
  // What no coordinator wrote is passed over.
  std::ofstream(File("frostline.starts")) << "7\nnot a time\n\n9\n";
  EXPECT_THAT(store_->NoteStart(3000), testing::ElementsAre(7, 9));
  // Where it cannot be written the start goes on.
  fs::create_directories(File("frostline.starts.new/x"));
  EXPECT_THAT(store_->NoteStart(4000), testing::ElementsAre(7, 9, 3000));
}

TEST_F(FolderRemovedTest, TheLeaseKeyIsTheSameInTheNextLife) {
  Open();
  ASSERT_OK_AND_ASSIGN(const SecretString key, store_->LeaseKey());
  Reopen();
  EXPECT_TRUE(*store_->LeaseKey() == key);
  EXPECT_EQ(fs::status(File("frostline.lease-key")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FolderRemovedTest, ALeaseKeyThatOthersMayReadIsRefused) {
  Open();
  ASSERT_OK(store_->LeaseKey());
  fs::permissions(File("frostline.lease-key"), fs::perms::others_read,
                  fs::perm_options::add);
  EXPECT_THAT(store_->LeaseKey(), FailsWith(ErrorId::kStoreUnwritable));
}

TEST_F(FolderRemovedTest, ALeaseKeyThatCannotBeKeptServesThisLife) {
  Open();
  fs::create_directories(File("frostline.lease-key/x"));
  fs::permissions(File("frostline.lease-key"), fs::perms::owner_all);
  EXPECT_OK(store_->LeaseKey());
  EXPECT_TRUE(fs::is_directory(File("frostline.lease-key")));
}

}  // namespace
}  // namespace frostline::storage
