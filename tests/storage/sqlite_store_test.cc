// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/sqlite_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "gmock/gmock.h"
#include "storage/factory.h"
#include "storage/row_columns.h"
#include "storage/sqlite/backup.h"
#include "storage/sqlite/row_codec.h"
#include "storage/sqlite/schema.h"
#include "tests/contract/full_rows.h"
#include "tests/contract/row_text.h"
#include "tests/storage/sqlite_fixture.h"

namespace frostline::storage {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

namespace fs = std::filesystem;

class SqliteStoreTest : public SqliteFixture {};

TEST_F(SqliteStoreTest, EverythingIsThereAfterAReopen) {
  Open();
  const StudyKey study = Fill(1);
  ASSERT_OK(test::Write(*store_, [&](Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(transaction.PutAttempt(test::FullAttempt(study, 0, 1)));
    RETURN_IF_ERROR(
        transaction.AddMeasurements({test::FullMeasurement(study, 0, 1, 2)}));
    RETURN_IF_ERROR(transaction.PutOutcome(test::FullOutcome(study, 0)));
    RETURN_IF_ERROR(transaction.PutLog(test::FullLog(study, 0, 1)));
    RETURN_IF_ERROR(transaction.PutWorker(test::FullWorker("w")));
    return transaction.RememberReply(test::FullReply("r"));
  }));
  Reopen();
  EXPECT_EQ(store_->FindStudy("imdb")->key, study);
  EXPECT_EQ(test::Text(*store_->FindTrial(study, 0)),
            test::Text(test::FullTrial(study, 0)));
  EXPECT_THAT(test::Texts(*store_->ListAttempts(study, 0)),
              ElementsAre(test::Text(test::FullAttempt(study, 0, 1))));
  EXPECT_THAT(*store_->ListMeasurements({.study = study, .attempt = 1}),
              SizeIs(1));
  EXPECT_EQ(test::Text(**store_->FindOutcome(study, 0)),
            test::Text(test::FullOutcome(study, 0)));
  EXPECT_EQ(test::Text(**store_->FindLog(study, 0, 1)),
            test::Text(test::FullLog(study, 0, 1)));
  EXPECT_THAT(test::Texts(*store_->ListWorkers("", 9)),
              ElementsAre(test::Text(test::FullWorker("w"))));
  EXPECT_EQ(test::Text(**store_->FindReply("r")),
            test::Text(test::FullReply("r")));
}

TEST_F(SqliteStoreTest, AKeyIsNotGivenAgainAfterAReopen) {
  Open();
  const StudyKey study = Fill(3);
  ASSERT_OK(test::Write(*store_, [&](Transaction& transaction) {
    return transaction.PurgeStudy(study, 1000).status();
  }));
  Reopen();
  EXPECT_GT(Fill(0), study);
}

TEST_F(SqliteStoreTest, AnEpochIsNotGivenAgainAfterAReopen) {
  Open();
  ASSERT_OK_AND_ASSIGN(const Epoch first, store_->TakeLead());
  Reopen();
  EXPECT_OK(store_->Begin(first));  // nobody has led meanwhile
  ASSERT_OK_AND_ASSIGN(const Epoch second, store_->TakeLead());
  EXPECT_GT(second, first);
  EXPECT_THAT(store_->Begin(first), FailsWith(ErrorId::kNotLeader));
}

// As a coordinator would that got past the lock of the folder.
TEST_F(SqliteStoreTest, AnotherProcessTakesTheLeadBetweenTransactionsOnly) {
  Open();
  ASSERT_OK_AND_ASSIGN(const Epoch epoch, store_->TakeLead());
  ASSERT_OK_AND_ASSIGN(const auto other,
                       Database::Open(DatabaseFile(), Database::Role::kReader));
  ASSERT_OK(other->Execute("PRAGMA query_only = OFF; PRAGMA busy_timeout = 0"));
  const auto take = [&] {
    Statement put = *other->Prepare(sql::kPutLead);
    BindRow(LeadRow{.epoch = epoch + 1}, put);
    return put.Run();
  };
  ASSERT_OK_AND_ASSIGN(auto transaction, store_->Begin(epoch));
  EXPECT_THAT(take(), FailsWith(ErrorId::kStoreBusy));
  ASSERT_OK(transaction->Commit());
  ASSERT_OK(take());
  EXPECT_THAT(store_->Begin(epoch), FailsWith(ErrorId::kNotLeader));
  EXPECT_OK(store_->Begin(epoch + 1));
}

TEST_F(SqliteStoreTest, ASecondStoreIsToldWhoHoldsTheFolder) {
  Open();
  const StudyKey study = Fill(1);
  const auto second = SqliteStore::Open(Folder());
  ASSERT_THAT(second, FailsWith(ErrorId::kStoreLocked));
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(absl::StrCat("process ", getpid(), " holds")));
  ASSERT_OK(test::Write(*store_, [&](Transaction& transaction) {
    return transaction.InsertTrial(test::FullTrial(study, 1));
  }));
  Close();
  Open();  // the lock went with its holder
  EXPECT_OK(store_->FindTrial(study, 1));
}

