// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/model_config.h"

#include <string>

#include "base/plain/json.h"
#include "gmock/gmock.h"
#include "worker/trainer/model/parameters.h"

namespace frostline::trainer {
namespace {

using testing::HasSubstr;

// A BERT with one member added or replaced at its end.
std::string Bert(const std::string& member = "") {
  return R"({"hidden_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 4, "intermediate_size": 64, "type_vocab_size": 2,
    "max_position_embeddings": 64)" +
         (member.find("vocab_size\"") == std::string::npos
              ? std::string(R"(, "vocab_size": 140)")
              : "") +
         (member.find("model_type") == std::string::npos
              ? std::string(R"(, "model_type": "bert")")
              : "") +
         (member.empty() ? "" : ", " + member) + "}";
}

FaultKind FaultOf(const std::string& json) {
  const Expected<ModelConfig> config = ReadModelConfig(json);
  EXPECT_FALSE(config.ok()) << json;
  return config.ok() ? FaultKind::kMisuse : config.fault().kind;
}

TEST(ReadModelConfig, FillsInTheDefaultsOfBert) {
  const Expected<ModelConfig> config = ReadModelConfig(Bert());
  ASSERT_TRUE(config.ok()) << config.fault().cause;
  EXPECT_EQ(config.value().norm_epsilon, 1e-12);
  EXPECT_EQ(config.value().hidden_dropout, 0.1);
  EXPECT_EQ(config.value().pad_id, 0);
  EXPECT_EQ(config.value().longest_text(), 64);
}

TEST(ReadModelConfig, TakesTheHeadsDropoutFromTheHiddenOne) {
  const std::string hidden = R"("hidden_dropout_prob": 0.3)";
  EXPECT_EQ(ReadModelConfig(Bert(hidden)).value().sequence_dropout, 0.3);
  const std::string null = hidden + R"(, "classifier_dropout": null)";
  EXPECT_EQ(ReadModelConfig(Bert(null)).value().sequence_dropout, 0.3);
  const std::string own = hidden + R"(, "classifier_dropout": 0.0)";
  EXPECT_EQ(ReadModelConfig(Bert(own)).value().sequence_dropout, 0.0);
}

TEST(ReadModelConfig, CountsRobertasPositionsFromBehindThePadding) {
  const Expected<ModelConfig> config =
      ReadModelConfig(Bert(R"("model_type": "roberta", "pad_token_id": 1)"));
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config.value().first_position(), 2);
  EXPECT_EQ(config.value().longest_text(), 62);
}

TEST(ReadModelConfig, KnowsDistilBertsWords) {
  const Expected<ModelConfig> config = ReadModelConfig(
      R"({"model_type": "distilbert", "dim": 32, "n_layers": 3, "n_heads": 4,
          "hidden_dim": 64, "vocab_size": 9, "max_position_embeddings": 8})");
  ASSERT_TRUE(config.ok()) << config.fault().cause;
  EXPECT_EQ(config.value().types, 0);
  EXPECT_EQ(config.value().sequence_dropout, 0.2);
  EXPECT_EQ(config.value().token_dropout, 0.1);
}

TEST(ReadModelConfig, ReadsTheNamesOfTheClasses) {
  const Expected<ModelConfig> config =
      ReadModelConfig(Bert(R"("id2label": {"1": "pos", "0": "neg"})"));
  EXPECT_THAT(config.value().labels, testing::ElementsAre("neg", "pos"));
}

TEST(ReadModelConfig, RefusesWhatItDoesNotImitate) {
  for (const char* member :
       {R"("model_type": "gpt2")", R"("hidden_act": "swish")",
        R"("position_embedding_type": "relative_key")",
        R"("is_decoder": true)"}) {
    EXPECT_EQ(FaultOf(Bert(member)), FaultKind::kUnsupported) << member;
  }
  EXPECT_THAT(ReadModelConfig(Bert(R"("hidden_act": "swish")")).fault().cause,
              HasSubstr("\"swish\""));
}

TEST(ReadModelConfig, RefusesNumbersThatMakeNoModel) {
  for (const char* member :
       {R"("vocab_size": 0)", R"("vocab_size": 1.5)", R"("vocab_size": -3)",
        R"("vocab_size": "140")", R"("vocab_size": 1e12)",
        R"("hidden_dropout_prob": 1.0)", R"("layer_norm_eps": -1)",
        R"("pad_token_id": 140)"}) {
    EXPECT_EQ(FaultOf(Bert(member)), FaultKind::kInconsistent) << member;
  }
  EXPECT_EQ(FaultOf("{"), FaultKind::kSyntax);
  EXPECT_EQ(FaultOf("[]"), FaultKind::kUnsupported);
}

TEST(ParametersOf, ListsEachNameOnceAndTheHeadLast) {
  const ModelConfig config = ReadModelConfig(Bert()).value();
  const std::vector<ParameterSpec> specs =
      ParametersOf(config, HeadSpec{.task = Task::kSequence, .outputs = 2});
  EXPECT_EQ(specs.size(), 5U + 2 * 16 + 4);
  EXPECT_EQ(specs.front().name, "bert.embeddings.word_embeddings.weight");
  EXPECT_EQ(specs.back().name, "classifier.bias");
  EXPECT_FALSE(specs.back().decays());
}

TEST(CheckHead, RefusesARegressionWithTwoOutputs) {
  EXPECT_FALSE(CheckHead({.task = Task::kRegression, .outputs = 2}).ok());
  EXPECT_FALSE(CheckHead({.task = Task::kTokens, .outputs = 0}).ok());
}

TEST(JsonText, WritesWhatItRead) {
  const std::string text =
      R"({"a": [1, 2.50, null, true], "b\n": "c\"\\\u0001"})";
  EXPECT_EQ(JsonText(Json::Parse(text).value().root()),
            R"({"a": [1, 2.50, null, true], "b\u000a": "c\"\\\u0001"})");
  EXPECT_EQ(JsonNumber(0.1), "0.1");
}

}  // namespace
}  // namespace frostline::trainer
