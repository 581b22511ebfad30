// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/checkpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "base/plain/sums.h"
#include "gmock/gmock.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/model/safetensors.h"

namespace frostline::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

// A recorded model that drops a tenth, with all but a prefix in training.
struct Trial {
  explicit Trial(bool prefix_frozen = false, const LoraSpec& lora = {},
                 const OptimizerOptions& optimizer = {})
      : model(LoadFixture("models/distilbert-seq2").model) {
    ModelConfig config = model.config();
    config.hidden_dropout = config.attention_dropout = 0.1;
    config.lora = lora;
    const LoadedModel loaded = LoadFixture("models/distilbert-seq2");
    const std::vector<bool> all(model.weights().size(), true);
    model = TrainableCopy(loaded, config, all, 1);
    const double bottom = prefix_frozen ? 0.0 : 1e-3;
    const ModuleRates rates = {{"embeddings", lora.any() ? 0.0 : bottom},
                               {"layer.0", bottom},
                               {"layer.1", bottom},
                               {"layer.2", 2e-3},
                               {"head", 1e-3}};
    const FreezePlan plan =
        MakeFreezePlan(config, model.head().spec(), rates, {}).value();
    StepOptions options;
    options.optimizer = optimizer;
    options.optimizer.weight_decay = 0.01;
    options.schedule = {ScheduleKind::kLinear, 2, 10};
    stepper.emplace(Stepper::Make(model, plan, options).value());
  }

  void Train(std::int64_t until) {
    const Tensors batches =
        ReadTensors(FixturePath("trajectories/batches.safetensors"));
    while (stepper->steps() < until) {
      const Batch batch =
          Noisy(BatchOf(batches, "b" + std::to_string(stepper->steps() % 4)),
                static_cast<std::uint64_t>(stepper->steps()));
      EXPECT_TRUE(stepper->Step({&batch, 1}).ok());
    }
  }

  Model model;
  std::optional<Stepper> stepper;
};

double Distance(const Trial& a, const Trial& b) {
  double furthest = 0.0;
  for (std::size_t i = 0; i < a.model.weights().size(); ++i) {
    furthest =
        std::max(furthest, Furthest(a.model.weights()[i].value.detach(),
                                    b.model.weights()[i].value.detach()));
  }
  return furthest;
}

class Checkpoint : public testing::Test {
 protected:
  std::string CauseOf(Trial& run) {
    const Expected<Notes> notes = LoadCheckpoint(path_, *run.stepper);
    EXPECT_FALSE(notes.ok());
    return notes.ok() ? "" : notes.fault().cause;
  }

  TempFolder folder_;
  std::string path_ = folder_.File("step-4.safetensors");
};

TEST_F(Checkpoint, TrainingOnFromItGivesTheSameBits) {
  Trial straight;
  straight.Train(8);
  {
    Trial first;
    first.Train(4);
    ASSERT_TRUE(SaveCheckpoint(path_, *first.stepper, {}).ok());
  }
  Trial second;
  ASSERT_TRUE(LoadCheckpoint(path_, *second.stepper).ok());
  EXPECT_EQ(second.stepper->steps(), 4);
  second.Train(8);
  EXPECT_EQ(Distance(straight, second), 0.0);
}

TEST_F(Checkpoint, MomentumGoesOnWithTheSameBits) {
  const OptimizerOptions sgd = {.kind = OptimizerKind::kSgd, .momentum = 0.9};
  Trial straight(false, {}, sgd);
  straight.Train(8);
  {
    Trial first(false, {}, sgd);
    first.Train(4);
    ASSERT_TRUE(SaveCheckpoint(path_, *first.stepper, {}).ok());
  }
  Trial second(false, {}, sgd);
  ASSERT_TRUE(LoadCheckpoint(path_, *second.stepper).ok());
  second.Train(8);
  EXPECT_EQ(Distance(straight, second), 0.0);
}

