// SPDX-License-Identifier: Apache-2.0
#include "base/plain/training_table.h"

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

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

}  // namespace
}  // namespace frostline
