// SPDX-License-Identifier: Apache-2.0
//
// Exported models, looked at from outside: by plain Python always, and by
// transformers where $FROSTLINE_PEER_PYTHON names a Python that has it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"
#include "tests/worker/trainer/fixtures.h"
#include "worker/trainer/text/tokenizer.h"
#include "worker/trainer/text/tokenizer_folder.h"
#include "worker/trainer/train/checkpoint.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::test {
namespace {

using nlohmann::json;

// Empty where it is not set or lacks transformers.
std::string PeerPython() {
  const char* python = std::getenv("FROSTLINE_PEER_PYTHON");
  if (python == nullptr) return "";
  const std::string tries =
      "\"" + std::string(python) + "\" -c 'import torch, transformers' 2>&1";
  return std::system(tries.c_str()) == 0 ? python : "";
}

constexpr char kNoPeer[] =
    "set FROSTLINE_PEER_PYTHON to a python that has torch and transformers";

bool Passes(const std::string& python, const std::string& arguments) {
  const char* source = std::getenv("FROSTLINE_SOURCE_DIR");
  const std::string command =
      "HF_HUB_OFFLINE=1 TRANSFORMERS_VERBOSITY=error \"" + python + "\" -B \"" +
      std::string(source == nullptr ? "." : source) +
      "/tests/parity/check_export.py\" " + arguments + " 2>&1";
  return std::system(command.c_str()) == 0;
}

template <typename Number>
json Rows(const at::Tensor& tensor) {
  if (tensor.dim() == 0) return tensor.item<Number>();
  json rows = json::array();
  for (std::int64_t i = 0; i < tensor.size(0); ++i) {
    rows.push_back(Rows<Number>(tensor[i]));
  }
  return rows;
}

json Inputs(const trainer::Batch& batch) {
  json inputs = {{"input_ids", Rows<std::int64_t>(batch.ids)},
                 {"attention_mask", Rows<std::int64_t>(batch.mask)}};
  if (batch.types.defined()) {
    inputs["token_type_ids"] = Rows<std::int64_t>(batch.types);
  }
  return inputs;
}

void Copy(const std::filesystem::path& from, const std::string& to) {
  std::filesystem::copy(from, to,
                        std::filesystem::copy_options::overwrite_existing);
}

// What both sides make of texts.
json Tokenized(const std::string& folder,
               const std::vector<std::string>& texts) {
  const Expected<trainer::Tokenizer> tokenizer = trainer::LoadTokenizer(folder);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.fault().cause;
  trainer::Encoder encoder(tokenizer.value());
  trainer::Encoding encoding;
  json pairs = json::array();
  for (const std::string& text : texts) {
    EXPECT_TRUE(encoder.Encode(text, {}, encoding).ok());
    pairs.push_back({text, encoding.ids});
  }
  return pairs;
}

class ExportPeer : public testing::Test {
 protected:
  // A recorded model with a tokenizer, loaded and exported again, with what we
  // compute from it.
  std::string Export(const std::string& name,
                     const trainer::LoraSpec& lora = {}) {
    const std::string source = folder_.File(name + "-source");
    std::filesystem::copy(trainer::FixturePath("models/" + name), source);
    AddTokenizer(name, source);
    const trainer::Model model =
        Trained(trainer::LoadFixture("models/" + name), lora);
    const std::string out = folder_.File(name);
    const Expected<Done> done = trainer::ExportModel(out, model, source, {});
    EXPECT_TRUE(done.ok()) << done.fault().cause;
    const at::NoGradGuard no_graph;
    const trainer::Batch batch = trainer::BatchOf(
        trainer::ReadTensors(
            trainer::FixturePath("models/" + name + "/io.safetensors")),
        "b0");
    json ours = Inputs(batch);
    ours["logits"] = Rows<double>(model.Forward(batch, {}));
    ours["texts"] = Tokenized(out, {"Hello, World!", "two words",
                                    "\xC3\x9C"
                                    "ber na\xC3\xAFve"});
    std::ofstream(out + "/ours.json") << ours;
    return out + " ";
  }

  std::string ExportAll() {
    using enum trainer::LoraPart;
    const trainer::LoraSpec lora = {.rank = 4,
                                    .alpha = 8.0,
                                    .dropout = 0.1,
                                    .parts = {kQuery, kValue, kFeedForwardOut}};
    std::string folders =
        Export("roberta-seq2", lora) + Export("distilbert-seq5", lora);
    for (const char* name :
         {"bert-seq2", "bert-reg", "distilbert-tok17", "distilbert-sst2",
          "roberta-seq5", "xlm-roberta-tok17", "mbert-tok17"}) {
      folders += Export(name);
    }
    return folders;
  }

