// SPDX-License-Identifier: Apache-2.0
//
// Copies between SQLite and a real PostgreSQL: both hold the same afterwards,
// or the target has nothing.
#include "storage/copy.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "gmock/gmock.h"
#include "storage/factory.h"
#include "storage/postgres/copy.h"
#include "storage/sqlite/copy.h"
#include "storage/sqlite/database.h"
#include "tests/contract/full_rows.h"
#include "tests/contract/row_text.h"
#include "tests/storage/child_process.h"
#include "tests/support/postgres_server.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::storage {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kTrials = 250;  // more than are read at once

// A row in every table, texts with bytes that no text should have, and a last
// study that is gone.
absl::Status FillAll(Transaction& transaction) {
  ASSIGN_OR_RETURN(const StudyKey study,
                   transaction.InsertStudy(test::FullStudy("imdb")));
  for (int i = 0; i < kTrials; ++i) {
    RETURN_IF_ERROR(transaction.InsertTrial(test::FullTrial(study, i)));
  }
  RETURN_IF_ERROR(transaction.PutAttempt(test::FullAttempt(study, 0, 1)));
  RETURN_IF_ERROR(
      transaction.AddMeasurements({test::FullMeasurement(study, 0, 1, 2)}));
  RETURN_IF_ERROR(transaction.PutOutcome(test::FullOutcome(study, 0)));
  RETURN_IF_ERROR(transaction.PutLog(test::FullLog(study, 0, 1)));
  RETURN_IF_ERROR(transaction.PutSummary(test::FullSummary(study)));
  RETURN_IF_ERROR(transaction.PutBest(test::FullBest(study, 0)));
  for (const std::string& id :
       {std::string("w"), std::string("w\0x", 3), std::string("w\xff")}) {
    RETURN_IF_ERROR(transaction.PutWorker(test::FullWorker(id)));
  }
  RETURN_IF_ERROR(transaction.PutToken(test::FullToken("t")));
  RETURN_IF_ERROR(transaction.PutCertificate(test::FullCertificate("c")));
  RETURN_IF_ERROR(transaction.PutAudit(test::FullAudit(1)));
  RETURN_IF_ERROR(transaction.PutNotification(test::FullNotification("n")));
  RETURN_IF_ERROR(transaction.RememberReply(test::FullReply("r")));
  ASSIGN_OR_RETURN(const StudyKey gone,
                   transaction.InsertStudy(test::FullStudy("gone")));
  return transaction.PurgeStudy(gone, 100).status();
}

// All that a store lists, as texts.
std::vector<std::string> AllOf(TrialStore& store) {
  std::vector<std::string> all;
  const auto add = [&all](const std::vector<std::string>& texts) {
    all.insert(all.end(), texts.begin(), texts.end());
  };
  add(test::Texts(*store.ListStudies({.with_deleted = true})));
  add(test::Texts(*store.ListTrials(test::TrialsOf(1, 2 * kTrials))));
  add(test::Texts(*store.ListAttempts(1, 0)));
  add(test::Texts(
      *store.ListMeasurements({.study = 1, .number = 0, .attempt = 1})));
  add({test::Text(**store.FindOutcome(1, 0)),
       test::Text(**store.FindLog(1, 0, 1))});
  add(test::Texts(*store.ListSummaries(0, 10)));
  add(test::Texts(*store.ListBest(1, -1, 10)));
  add(test::Texts(*store.ListWorkers("", 10)));
  add(test::Texts(*store.ListTokens("", 10)));
  add(test::Texts(*store.ListCertificates("", 10)));
  add(test::Texts(*store.ListAudit(kAuditMoved - 1, 10)));
  add(test::Texts(*store.ListNotifications("", 10)));
  add({test::Text(**store.FindReply("r")), absl::StrCat(*store.FindLead())});
  return all;
}

std::vector<std::string> DigestsOf(const CopyReport& report) {
  std::vector<std::string> digests;
  for (const CopiedTable& table : report.tables) {
    digests.push_back(
        absl::StrCat(table.name, " ", table.rows, " ", table.digest));
  }
  return digests;
}

class CopyTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<TrialStore>> OpenAt(const std::string& place) {
    if (place == url_) {
      return OpenStore({.data_folder = folder_.File("beside"), .url = url_});
    }
    return OpenStore(
        {.data_folder = place, .limits = {.ballast_bytes = 1 << 20}});
  }
  void Fill(const std::string& place) {
    ASSERT_OK_AND_ASSIGN(const auto store, OpenAt(place));
    ASSERT_OK(test::Write(*store, FillAll));
  }
  std::vector<std::string> RowsAt(const std::string& place) {
    const auto store = OpenAt(place);
    EXPECT_OK(store);
    return AllOf(**store);
  }
  // Says whether nobody could think that there is a database.
  bool HasNothing(const std::string& place) {
    if (place == url_) {
      return Run("SELECT count(*) FROM pg_namespace WHERE nspname = "
                 "'frostline'") == "0\n";
    }
    return !fs::exists(place + "/frostline.sqlite");
  }
  void ExpectRefused(const std::string& from, const std::string& to, ErrorId id,
                     const std::string& words) {
    const auto copied = CopyDatabase(from, to);
    EXPECT_THAT(copied, FailsWith(id));
    EXPECT_THAT(std::string(copied.status().message()), HasSubstr(words));
  }
  std::string Run(const std::string& sql) { return server_.Run(url_, sql); }
  // Runs SQL behind the back of a closed store.
  static void TamperIn(const std::string& place, const std::string& sql) {
    ASSERT_OK_AND_ASSIGN(
        const auto database,
        Database::Open(place + "/frostline.sqlite", Database::Role::kWriter));
    ASSERT_OK(database->Execute(sql));
  }

  TempFolder folder_;
  const std::string first_ = folder_.File("first");
  const std::string second_ = folder_.File("second");
  PostgresServer& server_ = PostgresServer::Get();
  const std::string url_ = PostgresServer::Get().EmptyDatabase();
};

TEST_F(CopyTest, ThereAndBackIsTheSame) {
  Fill(first_);
  const std::vector<std::string> truth = RowsAt(first_);
  ASSERT_OK_AND_ASSIGN(const CopyReport there, CopyDatabase(first_, url_));
  EXPECT_EQ(RowsAt(url_), truth);
  ASSERT_OK_AND_ASSIGN(const CopyReport back, CopyDatabase(url_, second_));
  EXPECT_EQ(RowsAt(second_), truth);
  EXPECT_EQ(DigestsOf(there), DigestsOf(back));
  EXPECT_EQ(there.rows, kTrials + 16);
  EXPECT_EQ(there.tables.size(), 15u);
  for (const CopiedTable& table : there.tables) {
    EXPECT_GT(table.rows, 0) << table.name;
    EXPECT_EQ(table.digest.size(), 64u);
  }
  // The key of the study that is gone is given to no other.
  for (const std::string& place : {url_, second_}) {
    ASSERT_OK_AND_ASSIGN(const auto store, OpenAt(place));
    EXPECT_OK(test::Write(*store, [](Transaction& write) -> absl::Status {
      ASSIGN_OR_RETURN(const StudyKey key,
                       write.InsertStudy(test::FullStudy("next")));
      EXPECT_EQ(key, 3);
      return absl::OkStatus();
    }));
  }
}

TEST_F(CopyTest, ADatabaseWithoutRowsIsCopiedToo) {
  ASSERT_OK(OpenAt(first_));
  ASSERT_OK_AND_ASSIGN(const CopyReport there, CopyDatabase(first_, url_));
  EXPECT_EQ(there.rows, 0);
  ASSERT_OK_AND_ASSIGN(const CopyReport back, CopyDatabase(url_, second_));
  EXPECT_EQ(DigestsOf(there), DigestsOf(back));
  // A target with tables and no row is empty.
  EXPECT_OK(CopyDatabase(first_, url_));
  for (const std::string& place : {url_, second_}) Fill(place);
  EXPECT_EQ(RowsAt(url_), RowsAt(second_));
}

TEST_F(CopyTest, ACopyReplacesNothing) {
  Fill(first_);
  Fill(second_);
  Fill(url_);
  const std::vector<std::string> truth = RowsAt(url_);
  ExpectRefused(first_, url_, ErrorId::kStoreUnwritable, "has rows in studies");
  ExpectRefused(first_, second_, ErrorId::kStoreUnwritable, "there already");
  ExpectRefused(url_, second_, ErrorId::kStoreUnwritable, "there already");
  EXPECT_EQ(RowsAt(url_), truth);
  EXPECT_EQ(RowsAt(second_), truth);
  ExpectRefused(first_, first_, ErrorId::kRequestInvalid, "the same");
  ExpectRefused(first_, first_ + "/", ErrorId::kRequestInvalid, "the same");
  ExpectRefused(url_, url_, ErrorId::kRequestInvalid, "the same");
}

