// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/model_config.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/plain/json.h"
#include "base/plain/training_table.h"
#include "gmock/gmock.h"
#include "worker/trainer/model/exported_config.h"
#include "worker/trainer/model/family.h"
#include "worker/trainer/model/parameters.h"

namespace frostline::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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
            "query, key, value, attention_out, ffn_in, ffn_out, ffn_gate, qkv");
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

TEST(Lora, RanksAreOfModulesAndTheFinerOneDecides) {
  const LoraSpec lora = {
      .ranks = {{"layer.0", 0}, {"layer.1", 8}, {"layer.2.ffn", 4}},
      .parts = {kQuery, kFeedForwardIn}};
  EXPECT_EQ(lora.RankOf(kQuery, 0), 0);
  EXPECT_EQ(lora.RankOf(kQuery, 1), 8);
  EXPECT_EQ(lora.RankOf(kValue, 1), 0);
  EXPECT_EQ(lora.RankOf(kQuery, 2), 0);
  EXPECT_EQ(lora.RankOf(kFeedForwardIn, 2), 4);
  EXPECT_EQ(lora.RankOf(kQuery, 3), 0);
  EXPECT_EQ(lora.ScaleOf(8), 1.0);
  EXPECT_EQ((LoraSpec{.alpha = 16}.ScaleOf(8)), 2.0);
  EXPECT_EQ((LoraSpec{.alpha_per_rank = 2}.ScaleOf(8)), 2.0);
}

TEST(Lora, ARankOfAModuleIsAtMostAsLargeAsItsMapsAndHasOne) {
  LoraSpec lora = {.ranks = {{"layer.1", 33}}, .parts = {kKey}};
  EXPECT_THAT(CheckLora(lora, 32, 64).fault().cause,
              HasSubstr("the rank of layer.1 is 33"));
  lora.ranks = {{"layer.1", 32}, {"layer.2.ffn", 0}};
  EXPECT_TRUE(CheckLora(lora, 32, 64).ok());
  lora.ranks = {{"layer.2.ffn", 4}};
  EXPECT_THAT(CheckLora(lora, 32, 64).fault().cause,
              HasSubstr("training.lora.modules names none of its maps"));
  lora.parts = {kFeedForwardOut};
  EXPECT_TRUE(CheckLora(lora, 32, 64).ok());
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

ExportedFacts Facts(const std::string& json) {
  const Expected<ExportedFacts> facts = ReadExportedFacts(json);
  EXPECT_TRUE(facts.ok()) << facts.fault().cause;
  return facts.ok() ? facts.value() : ExportedFacts();
}

TEST(ReadExportedFacts, KnowsWhatAHeadAnswers) {
  const ExportedFacts words = Facts(
      R"({"architectures": ["BertForTokenClassification"],
          "id2label": {"1": "b", "0": "a"}})");
  EXPECT_EQ(words.task, Task::kTokens);
  EXPECT_THAT(words.labels, ElementsAre("a", "b"));
  const ExportedFacts texts =
      Facts(R"({"architectures": ["XForSequenceClassification"]})");
  EXPECT_EQ(texts.task, Task::kSequence);
  EXPECT_THAT(texts.labels, ElementsAre("LABEL_0", "LABEL_1"));
  const ExportedFacts numbers = Facts(
      R"({"architectures": ["XForSequenceClassification"],
          "problem_type": "regression", "id2label": {"0": "LABEL_0"}})");
  EXPECT_EQ(numbers.task, Task::kRegression);
  EXPECT_THAT(numbers.labels, IsEmpty());
}

TEST(ReadExportedFacts, KnowsHowTextsWereRead) {
  const TextReading reading = {
      .max_length = 64, .lowercase = true, .strip_accents = false};
  const ExportedFacts facts =
      Facts(R"({"architectures": ["XForTokenClassification"])" +
            TextsMember(reading) + "}");
  EXPECT_EQ(facts.texts.max_length, 64);
  EXPECT_TRUE(facts.texts.lowercase);
  EXPECT_FALSE(facts.texts.strip_accents);
  EXPECT_EQ(TextsMember({}), "");
}

TEST(ReadExportedFacts, RefusesWhatAnswersNothing) {
  EXPECT_EQ(
      ReadExportedFacts(R"({"architectures": ["BertModel"]})").fault().kind,
      FaultKind::kUnsupported);
  EXPECT_EQ(ReadExportedFacts("{}").fault().kind, FaultKind::kUnsupported);
  EXPECT_EQ(
      ReadExportedFacts(R"({"architectures": ["BertForTokenClassification"],
                            "id2label": {"0": "a", "7": "b"}})")
          .fault()
          .kind,
      FaultKind::kInconsistent);
  EXPECT_THAT(
      ReadExportedFacts(R"({"architectures": ["BertForTokenClassification"],
                            "frostline_texts": {"max_length": -1}})")
          .fault()
          .cause,
      HasSubstr("max_length"));
}

