// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/registry.h"

#include <utility>

#include "base/plain/sums.h"
#include "base/plain/text.h"
#include "base/plain/yaml.h"
#include "worker/trainer/data/format_name.h"
#include "worker/trainer/data/limits.h"

namespace frostline::trainer {
namespace {

// Where the value of a key stands, else its block.
YamlMark MarkOf(const YamlFields& fields, std::string_view key) {
  const YamlEntry* const entry = fields.node().Find(key);
  return entry == nullptr ? fields.node().mark : entry->value->mark;
}

void CheckSum(YamlFields& fields, const YamlMark& mark,
              const std::string& sum) {
  if (IsSha256(sum) || fields.fault()) return;
  fields.Fail(mark, "sha256 is not 64 lower-case hex digits",
              "copy the sum that `sha256sum FILE` prints");
}

void CheckEntryId(YamlFields& fields, const YamlMark& mark,
                  std::string_view id) {
  if (IsRegistryId(id)) return;
  fields.Fail(mark, Shown(id) + " is no id",
              "use 1 to 64 of a-z 0-9 . _ -, first a letter or digit");
}

// What a block says about its files; a split's own words go before its set's.
void TakeFormat(YamlFields& fields, FileFormat& format, ColumnMap& columns) {
  if (const auto name = fields.Text("format")) {
    if (const auto kind = ParseFormatName(*name)) {
      format.kind = *kind;
    } else {
      fields.Fail(MarkOf(fields, "format"),
                  "format " + Shown(*name) + " is unknown",
                  "use tsv, csv, jsonl or conllu");
    }
  }
  if (const auto delimiter = fields.Text("delimiter")) {
    const bool one = delimiter->size() == 1 && *delimiter != "\"";
    if (!one && *delimiter != "tab") {
      fields.Fail(MarkOf(fields, "delimiter"), "delimiter is not one character",
                  "write \",\", \";\", \"|\" or tab");
    }
    format.delimiter = one ? delimiter->front() : '\t';
  }
  format.header = fields.Bool("header").value_or(format.header);
  if (const auto names = fields.Words("names"); !names.empty()) {
    format.names = names;
  }
  for (const auto& [role, column] : fields.Pairs("columns")) {
    columns[role] = column;
  }
}

void TakeForm(YamlFields& fields, const std::string& id, SplitEntry& shared) {
  shared.form.lowercase = fields.Bool("lowercase").value_or(false);
  shared.form.strip_accents = fields.Bool("strip_accents").value_or(false);
  for (const auto& [label, name] : fields.Pairs("label_map")) {
    shared.rules.names.emplace(label, name);
  }
  for (const std::string& label : fields.Words("drop_labels")) {
    shared.rules.dropped.insert(label);
  }
  const Expected<Done> fits = Check(shared.rules, id + ".");
  if (fits.ok()) return;
  fields.Fail(MarkOf(fields, "label_map"), fits.fault().cause,
              fits.fault().fix);
}

Expected<Done> TakeSplit(YamlFields fields, const SplitEntry& shared,
                         SplitEntry& split) {
  split = shared;
  fields.KnowOnly({"path", "sha256", "format", "delimiter", "header", "names",
                   "columns", "labelled", "skip_unlabelled"});
  split.path = fields.Demand("path");
  split.sha256 = fields.Demand("sha256");
  CheckSum(fields, MarkOf(fields, "sha256"), split.sha256);
  TakeFormat(fields, split.format, split.columns);
  split.labelled = fields.Bool("labelled").value_or(true);
  split.skip_unlabelled = fields.Bool("skip_unlabelled").value_or(false);
  if (fields.fault()) return *fields.fault();
  return Done{};
}

Expected<DatasetEntry> TakeDataset(const YamlEntry& named,
                                   const std::string& file) {
  const std::string& id = named.key;
  const YamlNode& node = *named.value;
  YamlFields fields(node, file, Shown(id));
  CheckEntryId(fields, named.key_mark, id);
  fields.KnowOnly({"task", "labels", "format", "delimiter", "header", "names",
                   "columns", "lowercase", "strip_accents", "label_map",
                   "drop_labels", "splits"});
  DatasetEntry entry;
  entry.id = id;
  if (const auto task = fields.Text("task")) {
    entry.task = ParseTaskName(*task);
    if (!entry.task) {
      fields.Fail(MarkOf(fields, "task"),
                  "task " + Shown(*task) + " is unknown",
                  "use classification, regression, tagging or pair");
    }
  }
  entry.labels = fields.Words("labels");
  SplitEntry shared;
  TakeFormat(fields, shared.format, shared.columns);
  TakeForm(fields, id, shared);
  const YamlNode* splits = fields.Map("splits");
  if (splits == nullptr) {
    fields.Fail(node.mark, "lacks splits", "add a block splits: with train:");
  }
  if (fields.fault()) return *fields.fault();
  for (const auto& [name, mark, block] : splits->entries) {
    std::string where = id;
    where.append(".").append(name);
    YamlFields split_fields(*block, file, where);
    CheckEntryId(split_fields, mark, name);
    Expected<Done> taken = TakeSplit(split_fields, shared, entry.splits[name]);
    if (!taken.ok()) return taken.fault();
  }
  return entry;
}

constexpr char kSingleWeights[] = "model.safetensors";
constexpr char kShardedWeights[] = "model.safetensors.index.json";

Expected<ModelEntry> TakeModel(const YamlEntry& named,
                               const std::string& file) {
  const std::string& id = named.key;
  const YamlNode& node = *named.value;
  YamlFields fields(node, file, Shown(id));
  CheckEntryId(fields, named.key_mark, id);
  // First: a key that is misspelt is also one that is lacking.
  fields.KnowOnly({"path", "sha256", "weights", "shards"});
  ModelEntry entry;
  entry.id = id;
  entry.path = fields.Demand("path");
  entry.sha256 = fields.Demand("sha256");
  CheckSum(fields, MarkOf(fields, "sha256"), entry.sha256);
  entry.weights = fields.Text("weights").value_or(kSingleWeights);
  entry.shards = fields.Pairs("shards");
  for (const auto& [shard, sum] : entry.shards) {
    CheckSum(fields, MarkOf(fields, "shards"), sum);
  }
  if (entry.weights != kSingleWeights && entry.weights != kShardedWeights) {
    fields.Fail(MarkOf(fields, "weights"),
                "has weights " + Shown(entry.weights),
                std::string("only ") + kSingleWeights + " and " +
                    kShardedWeights + " are loaded");
  }
  if (entry.shards.empty() != (entry.weights == kSingleWeights)) {
    fields.Fail(node.mark, "has shards without an index, or the reverse",
                std::string("give weights: ") + kShardedWeights +
                    " and under shards the sum of each file");
  }
  if (fields.fault()) return *fields.fault();
  return entry;
}

template <typename Entry, typename Take>
Expected<std::map<std::string, Entry, std::less<>>> TakeAll(
    std::string_view yaml, const std::string& name, Take take) {
  Expected<YamlNode> root = ParseYamlSubset(yaml, name);
  if (!root.ok()) return root.fault();
  YamlFields fields(root.value(), name, "the file");
  if (fields.fault()) return *fields.fault();
  std::map<std::string, Entry, std::less<>> entries;
  for (const YamlEntry& named : root.value().entries) {
    Expected<Entry> entry = take(named, name);
    if (!entry.ok()) return entry.fault();
    entries.emplace(named.key, std::move(entry).value());
  }
  return entries;
}

}  // namespace

bool IsRegistryId(std::string_view id) {
  constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::string_view kRest = "abcdefghijklmnopqrstuvwxyz0123456789._-";
  return !id.empty() && id.size() <= kMaxIdBytes &&
         kFirst.find(id.front()) != std::string_view::npos &&
         id.find_first_not_of(kRest) == std::string_view::npos;
}

Expected<DatasetEntries> ParseDatasets(std::string_view yaml,
                                       const std::string& name) {
  return TakeAll<DatasetEntry>(yaml, name, TakeDataset);
}

Expected<ModelEntries> ParseModels(std::string_view yaml,
                                   const std::string& name) {
  return TakeAll<ModelEntry>(yaml, name, TakeModel);
}

}  // namespace frostline::trainer
