// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/input_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "tests/worker/trainer/data/data_fixture.h"
#include "worker/trainer/data/limits.h"

namespace frostline::trainer {
namespace {

namespace fs = std::filesystem;

class DataRootTest : public ::testing::Test {
 protected:
  DataRootTest() {
    folder_.Write("root/sets/a.tsv", "inside");
    folder_.Write("secret", "outside");
  }
  DataRoot Root() { return DataRoot::Open(folder_.File("root")).value(); }
  std::string ReadBelow(const std::string& path) {
    Expected<InputFile> file = Root().OpenFile(path);
    if (!file.ok()) return file.fault().cause;
    return file.value().ReadAll(100).value();
  }

  DataFolder folder_;
};

TEST_F(DataRootTest, OpensBelowTheRoot) {
  EXPECT_EQ(ReadBelow("sets/a.tsv"), "inside");
  EXPECT_EQ(Root().OpenFileStepwise("./sets//a.tsv").value().ReadAll(9).value(),
            "inside");
}

TEST_F(DataRootTest, NoPathLeadsOut) {
  fs::create_symlink("../secret", folder_.File("root/link"));
  fs::create_symlink(folder_.File("secret"), folder_.File("root/absolute"));
  fs::create_directory_symlink("..", folder_.File("root/up"));
  for (const std::string path :
       {"../secret", "sets/../../secret", "link", "absolute", "up/secret", "",
        "sets/..", "/etc/hostname"}) {
    EXPECT_THAT(FaultOf(Root().OpenFile(path)),
                IsFault(FaultKind::kInconsistent, "leads out"))
        << path;
    EXPECT_THAT(FaultOf(Root().OpenFileStepwise(path)),
                IsFault(FaultKind::kInconsistent, "leads out"))
        << path;
  }
}

TEST_F(DataRootTest, ALinkThatStaysInsideIsFollowed) {
  fs::create_symlink("sets/a.tsv", folder_.File("root/inner"));
  const Expected<InputFile> file = Root().OpenFile("inner");
  // Kernels that cannot check refuse every link.
  EXPECT_TRUE(file.ok() || file.fault().kind == FaultKind::kInconsistent);
  EXPECT_FALSE(Root().OpenFileStepwise("inner").ok());
}

TEST_F(DataRootTest, OnlyFilesAreOpened) {
  EXPECT_THAT(FaultOf(Root().OpenFile("sets")),
              IsFault(FaultKind::kUnreadable, "not a regular file"));
  EXPECT_THAT(FaultOf(Root().OpenFile("sets/b.tsv")),
              IsFault(FaultKind::kUnreadable, "sets/b.tsv: No such file"));
  ASSERT_EQ(mkfifo(folder_.File("root/pipe").c_str(), 0600), 0);
  EXPECT_FALSE(Root().OpenFile("pipe").ok());  // and does not hang
  EXPECT_FALSE(InputFile::Open(folder_.File("root/pipe")).ok());
}

TEST_F(DataRootTest, ReadAllHasALimit) {
  Expected<InputFile> file = Root().OpenFile("sets/a.tsv");
  EXPECT_EQ(file.value().ReadAll(6).value(), "inside");
  EXPECT_THAT(FaultOf(file.value().ReadAll(5)),
              IsFault(FaultKind::kTooLarge, "more than 5 bytes"));
}

constexpr auto kAnotherSum =
    "0000000000000000000000000000000000000000000000000000000000000000";

TEST_F(DataRootTest, ASumIsComputedOnce) {
  VerifiedFiles files(Root());
  const std::string sum =
      Root().OpenFile("sets/a.tsv").value().Sha256().value();
  EXPECT_TRUE(files.Open("sets/a.tsv", sum).ok());
  EXPECT_EQ(files.Open("sets/a.tsv", sum).value().ReadAll(9).value(), "inside");
  EXPECT_EQ(files.sums_computed(), 1U);
}

TEST_F(DataRootTest, AFileThatChangedIsSummedAgain) {
  VerifiedFiles files(Root());
  const std::string sum =
      Root().OpenFile("sets/a.tsv").value().Sha256().value();
  EXPECT_TRUE(files.Open("sets/a.tsv", sum).ok());
  const std::string path = folder_.File("root/sets/a.tsv");
  const auto time = fs::last_write_time(path);
  const auto changed = [&] {
    struct stat info;
    EXPECT_EQ(stat(path.c_str(), &info), 0);
    return std::pair(info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
  };
  const auto before = changed();
  do {  // until the file system's clock has ticked
    folder_.Write("root/sets/a.tsv", "INSIDE");  // as long, and as old
    fs::last_write_time(path, time);
  } while (changed() == before);
  EXPECT_THAT(FaultOf(files.Open("sets/a.tsv", sum)),
              IsFault(FaultKind::kInconsistent, "sets/a.tsv: its SHA-256 is"));
}

TEST_F(DataRootTest, AnotherSumIsAFault) {
  VerifiedFiles files(Root());
  EXPECT_THAT(FaultOf(files.Open("sets/a.tsv", kAnotherSum)),
              IsFault(FaultKind::kInconsistent, kAnotherSum));
}

using ::testing::ElementsAre;
using namespace std::string_literals;

class LineReaderTest : public ::testing::Test {
 protected:
  std::vector<std::string> Lines(std::string_view bytes) {
    LineReader reader(folder_.Open(bytes));
    std::vector<std::string> lines;
    std::string_view line;
    while (true) {
      const Expected<bool> more = reader.Next(line);
      if (!more.ok()) fault_ = more.fault();
      if (!more.ok() || !more.value()) return lines;
      lines.emplace_back(line);
    }
  }

  DataFolder folder_;
  Fault fault_;
};

TEST_F(LineReaderTest, EndsLinesInEveryWay) {
  EXPECT_THAT(Lines("a\nb\r\n\nc"), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(Lines("a\n"), ElementsAre("a"));
  EXPECT_THAT(Lines(""), ElementsAre());
  EXPECT_THAT(Lines("a\rb\n"), ElementsAre("a\rb"));
}

TEST_F(LineReaderTest, PassesOverAByteOrderMark) {
  EXPECT_THAT(Lines("\xEF\xBB\xBFquality\n\xEF\xBB\xBFx"),
              ElementsAre("quality", "\xEF\xBB\xBFx"));
}

TEST_F(LineReaderTest, AMillionCharactersAreALine) {
  const std::string sentence(1'000'000, 'x');
  EXPECT_THAT(Lines("a\n" + sentence + "\nb"), ElementsAre("a", sentence, "b"));
}

TEST_F(LineReaderTest, TheLimitIsAMebibyte) {
  const std::string most(kMaxDataLineBytes, 'x');
  EXPECT_THAT(Lines(most + "\r\n" + most), ElementsAre(most, most));
  EXPECT_THAT(Lines("a\n" + most + "x\nb"), ElementsAre("a"));
  EXPECT_THAT(fault_, IsFault(FaultKind::kTooLarge, "file line 2: is longer"));
  Lines(std::string(3 * kMaxDataLineBytes, 'x'));
  EXPECT_THAT(fault_, IsFault(FaultKind::kTooLarge, "line 1: is longer"));
}

TEST_F(LineReaderTest, LinesCrossTheBordersOfChunks) {
  std::string bytes;
  std::vector<std::string> lines;
  for (int i = 0; i < 300; ++i) {
    lines.emplace_back(static_cast<std::size_t>(i * 67 % 20'011), 'a');
    bytes += lines.back() + "\n";
  }
  EXPECT_EQ(Lines(bytes), lines);
}

TEST_F(LineReaderTest, ANulIsAFault) {
  EXPECT_THAT(Lines("a\nb\0c\n"s), ElementsAre("a"));
  EXPECT_THAT(fault_, IsFault(FaultKind::kSyntax, "line 2: has a NUL"));
}

TEST_F(LineReaderTest, WhatIsNotUtf8IsAFault) {
  EXPECT_THAT(Lines("caf\xC3\xA9\ncaf\xE9\n"), ElementsAre("caf\xC3\xA9"));
  EXPECT_THAT(fault_,
              IsFault(FaultKind::kSyntax, "line 2: is not UTF-8 at byte 4"));
}

}  // namespace
}  // namespace frostline::trainer
