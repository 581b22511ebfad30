// SPDX-License-Identifier: Apache-2.0
#include "server/audit/audit_log.h"

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "base/plain/audit_chain.h"
#include "base/plain/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
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

class AuditFilesTest : public ::testing::Test {
 protected:
  // `count` more entries, committed together.
  storage::AuditRow Next(int count) {
    storage::AuditRow row;
    row.first = last_ + 1;
    for (int i = 0; i < count; ++i) {
      CallContext caller(LocalAdmin());
      caller.method = "StudyService.StopStudy";
      v1::AuditEntry entry = EntryOf(caller, absl::OkStatus(), 1);
      entry.set_sequence(++last_);
      const std::string text = TextOf(entry);
      chain_ = NextChain(chain_, text);
      row.lines += ChainedLine(text, chain_) + "\n";
    }
    row.last = last_;
    return row;
  }
  static std::vector<std::int64_t> All(const AuditFiles& files) {
    std::vector<std::int64_t> all;
    EXPECT_OK(files.ReadBack([&all](const v1::AuditEntry& entry) {
      all.push_back(entry.sequence());
      return true;
    }));
    return all;
  }
  std::string File() { return folder_.File("audit/audit.jsonl"); }

  TempFolder folder_;
  std::int64_t last_ = 0;
  std::string chain_ = FirstChain();
  AuditFiles files_{folder_.File("audit")};
};

TEST_F(AuditFilesTest, WhatIsAppendedIsReadFromTheEnd) {
  ASSERT_OK(files_.Append({Next(2), Next(1)}));
  ASSERT_OK(files_.Append({Next(1)}));
  EXPECT_THAT(All(files_), ElementsAre(4, 3, 2, 1));
  EXPECT_EQ(files_.Last()->sequence(), 4);
}

TEST_F(AuditFilesTest, WhatIsThereIsNotAppendedAgain) {
  const storage::AuditRow first = Next(2);
  const storage::AuditRow second = Next(2);
  ASSERT_OK(files_.Append({first}));
  AuditFiles after_a_crash(folder_.File("audit"));
  ASSERT_OK(after_a_crash.Append({first, second}));
  EXPECT_THAT(All(files_), ElementsAre(4, 3, 2, 1));
}

TEST_F(AuditFilesTest, AnEndThatWasCutIsWrittenAgain) {
  const storage::AuditRow first = Next(1);
  const storage::AuditRow both = Next(2);
  ASSERT_OK(files_.Append({first, both}));
  fs::resize_file(File(), fs::file_size(File()) - 5);
  AuditFiles after_a_crash(folder_.File("audit"));
  ASSERT_OK(after_a_crash.Append({both}));
  EXPECT_THAT(All(after_a_crash), ElementsAre(3, 2, 1));
}

TEST_F(AuditFilesTest, AFullFileGetsTheNumberOfItsFirstEntry) {
  AuditFiles small(folder_.File("audit"), /*full=*/100);
  for (int i = 0; i < 3; ++i) ASSERT_OK(small.Append({Next(1)}));
  EXPECT_TRUE(fs::exists(folder_.File("audit/audit-000000000001.jsonl")));
  EXPECT_TRUE(fs::exists(folder_.File("audit/audit-000000000002.jsonl")));
  EXPECT_THAT(All(small), ElementsAre(3, 2, 1));
  AuditFiles again(folder_.File("audit"), /*full=*/100);
  ASSERT_OK(again.Append({Next(1)}));
  EXPECT_THAT(All(again), ElementsAre(4, 3, 2, 1));
}

TEST_F(AuditFilesTest, AnEntryComesBackAsItWas) {
  CallContext caller(LocalAdmin());
  caller.identity.subject = "ana";
  caller.method = "StudyService.StopStudy";
  caller.resource = "studies/\"x\"\n";
  caller.peer = "ipv4:10.0.0.7:1";
  v1::AuditEntry entry = EntryOf(caller, absl::OkStatus(), 1'700'000'000'123);
  entry.set_sequence(7);
  const std::string text = TextOf(entry);
  const auto back = ReadEntry(ChainedLine(text, NextChain(FirstChain(), text)));
  ASSERT_TRUE(back.has_value());
  entry.set_chain_sha256(back->chain_sha256());
  EXPECT_EQ(back->SerializeAsString(), entry.SerializeAsString());
}

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