TEST(ReadModelConfig, TakesSavedAdaptersWhereTheyAreWanted) {
  const std::string json =
      R"({"model_type": "bert", "vocab_size": 140, "hidden_size": 32,
          "num_hidden_layers": 2, "num_attention_heads": 4,
          "intermediate_size": 64, "type_vocab_size": 2,
          "max_position_embeddings": 64, "frostline_adapters": )";
  EXPECT_EQ(ReadModelConfig(json + R"({"size": 8}})").fault().kind,
            FaultKind::kUnsupported);
  const Expected<ModelConfig> taken = ReadModelConfig(
      json + R"({"size": 8, "activation": "relu"}})", SavedAdapters::kTake);
  ASSERT_TRUE(taken.ok()) << taken.fault().cause;
  EXPECT_EQ(taken.value().bottleneck.size, 8);
  EXPECT_TRUE(taken.value().bottleneck.relu);
  for (const std::string wrong :
       {R"({"size": 33}})", R"({"activation": "gelu"}})", "3}"}) {
    EXPECT_FALSE(ReadModelConfig(json + wrong, SavedAdapters::kTake).ok())
        << wrong;
  }
}

// What a family's config.json may say, and what follows for its weights.

// The members that all but DistilBERT name alike, then others.
Expected<ModelConfig> Read(const std::string& model_type,
                           const std::string& more = "") {
  return ReadModelConfig(R"({"model_type": ")" + model_type +
                         R"(", "hidden_size": 32, "num_hidden_layers": 3,
      "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 140,
      "max_position_embeddings": 64)" +
                         (more.empty() ? "" : ", " + more) + "}");
}

const std::string kDeberta =
    R"("relative_attention": true, "share_att_key": true,
       "pos_att_type": "p2c|c2p", "position_biased_input": false,
       "norm_rel_ebd": "layer_norm", "max_relative_positions": -1)";

std::string CauseOf(const Expected<ModelConfig>& config, FaultKind kind) {
  EXPECT_FALSE(config.ok());
  if (config.ok()) return "";
  EXPECT_EQ(config.fault().kind, kind) << config.fault().cause;
  return config.fault().cause;
}

std::set<std::string> Names(const ModelConfig& config, const HeadSpec& head) {
  std::set<std::string> names;
  for (const ParameterSpec& spec : ParametersOf(config, head)) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
  }
  return names;
}

TEST(Electra, HasAMapWhereItsTablesAreNarrower) {
  const std::string types = R"("type_vocab_size": 2)";
  const ModelConfig narrow = Read("electra", types).value();
  EXPECT_EQ(narrow.table_width(), 128);
  EXPECT_TRUE(Names(narrow, {}).contains("electra.embeddings_project.bias"));
  const ModelConfig wide =
      Read("electra", types + R"(, "embedding_size": 32)").value();
  EXPECT_FALSE(Names(wide, {}).contains("electra.embeddings_project.bias"));
}

TEST(ModernBert, ReadsTheSettingsOfTodayAndOfBefore) {
  const std::string pad = R"("pad_token_id": 0, )";
  const ModelConfig before =
      Read("modernbert", pad + R"("global_attn_every_n_layers": 2,
           "global_rope_theta": 5000.0, "local_attention": 10)")
          .value();
  EXPECT_EQ(before.local_layers, (std::vector<bool>{false, true, false}));
  EXPECT_EQ(before.window, 5);
  EXPECT_EQ(before.theta, 5000.0);
  EXPECT_EQ(before.local_theta, 10'000.0);
  const ModelConfig today =
      Read("modernbert", pad + R"("layer_types": ["sliding_attention",
           "full_attention", "full_attention"], "rope_parameters":
           {"full_attention": {"rope_type": "default", "rope_theta": 700.0}},
           "classifier_pooling": "mean")")
          .value();
  EXPECT_EQ(today.local_layers, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(today.theta, 700.0);
  EXPECT_FALSE(ReadsFirstToken(today, HeadSpec{}));
}

TEST(ModernBert, RefusesWhatIsNotPublished) {
  for (const char* member :
       {R"("mlp_bias": true)", R"("norm_bias": true)",
        R"("rope_parameters": {"full_attention": {"rope_type": "yarn"}})",
        R"("rope_scaling": {"factor": 2.0})",
        R"("layer_types": ["full_attention", "full_attention", "mamba"])",
        R"("classifier_pooling": "max")"}) {
    CauseOf(Read("modernbert", R"("pad_token_id": 0, )" + std::string(member)),
            FaultKind::kUnsupported);
  }
  EXPECT_THAT(CauseOf(Read("modernbert", R"("pad_token_id": 0,
                           "layer_types": ["full_attention"])"),
                      FaultKind::kInconsistent),
              HasSubstr("layer_types"));
}

// One map has the three, so that adapters are of all of them.
TEST(ModernBert, HasNoAdaptersOfQueryAlone) {
  ModelConfig config = Read("modernbert", R"("pad_token_id": 0)").value();
  config.lora.rank = 4;
  const Expected<Done> refused = CheckAdapters(config);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.fault().cause, HasSubstr("query"));
  EXPECT_THAT(refused.fault().fix, HasSubstr("qkv, attention_out, ffn_in"));
  config.lora.parts = {LoraPart::kQueryKeyValue};
  EXPECT_TRUE(CheckAdapters(config).ok());
  EXPECT_TRUE(
      Names(config, {}).contains(LoraBNameOf("model.layers.2.attn.Wqkv")));
}

