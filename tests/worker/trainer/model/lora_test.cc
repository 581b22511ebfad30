// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/lora.h"

#include <string>
#include <vector>

#include "base/plain/training_table.h"
#include "gmock/gmock.h"
#include "worker/trainer/model/parameters.h"

namespace frostline::trainer {
namespace {

using testing::HasSubstr;
using enum LoraPart;

ModelConfig LoraBert() {
  ModelConfig config;
  config.vocabulary = 140;
  config.hidden = 32;
  config.layers = 2;
  config.heads = 4;
  config.feed_forward = 64;
  config.positions = 64;
  config.types = 2;
  return config;
}

std::vector<ParameterSpec> Listed(const LoraSpec& lora) {
  ModelConfig config = LoraBert();
  config.lora = lora;
  return ParametersOf(config, HeadSpec{.task = Task::kSequence, .outputs = 2});
}

TEST(Lora, KnowsPartsByOurNamesAndByThoseOfTransformers) {
  EXPECT_EQ(LoraPartOf("query"), kQuery);
  EXPECT_EQ(LoraPartOf("q_lin"), kQuery);
  EXPECT_EQ(LoraPartOf("attention_output"), kAttentionOut);
  EXPECT_EQ(LoraPartOf("lin2"), kFeedForwardOut);
  EXPECT_EQ(LoraPartOf("Query"), std::nullopt);
  EXPECT_EQ(LoraPartOf("dense"), std::nullopt);  // which of three?
  EXPECT_EQ(LoraPartOf(""), std::nullopt);
  EXPECT_EQ(LoraPartNames(),
            "query, key, value, attention_out, ffn_in, ffn_out, qkv");
}

// The coordinator passes what stands there.
TEST(Lora, KnowsEveryWordThatAStudyMaySay) {
  for (const LoraWord& each : LoraWords()) {
    ASSERT_TRUE(LoraPartOf(each.word).has_value()) << each.word;
    EXPECT_EQ(NameOf(*LoraPartOf(each.word)), each.map);
  }
}

TEST(Lora, ARankIsAtMostAsLargeAsTheMap) {
  LoraSpec lora = {.rank = 32, .alpha = 1.0, .dropout = 0.0, .parts = {kKey}};
  EXPECT_TRUE(CheckLora(lora, 32, 64).ok());
  EXPECT_TRUE(CheckLora({}, 32, 64).ok());
  lora.rank = 33;
  EXPECT_EQ(CheckLora(lora, 32, 64).fault().kind, FaultKind::kMisuse);
  EXPECT_THAT(CheckLora(lora, 32, 64).fault().fix, HasSubstr("1 to 32"));
  lora = {.rank = 20, .alpha = 1.0, .dropout = 0.0, .parts = {kFeedForwardIn}};
  EXPECT_FALSE(CheckLora(lora, 32, 16).ok());  // wider than its feed forward
}

TEST(Lora, AdaptersStandBehindAllThatIsThereWithoutThem) {
  const std::vector<ParameterSpec> without = Listed({});
  const std::vector<ParameterSpec> with =
      Listed({.rank = 4,
              .alpha = 8.0,
              .dropout = 0.0,
              .parts = {kQuery, kFeedForwardIn}});
  ASSERT_EQ(with.size(), without.size() + 2 * 2 * 2);
  for (std::size_t i = 0; i < without.size(); ++i) {
    EXPECT_EQ(with[i].name, without[i].name);
    EXPECT_FALSE(with[i].adapts());
  }
  const ParameterSpec& b = with.back();
  EXPECT_EQ(b.name, "bert.encoder.layer.1.intermediate.dense.lora_B.weight");
  EXPECT_EQ(b.shape, (std::vector<std::int64_t>{64, 4}));
  EXPECT_EQ(b.part, Part::kFeedForward);
  EXPECT_EQ(b.layer, 1);
  EXPECT_TRUE(b.adapts() && b.decays());
  const ParameterSpec& a = with[with.size() - 2];
  EXPECT_EQ(a.shape, (std::vector<std::int64_t>{4, 32}));
}

}  // namespace
}  // namespace frostline::trainer
