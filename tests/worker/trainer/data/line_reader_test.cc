// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/line_reader.h"

#include "tests/worker/trainer/data/data_fixture.h"
#include "worker/trainer/data/limits.h"

namespace frostline::trainer {
namespace {

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
