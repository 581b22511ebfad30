// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/train/checkpoint.h"

namespace frostline::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  const WeightFiles files = WeightFiles::Open(folder).value();
  for (const auto& [name, place] : files.places()) names.push_back(name);
  return names;
}

TEST(ExportModel, MakesAFolderThatLoadsAsTheSameModel) {
  const TempFolder folder;
  for (const std::string name :
       {"bert-seq5", "distilbert-reg", "roberta-tok17", "xlm-roberta-seq2"}) {
    const std::string source = FixturePath("models/" + name);
    const Model model = LoadFixture("models/" + name).model;
    const std::string out = folder.File(name);
    const Expected<Done> done = ExportModel(out, model, source, {});
    ASSERT_TRUE(done.ok()) << done.fault().cause;
    const Expected<LoadedModel> again = LoadModel(out, model.head().spec(), 1);
    ASSERT_TRUE(again.ok()) << again.fault().cause;
    EXPECT_THAT(again.value().report.initialized, IsEmpty());
    // As save_pretrained wrote them.
    EXPECT_EQ(NamesIn(out), NamesIn(source));
    for (std::size_t i = 0; i < model.weights().size(); ++i) {
      EXPECT_TRUE(again.value().model.weights()[i].value.equal(
          model.weights()[i].value));
    }
  }
}

TEST(ExportModel, WithAdaptersIsAPlainModelOfTheSameLogits) {
  const TempFolder folder;
  for (const std::string name : {"bert-seq5", "roberta-tok17"}) {
    const LoadedModel loaded = LoadFixture("models/" + name);
    ModelConfig config = loaded.model.config();
    config.lora = {.rank = 3, .alpha = 6.0, .dropout = 0.5, .parts = {}};
    config.lora.parts = {LoraPart::kKey, LoraPart::kAttentionOut,
                         LoraPart::kFeedForwardIn};
    const std::vector<bool> none(loaded.model.weights().size(), false);
    Model model = TrainableCopy(loaded, config, none, 5);
    for (Weight& each : model.weights()) {
      if (each.spec.role == Role::kLoraB) each.value.fill_(0.02);
    }
    const std::string out = folder.File(name);
    ASSERT_TRUE(
        ExportModel(out, model, FixturePath("models/" + name), {}).ok());
    EXPECT_EQ(NamesIn(out), NamesIn(FixturePath("models/" + name)));
    const Model again = LoadModel(out, model.head().spec(), 1).value().model;
    const at::NoGradGuard no_graph;
    const Batch batch = BatchOf(
        ReadTensors(FixturePath("models/" + name + "/io.safetensors")), "b0");
    const at::Tensor logits = again.Forward(batch, {});
    EXPECT_LE(Furthest(logits, model.Forward(batch, {})), 1e-5);
    EXPECT_GT(Furthest(logits, loaded.model.Forward(batch, {})), 1e-3);
  }
}

// They stand beside the weights, and whoever does not know them is told.
TEST(ExportModel, BottlenecksAreSavedAndNamedInTheConfig) {
  const TempFolder folder;
  const std::string name = "bert-seq5";
  const LoadedModel loaded = LoadFixture("models/" + name);
  ModelConfig config = loaded.model.config();
  config.bottleneck = {4, true};
  const std::vector<bool> none(loaded.model.weights().size(), false);
  const Model model = TrainableCopy(loaded, config, none, 5);
  const std::string out = folder.File(name);
  ASSERT_TRUE(ExportModel(out, model, FixturePath("models/" + name), {}).ok());
  EXPECT_EQ(NamesIn(out).size(),
            NamesIn(FixturePath("models/" + name)).size() + 3 * 2 * 4);
  const Fault refused = LoadModel(out, model.head().spec(), 1).fault();
  EXPECT_EQ(refused.kind, FaultKind::kUnsupported);
  EXPECT_NE(refused.cause.find("bottleneck adapters"), std::string::npos);
}

TEST(ExportModel, CopiesTheTokenizerAndNamesTheClasses) {
  const TempFolder source;
  const TempFolder out;
  std::filesystem::copy(FixturePath("models/distilbert-seq2"), source.path());
  std::ofstream(source.File("vocab.txt")) << "[PAD]\n";
  const HeadSpec head = {.task = Task::kSequence, .outputs = 2};
  const Model model = LoadModel(source.path().string(), head, 1).value().model;
  ASSERT_TRUE(ExportModel(out.path().string(), model, source.path().string(),
                          {"neg", "pos"})
                  .ok());
  EXPECT_EQ(ReadWholeFile(out.File("vocab.txt"), 100).value(), "[PAD]\n");
  const LoadedModel again = LoadModel(out.path().string(), head, 1).value();
  EXPECT_THAT(again.model.config().labels, ElementsAre("neg", "pos"));
}

TEST(ExportedConfig, SpeaksOfTheNewHeadAndKeepsTheRest) {
  const HeadSpec head = {.task = Task::kTokens, .outputs = 2};
  const Model model =
      LoadModel(FixturePath("models/bert-seq5"), head, 1).value().model;
  const std::string config =
      ExportedConfig(R"({"model_type": "bert", "architectures": ["Other"],
                         "id2label": {"0": "x"}, "eps": 1e-12})",
                     model, {"a", "b"})
          .value();
  EXPECT_THAT(config, HasSubstr("\"BertForTokenClassification\""));
  EXPECT_THAT(config, HasSubstr("\"eps\": 1e-12"));
  EXPECT_THAT(config, HasSubstr(R"("label2id": {"a": 0, "b": 1})"));
  EXPECT_THAT(config, testing::Not(HasSubstr("Other")));
  EXPECT_TRUE(Json::Parse(config).ok());
}

TEST(ExportedConfig, RefusesWhatTransformersHasNot) {
  const HeadSpec pair = {
      .task = Task::kRegression, .outputs = 1, .kind = HeadKind::kCosine};
  const Model model =
      LoadModel(FixturePath("models/bert-seq2"), pair, 1).value().model;
  EXPECT_EQ(ExportedConfig("{}", model, {}).fault().kind,
            FaultKind::kUnsupported);
  EXPECT_EQ(ExportedConfig("{}", LoadFixture("models/bert-seq2").model, {"a"})
                .fault()
                .kind,
            FaultKind::kMisuse);
}

}  // namespace
}  // namespace frostline::trainer