TEST_F(CopyTest, WhatACoordinatorUsesIsLeftAlone) {
  Fill(first_);
  {
    ASSERT_OK_AND_ASSIGN(const auto running, OpenAt(first_));
    ExpectRefused(first_, url_, ErrorId::kStoreLocked, "holds");
    EXPECT_TRUE(HasNothing(url_));
  }
  ASSERT_OK_AND_ASSIGN(const auto running, OpenAt(url_));
  ExpectRefused(first_, url_, ErrorId::kStoreLocked, "another coordinator");
  ExpectRefused(url_, second_, ErrorId::kStoreLocked, "another coordinator");
  EXPECT_TRUE(HasNothing(second_));
  fs::create_directories(second_);
  ASSERT_OK_AND_ASSIGN(const auto other, OpenAt(second_));
  ExpectRefused(first_, second_, ErrorId::kStoreLocked, "holds");
}

TEST_F(CopyTest, WhatIsOfAnotherVersionIsLeftAlone) {
  Fill(first_);
  Fill(url_);
  Run("UPDATE frostline.schema_version SET version = 999");
  ExpectRefused(url_, second_, ErrorId::kStoreVersion, "version 999");
  ExpectRefused(first_, url_, ErrorId::kStoreVersion, "version 999");
  Run("DROP SCHEMA frostline CASCADE");
  for (const char* const version : {"999", "9"}) {
    TamperIn(first_, absl::StrCat("PRAGMA user_version = ", version));
    ExpectRefused(first_, url_, ErrorId::kStoreVersion,
                  absl::StrCat("version ", version));
  }
  EXPECT_TRUE(HasNothing(url_));
  EXPECT_TRUE(HasNothing(second_));
}

TEST_F(CopyTest, WhereThereIsNoDatabaseNoneIsMade) {
  ExpectRefused(first_, url_, ErrorId::kRequestInvalid, "there is no database");
  EXPECT_FALSE(fs::exists(first_));
  ExpectRefused(url_, second_, ErrorId::kRequestInvalid,
                "there is no database");
  EXPECT_TRUE(HasNothing(url_));
  EXPECT_FALSE(fs::exists(second_));
}

TEST_F(CopyTest, ADamagedRowIsNamed) {
  Fill(first_);
  const struct {
    const char* table;
    const char* change;
    const char* row;
  } damages[] = {
      {"studies", "seed = seed + 1", "study 1"},
      {"trials", "priority = priority + 1", "trial 0 of study 1"},
      {"attempts", "started = started + 1", "attempt 1 of trial 0 of study 1"},
      {"logs", "tail = tail || tail", "attempt 1 of trial 0 of study 1"},
      {"tokens", "revoked = 0", "token t"},
      {"lead", "epoch = epoch + 1", "epoch 2"},
  };
  ASSERT_OK(CopyDatabase(first_, url_));
  fs::copy_file(first_ + "/frostline.sqlite", folder_.File("good"));
  for (const auto& damage : damages) {
    const std::string words = absl::StrCat(damage.table, ": ", damage.row);
    // From PostgreSQL, where the good row then comes back.
    const std::string table = absl::StrCat("frostline.", damage.table);
    Run(absl::StrCat("CREATE TABLE public.kept AS SELECT * FROM ", table));
    Run(absl::StrCat("UPDATE ", table, " SET ", damage.change));
    ExpectRefused(url_, second_, ErrorId::kStoreCorrupt, words);
    EXPECT_TRUE(HasNothing(second_)) << words;
    Run(absl::StrCat("DELETE FROM ", table, "; INSERT INTO ", table,
                     " SELECT * FROM public.kept; DROP TABLE public.kept"));
  }
  Run("DROP SCHEMA frostline CASCADE");
  for (const auto& damage : damages) {
    TamperIn(first_,
             absl::StrCat("UPDATE ", damage.table, " SET ",
                          std::string(damage.table) == "logs" ? "tail = x'00'"
                                                              : damage.change));
    ExpectRefused(first_, url_, ErrorId::kStoreCorrupt,
                  absl::StrCat(damage.table, ": ", damage.row));
    EXPECT_TRUE(HasNothing(url_)) << damage.table;
    fs::copy_file(folder_.File("good"), first_ + "/frostline.sqlite",
                  fs::copy_options::overwrite_existing);
  }
  EXPECT_OK(CopyDatabase(first_, url_));
}

// SQLite's tables refuse a trial without a study; no seal would.
TEST_F(CopyTest, ARowThatBelongsToNothingIsNotCopied) {
  Fill(url_);
  Run("DELETE FROM frostline.trials WHERE number = 0");
  ExpectRefused(url_, second_, ErrorId::kStoreCorrupt,
                "attempts: the row of study 1, number 0, attempt 1 breaks");
  EXPECT_TRUE(HasNothing(second_));
}

