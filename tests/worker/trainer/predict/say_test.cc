// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/predict/say.h"

#include <string>

#include "gmock/gmock.h"
#include "tests/worker/trainer/fixtures.h"

namespace frostline::trainer {
namespace {

using ::testing::ElementsAre;

// What transformers' generate() said after the recorded prompts, each alone.
class SayTest : public ::testing::TestWithParam<const char*> {
 protected:
  SayTest()
      : expected_(FixturePath("models/" + std::string(GetParam()) +
                              "/expected.json")),
        loaded_(LoadFixture("models/" + std::string(GetParam()))) {
    for (const JsonValue* at = expected_["prompts"].first; at != nullptr;
         at = at->next) {
      prompts_.push_back(IdsOfList(*at));
    }
  }

  static TokenIds IdsOfList(const JsonValue& list) {
    TokenIds ids;
    for (const double each : Numbers(list)) {
      ids.push_back(static_cast<std::int32_t>(each));
    }
    return ids;
  }

  // As recorded, without the token that ends it.
  std::vector<TokenIds> Recorded() const {
    std::vector<TokenIds> all;
    for (const JsonValue* at = expected_["spoken"].first; at != nullptr;
         at = at->next) {
      all.push_back(IdsOfList(*at));
      if (all.back().back() == kEnd) all.back().pop_back();
    }
    return all;
  }

  // Says twelve tokens at most after each prompt.
  TokenIds Alone(std::size_t i) const {
    return Say(loaded_.model, {prompts_[i]},
               {.ends = {kEnd},
                .longest = static_cast<std::int64_t>(prompts_[i].size()) + 11})
        .value()
        .front();
  }

  static constexpr std::int32_t kEnd = 2;

  JsonFixture expected_;
  LoadedModel loaded_;
  std::vector<TokenIds> prompts_;
};

TEST_P(SayTest, SaysWhatTransformersSays) {
  const std::vector<TokenIds> recorded = Recorded();
  ASSERT_EQ(recorded.size(), prompts_.size());
  for (std::size_t i = 0; i < prompts_.size(); ++i) {
    EXPECT_EQ(Alone(i), recorded[i]) << i;
  }
}

// Shorter prompts are padded, and their texts go on behind the padding.
TEST_P(SayTest, TextsOfOneBatchDoNotDisturbEachOther) {
  std::vector<std::span<const std::int32_t>> together(prompts_.begin(),
                                                      prompts_.end());
  const std::vector<TokenIds> said =
      Say(loaded_.model, together, {.ends = {kEnd}, .longest = 14}).value();
  for (std::size_t i = 0; i < prompts_.size(); ++i) {
    const TokenIds alone =
        Say(loaded_.model, {prompts_[i]}, {.ends = {kEnd}, .longest = 14})
            .value()
            .front();
    EXPECT_EQ(said[i], alone) << i;
    EXPECT_LE(said[i].size(), 15 - prompts_[i].size());
  }
}

TEST_P(SayTest, EndsAtAnyOfTheEnds) {
  const TokenIds first = Alone(0);
  const TokenIds said =
      Say(loaded_.model, {prompts_[0]}, {.ends = {first[2]}, .longest = 60})
          .value()
          .front();
  EXPECT_THAT(said, ElementsAre(first[0], first[1]));
}

INSTANTIATE_TEST_SUITE_P(Recorded, SayTest,
                         ::testing::Values("llama-lm", "qwen2-lm", "qwen3-lm"),
                         [](const auto& folder) {
                           return std::string(folder.param).substr(0, 5);
                         });

}  // namespace
}  // namespace frostline::trainer
