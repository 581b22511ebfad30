// SPDX-License-Identifier: Apache-2.0
//
// kill -9 at every failpoint of storage, the first times it is reached: what
// was acknowledged is there, and half of nothing is.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "base/failpoint.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/sqlite/schema.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/contract/full_rows.h"
#include "tests/contract/old_schema.h"
#include "tests/support/record.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::test {
namespace {

namespace fs = std::filesystem;

class FailpointKillTest : public testing::Test {
 protected:
  void SetUp() override {
#ifndef FROSTLINE_FAILPOINTS
    GTEST_SKIP() << "built without failpoints";
#endif
  }

  std::string Folder() const { return folder_.File("data"); }
  std::string DatabaseFile() const { return Folder() + "/frostline.sqlite"; }
  std::string Copy() const { return folder_.File("copy"); }

  // Whether it was killed; otherwise it must have ended well, or with an error
  // where `may_fail`. No file of its own may grow beyond `file_limit`.
  bool KillsVictim(const std::string& order, const std::string& what,
                   const std::string& file = "",
                   rlim_t file_limit = RLIM_INFINITY) {
    const pid_t child = fork();
    if (child == 0) {
      const int out = open(folder_.File("acknowledged").c_str(),
                           O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(out, STDOUT_FILENO);
      dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
      setenv("FROSTLINE_FAILPOINT", order.c_str(), 1);
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{file_limit, RLIM_INFINITY};
      setrlimit(RLIMIT_FSIZE, &limit);
      const char* const program = std::getenv("FROSTLINE_STORAGE_VICTIM");
      if (program == nullptr) _exit(127);
      execl(program, program, Folder().c_str(), what.c_str(), file.c_str(),
            nullptr);
      _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
      EXPECT_EQ(WTERMSIG(status), SIGKILL);
      ++record_["kills"];
      return true;
    }
    EXPECT_THAT(WEXITSTATUS(status), testing::AnyOf(0, 1)) << order;
    return false;
  }

  // As many trials as were ever acknowledged, or one more.
  void ExpectAllTrials() {
    std::ifstream lines(folder_.File("acknowledged"));
    for (std::int64_t number = 0; lines >> number;) last_ = number;
    ASSERT_OK_AND_ASSIGN(const auto store,
                         storage::SqliteStore::Open(Folder()));
    const auto trials = store->ListTrials(TrialsOf(1, 100'000));
    ASSERT_OK(trials);
    const auto count = static_cast<std::int64_t>(trials->size());
    EXPECT_GE(count, last_ + 1);
    EXPECT_LE(count, last_ + 2);
    last_ = count - 1;
    record_["acknowledged"] = count;
  }
  void MakeCopy() {
    ASSERT_FALSE(KillsVictim("", "write"));
    ExpectAllTrials();
    ASSERT_FALSE(KillsVictim("", "backup", Copy()));
    ASSERT_TRUE(fs::exists(Copy()));
  }
  // As version 1 left it: what came later is taken away.
  void MakeOld() {
    ASSERT_OK_AND_ASSIGN(const auto database,
                         storage::Database::Open(
                             DatabaseFile(), storage::Database::Role::kWriter));
    ASSERT_OK(database->Execute(test::kToVersion1));
  }

  TempFolder folder_;
  Record record_;
  std::int64_t last_ = -1;
};

TEST_F(FailpointKillTest, OfTransactionsAndTheLog) {
  for (const char* const point :
       {"transaction.written", "transaction.committed", "checkpoint.before",
        "checkpoint.after"}) {
    for (const int time : {1, 2, 3}) {
      ASSERT_TRUE(KillsVictim(absl::StrCat(point, ":kill@", time), "write"))
          << point;
      ExpectAllTrials();
    }
  }
}

TEST_F(FailpointKillTest, OfTheMakingOfADatabase) {
  ASSERT_TRUE(KillsVictim("migrate.step:kill", "write"));
  ASSERT_TRUE(KillsVictim("migrate.after:kill", "write"));
  ASSERT_TRUE(KillsVictim("migrate.step:kill", "write"));
  EXPECT_TRUE(fs::exists(DatabaseFile() + ".v1"));
  ASSERT_FALSE(KillsVictim("", "write"));
  ExpectAllTrials();
}

TEST_F(FailpointKillTest, OfAMigrationAndItsCopy) {
  ASSERT_FALSE(KillsVictim("", "write"));
  ExpectAllTrials();
  for (const char* const point :
       {"backup.copied", "backup.checked", "backup.done", "migrate.before",
        "migrate.step", "migrate.after"}) {
    MakeOld();
    ASSERT_TRUE(KillsVictim(absl::StrCat(point, ":kill"), "write")) << point;
    const bool is_done = std::string(point) == "migrate.after";
    {
      ASSERT_OK_AND_ASSIGN(
          const auto database,
          storage::Database::Open(DatabaseFile(),
                                  storage::Database::Role::kWriter));
      EXPECT_EQ(*database->ReadInt("PRAGMA user_version"), is_done ? 2 : 1);
      EXPECT_EQ(*database->ReadInt("SELECT count(*) FROM sqlite_schema "
                                   "WHERE name = 'logs'"),
                is_done ? 1 : 0);
    }
    ExpectAllTrials();
  }
}

TEST_F(FailpointKillTest, OfABackup) {
  ASSERT_FALSE(KillsVictim("", "write"));
  for (const char* const point :
       {"backup.copied", "backup.checked", "backup.done"}) {
    ASSERT_TRUE(KillsVictim(absl::StrCat(point, ":kill"), "backup", Copy()))
        << point;
    EXPECT_EQ(fs::exists(Copy()), std::string(point) == "backup.done");
  }
  fs::remove(Copy());
  ASSERT_FALSE(KillsVictim("", "backup", Copy()));
  EXPECT_TRUE(fs::exists(Copy()));
  EXPECT_FALSE(fs::exists(folder_.File(".copy.partial")));
}

TEST_F(FailpointKillTest, OfARestore) {
  MakeCopy();
  for (const char* const point :
       {"restore.copied", "restore.before", "restore.after"}) {
    fs::remove_all(Folder());
    ASSERT_TRUE(KillsVictim(absl::StrCat(point, ":kill"), "restore", Copy()))
        << point;
    EXPECT_EQ(fs::exists(DatabaseFile()),
              std::string(point) == "restore.after");
    if (!fs::exists(DatabaseFile())) {
      ASSERT_FALSE(KillsVictim("", "restore", Copy()));
    }
    ExpectAllTrials();
  }
}

TEST_F(FailpointKillTest, OfTheBallast) {
  ASSERT_FALSE(KillsVictim("", "write"));
  // The ballast is there already; the log finds no room.
  ASSERT_TRUE(KillsVictim("ballast.released:kill", "write", "", 40'000));
  EXPECT_EQ(fs::file_size(Folder() + "/frostline.ballast"), 0u);
  ExpectAllTrials();
}

}  // namespace
}  // namespace frostline::test
