// SPDX-License-Identifier: Apache-2.0
#include "cli/term/text_file.h"

#include <fstream>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

TEST(TextFile, ReadsOneByteMoreThanAllowedAndNoMore) {
  const TempFolder folder;
  std::ofstream(folder.File("a")) << "0123456789";
  ASSERT_OK_AND_ASSIGN(const std::string whole,
                       ReadTextFile(folder.File("a"), 10));
  ASSERT_OK_AND_ASSIGN(const std::string cut,
                       ReadTextFile(folder.File("a"), 4));
  EXPECT_EQ(whole, "0123456789");
  EXPECT_EQ(cut, "01234");
  ASSERT_OK_AND_ASSIGN(const std::string endless, ReadTextFile("/dev/zero", 4));
  EXPECT_EQ(endless.size(), 5u);
}

TEST(TextFile, AFullDiskIsTheDisksErrorAndAFolderTheCallers) {
  const TempFolder folder;
  const absl::Status full = WriteTextFile("/dev/full", "text");
  EXPECT_THAT(full, FailsWith(ErrorId::kStoreFull));
  EXPECT_NE(full.message().find("No space left"), std::string::npos) << full;
  for (const std::string& path :
       {folder.path().string(), folder.File("none/a")}) {
    EXPECT_THAT(WriteTextFile(path, "text"),
                FailsWith(ErrorId::kRequestInvalid));
  }
}

TEST(TextFile, GivesTheLastLines) {
  const TempFolder folder;
  std::ofstream(folder.File("log")) << "a\nb\nc\n";
  EXPECT_EQ(LastLines(folder.File("log"), 2), "b\nc");
  EXPECT_EQ(LastLines(folder.File("log"), 9), "a\nb\nc");
  EXPECT_EQ(LastLines(folder.File("none"), 2), "");
}

TEST(TextFile, GivesTheLastLinesOfAVeryLongFile) {
  const TempFolder folder;
  std::ofstream(folder.File("log"))
      << std::string(200'000, 'x') << "\nlast words\n";
  EXPECT_EQ(LastLines(folder.File("log"), 1), "last words");
}

}  // namespace
}  // namespace frostline::cli
