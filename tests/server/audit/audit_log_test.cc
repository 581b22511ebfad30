// SPDX-License-Identifier: Apache-2.0
#include "server/audit/audit_log.h"

#include <filesystem>
#include <future>
#include <thread>

#include "base/plain/audit_chain.h"
#include "base/plain/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/audit/audit_entry.h"
#include "server/auth/access.h"
#include "storage/factory.h"
#include "storage/sqlite/backup.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/server/driver.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::server {
namespace {

using ::testing::ElementsAre;

namespace fs = std::filesystem;

class AuditLogTest : public ::testing::Test {
 protected:
  void Start() {
    ASSERT_OK_AND_ASSIGN(store_, storage::SqliteStore::Open(data_));
    CoordinatorOptions options;
    options.audit_folder = data_ + "/audit";
    driver_ = std::make_unique<Driver>(*store_, clock_, options);
    ASSERT_OK(driver_->started());
  }
  void Stop() {
    driver_.reset();
    store_.reset();
  }
  // As an edge calls it; each is one entry.
  void Create(const std::string& id) {
    auto request =
        std::make_unique<v1::CreateStudyRequest>(ExampleStudy(id, 1));
    CallContext caller(LocalAdmin());
    NoteRequest(*request, "frostline.v1.StudyService.CreateStudy", &caller);
    std::promise<absl::Status> done;
    driver_->coordinator()
        .verbs()
        .unary.at("frostline.v1.StudyService.CreateStudy")
        .run(std::move(caller), std::move(request),
             [&done](const absl::StatusOr<MessagePtr>& answer) {
               done.set_value(answer.status());
             });
    EXPECT_OK(done.get_future().get());
  }
  void AwaitInFiles(const std::string& text) {
    for (int i = 0; i < 400 && Lines().find(text) == std::string::npos; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  std::string Lines() const {
    const auto file =
        ReadWholeFile(data_ + "/audit/" + kAuditFile, std::size_t{1} << 20);
    return file.ok() ? file.value() : "";
  }
  // The studies of all entries, the newest first.
  std::vector<std::string> Studies() {
    std::vector<std::string> studies;
    const auto reply =
        driver_->Call<v1::ListAuditEntriesReply>(v1::ListAuditEntriesRequest());
    EXPECT_OK(reply);
    for (const v1::AuditEntry& entry : reply->entries()) {
      studies.push_back(entry.resource());
    }
    return studies;
  }

  TempFolder folder_;
  std::string data_ = folder_.File("data");
  SystemClock clock_;
  std::unique_ptr<storage::SqliteStore> store_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(AuditLogTest, GoesOnWhereTheFilesEndAfterARestore) {
  Start();
  Create("before");
  ASSERT_OK(store_->Backup(folder_.File("backup")));
  Create("after");
  AwaitInFiles("studies/after");
  Stop();
  for (const char* const end : {"", "-wal", "-shm"}) {
    fs::remove(data_ + "/frostline.sqlite" + end);
  }
  ASSERT_OK(storage::RestoreBackup(folder_.File("backup"), data_));

  Start();
  Create("again");
  AwaitInFiles("studies/again");

  EXPECT_THAT(Studies(),
              ElementsAre("studies/again", "studies/after", "studies/before"));
  std::string chain = FirstChain();
  const std::string all = Lines();
  std::size_t begin = 0;
  int lines = 0;
  for (std::size_t end = 0; (end = all.find('\n', begin)) != std::string::npos;
       begin = end + 1, ++lines) {
    const auto line =
        ReadChainedLine(std::string_view(all).substr(begin, end - begin));
    ASSERT_TRUE(line.has_value());
    chain = NextChain(chain, line->text);
    EXPECT_EQ(line->chain, chain) << "line " << lines + 1;
  }
  EXPECT_EQ(lines, 3);
}

// `frostline audit verify` asks so, beside a coordinator and without one.
TEST_F(AuditLogTest, TheDatabaseTellsHowFarTheFilesWereWritten) {
  const auto moved = [this] {
    const auto end = storage::ReadAuditEnd(data_);
    EXPECT_OK(end);
    return end.ok() ? end->moved : -1;
  };
  EXPECT_THAT(storage::ReadAuditEnd(data_),
              FailsWith(ErrorId::kRequestInvalid));
  Start();
  EXPECT_EQ(moved(), 0);
  for (const char* const id : {"a", "b", "c"}) Create(id);
  AwaitInFiles("studies/c");
  for (int i = 0; i < 400 && moved() != 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(moved(), 3);
  Stop();
  const auto end = storage::ReadAuditEnd(data_);
  ASSERT_OK(end);
  EXPECT_EQ(end->moved, 3);
  ASSERT_FALSE(end->rows.empty());
  EXPECT_EQ(end->rows.back().last, 3);
  EXPECT_TRUE(Lines().ends_with(end->rows.back().lines));

  // It goes on, and does not take the mark for an entry.
  Start();
  Create("d");
  AwaitInFiles("studies/d");
  EXPECT_THAT(Studies(),
              ElementsAre("studies/d", "studies/c", "studies/b", "studies/a"));
}

}  // namespace
}  // namespace frostline::server
