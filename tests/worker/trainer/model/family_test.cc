// SPDX-License-Identifier: Apache-2.0
//
// What a family's config.json may say, and what follows for its weights.
#include "worker/trainer/model/family.h"

#include <set>
#include <string>

#include "gmock/gmock.h"

namespace frostline::trainer {
namespace {

using testing::HasSubstr;

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
