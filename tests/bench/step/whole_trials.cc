// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/step/whole_trials.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>
#include <vector>

#include "tests/bench/step/must.h"
#include "tests/bench/step/our_steps.h"
#include "tests/bench/step/shared_texts.h"
#include "worker/trainer/data/input_file.h"
#include "worker/trainer/model/safetensors.h"

namespace frostline::bench {
namespace {

using namespace frostline::trainer;

constexpr int kBatches = 4;

void Write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string SumOf(const std::string& path) {
  return Must(Must(InputFile::Open(path)).Sha256());
}

std::string ConfigJson(const Shape& shape) {
  const auto number = [](const char* name, std::int64_t value) {
    return std::string("\"") + name + "\": " + std::to_string(value) + ", ";
  };
  return "{\"model_type\": \"bert\", " +
         number("vocab_size", shape.vocabulary) +
         number("hidden_size", shape.hidden) +
         number("num_hidden_layers", shape.layers) +
         number("num_attention_heads", shape.heads) +
         number("intermediate_size", shape.wide()) +
         number("max_position_embeddings", shape.positions) +
         number("type_vocab_size", 2) + "\"hidden_act\": \"gelu\"}";
}

void WriteModel(const Shape& shape, const std::string& folder) {
  std::filesystem::create_directory(folder + "/bench");
  Write(folder + "/bench/config.json", ConfigJson(shape));
  const std::vector<at::Tensor> values = DrawnWeights(shape);
  const std::vector<std::string> names = NamesOfWeights(shape);
  std::vector<TensorBytes> tensors;
  for (std::size_t i = 0; i < values.size(); ++i) {
    tensors.push_back({names[i], Dtype::kF32, values[i].sizes().vec(),
                       values[i].const_data_ptr()});
  }
  const std::string weights = folder + "/bench/model.safetensors";
  Must(WriteSafetensors(weights, std::move(tensors), {{"format", "pt"}}));
  Write(folder + "/bench/vocab.txt", DrawnVocabulary(shape));
  Write(folder + "/models.yaml",
        "bench:\n  path: bench\n  sha256: " + SumOf(weights) + "\n");
}

void WriteData(const Shape& shape, const std::string& folder) {
  Write(folder + "/train.tsv",
        DrawnTexts(shape, kBatches * shape.texts, kSeed));
  Write(folder + "/validation.tsv", DrawnTexts(shape, 2, kSeed + 1));
  std::string yaml = "texts:\n  format: tsv\n  splits:\n";
  for (const std::string split : {"train", "validation"}) {
    yaml += "    " + split + ": {path: " + split +
            ".tsv, sha256: " + SumOf(folder + "/" + split + ".tsv") + "}\n";
  }
  Write(folder + "/datasets.yaml", yaml);
}

class Silence : public TrialListener {
 public:
  StopReason stop() const override { return StopReason::kNone; }
  void Report(std::int64_t, std::int64_t, const Metrics&) override {}
  void Begun(std::int64_t, Precision) override {}
  void Saved(const std::string&, std::int64_t, std::int64_t) override {}
  void Log(const std::string&) override {}
};

}  // namespace

WholeTrials::WholeTrials(const Shape& shape)
    : shape_(shape), device_(Must(Device::Open("cpu"))) {
  const std::string folder = folder_.path().string();
  WriteModel(shape, folder);
  WriteData(shape, folder);
  preparer_.emplace(Must(TrialPreparer::Open(folder, device_)));
  store_.emplace(Must(PrefixStore::Open(folder + "/prefix", 1U << 30U)));
}

std::string WholeTrials::Message(const std::string& study, std::int64_t steps,
                                 std::int64_t frozen) const {
  const std::string rate = std::to_string(kRate);
  std::string rates = "\"pooler\": " + rate + ", \"head\": " + rate +
                      ", \"embeddings\": " + (frozen < 0 ? rate : "0");
  for (std::int64_t i = 0; i < shape_.layers; ++i) {
    rates +=
        ", \"layer." + std::to_string(i) + "\": " + (i < frozen ? "0" : rate);
  }
  return R"({"type": "trial", "protocol": 1, "trial": "studies/)" + study +
         R"(/trials/1", "attempt": 1, "seed": 7, "rates": {)" + rates +
         R"(}, "model": {"id": "bench"}, "data": {"id": "texts"},
            "objectives": [{"metric": "accuracy", "direction": "maximize"}],
            "folder": ")" +
         folder_.path().string() +
         R"(", "resume_from": null, "training": {"precision": "fp32",
            "batch_size": )" +
         std::to_string(shape_.texts) + R"(, "max_length": )" +
         std::to_string(shape_.tokens) + R"(, "max_steps": )" +
         std::to_string(steps) + "}}";
}

TrialUsage WholeTrials::Run(const std::string& study, std::int64_t steps,
                            std::int64_t frozen) {
  const std::string line = Message(study, steps, frozen);
  const Json json = Must(Json::Parse(line));
  const TrialMessage trial = Must(ReadTrialMessage(json.root()));
  std::vector<std::string> log;
  TrialSetup setup = Must(preparer_->Prepare(trial, {}, log));
  const TrialEnvironment environment{
      .device = device_,
      .seconds =
          [] {
            return std::chrono::duration<double>(
                       std::chrono::steady_clock::now().time_since_epoch())
                .count();
          },
      .prefixes = &*store_,
      .kernels = "of the bench"};
  Silence listener;
  const TrialEnd end =
      FineTuning(trial, std::move(setup), environment, listener).Run();
  if (end.state == TrialState::kSucceeded) return *end.usage;
  std::cerr << "bench step: a trial ended with " << end.cause << "\n";
  std::exit(1);
}

}  // namespace frostline::bench
