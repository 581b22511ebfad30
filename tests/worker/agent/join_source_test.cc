// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "tls/private_file.h"
#include "worker/agent/options.h"

namespace frostline::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kToken = "frost_0123456789abcdef_" + std::string(64, 'a');
const std::string kLine = kToken + "@h:1#" + std::string(64, '0');

TEST(JoinSource, IsALineAFileOrStandardInput) {
  TempFolder folder;
  const std::string path = folder.File("line");
  ASSERT_OK(tls::WritePrivateFile(path, SecretString(kLine + "\n"), ""));
  for (const std::string& given : {kLine, path, std::string("-")}) {
    std::istringstream input(kLine + "\nmore\n");
    ASSERT_OK_AND_ASSIGN(const tls::JoinLine line,
                         ReadJoinLine(SecretString(given), input));
    EXPECT_EQ(line.token.Reveal(), kToken) << given;
  }
}

TEST(JoinSource, ReadsNoMoreOfStandardInputThanALine) {
  std::istringstream endless(std::string(1 << 20, 'x'));
  EXPECT_THAT(ReadJoinLine(SecretString("-"), endless),
              FailsAt(ErrorId::kRequestInvalid, "--join"));
  EXPECT_LT(endless.tellg(), 10'000);
}

TEST(JoinSource, SaysOfAFileWhatIsWrong) {
  std::istringstream none;
  EXPECT_THAT(ReadJoinLine(SecretString("/nowhere/line"), none),
              FailsAt(ErrorId::kTlsFile, "--join"));
  const auto typo = ReadJoinLine(SecretString("nowhere"), none);
  EXPECT_THAT(typo, FailsAt(ErrorId::kRequestInvalid, "--join"));
  EXPECT_THAT(DescribeError(typo.status()), Not(HasSubstr("nowhere")));
}

// The words of a command line, after they were wiped.
std::vector<std::string> Wiped(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  HideJoinLine(static_cast<int>(pointers.size()), pointers.data());
  return words;
}

TEST(JoinSource, WipesTheTokenAlone) {
  const std::string stars(kToken.size(), '*');
  const std::string shown = stars + kLine.substr(kToken.size());
  EXPECT_THAT(Wiped({"w", "--join", kLine, "--id", "a@b"}),
              ElementsAre("w", "--join", shown, "--id", "a@b"));
  EXPECT_THAT(Wiped({"w", "--join=" + kLine}),
              ElementsAre("w", "--join=" + shown));
  EXPECT_THAT(Wiped({"w", "--join", kToken}),
              ElementsAre("w", "--join", stars));
  EXPECT_THAT(Wiped({"w", "--join", "-"}), ElementsAre("w", "--join", "-"));
  EXPECT_THAT(Wiped({"w", "--join", "/a@b"}),
              ElementsAre("w", "--join", "/a@b"));
  EXPECT_THAT(Wiped({"w", "--join"}), ElementsAre("w", "--join"));
}

}  // namespace
}  // namespace frostline::agent
