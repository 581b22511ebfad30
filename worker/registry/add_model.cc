// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/file.h"
#include "base/plain/json.h"
#include "worker/registry/add.h"
#include "worker/registry/entry_text.h"
#include "worker/trainer/data/input_file.h"
#include "worker/trainer/model/limits.h"
#include "worker/trainer/model/weight_files.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::registry {
namespace {

namespace fs = std::filesystem;

using trainer::ModelEntry;

constexpr char kWeights[] = "model.safetensors";
constexpr char kIndex[] = "model.safetensors.index.json";

absl::StatusOr<std::string> ModelSumOf(const std::string& path) {
  Expected<trainer::InputFile> file = trainer::InputFile::Open(path);
  if (!file.ok()) return ErrorOf(file.fault());
  Expected<std::string> sum = file.value().Sha256();
  if (!sum.ok()) return ErrorOf(sum.fault());
  return std::move(sum).value();
}

// The index names a file for each tensor.
absl::Status TakeShards(const std::string& folder, ModelEntry& entry) {
  const Expected<std::string> bytes =
      ReadWholeFile(folder + "/" + kIndex, trainer::kMaxHeaderBytes);
  if (!bytes.ok()) return ErrorOf(bytes.fault());
  const Expected<Json> json = Json::Parse(bytes.value());
  if (!json.ok()) return ErrorOf(json.fault());
  const JsonValue* const map = json.value().root().Find("weight_map");
  for (const JsonValue* v = map == nullptr ? nullptr : map->first; v != nullptr;
       v = v->next) {
    std::string& sum = entry.shards[std::string(v->text)];
    if (!sum.empty()) continue;
    ASSIGN_OR_RETURN(sum, ModelSumOf(folder + "/" + std::string(v->text)));
  }
  return absl::OkStatus();
}

absl::Status NoModel(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    return MakeError(ErrorId::kTrainerFile, absl::StrCat(path, " is no folder"),
                     "name the folder in which transformers saved the model: "
                     "config.json, model.safetensors, tokenizer.json");
  }
  return MakeError(ErrorId::kTrainerFile,
                   absl::StrCat(path, " has no config.json"),
                   "name the folder in which transformers saved the model "
                   "(save_pretrained), or that of a Hugging Face snapshot");
}

absl::StatusOr<ModelEntry> DescribeModel(const std::string& path,
                                         const std::string& id) {
  std::error_code ignored;
  if (!fs::exists(path + "/config.json", ignored)) return NoModel(path);
  ModelEntry entry;
  entry.id = id;
  entry.weights =
      fs::exists(path + "/" + kWeights, ignored) ? kWeights : kIndex;
  if (!fs::exists(path + "/" + entry.weights, ignored)) {
    const auto weights = trainer::WeightFiles::Open(path);
    if (!weights.ok()) return ErrorOf(weights.fault());
  }
  ASSIGN_OR_RETURN(entry.sha256, ModelSumOf(path + "/" + entry.weights));
  if (entry.weights == kIndex) RETURN_IF_ERROR(TakeShards(path, entry));
  return entry;
}

absl::Status Place(const std::string& path, Placing& placing,
                   ModelEntry& entry) {
  entry.path = placing.Below(path);
  if (!entry.path.empty()) return absl::OkStatus();
  entry.path = "models/" + entry.id;
  std::vector<std::string> names = trainer::TokenizerFilesOf(path);
  names.insert(names.end(), {"config.json", entry.weights});
  for (const auto& [shard, sum] : entry.shards) names.push_back(shard);
  for (const std::string& name : names) {
    RETURN_IF_ERROR(placing.Link(path + "/" + name, entry.path + "/" + name));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AddedModel> Addition::Add(const NewModel& model) {
  const std::string id = model.id.empty() ? IdFromPath(model.path) : model.id;
  if (!trainer::IsRegistryId(id)) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("'", id, "' is no id of a model"),
                     "give one of 1 to 64 of a-z 0-9 . _ -, first a letter or "
                     "digit: --id ID");
  }
  ASSIGN_OR_RETURN(ModelEntry entry, DescribeModel(model.path, id));
  AddedModel added;
  const auto known = registry_.models.find(id);
  added.was_there = known != registry_.models.end();
  if (added.was_there && known->second.sha256 != entry.sha256) {
    return MakeError(
        ErrorId::kTrainerMismatch,
        absl::StrCat(named_, " has another model '", id, "' already"),
        absl::StrCat("give this one another id with --id, or remove that "
                     "one's lines from ",
                     named_, "/", kModelsFile));
  }
  if (!added.was_there) {
    RETURN_IF_ERROR(Place(model.path, placing_, entry));
    registry_.models[id] = entry;
  }
  ASSIGN_OR_RETURN(added.facts, CheckModel(registry_, id));
  if (!added.was_there) model_entries_ += EntryText(entry);
  return added;
}

absl::StatusOr<AddedModel> AddModel(const std::string& folder,
                                    const NewModel& model) {
  ASSIGN_OR_RETURN(Addition addition, Addition::To(folder));
  ASSIGN_OR_RETURN(AddedModel added, addition.Add(model));
  RETURN_IF_ERROR(addition.Keep());
  return added;
}

}  // namespace frostline::registry
