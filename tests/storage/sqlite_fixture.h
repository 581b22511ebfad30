// SPDX-License-Identifier: Apache-2.0
//
// File: sqlite_fixture.h
//
// A data folder, and a store in it that a test opens, damages and reopens.
#ifndef FROSTLINE_TESTS_STORAGE_SQLITE_FIXTURE_H_
#define FROSTLINE_TESTS_STORAGE_SQLITE_FIXTURE_H_

#include <memory>
#include <string>

#include "base/error.h"
#include "gmock/gmock.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/contract/full_rows.h"
#include "tests/contract/row_text.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::storage {

class SqliteFixture : public testing::Test {
 protected:
  std::string Folder() const { return folder_.File("data"); }
  std::string File(const std::string& name) const {
    return Folder() + "/" + name;
  }
  std::string DatabaseFile() const { return File("frostline.sqlite"); }

  void Open() {
    ASSERT_OK_AND_ASSIGN(store_, SqliteStore::Open(Folder(), limits_));
  }
  void Close() { store_.reset(); }
  void Reopen() {
    Close();
    Open();
  }

  // A study "imdb" with so many trials, in one transaction.
  StudyKey Fill(int trials) {
    StudyKey study = 0;
    EXPECT_OK(
        test::Write(*store_, [&](Transaction& transaction) -> absl::Status {
          ASSIGN_OR_RETURN(study,
                           transaction.InsertStudy(test::FullStudy("imdb")));
          for (int i = 0; i < trials; ++i) {
            RETURN_IF_ERROR(transaction.InsertTrial(test::FullTrial(study, i)));
          }
          return absl::OkStatus();
        }));
    return study;
  }

  // The same, and a row in every other table, of trial 0.
  void FillAllTables(int trials) {
    const StudyKey study = Fill(trials);
    EXPECT_OK(
        test::Write(*store_, [&](Transaction& transaction) -> absl::Status {
          RETURN_IF_ERROR(
              transaction.PutAttempt(test::FullAttempt(study, 0, 1)));
          RETURN_IF_ERROR(transaction.AddMeasurements(
              {test::FullMeasurement(study, 0, 1, 2)}));
          RETURN_IF_ERROR(transaction.PutOutcome(test::FullOutcome(study, 0)));
          RETURN_IF_ERROR(transaction.PutLog(test::FullLog(study, 0, 1)));
          RETURN_IF_ERROR(transaction.PutSummary(test::FullSummary(study)));
          RETURN_IF_ERROR(transaction.PutBest(test::FullBest(study, 0)));
          RETURN_IF_ERROR(transaction.PutWorker(test::FullWorker("w")));
          RETURN_IF_ERROR(transaction.PutToken(test::FullToken("t")));
          RETURN_IF_ERROR(
              transaction.PutCertificate(test::FullCertificate("c")));
          RETURN_IF_ERROR(transaction.PutAudit(test::FullAudit(1)));
          RETURN_IF_ERROR(
              transaction.PutNotification(test::FullNotification("n")));
          return transaction.RememberReply(test::FullReply("r"));
        }));
  }

  // Runs SQL behind the back of a closed store, as damage would.
  void Tamper(const std::string& sql) {
    ASSERT_OK_AND_ASSIGN(
        const auto database,
        Database::Open(DatabaseFile(), Database::Role::kWriter));
    ASSERT_OK(database->Execute(sql));
  }
  // The same in a file that has no log and gets none.
  static void TamperWith(const std::string& path, const std::string& sql) {
    ASSERT_OK_AND_ASSIGN(const auto database,
                         Database::Open(path, Database::Role::kReader));
    ASSERT_OK(database->Execute("PRAGMA query_only = OFF"));
    ASSERT_OK(database->Execute(sql));
  }

  TempFolder folder_;
  StoreLimits limits_{.ballast_bytes = 8 << 20};
  std::unique_ptr<SqliteStore> store_;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_TESTS_STORAGE_SQLITE_FIXTURE_H_
