// SPDX-License-Identifier: Apache-2.0
//
// How SQLite runs each statement: by a key or an index, never over a whole
// table, never through a sort. Planners change; this notices.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "storage/sqlite/row_codec.h"
#include "tests/storage/sqlite_fixture.h"

namespace frostline::storage {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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

}  // namespace
}  // namespace frostline::storage
