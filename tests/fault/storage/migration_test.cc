// SPDX-License-Identifier: Apache-2.0
//
// The power goes at any write, sync or removal while an old database is brought
// forward: afterwards it is of one version, old or new, with all its rows.
#include <filesystem>

#include "base/error.h"
#include "storage/sqlite/row_codec.h"
#include "storage/sqlite/schema.h"
#include "tests/contract/full_rows.h"
#include "tests/contract/row_text.h"
#include "tests/fault/storage/power_cut_fixture.h"

namespace frostline::test {
namespace {

using Steps = std::vector<std::string>;

class MigrationTest : public PowerCutFixture {
 protected:
  // All that were released, and some of the kinds that may follow.
  static Steps StepsToCome() {
    Steps steps = storage::SchemaSteps();
    steps.push_back("ALTER TABLE workers ADD COLUMN note TEXT;");
    steps.push_back(
        "CREATE TABLE labels (id TEXT PRIMARY KEY, worker TEXT) STRICT;"
        "INSERT INTO labels SELECT 'of ' || id, id FROM workers;"
        "CREATE INDEX labels_by_worker ON labels (worker);");
    return steps;
  }
  static Steps FirstOf(const Steps& steps, std::size_t count) {
    return Steps(steps.begin(),
                 steps.begin() + static_cast<std::ptrdiff_t>(count));
  }

  absl::Status BringForward(const Steps& steps) {
    ASSIGN_OR_RETURN(const auto database,
                     storage::Database::Open(DatabaseFile(),
                                             storage::Database::Role::kWriter));
    return storage::Migrate(*database, DatabaseFile(), steps);
  }

  // A database of the first `count` steps, with workers in it.
  void MakeOld(const Steps& steps, std::size_t count) {
    disk() = PowerCutDisk();
    std::filesystem::create_directories(folder_.File("data"));  // for copies
    ASSERT_OK(BringForward(FirstOf(steps, count)));
    ASSERT_OK_AND_ASSIGN(const auto database,
                         storage::Database::Open(
                             DatabaseFile(), storage::Database::Role::kWriter));
    for (int i = 0; i < 40; ++i) {
      ASSERT_OK_AND_ASSIGN(storage::Statement put,
                           database->Prepare(storage::sql::kPutWorker));
      storage::BindRow(FullWorker(std::to_string(i)), put);
      ASSERT_OK(put.Run());
    }
  }

  // Not between two versions: the tables are those of the number.
  void ExpectOneVersion(const Steps& steps, std::int64_t at_least) {
    ASSERT_OK_AND_ASSIGN(const auto database,
                         storage::Database::Open(
                             DatabaseFile(), storage::Database::Role::kWriter));
    const std::int64_t version = *database->ReadInt("PRAGMA user_version");
    EXPECT_GE(version, at_least);
    EXPECT_EQ(*database->ReadText("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(*database->ReadInt("SELECT count(*) FROM workers"), 40);
    const auto tables = [&](const std::string& name) {
      return *database->ReadInt(
          "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%" + name + "%'");
    };
    EXPECT_EQ(tables("TABLE logs"), version >= 2 ? 1 : 0);
    EXPECT_EQ(tables("TABLE lead"), version >= 3 ? 1 : 0);
    const auto newest = static_cast<std::int64_t>(steps.size());
    EXPECT_EQ(tables("note TEXT"), version >= newest - 1 ? 1 : 0);
    EXPECT_EQ(tables("INDEX labels_by_worker"), version >= newest ? 1 : 0);
  }
};

TEST_F(MigrationTest, ACutLeavesOneVersionAndTheNextStartGoesOn) {
  const Steps steps = StepsToCome();
  for (std::size_t old = 1; old < steps.size() && !HasFailure(); ++old) {
    MakeOld(steps, old);
    ++record_["versions"];
    const PowerCutDisk before = disk().Clone();
    bool cut = true;
    std::int64_t call = 0;
    while (cut && !HasFailure()) {
      SCOPED_TRACE(testing::Message()
                   << "version " << old << ", call " << call);
      ++call;
      Rng rng(static_cast<std::uint64_t>(call));
      disk() = before.Clone();
      disk().Follow({.cut_at = call});
      const absl::Status status = BringForward(steps);
      cut = disk().power_is_off();
      record_["cuts"] += cut ? 1 : 0;
      EXPECT_TRUE(cut || status.ok()) << status;
      disk().Restart(rng);
      ExpectOneVersion(steps, static_cast<std::int64_t>(old));
      ASSERT_OK(BringForward(steps));
      ExpectOneVersion(steps, static_cast<std::int64_t>(steps.size()));
    }
    EXPECT_GT(call, 20);
  }
}

// The second cut finds what the first start has left to undo.
TEST_F(MigrationTest, TwoCutsWhileADatabaseIsMadeLoseNothing) {
  bool cut = true;
  for (std::int64_t call = 1; cut && !HasFailure(); ++call) {
    for (std::uint64_t chance = 0; chance < 12; ++chance) {
      SCOPED_TRACE(testing::Message() << "call " << call << ", " << chance);
      Rng rng(chance);
      Begin(3);
      disk().Follow({.cut_at = call});
      Open().IgnoreError();
      cut = disk().power_is_off();
      record_["cuts"] += 2;
      Cut(rng);
      ASSERT_OK(Open());
      ASSERT_OK(Run(2));
      ASSERT_TRUE(IsIntact());
      Cut(rng);
      ASSERT_OK(Open());
      ASSERT_TRUE(IsIntact());
    }
  }
}

}  // namespace
}  // namespace frostline::test
