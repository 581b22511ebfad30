// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/trial/trial_world.h"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/plain/sha256.h"
#include "gtest/gtest.h"
#include "tests/worker/trainer/fixtures.h"

namespace frostline {
namespace {

constexpr int kVocabulary = 140;  // of the recorded model

std::string SumOf(const std::string& path) {
  return InputFile::Open(path).value().Sha256().value();
}

void Write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

// The even words of a text outweigh the odd ones, or not: something to learn.
std::string Texts(int count, int begin) {
  std::string text = "text\tlabel\n";
  for (int i = begin; i < begin + count; ++i) {
    const int label = i % 2;
    for (int w = 0; w < 3 + i % 4; ++w) {
      text += "w" + std::to_string((i * 7 + w * 12 + label * 5) % 130) + " ";
    }
    text += std::string("\t") + (label == 1 ? "yes" : "no") + "\n";
  }
  return text;
}

}  // namespace

TrialWorld::TrialWorld() : device_(Device::Open("cpu").value()) {
  at::set_num_threads(1);
  WriteModel();
  WriteData();
  workbench_.emplace(Workbench::Open(folder(), device_).value());
}

void TrialWorld::WriteModel() {
  const std::string source = FixturePath("models/bert-seq2");
  const std::string target = folder() + "/tiny";
  std::filesystem::create_directory(target);
  for (const char* name : {"/config.json", "/model.safetensors"}) {
    std::filesystem::copy_file(source + name, target + name);
  }
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (int i = 0; i < kVocabulary - 5; ++i) {
    vocabulary += "w" + std::to_string(i) + "\n";
  }
  Write(target + "/vocab.txt", vocabulary);
  Write(folder() + "/models.yaml",
        "tiny:\n  path: tiny\n  sha256: " +
            SumOf(target + "/model.safetensors") + "\n");
}

void TrialWorld::WriteData() {
  Write(folder() + "/train.tsv", Texts(24, 0));
  Write(folder() + "/validation.tsv", Texts(10, 100));
  std::string yaml = "words:\n  format: tsv\n  splits:\n";
  for (const std::string split : {"train", "validation"}) {
    const std::string path = split + ".tsv";
    yaml += "    " + split + ": {path: " + path +
            ", sha256: " + SumOf(folder() + "/" + path) + "}\n";
  }
  Write(folder() + "/datasets.yaml", yaml);
}

std::string TrialWorld::Message(const std::string& training,
                                const std::string& rates) const {
  const std::string all_rates =
      rates.empty() ? R"("embeddings": 0, "layer.0": 1e-3, "layer.1": 1e-3,
                        "layer.2": 2e-3, "pooler": 1e-3, "head": 1e-2)"
                    : rates;
  return R"({"type": "trial", "protocol": 1, "trial": "studies/s/trials/1",
             "attempt": 1, "seed": 7, "rates": {)" +
         all_rates + R"(}, "model": {"id": "tiny", "layers": 3},
             "objectives": [{"metric": "accuracy", "direction": "maximize"}],
             "data": {"id": "words"}, "folder": ")" +
         folder() + R"(", "resume_from": null, "training": {)" + training +
         R"("batch_size": 8, "max_length": 16, "precision": "fp32"}})";
}

TrialMessage TrialWorld::Trial(const std::string& training,
                               const std::string& rates) const {
  const std::string line = Message(training, rates);
  const Outcome<Json> json = Json::Parse(line);
  Outcome<TrialMessage> trial = ReadTrialMessage(json.value().root());
  EXPECT_TRUE(trial.ok()) << trial.fault().cause;
  return std::move(trial).value();
}

TrialEnd TrialWorld::Run(const TrialMessage& trial, Witness& listener) {
  std::vector<std::string> log;
  Outcome<TrialSetup> setup = workbench().Prepare(trial, log);
  EXPECT_TRUE(setup.ok()) << setup.fault().cause;
  if (!setup.ok()) return {};
  double now = 0.0;  // each look at the clock takes a millisecond
  const TrialEnvironment environment{
      device_, [&now] { return now += 0.001; }, checkpoint_seconds};
  return FineTuning(trial, std::move(setup).value(), environment, listener)
      .Run();
}

}  // namespace frostline
