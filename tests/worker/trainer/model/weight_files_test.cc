// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/weight_files.h"

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "tests/support/temp_folder.h"
#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/safetensors_writer.h"
#include "worker/trainer/model/stored_names.h"

namespace frostline::trainer {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class WeightFilesOpen : public testing::Test {
 protected:
  void Shard(const std::string& file, const std::string& tensor) {
    const float value = 1.0F;
    ASSERT_TRUE(WriteSafetensors(folder_.File(file),
                                 {{tensor, Dtype::kF32, {}, &value}}, {})
                    .ok());
  }

  void Index(const std::string& weight_map) {
    std::ofstream(folder_.File("model.safetensors.index.json"))
        << R"({"metadata": {}, "weight_map": )" << weight_map << "}";
  }

  Expected<WeightFiles> Open() {
    return WeightFiles::Open(folder_.path().string());
  }

  TempFolder folder_;
};

TEST_F(WeightFilesOpen, TakesTheSingleFile) {
  Shard("model.safetensors", "a");
  ASSERT_TRUE(Open().ok());
  EXPECT_THAT(Open().value().places(), SizeIs(1));
}

TEST_F(WeightFilesOpen, JoinsShards) {
  Shard("m-1.safetensors", "a");
  Shard("m-2.safetensors", "b");
  Index(R"({"a": "m-1.safetensors", "b": "m-2.safetensors"})");
  const Expected<WeightFiles> files = Open();
  ASSERT_TRUE(files.ok()) << files.fault().cause;
  const WeightFiles::Place& b = files.value().places().at("b");
  EXPECT_EQ(b.tensor->name, "b");
  EXPECT_THAT(files.value().file(b).path(), HasSubstr("m-2"));
}

TEST_F(WeightFilesOpen, RefusesAnIndexThatIsNotTrue) {
  Shard("m-1.safetensors", "a");
  Index(R"({"a": "m-1.safetensors", "b": "m-1.safetensors"})");
  EXPECT_EQ(Open().fault().kind, FaultKind::kInconsistent);
  Index(R"({"b": "m-1.safetensors"})");
  EXPECT_EQ(Open().fault().kind, FaultKind::kInconsistent);
  Index(R"({"a": "m-9.safetensors"})");
  EXPECT_EQ(Open().fault().kind, FaultKind::kUnreadable);
}

TEST_F(WeightFilesOpen, RefusesATensorInTwoShards) {
  Shard("m-1.safetensors", "a");
  Shard("m-2.safetensors", "a");
  Index(R"({"a": "m-1.safetensors"})");
  EXPECT_TRUE(Open().ok());  // a file that the index does not name is nothing
  Index(R"({"a": "m-1.safetensors", "b": "m-2.safetensors"})");
  EXPECT_EQ(Open().fault().kind, FaultKind::kInconsistent);
}

TEST_F(WeightFilesOpen, RefusesAnIndexThatLeadsElsewhere) {
  for (const char* file : {"../x.safetensors", "/x.safetensors",
                           ".x.safetensors", "x.bin", "", "a/b.safetensors"}) {
    Index(std::string(R"({"a": ")") + file + "\"}");
    EXPECT_EQ(Open().fault().kind, FaultKind::kInconsistent) << file;
  }
}

TEST_F(WeightFilesOpen, RefusesAPickleAndSaysHowToConvertIt) {
  std::ofstream(folder_.File("pytorch_model.bin")) << "x";
  const Expected<WeightFiles> files = Open();
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.fault().kind, FaultKind::kUnsupported);
  EXPECT_THAT(files.fault().fix, HasSubstr("weights_only=True"));
  EXPECT_THAT(files.fault().fix, HasSubstr("model.safetensors"));
}

TEST_F(WeightFilesOpen, SaysWhatIsMissing) {
  EXPECT_EQ(Open().fault().kind, FaultKind::kUnreadable);
}

TEST(CurrentName, KnowsTheOldNames) {
  const ModelConfig bert;
  EXPECT_EQ(CurrentName("embeddings.LayerNorm.gamma", bert),
            "bert.embeddings.LayerNorm.weight");
  EXPECT_EQ(CurrentName("bert.encoder.layer.1.output.LayerNorm.beta", bert),
            "bert.encoder.layer.1.output.LayerNorm.bias");
  EXPECT_EQ(CurrentName("cls.gamma", bert), "cls.gamma");
  EXPECT_TRUE(IsLeftover("cls.predictions.bias", bert));
  EXPECT_TRUE(IsLeftover("bert.embeddings.position_ids", bert));
  EXPECT_FALSE(IsLeftover("bert.encoder.layer.9.output.dense.bias", bert));
}

}  // namespace
}  // namespace frostline::trainer
