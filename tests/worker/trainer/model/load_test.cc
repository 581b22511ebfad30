// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/model/safetensors.h"

namespace frostline::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A copy of the recorded bert-seq2 that a test may spoil.
class LoadModelFrom : public testing::Test {
 protected:
  LoadModelFrom()
      : tensors_(
            ReadTensors(FixturePath("models/bert-seq2/model.safetensors"))),
        config_(
            ReadWholeFile(FixturePath("models/bert-seq2/config.json"), 1 << 20)
                .value()) {}

  void Rename(const std::function<std::string(std::string)>& rename) {
    Tensors renamed;
    for (const auto& [name, value] : tensors_) renamed[rename(name)] = value;
    tensors_ = renamed;
  }

  void Replace(const std::string& from, const std::string& to) {
    config_.replace(config_.find(from), from.size(), to);
  }

  Expected<LoadedModel> Load(const HeadSpec& head = HeadOf("-seq2")) {
    std::vector<TensorBytes> bytes;
    for (const auto& [name, value] : tensors_) {
      bytes.push_back(
          {name, Dtype::kF32, value.sizes().vec(), value.const_data_ptr()});
    }
    EXPECT_TRUE(
        WriteSafetensors(folder_.File("model.safetensors"), bytes, {}).ok());
    std::ofstream(folder_.File("config.json")) << config_;
    return LoadModel(folder_.path().string(), head, 7);
  }

  TempFolder folder_;
  Tensors tensors_;
  std::string config_;
};

std::string WithoutPrefix(std::string name) {
  return name.starts_with("bert.") ? name.substr(5) : name;
}

std::string WithGammaAndBeta(std::string name) {
  if (name.ends_with("LayerNorm.weight")) {
    return name.substr(0, name.size() - 6) + "gamma";
  }
  if (name.ends_with("LayerNorm.bias")) {
    return name.substr(0, name.size() - 4) + "beta";
  }
  return name;
}

TEST_F(LoadModelFrom, OldNamesWithoutPrefixGivesTheSameModel) {
  const Tensors before = tensors_;
  Rename(WithoutPrefix);
  Rename(WithGammaAndBeta);
  ASSERT_TRUE(tensors_.contains("embeddings.LayerNorm.gamma"));
  const Expected<LoadedModel> loaded = Load();
  ASSERT_TRUE(loaded.ok()) << loaded.fault().cause;
  EXPECT_THAT(loaded.value().report.unexpected, IsEmpty());
  for (const Weight& each : loaded.value().model.weights()) {
    EXPECT_TRUE(each.value.equal(before.at(each.spec.name))) << each.spec.name;
  }
}

TEST_F(LoadModelFrom, PretrainingTellsWhatIsNewAndWhatIsUnused) {
  tensors_.erase("classifier.weight");
  tensors_.erase("classifier.bias");
  tensors_["cls.predictions.bias"] = at::zeros({140});
  tensors_["bert.extra"] = at::zeros({1});
  const Expected<LoadedModel> loaded = Load();
  ASSERT_TRUE(loaded.ok()) << loaded.fault().cause;
  const LoadReport& report = loaded.value().report;
  EXPECT_THAT(report.missing,
              ElementsAre("classifier.weight", "classifier.bias"));
  EXPECT_EQ(report.initialized, report.missing);
  EXPECT_THAT(report.unused, ElementsAre("cls.predictions.bias"));
  EXPECT_THAT(report.unexpected, ElementsAre("bert.extra"));
}

TEST_F(LoadModelFrom, DrawsANewHeadFromTheSeedAlone) {
  const HeadSpec five = HeadOf("-seq5");
  const Expected<LoadedModel> first = Load(five);
  const Expected<LoadedModel> second = Load(five);
  ASSERT_TRUE(first.ok()) << first.fault().cause;
  EXPECT_THAT(first.value().report.reshaped,
              ElementsAre("classifier.weight", "classifier.bias"));
  const std::vector<Weight>& values = first.value().model.weights();
  const at::Tensor& weight = values[values.size() - 2].value;
  EXPECT_TRUE(
      weight.equal(second.value().model.weights()[values.size() - 2].value));
  // The configuration says 0.2; 160 draws are within a fifth of it.
  EXPECT_NEAR(weight.std().item<double>(), 0.2, 0.04);
  EXPECT_EQ(values.back().value.abs().max().item<double>(), 0.0);
}

TEST_F(LoadModelFrom, AWeightOfTheEncoderThatIsMissingIsNamed) {
  tensors_.erase("bert.encoder.layer.1.output.dense.bias");
  const Expected<LoadedModel> loaded = Load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.fault().kind, FaultKind::kInconsistent);
  EXPECT_THAT(loaded.fault().cause,
              HasSubstr("\"bert.encoder.layer.1.output.dense.bias\""));
}

TEST_F(LoadModelFrom, AnotherVocabularyIsAFaultWithBothShapes) {
  Replace("\"vocab_size\": 140", "\"vocab_size\": 141");
  const Expected<LoadedModel> loaded = Load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.fault().cause, HasSubstr("[140, 32]"));
  EXPECT_THAT(loaded.fault().cause, HasSubstr("[141, 32]"));
}

TEST_F(LoadModelFrom, OneWeightUnderTwoNamesIsAFault) {
  tensors_["embeddings.LayerNorm.gamma"] = at::zeros({32});
  EXPECT_EQ(Load().fault().kind, FaultKind::kInconsistent);
}

TEST_F(LoadModelFrom, AnUnknownActivationIsAFault) {
  Replace("\"gelu\"", "\"gelish\"");
  EXPECT_EQ(Load().fault().kind, FaultKind::kUnsupported);
}

TEST_F(LoadModelFrom, ShardsGiveTheSameModel) {
  ASSERT_TRUE(Load().ok());
  const std::string first = folder_.File("a.safetensors");
  std::filesystem::rename(folder_.File("model.safetensors"), first);
  std::string map;
  for (const auto& [name, value] : tensors_) {
    map += (map.empty() ? "" : ", ") + ("\"" + name) + "\": \"a.safetensors\"";
  }
  std::ofstream(folder_.File("model.safetensors.index.json"))
      << "{\"weight_map\": {" << map << "}}";
  const Expected<LoadedModel> loaded =
      LoadModel(folder_.path().string(), HeadOf("-seq2"), 7);
  ASSERT_TRUE(loaded.ok()) << loaded.fault().cause;
  EXPECT_TRUE(loaded.value().model.weights()[0].value.equal(
      tensors_.at("bert.embeddings.word_embeddings.weight")));
}

}  // namespace
}  // namespace frostline::trainer
