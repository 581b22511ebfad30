// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/score.h"

#include <cmath>

#include "tests/worker/trainer/text/text_fixture.h"
#include "worker/trainer/text/tokenizer_json.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;

TEST(ScoreOf, ReadsShortNumbersExactly) {
  EXPECT_EQ(ScoreOf("0"), 0.0);
  EXPECT_EQ(ScoreOf("-2.5"), -2.5);
  EXPECT_EQ(ScoreOf("1e2"), 100.0);
  EXPECT_EQ(ScoreOf("-12.5E-1"), -1.25);
  EXPECT_EQ(ScoreOf("-3.3034400939941406"), -3.3034400939941406);
  EXPECT_TRUE(std::signbit(ScoreOf("-0.0")));
}

TEST(ScoreOf, RoundsTwiceAsTheReferenceDoes) {
  EXPECT_EQ(ScoreOf("11.761319692818383"), 0x1.785cbb1dce955p+3);
  EXPECT_EQ(11.761319692818383, 0x1.785cbb1dce954p+3);  // the nearest
}

TEST(ScoreOf, DropsDigitsThatDoNotFit) {
  EXPECT_EQ(ScoreOf("1.00000000000000000000000000009"), 1.0);
  EXPECT_EQ(ScoreOf("123456789012345678901234567890"),
            12345678901234567890.0 * 1e10);
}

TEST(ScoreOf, StaysInBounds) {
  EXPECT_TRUE(std::isinf(ScoreOf("1e400")));
  EXPECT_EQ(ScoreOf("1e-400"), 0.0);
  EXPECT_EQ(ScoreOf("0e999999999999999999999"), 0.0);
  EXPECT_EQ(ScoreOf("1e-999999999999999999999"), 0.0);
}

// The sums of all orders are equal but for the last place; the reference gives
// these ids.
TEST(ScoreOf, DecidesBetweenEqualCuts) {
  const Tokenizer tokenizer =
      ReadTokenizerJson(R"({"pre_tokenizer": {"type": "Metaspace",
          "replacement": "\u2581"}, "model": {"type": "Unigram", "unk_id": 0,
          "vocab": [["<unk>", 0.0], ["\u2581", -1.0], ["a", -8.213750516360522],
                    ["aaa", -12.661555033058067]]}})")
          .value();
  Encoder encoder(tokenizer);
  const auto ids = [&encoder](std::size_t letters) {
    Encoding encoding;
    EXPECT_TRUE(encoder.Encode(std::string(letters, 'a'), {}, encoding).ok());
    return encoding.ids;
  };
  EXPECT_THAT(ids(4), ElementsAre(1, 2, 3));
  EXPECT_THAT(ids(7), ElementsAre(1, 3, 3, 2));
  EXPECT_THAT(ids(8), ElementsAre(1, 3, 3, 2, 2));
  EXPECT_THAT(ids(10), ElementsAre(1, 3, 3, 2, 3));
  EXPECT_THAT(ids(13), ElementsAre(1, 3, 3, 2, 3, 3));
}

}  // namespace
}  // namespace frostline::trainer