TEST_F(SqliteStoreTest, AFolderThatCannotBeIsRefused) {
  std::ofstream(folder_.File("data")) << "a file";
  EXPECT_THAT(SqliteStore::Open(folder_.File("data")),
              FailsWith(ErrorId::kStoreUnwritable));
  EXPECT_THAT(SqliteStore::Open(folder_.File("data/below")),
              FailsWith(ErrorId::kStoreUnwritable));
  EXPECT_THAT(SqliteStore::Open("/proc/frostline"),
              FailsWith(ErrorId::kStoreUnwritable));
}

TEST_F(SqliteStoreTest, AFolderWithoutPermissionIsRefused) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::create_directory(Folder());
  fs::permissions(Folder(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(SqliteStore::Open(Folder()),
              FailsWith(ErrorId::kStoreUnwritable));
}

TEST_F(SqliteStoreTest, FoldersAreMadeAndFilesAreTheOwnersAlone) {
  ASSERT_OK_AND_ASSIGN(store_, SqliteStore::Open(Folder() + "/a/b/"));
  for (const char* const name : {"frostline.sqlite", "frostline.sqlite-wal",
                                 "frostline.lock", "frostline.ballast"}) {
    struct stat facts;
    ASSERT_EQ(stat(File(absl::StrCat("a/b/", name)).c_str(), &facts), 0)
        << name;
    EXPECT_EQ(facts.st_mode & 0777, 0600u) << name;
  }
  struct stat facts;
  ASSERT_EQ(stat(File("a/b").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
}

TEST_F(SqliteStoreTest, ANewerDatabaseIsRefusedAndLeftAlone) {
  Open();
  Fill(1);
  Close();
  Tamper("PRAGMA user_version = 1000");
  const auto opened = SqliteStore::Open(Folder());
  ASSERT_THAT(opened, FailsWith(ErrorId::kStoreVersion));
  EXPECT_THAT(std::string(opened.status().message()),
              HasSubstr("version 1000"));
  Tamper(absl::StrCat("PRAGMA user_version = ", SchemaSteps().size()));
  Open();
  EXPECT_OK(store_->FindStudy("imdb"));
}

TEST_F(SqliteStoreTest, ADatabaseOfAnotherProgramIsRefusedAndLeftAlone) {
  fs::create_directory(Folder());
  std::ofstream(DatabaseFile()).close();
  ASSERT_OK_AND_ASSIGN(const auto other,
                       Database::Open(DatabaseFile(), Database::Role::kReader));
  ASSERT_OK(other->Execute("PRAGMA query_only = OFF"));
  ASSERT_OK(other->Execute("CREATE TABLE songs (name TEXT)"));
  EXPECT_THAT(SqliteStore::Open(Folder()), FailsWith(ErrorId::kStoreVersion));
  EXPECT_EQ(*other->ReadText("PRAGMA journal_mode"), "delete");
}

TEST_F(SqliteStoreTest, TheFactoryMakesWhatIsAskedFor) {
  ASSERT_OK_AND_ASSIGN(const auto kept, OpenStore({.data_folder = Folder()}));
  EXPECT_THAT(kept->Describe(), HasSubstr(DatabaseFile()));
  ASSERT_OK_AND_ASSIGN(const auto ephemeral,
                       OpenStore({.data_folder = "", .ephemeral = true}));
  EXPECT_THAT(ephemeral->Describe(), StartsWith("ephemeral sqlite "));
}

class EphemeralStoreTest : public SqliteStoreTest {
 protected:
  void SetUp() override {
    fs::create_directory(Temporary());
    ASSERT_EQ(setenv("TMPDIR", Temporary().c_str(), 1), 0);
  }
  void TearDown() override { unsetenv("TMPDIR"); }

  std::string Temporary() const { return folder_.File("tmp"); }
  bool NothingIsLeft() const { return fs::is_empty(Temporary()); }
};

TEST_F(EphemeralStoreTest, LeavesNothing) {
  ASSERT_OK_AND_ASSIGN(auto store,
                       OpenStore({.data_folder = "", .ephemeral = true}));
  EXPECT_FALSE(NothingIsLeft());
  EXPECT_THAT(store->Backup(folder_.File("copy")),
              FailsWith(ErrorId::kMethodNotBuilt));
  store.reset();
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(EphemeralStoreTest, RemovesWhatAKilledOneLeftAndNoneThatLives) {
  // Given one that lives, the copy of which is as a kill leaves it.
  ASSERT_OK_AND_ASSIGN(auto lives,
                       OpenStore({.data_folder = "", .ephemeral = true}));
  const fs::path of_lives = fs::directory_iterator(Temporary())->path();
  const std::string of_killed = Temporary() + "/frostline-ephemeral-killed";
  fs::copy(of_lives, of_killed);
  fs::permissions(of_killed, fs::perms::owner_all);
  // And data of somebody's own that is only called so.
  const std::string data = Temporary() + "/frostline-ephemeral-mine";
  ASSERT_OK(OpenStore({.data_folder = data}).status());
  ASSERT_OK_AND_ASSIGN(auto next,
                       OpenStore({.data_folder = "", .ephemeral = true}));
  EXPECT_FALSE(fs::exists(of_killed));
  EXPECT_TRUE(fs::exists(of_lives));
  EXPECT_TRUE(fs::exists(data));
  EXPECT_OK(lives->TakeLead());
}

TEST_F(EphemeralStoreTest, WithoutATemporaryFolderItSaysWhatToSet) {
  ASSERT_EQ(setenv("TMPDIR", folder_.File("nowhere").c_str(), 1), 0);
  EXPECT_THAT(OpenStore({.data_folder = "", .ephemeral = true}),
              FailsWith(ErrorId::kStoreUnwritable));
}

TEST_F(SqliteStoreTest, ABackupIsOneFileThatHoldsTheSame) {
  Open();
  const StudyKey study = Fill(500);
  const std::string copy = folder_.File("copy");
  ASSERT_OK_AND_ASSIGN(auto open, test::Begin(*store_));  // a writer at work
  ASSERT_OK(open->PutWorker(test::FullWorker("uncommitted")));
  ASSERT_OK_AND_ASSIGN(const BackupReport report, store_->Backup(copy));
  ASSERT_OK(open->Commit());
  EXPECT_EQ(report.studies, 1);
  EXPECT_EQ(report.trials, 500);
  EXPECT_EQ(static_cast<std::uintmax_t>(report.bytes), fs::file_size(copy));
  EXPECT_FALSE(fs::exists(copy + "-wal"));
  EXPECT_FALSE(fs::exists(folder_.File(".copy.partial")));

  const auto before =
      test::Texts(*store_->ListTrials(test::TrialsOf(study, 1000)));
  fs::create_directory(folder_.File("restored"));
  fs::rename(copy, folder_.File("restored/frostline.sqlite"));
  ASSERT_OK_AND_ASSIGN(const auto restored,
                       SqliteStore::Open(folder_.File("restored")));
  EXPECT_EQ(test::Texts(*restored->ListTrials(test::TrialsOf(study, 1000))),
            before);
  EXPECT_THAT(*restored->ListWorkers("", 9), IsEmpty());
}

TEST_F(SqliteStoreTest, ABackupDoesNotReplaceAFile) {
  Open();
  ASSERT_OK(store_->Backup(folder_.File("copy")));
  EXPECT_THAT(store_->Backup(folder_.File("copy")),
              FailsWith(ErrorId::kStoreUnwritable));
  EXPECT_THAT(store_->Backup(folder_.File("no/such/folder/copy")),
              FailsWith(ErrorId::kStoreUnwritable));
}

TEST_F(SqliteStoreTest, NoBackupIsTakenForTheHalfOfAnother) {
  Open();
  Fill(10);
  ASSERT_OK(store_->Backup(folder_.File("a.partial")));
  ASSERT_OK(store_->Backup(folder_.File("a")));
  EXPECT_OK(CheckWhole(folder_.File("a.partial")));
  EXPECT_OK(CheckWhole(folder_.File("a")));
}

// Each has a name of its own, made from the time.
TEST_F(SqliteStoreTest, ABackupRemovesWhatKilledOnesLeft) {
  Open();
  Fill(10);
  const std::string left[] = {
      ".frostline-1.sqlite.partial", ".frostline-2.sqlite.partial",
      ".frostline-2.sqlite.partial-journal", ".frostline-2.sqlite.partial-wal"};
  const std::string kept[] = {"frostline-0.partial", ".partial-notes",
                              ".hidden"};
  for (const auto& name : left) std::ofstream(folder_.File(name)) << "half";
  for (const auto& name : kept) std::ofstream(folder_.File(name)) << "whole";
  ASSERT_OK(store_->Backup(folder_.File("copy")));
  for (const auto& name : left) {
    EXPECT_FALSE(fs::exists(folder_.File(name))) << name;
  }
  for (const auto& name : kept) {
    EXPECT_TRUE(fs::exists(folder_.File(name))) << name;
  }
}

TEST_F(SqliteStoreTest, OfTwoBackupsOfOneNameAtATimeOneIsMade) {
  Open();
  Fill(2000);
  std::vector<absl::Status> made(4);
  std::vector<std::thread> askers;
  for (absl::Status& status : made) {
    askers.emplace_back([this, &status] {
      status = store_->Backup(folder_.File("copy")).status();
    });
  }
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(std::count_if(made.begin(), made.end(),
                          [](const absl::Status& one) { return one.ok(); }),
            1);
  EXPECT_OK(CheckWhole(folder_.File("copy")));
}

TEST_F(SqliteStoreTest, TheLogStaysSmallUnderManyCommits) {
  Open();
  const StudyKey study = Fill(0);
  OutcomeRow outcome = test::FullOutcome(study, 0);
  outcome.data = std::string(1 << 20, 'x');
  ASSERT_OK(test::Write(*store_, [&](Transaction& transaction) {
    return transaction.InsertTrial(test::FullTrial(study, 0));
  }));
  for (int i = 0; i < 40; ++i) {
    ASSERT_OK(test::Write(*store_, [&](Transaction& transaction) {
      return transaction.PutOutcome(outcome);
    }));
  }
  EXPECT_LT(fs::file_size(DatabaseFile() + "-wal"), 12u << 20);
}

TEST_F(SqliteStoreTest, TheLogIsUsedAgainAndDoesNotGrow) {
  limits_.pages_per_checkpoint = 20;
  Open();
  const StudyKey study = Fill(0);
  for (int i = 0; i < 400; ++i) {
    ASSERT_OK(test::Write(*store_, [&](Transaction& transaction) {
      return transaction.InsertTrial(test::FullTrial(study, i));
    }));
  }
  EXPECT_LT(fs::file_size(DatabaseFile() + "-wal"), 80u * 4120u);
}

TEST_F(SqliteStoreTest, AReadThatTakesTooLongIsEndedAndTheLogIsFree) {
  Open();
  const StudyKey study = Fill(900);
  const Epoch epoch = *store_->FindLead();
  Close();
  limits_.longest_read = Duration(0);
  limits_.pages_per_checkpoint = 20;
  Open();
  EXPECT_THAT(store_->ListTrials(test::TrialsOf(study, 1000)),
              FailsWith(ErrorId::kStoreBusy));
  EXPECT_OK(store_->FindTrial(study, 7));  // over before anybody looks
  for (int i = 900; i < 1000; ++i) {
    ASSERT_OK(test::WriteIn(*store_, epoch, [&](Transaction& transaction) {
      return transaction.InsertTrial(test::FullTrial(study, i));
    }));
  }
  EXPECT_LT(fs::file_size(DatabaseFile() + "-wal"), 80u * 4120u);
}

TEST_F(SqliteStoreTest, ALogThatGrowsIsReportedOnce) {
  limits_.pages_per_checkpoint = 20;
  limits_.log_alarm_bytes = 80 * 4096;
  Open();
  const StudyKey study = Fill(1);
  ASSERT_OK_AND_ASSIGN(const auto reader,
                       Database::Open(DatabaseFile(), Database::Role::kReader));
  ASSERT_OK(reader->Execute("BEGIN; SELECT count(*) FROM trials"));  // stuck
  testing::internal::CaptureStderr();
  for (int i = 1; i < 100; ++i) {
    ASSERT_OK(test::Write(*store_, [&](Transaction& transaction) {
      return transaction.InsertTrial(test::FullTrial(study, i));
    }));
  }
  const std::string log = testing::internal::GetCapturedStderr();
  const std::size_t first = log.find("store_log_is_long");
  EXPECT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("store_log_is_long", first + 1), std::string::npos);
}

TEST_F(SqliteStoreTest, AnotherWriterIsReportedAndIsNoReasonToStop) {
  Open();
  Fill(1);
  ASSERT_OK_AND_ASSIGN(const auto other,
                       Database::Open(DatabaseFile(), Database::Role::kReader));
  ASSERT_OK(other->Execute("PRAGMA query_only = OFF; BEGIN IMMEDIATE"));
  testing::internal::CaptureStderr();
  EXPECT_THAT(test::Begin(*store_), FailsWith(ErrorId::kStoreBusy));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("store_busy times=1"));
  ASSERT_OK(other->Execute("ROLLBACK"));
  EXPECT_OK(test::Begin(*store_));
}

TEST_F(SqliteStoreTest, TheStartNamesSqliteAndItsFlaw) {
  SetLogLevel(LogLevel::kDebug);
  testing::internal::CaptureStderr();
  Open();
  const std::string said = testing::internal::GetCapturedStderr();
  SetLogLevel(LogLevel::kInfo);
  EXPECT_THAT(said, AllOf(HasSubstr("store_opened database="),
                          HasSubstr("sqlite version=3."),
                          HasSubstr("wal_reset_flaw=")));
}

TEST_F(SqliteStoreTest, LessRoomForbidsMore) {
  const auto room_at = [this](std::int64_t studies, std::int64_t leases) {
    limits_.no_new_studies_bytes = studies;
    limits_.no_new_leases_bytes = leases;
    Reopen();
    return store_->RoomLeft().room;
  };
  constexpr std::int64_t kMoreThanThereIs = std::int64_t{1} << 60;
  EXPECT_EQ(room_at(1, 1), Room::kAmple);
  EXPECT_EQ(room_at(kMoreThanThereIs, 1), Room::kNoNewStudies);
  EXPECT_EQ(room_at(kMoreThanThereIs, kMoreThanThereIs), Room::kNoNewLeases);
}

// How SQLite runs each statement: by a key or an index, never over a whole
// table, never through a sort. Planners change; this notices.

class QueryPlanTest : public SqliteFixture {
 protected:
  void SetUp() override {
    Open();
    Close();
    ASSERT_OK_AND_ASSIGN(
        database_, Database::Open(DatabaseFile(), Database::Role::kWriter));
  }

  std::string PlanOf(const std::string& sql) {
    auto statement =
        database_->Prepare(absl::StrCat("EXPLAIN QUERY PLAN ", sql));
    EXPECT_OK(statement);
    std::string plan;
    while (*statement->Step()) {
      absl::StrAppend(&plan, statement->BytesAt(3), "; ");
    }
    return plan;
  }

  std::unique_ptr<Database> database_;
};

TEST_F(QueryPlanTest, NoStatementScansOrSorts) {
  std::vector<std::string> statements = {
      sql::kUpdateStudy,       sql::kFindStudyByKey,
      sql::kFindStudyById,     sql::kListStudies,
      sql::kUpdateTrial,       sql::kFindTrial,
      sql::kListTrials,        sql::kUpdateTrialOfHolder,
      sql::kListAttempts,      sql::kListMeasurements,
      sql::kFindMeasurement,   sql::kFindOutcome,
      sql::kListWorkers,       sql::kFindReply,
      sql::kForgetReplies,     sql::kFindLog,
      sql::kFindLead,          sql::kListSummaries,
      sql::kListBest,          sql::kForgetWorker,
      sql::kListTokens,        sql::kListCertificates,
      sql::kListAudit,         sql::kForgetAudit,
      sql::kListNotifications, sql::kForgetNotification};
  for (const sql::Purge& purge : sql::kPurgeStudy) {
    statements.emplace_back(purge.sql);
  }
  for (const std::string& sql : statements) {
    EXPECT_THAT(PlanOf(sql), AllOf(HasSubstr("SEARCH"), Not(HasSubstr("SCAN")),
                                   Not(HasSubstr("TEMP B-TREE"))))
        << sql;
  }
}

TEST_F(QueryPlanTest, TrialsAreListedByTheIndexOfTheirOrder) {
  TrialQuery query = test::TrialsOf(1);
  EXPECT_EQ(PlanOf(sql::ListTrialsSql(query)),
            "SEARCH trials USING PRIMARY KEY (study=? AND number>?); ");
  query.order = TrialQuery::Order::kRevision;
  const std::string by_revision =
      "SEARCH trials USING INDEX trials_by_revision (study=? AND revision>?); ";
  EXPECT_EQ(PlanOf(sql::ListTrialsSql(query)), by_revision);
  query.states = {TrialState::kQueued, TrialState::kFailed};
  EXPECT_EQ(PlanOf(sql::ListTrialsSql(query)), by_revision);
}

TEST_F(QueryPlanTest, AGuardLooksAtOneTrialByItsKey) {
  for (const char* const put :
       {sql::kPutAttempt, sql::kAddMeasurement, sql::kPutLog}) {
    EXPECT_THAT(PlanOf(put),
                HasSubstr("SEARCH trials USING PRIMARY KEY (study=? AND "
                          "number=?)"))
        << put;
  }
}

TEST_F(QueryPlanTest, GrantsAreFoundByTheirRequest) {
  EXPECT_EQ(PlanOf(sql::kListGranted),
            "SEARCH attempts USING INDEX attempts_by_request (request_id=?); ");
}

TEST_F(QueryPlanTest, ALogIsFoundByItsKey) {
  EXPECT_EQ(PlanOf(sql::kFindLog),
            "SEARCH logs USING INDEX sqlite_autoindex_logs_1 (study=? AND "
            "number=? AND attempt=?); ");
}

TEST_F(QueryPlanTest, SeveralStatesAreMergedNotSorted) {
  const std::string one =
      "SEARCH trials USING INDEX trials_by_state (study=? AND state=? AND "
      "number>?)";
  TrialQuery query = test::TrialsOf(1);
  query.states = {TrialState::kRunning};
  EXPECT_EQ(PlanOf(sql::ListTrialsSql(query)), one + "; ");
  query.states = {TrialState::kRunning, TrialState::kQueued,
                  TrialState::kFailed, TrialState::kRunning};
  const std::string plan = PlanOf(sql::ListTrialsSql(query));
  EXPECT_THAT(plan,
              AllOf(HasSubstr("MERGE (UNION ALL)"), HasSubstr(one),
                    Not(HasSubstr("SCAN")), Not(HasSubstr("TEMP B-TREE"))));
}

TEST_F(QueryPlanTest, SettingsAreThoseOfTheRecord) {
  EXPECT_EQ(*database_->ReadText("PRAGMA journal_mode"), "wal");
  for (const auto& [pragma, value] : {std::pair("synchronous", 2),
                                      {"foreign_keys", 1},
                                      {"cell_size_check", 1},
                                      {"trusted_schema", 0},
                                      {"mmap_size", 0},
                                      {"wal_autocheckpoint", 0},
                                      {"secure_delete", 0},
                                      {"busy_timeout", 5000},
                                      {"journal_size_limit", 67108864}}) {
    EXPECT_EQ(*database_->ReadInt(absl::StrCat("PRAGMA ", pragma)), value)
        << pragma;
  }
}

TEST_F(QueryPlanTest, AConnectionCannotBeTurnedAgainstItsProcess) {
  for (const char* const attack :
       {"SELECT load_extension('x')", "ATTACH 'x' AS x",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'x'",
        "SELECT zeroblob(65 << 20)"}) {
    EXPECT_FALSE(database_->Execute(attack).ok()) << attack;
  }
  EXPECT_FALSE(database_->Execute(std::string(70'000, ' ') + "SELECT 1").ok());
}

TEST_F(QueryPlanTest, AReaderCannotWrite) {
  ASSERT_OK_AND_ASSIGN(const auto reader,
                       Database::Open(DatabaseFile(), Database::Role::kReader));
  EXPECT_FALSE(reader->Execute("DELETE FROM trials").ok());
}

class ReadPoolTest : public SqliteFixture {
 protected:
  void SetUp() override { Open(); }
};

TEST_F(ReadPoolTest, ManyReadSideBySideAndConnectionsUnusedForLongAreClosed) {
  ReadPool pool(DatabaseFile(), std::chrono::seconds(10));
  {
    std::vector<ReadPool::Loan> loans;
    for (int i = 0; i < 20; ++i) {
      ASSERT_OK_AND_ASSIGN(ReadPool::Loan loan, pool.Borrow());
      loans.push_back(std::move(loan));
    }
    EXPECT_EQ(pool.idle(), 0u);
  }
  EXPECT_EQ(pool.idle(), 20u);
  // One thread reads on: it goes on with one connection.
  for (int i = 0; i < 300; ++i) ASSERT_OK(pool.Borrow().status());
  EXPECT_EQ(pool.idle(), 1u);
}

// The description of the rows serves any database: here one that keeps texts.

struct Kept {
  void Int(std::int64_t value) { values.push_back(absl::StrCat(value)); }
  void Text(const std::string& value) { values.push_back(value); }
  void Blob(const std::string& value) { values.push_back(value); }
  void LaterText(const std::string& value) { values.push_back(value); }
  void LaterBlob(const std::string& value) { values.push_back(value); }
  std::int64_t Int() {
    std::int64_t value = 0;
    EXPECT_TRUE(absl::SimpleAtoi(Bytes(), &value));
    return value;
  }
  std::string Bytes() {
    std::string value = values.front();
    values.pop_front();
    return value;
  }
  std::string LaterBytes() { return Bytes(); }
  std::deque<std::string> values;
};

template <typename Row, typename F>
void ForEveryColumn(F f) {
  ForEachColumn(RowColumns<Row>::kKey, f);
  ForEachColumn(RowColumns<Row>::kFixed, f);
  ForEachColumn(RowColumns<Row>::kChanging, f);
}

template <typename Row>
void ExpectWhole(const Row& row) {
  Kept stored;
  ForEveryColumn<Row>(
      [&](const auto& column) { BindColumn(column, row, stored); });
  Row back;
  ForEveryColumn<Row>([&](const auto& column) {
    EXPECT_TRUE(ReadColumn(column, stored, back)) << column.name;
  });
  EXPECT_EQ(test::Text(back), test::Text(row));
  EXPECT_TRUE(stored.values.empty());
}

TEST(RowColumns, HoldEveryFieldOfEveryRow) {
  StudyRow owned = test::FullStudy("imdb");
  owned.owner = "ana";
  ExpectWhole(owned);
  ExpectWhole(test::FullTrial(1, 2));
  ExpectWhole(test::FullAttempt(1, 2, 3));
  ExpectWhole(test::FullOutcome(1, 2));
  ExpectWhole(test::FullLog(1, 2, 3));
  ExpectWhole(test::FullSummary(1));
  ExpectWhole(test::FullBest(1, 2));
  ExpectWhole(test::FullWorker("w"));
  ExpectWhole(test::FullToken("t"));
  ExpectWhole(test::FullCertificate("c"));
  ExpectWhole(test::FullAudit(1));
  ExpectWhole(test::FullNotification("n"));
  ExpectWhole(test::FullReply("r"));
}

TEST(RowColumns, NoBytesAreTakenForAValueThatTheyAreNot) {
  TrialRow row;
  Kept source{{"half"}};
  const auto& point = std::get<1>(RowColumns<TrialRow>::kFixed);
  EXPECT_STREQ(point.name, "point");
  EXPECT_FALSE(ReadColumn(point, source, row));
}

}  // namespace
}  // namespace frostline::storage
