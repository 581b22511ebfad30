// SPDX-License-Identifier: Apache-2.0
#include "base/plain/training_table.h"

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "base/plain/audit_chain.h"
#include "gmock/gmock.h"

namespace frostline {
namespace {

std::string PagePath() {
  return std::string(std::getenv("FROSTLINE_SOURCE_DIR")) +
         "/docs/reference/trainer.md";
}

std::string ReadPage() {
  std::stringstream page;
  page << std::ifstream(PagePath()).rdbuf();
  return page.str();
}

TEST(TrainingTable, HasNoNameTwice) {
  std::set<std::string_view> keys;
  std::set<std::string_view> searched;
  for (const SettingRow& row : TrainingTable()) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    EXPECT_FALSE(row.doc.empty()) << row.key;
    if (row.searched_as.empty()) continue;
    EXPECT_TRUE(searched.insert(row.searched_as).second) << row.searched_as;
  }
  EXPECT_EQ(&SettingOf("lora.rank"), FindSetting("lora.rank"));
  EXPECT_EQ(FindSetting("lora.rang"), nullptr);
  EXPECT_EQ(FindSearchedSetting("lora_rank"), FindSetting("lora.rank"));
  EXPECT_EQ(FindSearchedSetting(""), nullptr);  // what is never searched
}

TEST(TrainingTable, WhatHoldsUnlessGivenIsWithinTheBounds) {
  for (const SettingRow& row : TrainingTable()) {
    if (row.kind == SettingKind::kWord) {
      EXPECT_GE(WordsOf(row).size(), 2U) << row.key;
    }
    if (row.unless_given == 0.0) continue;  // nothing is given
    EXPECT_GE(row.unless_given, row.least) << row.key;
    EXPECT_LE(row.unless_given, row.most) << row.key;
  }
}

// FROSTLINE_WRITE_PAGES=1 writes the table into the page instead.
TEST(TrainingTable, IsThatOfTheReferencePage) {
  const std::string begin = "<!-- training table -->\n";
  const std::string end = "<!-- end of training table -->";
  std::string page = ReadPage();
  const std::size_t from = page.find(begin);
  const std::size_t to = page.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const std::size_t first = from + begin.size();
  if (std::getenv("FROSTLINE_WRITE_PAGES") != nullptr) {
    page.replace(first, to - first, TrainingTablePage());
    std::ofstream(PagePath()) << page;
    return;
  }
  EXPECT_EQ(page.substr(first, to - first), TrainingTablePage())
      << "write it: FROSTLINE_WRITE_PAGES=1 ctest -R base_plain";
}

constexpr char kFirst[] = R"({"sequence":1,"outcome":"OK")";
constexpr char kSecond[] = R"({"sequence":2,"outcome":"OK")";

// The sums are those of another program: Python's hashlib.
TEST(AuditChain, IsThatOfItsRule) {
  const std::string first = NextChain(FirstChain(), kFirst);
  EXPECT_EQ(first,
            "a9200032ceea5fbddbbbfe98e61611a7ea59c42bbd8b1c1478ef223ca130ae35");
  EXPECT_EQ(NextChain(first, kSecond),
            "8a3671e8fca1c3eff7cb5e0966c6d74f2d9fb28809cded7988152381d3a93ca5");
  EXPECT_EQ(ChainedLine(kFirst, first),
            std::string(kFirst) + ",\"chain_sha256\":\"" + first + "\"}");
}

TEST(AuditChain, AnotherTextOrAnotherPastIsAnotherSum) {
  const std::string first = NextChain(FirstChain(), kFirst);
  EXPECT_NE(NextChain(FirstChain(), kSecond), first);
  EXPECT_NE(NextChain(first, kFirst), first);
  std::string changed = first;
  changed.back() = changed.back() == '0' ? '1' : '0';
  EXPECT_NE(NextChain(changed, kSecond), NextChain(first, kSecond));
}

TEST(AuditChain, TakesALineApart) {
  const std::string chain = NextChain(FirstChain(), kFirst);
  const std::string line = ChainedLine(kFirst, chain);
  const auto parts = ReadChainedLine(line);
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->text, kFirst);
  EXPECT_EQ(parts->chain, chain);
}

TEST(AuditChain, RefusesWhatIsNoLineOfIt) {
  const std::string line = ChainedLine(kFirst, NextChain(FirstChain(), kFirst));
  for (const std::string& bad :
       {std::string(), std::string("{}"), line + " ", line.substr(1, 40),
        line.substr(0, line.size() - 1), std::string(kFirst) + "}",
        line.substr(line.size() - 83),
        ChainedLine(kFirst, std::string(64, 'X'))}) {
    EXPECT_FALSE(ReadChainedLine(bad).has_value()) << bad;
  }
}

TEST(AuditChain, FilesSortAsTheirEntries) {
  EXPECT_EQ(AuditFileName(1), "audit-000000000001.jsonl");
  EXPECT_EQ(AuditFileName(101), "audit-000000000101.jsonl");
  EXPECT_EQ(AuditFileName(123'456'789'012), "audit-123456789012.jsonl");
}

}  // namespace
}  // namespace frostline
