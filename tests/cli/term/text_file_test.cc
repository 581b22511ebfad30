// SPDX-License-Identifier: Apache-2.0
#include "cli/term/text_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Write(const std::string& path, const std::string& text) {
  ASSERT_OK_AND_ASSIGN(const auto file, OutputFile::Open(path));
  ASSERT_OK(file->Append(text));
  ASSERT_OK(file->Commit());
}

TEST(OutputFile, IsThereOnceItIsWhole) {
  const TempFolder folder;
  const std::string path = folder.File("a");
  {
    ASSERT_OK_AND_ASSIGN(const auto file, OutputFile::Open(path));
    ASSERT_OK(file->Append("half"));
  }
  EXPECT_FALSE(fs::exists(path));
  Write(path, "whole");
  EXPECT_EQ(TextOf(path), "whole");
  EXPECT_THAT(OutputFile::Open(folder.File("no/where")),
              FailsWith(ErrorId::kRequestInvalid));
}

TEST(OutputFile, LeavesALinkALink) {
  const TempFolder folder;
  fs::create_directory(folder.File("far"));
  fs::create_symlink("far/b", folder.File("a"));  // to nothing yet
  for (const char* const text : {"first", "second"}) {
    Write(folder.File("a"), text);
    EXPECT_TRUE(fs::is_symlink(folder.File("a")));
    EXPECT_EQ(TextOf(folder.File("far/b")), text);
  }
}

TEST(OutputFile, WritesIntoWhatIsNoFile) {
  const TempFolder folder;
  const std::string pipe = folder.File("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = TextOf(pipe); });
  Write(pipe, "text");
  reader.join();
  EXPECT_EQ(read, "text");
  EXPECT_TRUE(fs::is_fifo(pipe));
  Write("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(OutputFile, AFullDiskIsTheDisksError) {
  ASSERT_OK_AND_ASSIGN(const auto file, OutputFile::Open("/dev/full"));
  EXPECT_THAT(file->Append("text"), FailsWith(ErrorId::kStoreFull));
}

TEST(OutputFile, ANameTellsTheFormat) {
  EXPECT_EQ(FormatOfEnding("a/b.svg"), "svg");
  EXPECT_EQ(FormatOfEnding("B.CSV"), "csv");
  EXPECT_EQ(FormatOfEnding("b.json"), "json");
  EXPECT_EQ(FormatOfEnding("b.jsonl"), "jsonl");
  EXPECT_EQ(FormatOfEnding("b.yml"), "yaml");
  for (const char* const none : {"", "-", "b", "b.txt", "svg", "b.svg/c"}) {
    EXPECT_EQ(FormatOfEnding(none), "") << none;
  }
}

TEST(OutputFile, ReplacesFilesByForceAlone) {
  const TempFolder folder;
  const std::string path = folder.File("a");
  EXPECT_OK(CheckMayReplace(path, false));
  Write(path, "text");
  EXPECT_THAT(CheckMayReplace(path, false),
              FailsWith(ErrorId::kRequestInvalid));
  EXPECT_OK(CheckMayReplace(path, true));
  for (const char* const free : {"", "-", "/dev/stdout", "/dev/null"}) {
    EXPECT_OK(CheckMayReplace(free, false)) << free;
  }
}

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
