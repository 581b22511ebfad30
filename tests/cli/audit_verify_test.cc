// SPDX-License-Identifier: Apache-2.0
//
// `frostline audit verify`: each way in which somebody might mend the past.
#include <filesystem>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/plain/audit_chain.h"
#include "cli/commands/audit.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
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

// The database has the last entries, and how far the files were written.
class AuditEndTest : public AuditVerifyTest {
 protected:
  // Entries from `first` on, of which the files had those up to `moved`.
  std::optional<StoredAudit> Stored(int first, int moved) {
    StoredAudit stored;
    stored.moved = moved;
    for (int n = first; n <= 9; ++n) {
      stored.lines[n] = lines_[static_cast<std::size_t>(n) - 1];
    }
    return stored;
  }
  // The end that is left in the files.
  void CutAfter(std::size_t entries) {
    lines_.resize(entries);
    fs::remove_all(folder_.File("audit"));
    fs::create_directory(folder_.File("audit"));
    File("audit-000000000001.jsonl", 0, std::min<std::size_t>(3, entries));
    if (entries > 3) {
      File("audit-000000000004.jsonl", 3, std::min<std::size_t>(6, entries));
    }
    if (entries > 6) File("audit.jsonl", 6, entries);
  }
  absl::StatusOr<AuditFacts> VerifyWith(
      const std::optional<StoredAudit>& stored) {
    return VerifyAudit(folder_.path().string(), stored);
  }
};

TEST_F(AuditEndTest, IsWholeWhereTheDatabaseAgrees) {
  for (const auto& stored : {Stored(9, 9), Stored(7, 9), Stored(1, 0),
                             Stored(10, 9), Stored(10, 0), Stored(9, 4)}) {
    ASSERT_OK_AND_ASSIGN(const AuditFacts facts, VerifyWith(stored));
    EXPECT_EQ(facts.entries, 9);
    EXPECT_EQ(facts.waiting, 0);
  }
}

TEST_F(AuditEndTest, FindsACutTail) {
  const auto stored = Stored(8, 9);
  const auto one_row = Stored(9, 9);
  const auto no_mark = Stored(9, 0);  // of an earlier version
  for (const std::size_t left : {8U, 7U, 4U, 3U, 1U}) {
    SCOPED_TRACE(left);
    CutAfter(left);
    for (const auto& each : {stored, one_row, no_mark}) {
      const bool is_known = each->moved > 0 || left < 8;
      const auto facts = VerifyWith(each);
      if (!is_known) {
        ASSERT_OK(facts);
        EXPECT_EQ(facts->waiting, 1);  // nothing is lost: it is there
        continue;
      }
      EXPECT_THAT(facts, FailsWith(ErrorId::kAuditBroken));
      EXPECT_THAT(std::string(facts.status().message()),
                  AllOf(HasSubstr("the end was cut off"),
                        HasSubstr(absl::StrCat("ends with entry ", left)),
                        HasSubstr("entry 9 was written")));
    }
    EXPECT_OK(VerifyWith(std::nullopt));  // nobody could tell
  }
}

TEST_F(AuditEndTest, FindsThatAllOfItIsGone) {
  const auto stored = Stored(9, 9);
  for (const char* const gone : {"audit/audit.jsonl", "audit"}) {
    fs::remove_all(folder_.File(gone));
    EXPECT_THAT(VerifyWith(stored), FailsWith(ErrorId::kAuditBroken)) << gone;
  }
  EXPECT_THAT(VerifyWith(std::nullopt), FailsWith(ErrorId::kRequestInvalid));
  EXPECT_THAT(VerifyWith(StoredAudit()), FailsWith(ErrorId::kRequestInvalid));
}

// A coordinator that was killed had not brought them to the files yet.
TEST_F(AuditEndTest, WhatWaitsInTheDatabaseIsNotMissing) {
  const auto stored = Stored(6, 6);
  CutAfter(6);
  ASSERT_OK_AND_ASSIGN(const AuditFacts facts, VerifyWith(stored));
  EXPECT_EQ(facts.entries, 6);
  EXPECT_EQ(facts.waiting, 3);
  auto changed = stored;
  std::swap(changed->lines[8], changed->lines[9]);
  EXPECT_THAT(VerifyWith(changed), FailsWith(ErrorId::kAuditBroken));
}

TEST_F(AuditEndTest, FindsAChainThatWasMadeAnew) {
  const auto stored = Stored(9, 9);
  std::string chain = FirstChain();
  for (std::string& line : lines_) {
    std::string text(ReadChainedLine(line)->text);
    if (text.find("\"sequence\":2,") != std::string::npos) {
      text.replace(text.find("ana"), 3, "bob");
    }
    chain = NextChain(chain, text);
    line = ChainedLine(text, chain);
  }
  Write();
  EXPECT_OK(VerifyWith(std::nullopt));
  EXPECT_THAT(VerifyWith(stored), FailsWith(ErrorId::kAuditBroken));
}

TEST_F(AuditEndTest, ReadsWhatTheCoordinatorPrints) {
  ASSERT_OK_AND_ASSIGN(const StoredAudit stored,
                       ParseStoredAudit("{\"moved\":8}\n" + lines_[7] + "\n" +
                                        lines_[8] + "\n"));
  EXPECT_EQ(stored.moved, 8);
  EXPECT_EQ(stored.lines.size(), 2u);
  EXPECT_EQ(stored.lines.at(9), lines_[8]);
  EXPECT_EQ(ParseStoredAudit("{\"moved\":0}\n")->lines.size(), 0u);
  EXPECT_THAT(ParseStoredAudit(""), FailsWith(ErrorId::kStoreIo));
  EXPECT_THAT(ParseStoredAudit("{\"moved\":8}\n{}\n"),
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
