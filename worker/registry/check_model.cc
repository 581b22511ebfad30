// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "worker/registry/check.h"
#include "worker/trainer/data/limits.h"
#include "worker/trainer/data/verified_files.h"
#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/weight_files.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::registry {
namespace {

using trainer::ModelEntry;
using trainer::VerifiedFiles;

constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;

// A reader that was given a path alone may not have said which.
absl::Status InFolder(const std::string& folder, Fault fault) {
  if (fault.cause.find(folder) == std::string::npos) {
    fault.cause = absl::StrCat(folder, ": ", fault.cause);
  }
  return ErrorOf(fault);
}

absl::StatusOr<const ModelEntry*> FindModel(const Registry& registry,
                                            const std::string& id) {
  const auto found = registry.models.find(id);
  if (found != registry.models.end()) return &found->second;
  return MakeError(
      ErrorId::kTrainerFile,
      absl::StrCat(registry.folder, " has no model '", id, "'"),
      "`frostline registry list` shows what it has; add it with `frostline "
      "registry add model DIR`");
}

absl::StatusOr<VerifiedFiles> OpenFolder(const Registry& registry) {
  Expected<trainer::DataRoot> root = trainer::DataRoot::Open(registry.folder);
  if (!root.ok()) return ErrorOf(root.fault());
  return VerifiedFiles(std::move(root).value());
}

absl::StatusOr<trainer::ModelConfig> ReadConfig(const VerifiedFiles& files,
                                                const ModelEntry& entry) {
  Expected<trainer::InputFile> file =
      files.OpenUnverified(entry.path + "/config.json");
  if (!file.ok()) return ErrorOf(file.fault());
  const Expected<std::string> json = file.value().ReadAll(kMaxConfigBytes);
  if (!json.ok()) return ErrorOf(json.fault());
  Expected<trainer::ModelConfig> config =
      trainer::ReadModelConfig(json.value());
  if (!config.ok()) {
    return InFolder(files.root() + "/" + entry.path, config.fault());
  }
  return std::move(config).value();
}

ModelFacts FactsOf(const ModelEntry& entry,
                   const trainer::ModelConfig& config) {
  ModelFacts facts;
  facts.id = entry.id;
  facts.kind = config.model_type;
  facts.layers = config.layers;
  facts.heads = config.heads;
  facts.hidden = config.hidden;
  facts.longest_text = config.longest_text();
  return facts;
}

// Returns how many bytes the weights have.
absl::StatusOr<std::int64_t> CheckWeights(VerifiedFiles& files,
                                          const ModelEntry& entry) {
  const std::string folder = files.root() + "/" + entry.path;
  std::map<std::string, std::string> sums = entry.shards;
  sums[entry.weights] = entry.sha256;
  std::int64_t bytes = 0;
  std::error_code ignored;
  for (const auto& [name, sum] : sums) {
    const Expected<trainer::InputFile> file =
        files.Open(entry.path + "/" + name, sum);
    if (!file.ok()) {
      // Of pickles there is more to say than that the weights are not there.
      const auto pickles = trainer::WeightFiles::Open(folder);
      const bool is_there =
          std::filesystem::exists(folder + "/" + name, ignored);
      return ErrorOf(is_there || pickles.ok() ? file.fault() : pickles.fault());
    }
    bytes += static_cast<std::int64_t>(
        std::filesystem::file_size(folder + "/" + name, ignored));
  }
  const auto weights = trainer::WeightFiles::Open(folder);
  if (!weights.ok()) return InFolder(folder, weights.fault());
  return bytes;
}

absl::Status CheckTokenizer(const std::string& folder,
                            const trainer::ModelConfig& config) {
  const Expected<trainer::Tokenizer> tokenizer = trainer::LoadTokenizer(folder);
  if (!tokenizer.ok()) return InFolder(folder, tokenizer.fault());
  const std::int64_t tokens = tokenizer.value().vocabulary_size();
  if (tokens <= config.vocabulary) return absl::OkStatus();
  return MakeError(
      ErrorId::kTrainerMismatch,
      absl::StrCat(folder, ": the tokenizer has ", tokens,
                   " tokens and the model's table ", config.vocabulary),
      "take the tokenizer's files from the model's own folder");
}

}  // namespace

absl::StatusOr<ModelFacts> LookAtModel(const Registry& registry,
                                       const std::string& id) {
  ASSIGN_OR_RETURN(const ModelEntry* const entry, FindModel(registry, id));
  ASSIGN_OR_RETURN(const VerifiedFiles files, OpenFolder(registry));
  ASSIGN_OR_RETURN(const trainer::ModelConfig config,
                   ReadConfig(files, *entry));
  return FactsOf(*entry, config);
}

absl::StatusOr<ModelFacts> CheckModel(const Registry& registry,
                                      const std::string& id) {
  ASSIGN_OR_RETURN(const ModelEntry* const entry, FindModel(registry, id));
  ASSIGN_OR_RETURN(VerifiedFiles files, OpenFolder(registry));
  ASSIGN_OR_RETURN(const std::int64_t bytes, CheckWeights(files, *entry));
  ASSIGN_OR_RETURN(const trainer::ModelConfig config,
                   ReadConfig(files, *entry));
  RETURN_IF_ERROR(CheckTokenizer(files.root() + "/" + entry->path, config));
  ModelFacts facts = FactsOf(*entry, config);
  facts.weight_bytes = bytes;
  return facts;
}

}  // namespace frostline::registry