TEST_F(CopyTest, AColumnThatACopyWouldLoseIsFound) {
  Fill(first_);
  TamperIn(first_, "ALTER TABLE logs ADD COLUMN later TEXT");
  ExpectRefused(first_, url_, ErrorId::kInternal, "logs.later");
  EXPECT_TRUE(HasNothing(url_));
}

TEST_F(CopyTest, WhatAKilledCoordinatorCommittedIsCopied) {
  Fill(first_);
  const pid_t child = StartChild([&] {
    const auto store = OpenAt(first_);
    ASSERT_OK(store);
    ASSERT_OK(test::Write(**store, [](Transaction& write) {
      return write.PutWorker(test::FullWorker("late"));
    }));
    kill(getpid(), SIGKILL);
  });
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(first_ + "/frostline.sqlite-wal"));
  ASSERT_OK(CopyDatabase(first_, url_));
  ASSERT_OK_AND_ASSIGN(const auto store, OpenAt(url_));
  EXPECT_EQ(store->ListWorkers("", 10)->size(), 4u);
}

// Passes everything on, but first shows each row to a function.
class WatchedSource : public CopySource {
 public:
  WatchedSource(CopySource& source, std::function<void(int)> see)
      : source_(source), see_(std::move(see)) {}
  absl::StatusOr<std::set<std::string>> ColumnNames() override {
    return source_.ColumnNames();
  }
  absl::StatusOr<std::int64_t> CountRows(const StoredTable& table) override {
    return source_.CountRows(table);
  }
  absl::Status ReadRows(
      const StoredTable& table,
      absl::FunctionRef<absl::Status(const StoredRow&)> visit) override {
    return source_.ReadRows(table, [&](const StoredRow& row) {
      see_(++rows_);
      return visit(row);
    });
  }
  absl::StatusOr<StudyKey> LastStudyKey() override {
    return source_.LastStudyKey();
  }

 private:
  CopySource& source_;
  std::function<void(int)> see_;
  int rows_ = 0;
};

absl::StatusOr<std::unique_ptr<CopyTarget>> BeginCopyTo(
    const std::string& place) {
  return place.starts_with("postgres") ? BeginPostgresCopy(place)
                                       : BeginSqliteCopy(place);
}

