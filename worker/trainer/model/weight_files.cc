// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/weight_files.h"

#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/plain/json.h"
#include "worker/trainer/model/limits.h"

namespace frostline::trainer {
namespace {

constexpr char kSingle[] = "/model.safetensors";
constexpr char kIndex[] = "/model.safetensors.index.json";

bool Exists(const std::string& path) {
  std::error_code ignored;  // what cannot be examined is not there
  return std::filesystem::exists(path, ignored);
}

Fault NoWeights(const std::string& folder) {
  if (!Exists(folder + "/pytorch_model.bin")) {
    return {FaultKind::kUnreadable,
            "there is no model.safetensors in " + folder,
            "name a folder with config.json and model.safetensors"};
  }
  return {FaultKind::kUnsupported,
          folder +
              " holds pytorch_model.bin alone, a pickle: loading one can "
              "run any code that is in it",
          "where you trust it, convert it once: cd " + folder +
              " && python3 -c \"import torch, safetensors.torch as s; "
              "w = torch.load('pytorch_model.bin', weights_only=True); "
              "s.save_file({k: v.clone().contiguous() for k, v in w.items()}, "
              "'model.safetensors')\""};
}

Fault BadIndex(const std::string& path, const std::string& cause) {
  return {FaultKind::kInconsistent, path + ": " + cause,
          "copy the model's files again"};
}

// A file beside the index, and nothing else: an index must not lead elsewhere.
bool IsPlainName(std::string_view name) {
  return !name.empty() && name.front() != '.' &&
         name.ends_with(".safetensors") &&
         name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

// {"weight_map": {tensor: file}} as file -> its tensors.
Expected<std::map<std::string, std::set<std::string>>> ReadIndex(
    const std::string& path) {
  Expected<std::string> bytes = ReadWholeFile(path, kMaxHeaderBytes);
  if (!bytes.ok()) return bytes.fault();
  Expected<Json> json = Json::Parse(bytes.value());
  if (!json.ok()) return BadIndex(path, json.fault().cause);
  const JsonValue* map = json.value().root().Find("weight_map");
  if (map == nullptr || !map->is(JsonKind::kObject)) {
    return BadIndex(path, "there is no weight_map");
  }
  std::map<std::string, std::set<std::string>> shards;
  for (const JsonValue* at = map->first; at != nullptr; at = at->next) {
    if (!at->is(JsonKind::kString) || !IsPlainName(at->text)) {
      return BadIndex(path, "\"" + std::string(at->key) +
                                "\" is not in a .safetensors file beside it");
    }
    shards[std::string(at->text)].emplace(at->key);
  }
  if (shards.size() > kMaxShards || map->count > kMaxTensors) {
    return BadIndex(path, "too many files or tensors");
  }
  return shards;
}

}  // namespace

Expected<Done> WeightFiles::Add(const std::string& path) {
  Expected<Safetensors> file = Safetensors::Open(path);
  if (!file.ok()) return file.fault();
  files_.push_back(std::move(file).value());
  for (const StoredTensor& tensor : files_.back().tensors()) {
    if (!places_.emplace(tensor.name, Place{files_.size() - 1, &tensor})
             .second) {
      return BadIndex(path, "\"" + tensor.name + "\" is in another shard, too");
    }
  }
  return Done{};
}

Expected<WeightFiles> WeightFiles::Open(const std::string& folder) {
  WeightFiles weights;
  if (Exists(folder + kSingle)) {
    Expected<Done> added = weights.Add(folder + kSingle);
    if (!added.ok()) return added.fault();
    return weights;
  }
  if (!Exists(folder + kIndex)) return NoWeights(folder);
  Expected<std::map<std::string, std::set<std::string>>> shards =
      ReadIndex(folder + kIndex);
  if (!shards.ok()) return shards.fault();
  for (const auto& [name, tensors] : shards.value()) {
    Expected<Done> added = weights.Add(folder + "/" + name);
    if (!added.ok()) return added.fault();
    std::set<std::string> found;
    for (const StoredTensor& tensor : weights.files_.back().tensors()) {
      found.insert(tensor.name);
    }
    if (found != tensors) {
      return BadIndex(
          folder + kIndex,
          name + " does not hold exactly the tensors listed for it");
    }
  }
  return weights;
}

}  // namespace frostline::trainer