const LoraSpec kLora = {.rank = 4,
                        .alpha = 8.0,
                        .dropout = 0.3,
                        .parts = {LoraPart::kQuery, LoraPart::kValue}};

TEST_F(Checkpoint, AdaptersGoOnWithTheSameBits) {
  Trial straight(false, kLora);
  straight.Train(8);
  {
    Trial first(false, kLora);
    first.Train(4);
    ASSERT_TRUE(SaveCheckpoint(path_, *first.stepper, {}).ok());
  }
  Trial second(false, kLora);
  ASSERT_TRUE(LoadCheckpoint(path_, *second.stepper).ok());
  second.Train(8);
  EXPECT_EQ(Distance(straight, second), 0.0);
  EXPECT_GT(Distance(straight, Trial(false, kLora)), 0.0);
}

// What is written is what was copied, though steps were taken since.
TEST_F(Checkpoint, ACopyStaysAsItWasWhileTrainingGoesOn) {
  Trial straight;
  straight.Train(4);
  Expected<CheckpointCopy> copy = CopyForCheckpoint(*straight.stepper, {});
  ASSERT_TRUE(copy.ok());
  straight.Train(8);
  ASSERT_TRUE(WriteCheckpoint(path_, std::move(copy).value()).ok());
  Trial second;
  ASSERT_TRUE(LoadCheckpoint(path_, *second.stepper).ok());
  EXPECT_EQ(second.stepper->steps(), 4);
  second.Train(8);
  EXPECT_EQ(Distance(straight, second), 0.0);
}

// Adapters and head, moments included, and nothing of the encoder.
TEST_F(Checkpoint, WithAdaptersIsAsSmallAsTheyAre) {
  Trial run(true, kLora);
  ASSERT_TRUE(SaveCheckpoint(path_, *run.stepper, {}).ok());
  std::int64_t weights = 0;
  const Expected<Safetensors> file = Safetensors::Open(path_);
  ASSERT_TRUE(file.ok());
  for (const StoredTensor& each : file.value().tensors()) {
    if (!each.name.starts_with("weight.")) continue;
    weights += static_cast<std::int64_t>(each.bytes() / sizeof(float));
    EXPECT_THAT(each.name, testing::AnyOf(HasSubstr("layer.2.attention"),
                                          HasSubstr("classifier")));
  }
  EXPECT_EQ(weights, 2 * 2 * 4 * 32 + (32 * 32 + 32) + (2 * 32 + 2));
}

TEST_F(Checkpoint, OfAnotherRankIsRefused) {
  Trial four(false, kLora);
  ASSERT_TRUE(SaveCheckpoint(path_, *four.stepper, {}).ok());
  LoraSpec wider = kLora;
  wider.rank = 5;
  Trial five(false, wider);
  EXPECT_THAT(CauseOf(five), HasSubstr("missing or different"));
}

TEST_F(Checkpoint, GivesBackItsNotes) {
  Trial run;
  const Notes notes = {{"epoch", "3"}, {"data \"at\"", "1\n2"}};
  ASSERT_TRUE(SaveCheckpoint(path_, *run.stepper, notes).ok());
  EXPECT_THAT(
      LoadCheckpoint(path_, *run.stepper).value(),
      UnorderedElementsAre(Pair("epoch", "3"), Pair("data \"at\"", "1\n2")));
}

TEST_F(Checkpoint, HoldsNothingOfAFrozenPrefix) {
  Trial run(true);
  ASSERT_TRUE(SaveCheckpoint(path_, *run.stepper, {}).ok());
  const Expected<Safetensors> file = Safetensors::Open(path_);
  ASSERT_TRUE(file.ok());
  std::int64_t weights = 0;
  for (const StoredTensor& each : file.value().tensors()) {
    EXPECT_THAT(each.name, testing::Not(HasSubstr("embeddings")));
    EXPECT_THAT(each.name, testing::Not(HasSubstr("layer.1.")));
    if (each.name.starts_with("weight.")) {
      weights += static_cast<std::int64_t>(each.bytes() / sizeof(float));
    }
  }
  EXPECT_EQ(weights, run.stepper->plan().trained_weights);
}

