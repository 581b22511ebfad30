// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/process/small_world.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "base/plain/sums.h"

namespace frostline::trainer {
namespace {

constexpr int kRateModules = 3;

std::string Indented(const std::string& lines) {
  std::istringstream in(lines);
  std::string out;
  for (std::string line; std::getline(in, line);) out += "  " + line + "\n";
  return out;
}

}  // namespace

std::string Sha256Of(const std::string& bytes) {
  Sha256Sum sum;
  sum.Add(bytes);
  return sum.Finish();
}

std::string ReadBytes(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

void WriteBytes(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(
      std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string Reviews(int rows, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  std::string text = "text\tlabel\n";
  for (int i = 0; i < rows; ++i) {
    const bool high = dice() % 2 == 1;
    const std::uint64_t words = 2 + dice() % 9;
    for (std::uint64_t j = 0; j < words; ++j) {
      const std::uint64_t word = dice() % 50 + (high ? 50 : 0);
      text += (j == 0 ? "w" : " w") + std::to_string(word);
    }
    text += high ? "\thigh\n" : "\tlow\n";
  }
  return text;
}

SmallWorld::SmallWorld() {
  AddModel("m", "bert-seq2");
  AddData("d", "format: tsv",
          {{"train", Reviews(48, 1)}, {"validation", Reviews(20, 2)}});
}

void SmallWorld::AddModel(const std::string& id, const std::string& recorded,
                          int tokens) {
  const std::string from = std::string(std::getenv("FROSTLINE_SOURCE_DIR")) +
                           "/tests/parity/data/models/" + recorded + "/";
  for (const char* name : {"config.json", "model.safetensors"}) {
    WriteBytes(ModelFile(id, name), ReadBytes(from + name));
  }
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (int i = 0; i < tokens - 5; ++i) {
    vocabulary += "w" + std::to_string(i) + "\n";
  }
  WriteBytes(ModelFile(id, "vocab.txt"), vocabulary);
  sums_[id] = "model.safetensors";
}

void SmallWorld::AddData(const std::string& id, const std::string& lines,
                         const std::map<std::string, std::string>& splits) {
  data_ += id + ":\n" + Indented(lines) + "  splits:\n";
  for (const auto& [split, bytes] : splits) {
    const std::string path = "data/" + id + "." + split;
    WriteBytes(registry() + "/" + path, bytes);
    data_ += "    " + split + ": {path: " + path +
             ", sha256: " + Sha256Of(bytes) + "}\n";
  }
}

void SmallWorld::Write() const {
  std::string models = models_;
  for (const auto& [id, weights] : sums_) {
    models += id + ":\n  path: " + id +
              "\n  sha256: " + Sha256Of(ReadBytes(ModelFile(id, weights))) +
              "\n";
  }
  WriteBytes(registry() + "/models.yaml", models);
  WriteBytes(registry() + "/datasets.yaml", data_);
}

std::string SmallWorld::NewFolder() {
  const std::string folder = folder_.File(std::to_string(++attempts_));
  std::filesystem::create_directories(folder);
  return folder;
}

nlohmann::json SmallWorld::Trial(const std::string& model,
                                 const std::string& data) {
  nlohmann::json rates = {
      {"embeddings", 1e-3}, {"pooler", 1e-3}, {"head", 1e-3}};
  for (int i = 0; i < kRateModules; ++i) {
    rates["layer." + std::to_string(i)] = 1e-3;
  }
  return {{"type", "trial"},
          {"protocol", 1},
          {"trial", "studies/s/trials/1"},
          {"attempt", 1},
          {"seed", 7},
          {"prefix_depth", -1},
          {"parameters", nlohmann::json::object()},
          {"rates", rates},
          {"objectives", {{{"metric", "loss"}, {"direction", "minimize"}}}},
          {"model", {{"id", model}, {"layers", 3}}},
          {"data", {{"id", data}}},
          {"training",
           {{"epochs", 3},
            {"batch_size", 12},
            {"max_length", 32},
            {"extra", {{"dropout", 0.1}}}}},
          {"freeze", nlohmann::json::object()},
          {"labels", nlohmann::json::object()},
          {"folder", NewFolder()},
          {"resume_from", nullptr}};
}

nlohmann::json Numbers(const nlohmann::json& finish) {
  nlohmann::json metrics = finish.value("metrics", nlohmann::json::object());
  metrics.erase("train_seconds");
  return metrics;
}

}  // namespace frostline::trainer