  std::string ExportDecoders() {
    using enum trainer::LoraPart;
    const trainer::LoraSpec lora = {
        .rank = 4, .alpha = 8.0, .parts = {kValue, kFeedForwardGate}};
    return Export("qwen3-seq2", lora) + Export("llama-seq2") +
           Export("llama-tok17") + Export("qwen2-seq2");
  }

  TempFolder folder_;

 private:
  // With adapters that have moved, where there are any.
  static trainer::Model Trained(const trainer::LoadedModel& loaded,
                                const trainer::LoraSpec& lora) {
    trainer::ModelConfig config = loaded.model.config();
    config.lora = lora;
    const std::vector<bool> none(loaded.model.weights().size(), false);
    trainer::Model model = trainer::TrainableCopy(loaded, config, none, 1);
    for (trainer::Weight& each : model.weights()) {
      if (each.spec.role == trainer::Role::kLoraB) each.value.fill_(0.02);
    }
    return model;
  }

  static void AddTokenizer(const std::string& name, const std::string& source) {
    if (name.starts_with("roberta")) {
      Copy(trainer::FixturePath("tokenizers/bpe/tokenizer.json"),
           source + "/tokenizer.json");
    } else if (name.starts_with("llama") || name.starts_with("qwen")) {
      const std::string family = name.starts_with("qwen") ? "qwen" : "llama3";
      Copy(trainer::FixturePath("tokenizers/" + family + "/tokenizer.json"),
           source + "/tokenizer.json");
    } else if (name.starts_with("xlm")) {
      Copy(trainer::FixturePath("tokenizers/unigram/tokenizer.json"),
           source + "/tokenizer.json");
    } else {
      std::ofstream(source + "/vocab.txt")
          << "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\n,\nworld\n!\ntwo\n"
             "word\n##s\nub\n##er\nnaive\n";
      std::ofstream(source + "/tokenizer_config.json")
          << R"({"tokenizer_class": "BertTokenizer", "do_lower_case": true})";
    }
  }
};

TEST_F(ExportPeer, PlainPythonReadsEveryExport) {
  EXPECT_TRUE(Passes("python3", "plain " + ExportAll()));
}

TEST_F(ExportPeer, PlainPythonSeesWhatIsWrong) {
  const std::string folder = Export("bert-seq2");
  std::string path = folder;
  path.pop_back();
  std::string config =
      ReadWholeFile(path + "/config.json", std::size_t{1} << 20).value();
  config.replace(config.find("\"num_hidden_layers\": 3"), 22,
                 "\"num_hidden_layers\": 4");
  std::ofstream(path + "/config.json") << config;
  EXPECT_FALSE(Passes("python3", "plain " + folder));
}

TEST_F(ExportPeer, TransformersLoadsEveryExportUnchanged) {
  const std::string python = PeerPython();
  if (python.empty()) GTEST_SKIP() << kNoPeer;
  EXPECT_TRUE(Passes(python, "peer " + ExportAll() + ExportDecoders()));
}

// Twenty sentences, half of them of each class.
std::vector<std::string> Sentences() {
  return {"The soup was warm and the bread was fresh.",
          "Nothing on this train works as it should.",
          "A quiet room with a wide view over the lake.",
          "The lamp broke on the second evening.",
          "They answered every question with patience.",
          "We waited an hour and left without a meal.",
          "Her second novel is even funnier than the first.",
          "The pump leaks, and nobody comes to repair it.",
          "What a gentle, clever little film!",
          "The map shows streets that are not there.",
          "It never let us down, not once in ten years.",
          "Too loud, too long, and far too expensive.",
          "The garden is small but lovingly kept.",
          "The colours faded after a single wash.",
          "I would gladly travel with them again.",
          "A story without an end, told without a heart.",
          "Na\xC3\xAFve caf\xC3\xA9 music, played with great charm.",
          "The instructions are wrong from page one on.",
          "Strong legs, soft seat, a chair for life.",
          "Cold water, cold rooms, and a cold welcome."};
}

class MiniLmPeer : public testing::Test {
 protected:
  void SetUp() override {
    if (trainer::RealMiniLm().empty())
      GTEST_SKIP() << "run ./dev setup for the weights";
    python_ = PeerPython();
    if (python_.empty()) GTEST_SKIP() << kNoPeer;
    at::set_num_threads(1);
    WriteSource();
    const trainer::HeadSpec head = {.task = trainer::Task::kSequence,
                                    .outputs = 2};
    model_.emplace(trainer::LoadModel(source_, head, 7).value().model);
    ours_["texts"] = Tokenized(source_, Sentences());
    batch_ = Padded();
    ours_.update(Inputs(batch_));
  }