TEST_F(Checkpoint, OfAnotherPlanIsRefusedAndChangesNothing) {
  Trial all;
  all.Train(2);
  ASSERT_TRUE(SaveCheckpoint(path_, *all.stepper, {}).ok());
  Trial some(true);
  const Trial untouched(true);
  EXPECT_THAT(CauseOf(some), HasSubstr("other tensors"));
  EXPECT_EQ(Distance(some, untouched), 0.0);
  EXPECT_EQ(some.stepper->steps(), 0);
}

TEST_F(Checkpoint, WithOneBitChangedIsRefused) {
  Trial run;
  ASSERT_TRUE(SaveCheckpoint(path_, *run.stepper, {}).ok());
  std::string bytes = ReadWholeFile(path_, std::size_t{1} << 24).value();
  bytes[bytes.size() - 9] = static_cast<char>(bytes[bytes.size() - 9] ^ 4);
  std::ofstream(path_, std::ios::binary) << bytes;
  EXPECT_THAT(CauseOf(run), HasSubstr("checksum"));
}

TEST_F(Checkpoint, WithAnotherNumberOfStepsIsRefused) {
  Trial run;
  ASSERT_TRUE(SaveCheckpoint(path_, *run.stepper, {}).ok());
  std::string bytes = ReadWholeFile(path_, std::size_t{1} << 24).value();
  const std::string steps = "\"steps\":\"0\"";
  ASSERT_NE(bytes.find(steps), std::string::npos);
  bytes.replace(bytes.find(steps), steps.size(), "\"steps\":\"7\"");
  std::ofstream(path_, std::ios::binary) << bytes;
  EXPECT_THAT(CauseOf(run), HasSubstr("checksum"));
}

TEST_F(Checkpoint, ThatIsJustAModelIsRefused) {
  std::filesystem::copy(FixturePath("models/bert-seq2/model.safetensors"),
                        path_);
  Trial run;
  EXPECT_THAT(CauseOf(run), HasSubstr("no checkpoint"));
}

TEST_F(Checkpoint, IntoAFolderThatIsNotThereIsAFault) {
  Trial run;
  EXPECT_EQ(
      SaveCheckpoint(folder_.File("no/where"), *run.stepper, {}).fault().kind,
      FaultKind::kUnreadable);
}

TEST(CheckpointWriter, WritesBesideWhoBeganIt) {
  CheckpointWriter writer;
  EXPECT_FALSE(writer.Take().has_value());
  std::promise<void> disk;
  writer.Begin("step-3", 3, [ready = disk.get_future().share()] {
    ready.wait();
    return Expected<Done>(Done{});
  });
  EXPECT_TRUE(writer.writes());
  EXPECT_FALSE(writer.Take().has_value());
  disk.set_value();
  const std::optional<WrittenCheckpoint> written = writer.Await();
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ(written->name, "step-3");
  EXPECT_EQ(written->step, 3);
  EXPECT_TRUE(written->done.ok());
  EXPECT_FALSE(writer.writes());
}

TEST(CheckpointWriter, GivesTheFaultOfTheDisk) {
  CheckpointWriter writer;
  writer.Begin("step-1", 1, [] {
    return Expected<Done>(
        Fault{FaultKind::kUnreadable, "no room", "make some"});
  });
  EXPECT_EQ(writer.Await()->done.fault().cause, "no room");
  EXPECT_FALSE(writer.Await().has_value());
}

TEST(CheckpointWriter, ItsEndWaitsForTheDisk) {
  std::atomic<bool> written = false;
  {
    CheckpointWriter writer;
    writer.Begin("step-1", 1, [&written] {
      written = true;
      return Expected<Done>(Done{});
    });
  }
  EXPECT_TRUE(written);
}

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