TEST(Llama, IsReadAsItsModelTypeHasIt) {
  const ModelConfig llama =
      Read("llama", R"("num_key_value_heads": 2, "rope_scaling":
           {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 8192},
           "rope_theta": 500000.0, "hidden_act": "silu")")
          .value();
  EXPECT_TRUE(llama.decoder && llama.shares_heads() && !llama.qkv_bias);
  EXPECT_EQ(llama.theta, 500'000.0);
  EXPECT_EQ(llama.rotary_scaling.factor, 32.0);
  EXPECT_EQ(llama.rotary_scaling.pretrained_positions, 8192);
  EXPECT_FALSE(llama.pads_alone);
  const RotaryScaling yarn =
      Read("qwen2", R"("hidden_act": "silu", "rope_scaling":
           {"type": "yarn", "factor": 4.0,
            "original_max_position_embeddings": 32768})")
          .value()
          .rotary_scaling;
  EXPECT_EQ(yarn.kind, RotaryScaling::Kind::kYarn);
  EXPECT_EQ(yarn.high_frequency, 32.0);
  EXPECT_NEAR(yarn.attention, 0.1 * std::log(4.0) + 1.0, 1e-12);
  EXPECT_EQ(PoolingOf(llama, HeadSpec{}), Pooling::kLast);
  const std::string silu = R"("hidden_act": "silu")";
  EXPECT_TRUE(Read("qwen2", silu).value().qkv_bias);
  const ModelConfig qwen3 = Read("qwen3", silu + R"(, "head_dim": 10)").value();
  EXPECT_TRUE(qwen3.head_norms);
  EXPECT_EQ(qwen3.head_size(), 10);
}

TEST(Llama, RefusesWhatWouldBeComputedWrongly) {
  for (const char* member :
       {R"("use_sliding_window": true)", R"("attention_bias": true)",
        R"("mlp_bias": true)", R"("rope_scaling": {"type": "linear"})",
        R"("rope_parameters": {"rope_type": "dynamic", "factor": 2.0})",
        R"("rope_scaling": {"type": "yarn", "factor": 4.0, "mscale": 1.0,
           "original_max_position_embeddings": 32})",
        R"("rope_scaling": {"type": "yarn", "factor": 4.0, "truncate": false,
           "original_max_position_embeddings": 32})",
        R"("attn_logit_softcapping": 50.0)",
        R"("final_logit_softcapping": 30.0)",
        R"("layer_types": ["full_attention", "sliding_attention"])",
        R"("quantization_config": {"bits": 4})"}) {
    CauseOf(Read("qwen2", R"("hidden_act": "silu", )" + std::string(member)),
            FaultKind::kUnsupported);
  }
  CauseOf(Read("qwen2", R"("hidden_act": "silu", "rope_scaling":
                            {"type": "yarn",
                             "original_max_position_embeddings": 32})"),
          FaultKind::kInconsistent);
  EXPECT_THAT(CauseOf(Read("llama", R"("num_key_value_heads": 3)"),
                      FaultKind::kInconsistent),
              HasSubstr("num_key_value_heads"));
  const Expected<ModelConfig> mistral = Read("mistral");
  ASSERT_FALSE(mistral.ok());
  EXPECT_THAT(mistral.fault().fix, HasSubstr("your-trainer.md"));
}

TEST(Deberta, HasADistanceForEachSideOfEachBucket) {
  const ModelConfig plain = Read("deberta-v2", kDeberta).value();
  EXPECT_EQ(plain.span(), 64);
  const ModelConfig shared =
      Read("deberta-v2", kDeberta + R"(, "position_buckets": 8)").value();
  EXPECT_EQ(shared.span(), 8);
  EXPECT_EQ(shared.farthest, 64);
  EXPECT_TRUE(HasPooler(shared, HeadSpec{}));
  EXPECT_TRUE(Names(shared, HeadSpec{}).contains("pooler.dense.weight"));
}

TEST(Deberta, RefusesWhatIsNotOfVersionThree) {
  EXPECT_THAT(CauseOf(Read("deberta-v2"), FaultKind::kUnsupported),
              HasSubstr("DeBERTa-v3"));
  for (const char* member :
       {R"("conv_kernel_size": 3)", R"("type_vocab_size": 2)",
        R"("embedding_size": 16)", R"("position_buckets": 200)",
        R"("hidden_act": "swish")"}) {
    CauseOf(Read("deberta-v2", kDeberta + ", " + member),
            FaultKind::kUnsupported);
  }
}

}  // namespace
}  // namespace frostline::trainer