// PostgreSQL may need a moment to notice that a process was killed.
template <typename F>
auto OnceItIsFree(F f) {
  auto result = f();
  for (int i = 0; i < 100; ++i) {
    if (!HasErrorId(result.status(), ErrorId::kStoreLocked)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    result = f();
  }
  return result;
}

TEST_F(CopyTest, AKilledCopyLeavesNothingAndIsBegunAgain) {
  Fill(first_);
  const std::vector<std::string> truth = RowsAt(first_);
  for (const std::string& place : {url_, second_}) {
    for (const int last : {1, kTrials / 2, kTrials + 16}) {
      const pid_t child = StartChild([&] {
        const auto source = OpenSqliteToCopy(first_);
        ASSERT_OK(source);
        WatchedSource watched(**source, [last](int row) {
          if (row == last) kill(getpid(), SIGKILL);
        });
        const auto target = OnceItIsFree([&] { return BeginCopyTo(place); });
        ASSERT_OK(target);
        CopyAll(watched, **target).IgnoreError();
        ADD_FAILURE() << "still there";
      });
      int status = 0;
      waitpid(child, &status, 0);
      EXPECT_EQ(WTERMSIG(status), SIGKILL);
      EXPECT_TRUE(HasNothing(place)) << place << " after " << last;
    }
    EXPECT_OK(OnceItIsFree([&] { return CopyDatabase(first_, place); }));
    EXPECT_EQ(RowsAt(place), truth);
    EXPECT_FALSE(fs::exists(second_ + "/frostline.sqlite.partial"));
  }
}

TEST_F(CopyTest, APostgresThatEndsMeanwhileLeavesNothing) {
  Fill(first_);
  {
    ASSERT_OK_AND_ASSIGN(const auto source, OpenSqliteToCopy(first_));
    WatchedSource watched(*source, [&](int row) {
      if (row == kTrials / 2) server_.KillAndStart();
    });
    ASSERT_OK_AND_ASSIGN(const auto target, BeginPostgresCopy(url_));
    EXPECT_THAT(CopyAll(watched, *target), FailsWith(ErrorId::kStoreBusy));
  }
  EXPECT_TRUE(HasNothing(url_));
  ASSERT_OK(CopyDatabase(first_, url_));
  {
    ASSERT_OK_AND_ASSIGN(const auto source, OpenPostgresToCopy(url_));
    WatchedSource watched(*source, [&](int row) {
      if (row == kTrials / 2) server_.KillAndStart();
    });
    ASSERT_OK_AND_ASSIGN(const auto target, BeginSqliteCopy(second_));
    EXPECT_THAT(CopyAll(watched, *target), FailsWith(ErrorId::kStoreBusy));
  }
  EXPECT_TRUE(HasNothing(second_));
  EXPECT_OK(CopyDatabase(url_, second_));
}

TEST_F(CopyTest, AFullDiskLeavesNothing) {
  Fill(first_);
  EXPECT_EQ(RunInChild([&] {
              std::signal(SIGXFSZ, SIG_IGN);  // a write fails instead
              rlimit limit;
              getrlimit(RLIMIT_FSIZE, &limit);
              limit.rlim_cur =
                  fs::file_size(first_ + "/frostline.sqlite") - 8192;
              setrlimit(RLIMIT_FSIZE, &limit);
              ExpectRefused(first_, second_, ErrorId::kStoreFull, "");
            }),
            0);
  EXPECT_TRUE(HasNothing(second_));
  EXPECT_FALSE(fs::exists(second_ + "/frostline.sqlite.partial"));
  EXPECT_OK(CopyDatabase(first_, second_));
}

// A target with a bug: it changes a row, or leaves it out.
class WrongTarget : public CopyTarget {
 public:
  using Change = std::function<bool(const StoredTable&, StoredRow&)>;
  WrongTarget(CopyTarget& target, Change change)
      : target_(target), change_(std::move(change)) {}
  absl::StatusOr<std::set<std::string>> ColumnNames() override {
    return target_.ColumnNames();
  }
  absl::StatusOr<std::int64_t> CountRows(const StoredTable& table) override {
    return target_.CountRows(table);
  }
  absl::Status ReadRows(
      const StoredTable& table,
      absl::FunctionRef<absl::Status(const StoredRow&)> visit) override {
    return target_.ReadRows(table, visit);
  }
  absl::StatusOr<StudyKey> LastStudyKey() override {
    return target_.LastStudyKey();
  }
  absl::Status WriteRow(const StoredTable& table,
                        const StoredRow& row) override {
    StoredRow changed = row;
    return change_(table, changed) ? target_.WriteRow(table, changed)
                                   : absl::OkStatus();
  }
  absl::Status WriteLastStudyKey(StudyKey key) override {
    return target_.WriteLastStudyKey(key);
  }
  absl::Status EndWriting() override { return target_.EndWriting(); }
  absl::Status Commit() override { return target_.Commit(); }

 private:
  CopyTarget& target_;
  Change change_;
};

// A row with one column changed, and no seal checked afterwards.
StoredRow WithColumnCut(const StoredTable& table, const StoredRow& row,
                        const std::string& column) {
  StoredRow cut;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto at = static_cast<int>(i);
    if (table.columns[i].kind == ColumnKind::kInt) {
      cut.Int(row.IntAt(at));
    } else if (table.columns[i].name == column) {
      cut.Blob(row.BytesAt(at).substr(0, row.BytesAt(at).size() - 1));
    } else {
      cut.Blob(row.BytesAt(at));
    }
  }
  return cut;
}

TEST_F(CopyTest, ACopyThatDiffersIsNotKept) {
  Fill(first_);
  const WrongTarget::Change changes[] = {
      [](const StoredTable& table, StoredRow& row) {
        return table.name != "trials" || row.IntAt(1) != kTrials - 1;
      },
      [](const StoredTable& table, StoredRow&) { return table.name != "lead"; },
      [](const StoredTable& table, StoredRow& row) {
        if (table.name == "notifications") {
          row = WithColumnCut(table, row, "body");
        }
        return true;
      }};
  for (const WrongTarget::Change& change : changes) {
    ASSERT_OK_AND_ASSIGN(const auto source, OpenSqliteToCopy(first_));
    ASSERT_OK_AND_ASSIGN(const auto target, BeginPostgresCopy(url_));
    WrongTarget wrong(*target, change);
    const auto copied = CopyAll(*source, wrong);
    EXPECT_THAT(copied, FailsWith(ErrorId::kStoreCorrupt));
    EXPECT_THAT(std::string(copied.status().message()),
                HasSubstr("the copy is not what its source is"));
  }
  EXPECT_TRUE(HasNothing(url_));
}

}  // namespace
}  // namespace frostline::storage
