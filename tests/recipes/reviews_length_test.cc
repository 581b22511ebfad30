// SPDX-License-Identifier: Apache-2.0
//
// How long the demo's reviews are, in pieces of the model's own vocabulary.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "cli/demo/demo_registry.h"
#include "gtest/gtest.h"
#include "worker/trainer/text/tokenizer.h"
#include "worker/trainer/text/tokenizer_json.h"

namespace frostline::test {
namespace {

constexpr std::size_t kMostPieces = 16;

TEST(Reviews, HaveSixteenWordPiecesAtMost) {
  const auto model = cli::FindDemoModel("");
  if (!model.ok()) GTEST_SKIP() << model.status().message();
  std::ifstream file(std::filesystem::path(*model) / "tokenizer.json");
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const Expected<trainer::Tokenizer> tokenizer =
      trainer::ReadTokenizerJson(bytes.str());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.fault().cause;
  trainer::Encoder encoder(tokenizer.value());
  trainer::Encoding encoding;
  std::istringstream lines(std::string(cli::kDemoTrain) + cli::kDemoValidation);
  for (std::string line; std::getline(lines, line);) {
    const std::string text = line.substr(0, line.find('\t'));
    ASSERT_TRUE(
        encoder.Encode(text, {.add_special_tokens = false}, encoding).ok());
    EXPECT_LE(encoding.size(), kMostPieces) << text;
  }
}

}  // namespace
}  // namespace frostline::test