  // The real files, but for a configuration without dropout.
  void WriteSource() {
    std::filesystem::create_directory(source_);
    for (const char* name :
         {"model.safetensors", "tokenizer.json", "tokenizer_config.json",
          "vocab.txt", "special_tokens_map.json"}) {
      std::filesystem::create_symlink(trainer::RealMiniLm() + "/" + name,
                                      source_ + "/" + name);
    }
    json config;
    std::ifstream(trainer::RealMiniLm() + "/config.json") >> config;
    config["hidden_dropout_prob"] = 0.0;
    config["attention_probs_dropout_prob"] = 0.0;
    std::ofstream(source_ + "/config.json") << config;
  }

  trainer::Batch Padded() const {
    const auto rows = static_cast<std::int64_t>(ours_["texts"].size());
    std::int64_t width = 0;
    for (const json& each : ours_["texts"]) {
      width = std::max(width, static_cast<std::int64_t>(each[1].size()));
    }
    trainer::Batch batch;
    batch.ids = at::zeros({rows, width}, at::kLong);
    batch.mask = at::zeros({rows, width}, at::kLong);
    batch.labels = at::zeros({rows}, at::kLong);
    for (std::int64_t i = 0; i < rows; ++i) {
      const json& ids = ours_["texts"][static_cast<std::size_t>(i)][1];
      for (std::size_t t = 0; t < ids.size(); ++t) {
        const auto at = static_cast<std::int64_t>(t);
        batch.ids[i][at].fill_(ids[t].get<std::int64_t>());
        batch.mask[i][at].fill_(1);
      }
      batch.labels[i].fill_(i % 2);
    }
    return batch;
  }

  bool TheirsAgrees(const std::string& check) {
    const std::string out = folder_.File("exported");
    std::ofstream(out + "/ours.json") << ours_;
    return Passes(python_, check + " " + out);
  }

  TempFolder folder_;
  const std::string source_ = folder_.File("source");
  std::string python_;
  std::optional<trainer::Model> model_;
  json ours_;
  trainer::Batch batch_;
};

TEST_F(MiniLmPeer, TwentySentencesAreTheSame) {
  ASSERT_TRUE(
      trainer::ExportModel(folder_.File("exported"), *model_, source_, {})
          .ok());
  const at::NoGradGuard no_graph;
  const at::Tensor hidden = model_->encoder().Suffix(
      model_->encoder().Prefix(batch_, {}), batch_, {});
  ours_["hidden"] = Rows<double>(hidden * batch_.mask.unsqueeze(2));
  ours_["logits"] = Rows<double>(model_->head().Logits(hidden, batch_, {}));
  EXPECT_TRUE(TheirsAgrees("peer"));
}

TEST_F(MiniLmPeer, TwentyStepsOfTrainingAreTheSame) {
  ASSERT_TRUE(
      trainer::ExportModel(folder_.File("exported"), *model_, source_, {})
          .ok());
  trainer::ModuleRates rates;
  for (const std::string& module :
       trainer::ModuleNames(model_->config(), model_->head().spec())) {
    rates[module] = 1e-4;
  }
  trainer::StepOptions options;
  options.optimizer.weight_decay = 0.01;
  options.schedule.warmup_steps = 2;
  options.schedule.total_steps = 20;
  const trainer::FreezePlan plan =
      trainer::MakeFreezePlan(model_->config(), model_->head().spec(), rates,
                              {})
          .value();
  trainer::Stepper stepper =
      trainer::Stepper::Make(*model_, plan, options).value();
  for (int step = 0; step < 20; ++step) {
    const trainer::StepResult result = stepper.Step({&batch_, 1}).value();
    ours_["losses"].push_back(result.loss);
    ours_["norms"].push_back(result.grad_norm);
  }
  ours_["labels"] = Rows<std::int64_t>(batch_.labels);
  ours_["rate"] = 1e-4;
  ours_["weight_decay"] = 0.01;
  ours_["warmup"] = 2;
  EXPECT_TRUE(TheirsAgrees("train"));
}

}  // namespace
}  // namespace frostline::test
