// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/check.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/text.h"
#include "worker/trainer/data/dataset.h"
#include "worker/trainer/data/input_file.h"
#include "worker/trainer/data/limits.h"
#include "worker/trainer/data/load.h"
#include "worker/trainer/model/safetensors.h"
#include "worker/trainer/text/tokenizer_folder.h"

namespace frostline::registry {
namespace {

using trainer::Dataset;
using trainer::DatasetEntry;
using trainer::SplitEntry;
using trainer::TaskKind;

constexpr char kTrainSplit[] = "train";

// What a scan of one split found.
struct Sight {
  SplitFacts facts;
  trainer::LabelSet labels;
  std::vector<std::int64_t> counts;  // by class
};

bool IsEmpty(const Dataset& data, std::size_t row) {
  return data.task() != TaskKind::kTagging && Trimmed(data[row].text).empty();
}

void CountClass(std::int32_t label, std::vector<std::int64_t>& counts) {
  if (label < 0) return;
  const auto index = static_cast<std::size_t>(label);
  if (index >= counts.size()) counts.resize(index + 1);
  ++counts[index];
}

void Note(const Dataset& some, Sight& sight) {
  sight.facts.left_out = static_cast<std::int64_t>(some.skipped());
  sight.labels = some.labels();
  sight.counts.resize(std::max(sight.counts.size(), some.labels().size()));
  for (std::size_t row = 0; row < some.size(); ++row) {
    ++sight.facts.rows;
    sight.facts.empty_texts += IsEmpty(some, row) ? 1 : 0;
    CountClass(some[row].label, sight.counts);
    if (some.task() != TaskKind::kTagging) continue;
    for (const std::int32_t label : some.word_labels(row)) {
      CountClass(label, sight.counts);
    }
  }
}

absl::StatusOr<Sight> ScanSplit(trainer::VerifiedFiles& files,
                                const SplitEntry& split,
                                const trainer::TaskName& task,
                                const trainer::LabelSet& labels) {
  if (task.pair && !split.columns.contains("second")) {
    return MakeError(ErrorId::kTrainerMisuse,
                     "the task 'pair' needs a column for the second text",
                     "name it in columns: {second: …}, or give --second COL");
  }
  Expected<trainer::InputFile> file = files.Open(split.path, split.sha256);
  if (!file.ok()) return ErrorOf(file.fault());
  trainer::DatasetReader reader(task.kind);
  if (!split.labelled) reader.WithoutLabels();
  if (split.skip_unlabelled) reader.SkipUnlabelled();
  if (labels.size() > 0) reader.WithLabels(labels);
  reader.WithForm(split.form);
  if (split.rules.any()) reader.WithLabelRules({split.rules});
  Sight sight;
  sight.facts.labelled = split.labelled;
  const Expected<Done> scanned =
      reader.Scan(std::move(file).value(), split.format, split.columns,
                  [&sight](const Dataset& some) { Note(some, sight); });
  if (!scanned.ok()) return ErrorOf(scanned.fault());
  return sight;
}

absl::Status CheckContents(const DatasetEntry& set,
                           const trainer::TaskName& task, const Sight& train) {
  const bool has_classes = trainer::HasClasses(task.kind);
  const std::string& path = set.splits.at(kTrainSplit).path;
  if (train.facts.empty_texts == train.facts.rows) {
    return MakeError(ErrorId::kTrainerMismatch,
                     absl::StrCat(path, ": every text is empty"),
                     "name the column of the texts: --text COL");
  }
  const auto used = std::count_if(train.counts.begin(), train.counts.end(),
                                  [](std::int64_t count) { return count > 0; });
  if (!train.facts.labelled || !has_classes || used > 1) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorId::kTrainerMismatch,
      absl::StrCat(path, ": every row has the label '",
                   train.labels.names().front(),
                   "', and from one class there is nothing to learn"),
      "give rows of two classes at least, or name another column: --label "
      "COL");
}

std::vector<std::pair<std::string, std::int64_t>> InOrder(Sight train) {
  std::vector<std::pair<std::string, std::int64_t>> classes(
      train.labels.size());
  const std::vector<std::string> names = train.labels.names();
  const std::vector<std::int32_t> ids = train.labels.Sort();
  for (std::size_t old = 0; old < ids.size(); ++old) {
    classes[static_cast<std::size_t>(ids[old])] = {names[old],
                                                   train.counts[old]};
  }
  return classes;
}

absl::StatusOr<const DatasetEntry*> FindSet(const Registry& registry,
                                            const std::string& id) {
  const auto found = registry.data_sets.find(id);
  if (found != registry.data_sets.end()) return &found->second;
  return MakeError(
      ErrorId::kTrainerFile,
      absl::StrCat(registry.folder, " has no data set '", id, "'"),
      "`frostline registry list` shows what it has; add it with `frostline "
      "registry add dataset FILE`");
}

}  // namespace

