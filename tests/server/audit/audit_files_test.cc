// SPDX-License-Identifier: Apache-2.0
#include "server/audit/audit_files.h"

#include <filesystem>
#include <fstream>

#include "base/plain/audit_chain.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/audit/audit_entry.h"
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

}  // namespace
}  // namespace frostline::server
