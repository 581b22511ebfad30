// SPDX-License-Identifier: Apache-2.0
//
// The contract of trial stores on a real PostgreSQL, and what is its own.
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "storage/factory.h"
#include "tests/contract/trial_store_contract.h"
#include "tests/support/postgres_server.h"

namespace frostline::storage {
namespace {

using test::TrialStoreContract;

absl::StatusOr<std::unique_ptr<TrialStore>> OpenEmptyPostgres(
    const std::string& folder) {
  return OpenStore(
      {.data_folder = folder, .url = PostgresServer::Get().EmptyDatabase()});
}

INSTANTIATE_TEST_SUITE_P(Postgres, TrialStoreContract,
                         testing::Values(test::StoreMaker{"postgres",
                                                          OpenEmptyPostgres}),
                         test::NameOfStore);

class PostgresStoreTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<TrialStore>> Open() {
    return OpenStore({.data_folder = folder_.File("data"), .url = url_});
  }
  absl::StatusOr<std::unique_ptr<TrialStore>> OpenAt(const std::string& url) {
    return OpenStore({.data_folder = folder_.File("other"), .url = url});
  }
  std::string Run(const std::string& sql) { return server_.Run(url_, sql); }

  TempFolder folder_;
  PostgresServer& server_ = PostgresServer::Get();
  const std::string url_ = PostgresServer::Get().EmptyDatabase();
};

absl::Status AddWorker(TrialStore& store) {
  return test::Write(store, [](Transaction& transaction) {
    return transaction.PutWorker(test::FullWorker("w"));
  });
}

TEST_F(PostgresStoreTest, RowsAreThereAfterAPowerCut) {
  ASSERT_OK_AND_ASSIGN(auto store, Open());
  ASSERT_OK(AddWorker(*store));
  server_.KillAndStart();
  store.reset();
  ASSERT_OK_AND_ASSIGN(store, Open());
  EXPECT_EQ(store->ListWorkers("", 10)->size(), 1u);
}

TEST_F(PostgresStoreTest, AServerThatComesBackIsUsedAgain) {
  ASSERT_OK_AND_ASSIGN(const auto store, Open());
  ASSERT_OK_AND_ASSIGN(const Epoch epoch, store->TakeLead());
  ASSERT_OK_AND_ASSIGN(auto open, store->Begin(epoch));
  server_.KillAndStart();
  // What was under way has not happened, and is said to be.
  ASSERT_OK(open->PutWorker(test::FullWorker("w")));  // sent, not answered
  EXPECT_THAT(open->Commit(), FailsWith(ErrorId::kStoreBusy));
  open.reset();
  EXPECT_EQ(store->ListWorkers("", 10)->size(), 0u);
  EXPECT_OK(AddWorker(*store));
}

TEST_F(PostgresStoreTest, ASecondCoordinatorIsToldWhoHasIt) {
  ASSERT_OK_AND_ASSIGN(auto store, Open());
  const auto second = OpenAt(url_);
  EXPECT_THAT(second, FailsWith(ErrorId::kStoreLocked));
  EXPECT_THAT(second.status().message(),
              testing::HasSubstr("another coordinator uses this database: "
                                 "this machine, connected since 20"));
  store.reset();
  EXPECT_OK(OpenAt(url_));
}

constexpr char kEndItsConnections[] =
    "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity "
    "WHERE application_name = 'frostline-coordinator'";

// Its connection was ended from outside, so another one has the seat now.
TEST_F(PostgresStoreTest, WhoLostTheSeatUnawaresWritesNothing) {
  ASSERT_OK_AND_ASSIGN(const auto first, Open());
  ASSERT_OK_AND_ASSIGN(const Epoch old, first->TakeLead());
  Run(kEndItsConnections);
  ASSERT_OK_AND_ASSIGN(auto second, OpenAt(url_));
  ASSERT_OK_AND_ASSIGN(const Epoch now, second->TakeLead());
  EXPECT_GT(now, old);
  // It finds its connection lost, then the seat taken.
  EXPECT_THAT(first->Begin(old), FailsWith(ErrorId::kStoreBusy));
  EXPECT_THAT(first->Begin(old), FailsWith(ErrorId::kStoreBusy));
  second.reset();
  EXPECT_THAT(first->Begin(old), FailsWith(ErrorId::kNotLeader));
}

// Nobody knows whether a commit that got no answer took place: the process has
// to stop, and the next one reads what is stored.
TEST_F(PostgresStoreTest, ACommitWithoutAnAnswerEndsTheProcess) {
  ASSERT_OK_AND_ASSIGN(auto store, Open());
  ASSERT_OK_AND_ASSIGN(const Epoch epoch, store->TakeLead());
  ASSERT_OK_AND_ASSIGN(auto begun, store->Begin(epoch));
  ASSERT_OK(begun->InsertStudy(test::FullStudy("imdb")));  // answered
  Run(kEndItsConnections);
  EXPECT_THAT(begun->Commit(), FailsWith(ErrorId::kStoreIo));
  begun.reset();
  EXPECT_THAT(store->Begin(epoch), FailsWith(ErrorId::kStoreIo));
  store.reset();
  ASSERT_OK_AND_ASSIGN(store, Open());
  EXPECT_EQ(store->ListStudies({})->size(), 0u);
}

// A coordinator that sleeps within a transaction holds nobody up for ever.
TEST_F(PostgresStoreTest, ATransactionThatSleepsIsEnded) {
  ASSERT_OK_AND_ASSIGN(const auto store, Open());
  ASSERT_OK_AND_ASSIGN(const Epoch epoch, store->TakeLead());
  ASSERT_OK_AND_ASSIGN(auto begun, store->Begin(epoch));
  EXPECT_THAT(Run("SELECT count(*) FROM pg_locks WHERE locktype = "
                  "'advisory' AND objid = 1"),
              testing::StartsWith("1"));
  std::this_thread::sleep_for(std::chrono::seconds(11));
  EXPECT_THAT(Run("SELECT count(*) FROM pg_locks WHERE locktype = "
                  "'advisory' AND objid = 1"),
              testing::StartsWith("0"));
  EXPECT_FALSE(begun->Commit().ok());
}

TEST_F(PostgresStoreTest, TablesOfSomebodyElseAreLeftAlone) {
  Run("CREATE SCHEMA frostline CREATE TABLE trials (a int)");
  EXPECT_THAT(Open(), FailsWith(ErrorId::kStoreVersion));
  EXPECT_THAT(Run("SELECT count(*) FROM pg_tables "
                  "WHERE schemaname = 'frostline'"),
              testing::StartsWith("1"));
}

TEST_F(PostgresStoreTest, TablesOfALaterVersionAreLeftAlone) {
  ASSERT_OK(Open());
  Run("UPDATE frostline.schema_version SET version = 999");
  const auto opened = Open();
  EXPECT_THAT(opened, FailsWith(ErrorId::kStoreVersion));
  EXPECT_THAT(opened.status().message(), testing::HasSubstr("version 999"));
}

TEST_F(PostgresStoreTest, ARowThatWasChangedByHandIsDamaged) {
  ASSERT_OK_AND_ASSIGN(const auto store, Open());
  ASSERT_OK(AddWorker(*store));
  Run("UPDATE frostline.workers SET last_seen = last_seen + 1");
  EXPECT_THAT(store->ListWorkers("", 10), FailsWith(ErrorId::kStoreCorrupt));
}

TEST_F(PostgresStoreTest, WhatCannotBeReachedIsSaidInOneLine) {
  EXPECT_THAT(OpenAt("postgresql://frostline@/frostline?host=/nowhere"),
              FailsWith(ErrorId::kStoreBusy));
  const auto wrong = OpenAt(url_ + "&user=nobody");
  EXPECT_THAT(wrong, FailsWith(ErrorId::kStoreUnwritable));
  EXPECT_THAT(wrong.status().message(),
              testing::HasSubstr("role \"nobody\" does not exist"));
  EXPECT_THAT(OpenAt("postgresql://a:secret@localhost/x"),
              FailsWith(ErrorId::kStoreUnwritable));
  const auto unread = OpenAt("postgresql://[");
  EXPECT_THAT(unread, FailsWith(ErrorId::kStoreUnwritable));
  EXPECT_THAT(unread.status().message(),
              testing::Not(testing::HasSubstr("\n")));
}

TEST_F(PostgresStoreTest, ADatabaseThatDoesNotSyncIsRefused) {
  const auto set = [this](const char* change, const char* to) {
    Run(change);
    Run("SELECT pg_reload_conf()");
    while (!Run("SHOW fsync").starts_with(to)) {  // it is told by a signal
    }
  };
  set("ALTER SYSTEM SET fsync = off", "off");
  EXPECT_THAT(Open(), FailsWith(ErrorId::kStoreUnwritable));
  set("ALTER SYSTEM RESET fsync", "on");
}

}  // namespace
}  // namespace frostline::storage