std::string NameOf(const trainer::TaskName& task) {
  if (task.pair) return "pair";
  switch (task.kind) {
    case TaskKind::kRegression:
      return "regression";
    case TaskKind::kTagging:
      return "tagging";
    case TaskKind::kAnswers:
      return "answers";
    case TaskKind::kChoices:
      return "choices";
    case TaskKind::kClassification:
      break;
  }
  return "classification";
}

trainer::TaskName TaskOfSet(const DatasetEntry& set) {
  return trainer::TaskOf({}, set, kTrainSplit);
}

absl::StatusOr<DataFacts> CheckDataSet(const Registry& registry,
                                       const std::string& id) {
  ASSIGN_OR_RETURN(const DatasetEntry* const set, FindSet(registry, id));
  Expected<trainer::DataRoot> root = trainer::DataRoot::Open(registry.folder);
  if (!root.ok()) return ErrorOf(root.fault());
  trainer::VerifiedFiles files(std::move(root).value());
  if (!set->splits.contains(kTrainSplit)) {
    return ErrorOf(trainer::NoSplit(*set, kTrainSplit));
  }
  DataFacts facts;
  facts.id = id;
  facts.task = TaskOfSet(*set);
  Expected<trainer::LabelSet> labels = trainer::LabelSet::FromList(set->labels);
  if (!labels.ok()) return ErrorOf(labels.fault());
  ASSIGN_OR_RETURN(Sight train, ScanSplit(files, set->splits.at(kTrainSplit),
                                          facts.task, labels.value()));
  RETURN_IF_ERROR(CheckContents(*set, facts.task, train));
  train.facts.name = kTrainSplit;
  facts.splits.push_back(train.facts);
  for (const auto& [name, split] : set->splits) {
    if (name == kTrainSplit) continue;
    ASSIGN_OR_RETURN(Sight sight,
                     ScanSplit(files, split, facts.task, train.labels));
    sight.facts.name = name;
    facts.splits.push_back(sight.facts);
  }
  if (!trainer::HasClasses(facts.task.kind)) return facts;
  if (set->labels.empty()) {
    facts.classes = InOrder(std::move(train));
    return facts;
  }
  for (std::size_t i = 0; i < set->labels.size(); ++i) {
    facts.classes.emplace_back(set->labels[i], train.counts[i]);
  }
  return facts;
}

namespace {

using trainer::ModelEntry;
using trainer::VerifiedFiles;

constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;

// Names the folder, since the reader knew only a path below it.
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
      // For pickles the error says more than that there are no weights.
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

absl::StatusOr<trainer::ModelConfig> ReadModelOf(const Registry& registry,
                                                 const std::string& id) {
  ASSIGN_OR_RETURN(const ModelEntry* const entry, FindModel(registry, id));
  ASSIGN_OR_RETURN(const VerifiedFiles files, OpenFolder(registry));
  return ReadConfig(files, *entry);
}

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
