// SPDX-License-Identifier: Apache-2.0
//
// `frostline audit verify`: each way in which somebody might mend the past.
#include "cli/commands/audit_verify.h"

#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/plain/audit_chain.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

class AuditVerifyTest : public ::testing::Test {
 protected:
  AuditVerifyTest() {
    fs::create_directory(folder_.File("audit"));
    std::string chain = FirstChain();
    for (int n = 1; n <= 9; ++n) {
      const std::string text =
          absl::StrCat("{\"sequence\":", n, ",\"time\":\"2026-11-23T15:00:0", n,
                       ".000000Z\",\"subject\":\"ana\",\"outcome\":\"OK\"");
      chain = NextChain(chain, text);
      lines_.push_back(ChainedLine(text, chain));
    }
    last_chain_ = chain;
    Write();
  }

  // Entries 1 to 3, 4 to 6, and what is left in the newest.
  void Write() {
    File("audit-000000000001.jsonl", 0, 3);
    File("audit-000000000004.jsonl", 3, 6);
    File("audit.jsonl", 6, lines_.size());
  }
  void File(const std::string& name, std::size_t begin, std::size_t end) {
    std::ofstream file(folder_.File("audit/" + name), std::ios::binary);
    for (std::size_t i = begin; i < end; ++i) file << lines_[i] << "\n";
  }
  void ExpectBroken(const std::string& cause) {
    Write();
    const auto facts = VerifyAudit(folder_.path().string());
    EXPECT_THAT(facts, FailsWith(ErrorId::kAuditBroken));
    EXPECT_THAT(std::string(facts.status().message()), HasSubstr(cause));
  }

  TempFolder folder_;
  std::vector<std::string> lines_;
  std::string last_chain_;
};

TEST_F(AuditVerifyTest, IsWholeOverAllFiles) {
  ASSERT_OK_AND_ASSIGN(const AuditFacts facts,
                       VerifyAudit(folder_.path().string()));
  EXPECT_EQ(facts.entries, 9);
  EXPECT_EQ(facts.first_time, "2026-11-23T15:00:01.000000Z");
  EXPECT_EQ(facts.last_time, "2026-11-23T15:00:09.000000Z");
  EXPECT_EQ(facts.last_chain, last_chain_);
  EXPECT_FALSE(facts.unfinished);
  EXPECT_EQ(VerifyAudit(folder_.File("audit"))->entries, 9);  // a copy of it
}

TEST_F(AuditVerifyTest, FindsAChangedEntry) {
  lines_[4].replace(lines_[4].find("ana"), 3, "bob");
  ExpectBroken("entry 5 is not where it belongs, ");
  ExpectBroken("audit-000000000004.jsonl:2: ");
}

// Who knows the rule gives the entry a sum that fits: the next one tells.
TEST_F(AuditVerifyTest, FindsAChangedEntryWithASumOfItsOwn) {
  std::string text(ReadChainedLine(lines_[4])->text);
  text.replace(text.find("ana"), 3, "bob");
  const std::string before(ReadChainedLine(lines_[3])->chain);
  lines_[4] = ChainedLine(text, NextChain(before, text));
  ExpectBroken("entry 6 is not where it belongs, ");
}

TEST_F(AuditVerifyTest, FindsAMissingEntry) {
  lines_.erase(lines_.begin() + 4);
  ExpectBroken("entry 5 is not where it belongs");
  ExpectBroken("the line has entry 6");
}

TEST_F(AuditVerifyTest, FindsTwoThatChangedPlaces) {
  std::swap(lines_[7], lines_[8]);
  ExpectBroken("audit.jsonl:2: the line has entry 9");
}

TEST_F(AuditVerifyTest, FindsAMissingFile) {
  for (const char* const file :
       {"audit-000000000001.jsonl", "audit-000000000004.jsonl"}) {
    Write();
    fs::remove(folder_.File(std::string("audit/") + file));
    EXPECT_THAT(VerifyAudit(folder_.path().string()),
                FailsWith(ErrorId::kAuditBroken));
  }
}

TEST_F(AuditVerifyTest, FindsWhatIsNoEntry) {
  const std::string good = lines_[4];
  for (const std::string& bad :
       {std::string(), std::string("{}"), std::string("\xFF\xFE"), good + " ",
        ChainedLine("{\"sequence\":5", std::string(64, '0')),
        ChainedLine("{\"sequence\":\"5\",\"time\":\"\"",
                    std::string(64, '0'))}) {
    lines_[4] = bad;
    ExpectBroken("audit-000000000004.jsonl:2: the line is no entry");
  }
}

// A kill, or a look while it is written: nobody was told of that entry yet.
TEST_F(AuditVerifyTest, DoesNotCountALineWithoutAnEnd) {
  std::ofstream(folder_.File("audit/audit.jsonl"), std::ios::app)
      << "{\"sequence\":10,\"ti";
  ASSERT_OK_AND_ASSIGN(const AuditFacts facts,
                       VerifyAudit(folder_.path().string()));
  EXPECT_EQ(facts.entries, 9);
  EXPECT_TRUE(facts.unfinished);
  std::ofstream(folder_.File("audit/audit-000000000004.jsonl"), std::ios::app)
      << "{";
  EXPECT_THAT(VerifyAudit(folder_.path().string()),
              FailsWith(ErrorId::kAuditBroken));
}

TEST_F(AuditVerifyTest, SaysWhereThereIsNone) {
  EXPECT_THAT(VerifyAudit(folder_.File("nowhere")),
              FailsWith(ErrorId::kRequestInvalid));
  fs::create_directory(folder_.File("empty"));
  EXPECT_THAT(VerifyAudit(folder_.File("empty")),
              FailsWith(ErrorId::kRequestInvalid));
}

}  // namespace
}  // namespace frostline::cli
