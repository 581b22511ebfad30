// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/registry_entries.h"

#include "base/plain/sha256.h"
#include "base/plain/shown.h"
#include "base/plain/yaml_fields.h"

namespace frostline::agent {
namespace {

constexpr char kModels[] = "models.yaml";
constexpr char kDataSets[] = "datasets.yaml";
constexpr char kConfig[] = "config.json";
constexpr char kSingleWeights[] = "model.safetensors";

constexpr std::size_t kMaxIdBytes = 64;

// The coordinator would refuse a registration with another one.
void CheckId(YamlFields& fields, std::string_view id) {
  constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyz0123456789";
  constexpr std::string_view kAll = "abcdefghijklmnopqrstuvwxyz0123456789._-";
  const bool fits = !id.empty() && id.size() <= kMaxIdBytes &&
                    kFirst.find(id.front()) != std::string_view::npos &&
                    id.find_first_not_of(kAll) == std::string_view::npos;
  if (fits) return;
  fields.Fail(fields.node().mark.line, Shown(id) + " is no id",
              "use 1 to 64 of a-z 0-9 . _ -, first a letter or digit");
}

std::string DemandSum(YamlFields& fields) {
  std::string sum = fields.Demand("sha256");
  if (!IsSha256(sum) && !fields.fault()) {
    fields.Fail(fields.node().mark.line,
                "sha256 is not 64 lower-case hex digits",
                "copy the sum that `sha256sum FILE` prints");
  }
  return sum;
}

Expected<RegistryEntry> TakeModel(const YamlEntry& entry) {
  YamlFields fields(*entry.value, kModels, Shown(entry.key));
  CheckId(fields, entry.key);
  const std::string folder = fields.Demand("path") + "/";
  RegistryEntry model{entry.key, DemandSum(fields), {}};
  model.files.push_back(folder +
                        fields.Text("weights").value_or(kSingleWeights));
  model.files.push_back(folder + kConfig);
  for (const auto& [shard, sum] : fields.Pairs("shards")) {
    model.files.push_back(folder + shard);
  }
  fields.KnowOnly({"path", "sha256", "weights", "shards"});
  if (fields.fault()) return *fields.fault();
  return model;
}

Expected<RegistryEntry> TakeDataSet(const YamlEntry& entry) {
  YamlFields fields(*entry.value, kDataSets, Shown(entry.key));
  CheckId(fields, entry.key);
  const YamlNode* const splits = fields.Map("splits");
  if (splits == nullptr && !fields.fault()) {
    fields.Fail(entry.value->mark.line, "lacks splits",
                "add a block splits: with train:");
  }
  fields.KnowOnly({"task", "labels", "format", "delimiter", "header", "names",
                   "columns", "splits"});
  if (fields.fault()) return *fields.fault();
  RegistryEntry set{entry.key, "", {}};
  for (const YamlEntry& split : splits->entries) {
    YamlFields block(*split.value, kDataSets, entry.key + "." + split.key);
    const std::string path = block.Demand("path");
    const std::string sum = DemandSum(block);
    if (split.key == "train") {
      set.files.push_back(path);
      set.sha256 = sum;
    }
    block.KnowOnly({"path", "sha256", "format", "delimiter", "header", "names",
                    "columns", "labelled", "skip_unlabelled"});
    if (block.fault()) return *block.fault();
  }
  return set;
}

Expected<std::vector<RegistryEntry>> TakeAll(
    std::string_view yaml, const char* name,
    Expected<RegistryEntry> (*take)(const YamlEntry&)) {
  const Expected<YamlNode> root = ParseYamlSubset(yaml, name);
  if (!root.ok()) return root.fault();
  const YamlFields file(root.value(), name, "the file");
  if (file.fault()) return *file.fault();
  std::vector<RegistryEntry> entries;
  for (const YamlEntry& entry : root.value().entries) {
    Expected<RegistryEntry> taken = take(entry);
    if (!taken.ok()) return taken.fault();
    entries.push_back(std::move(taken).value());
  }
  return entries;
}

}  // namespace

Expected<std::vector<RegistryEntry>> ReadModels(std::string_view yaml) {
  return TakeAll(yaml, kModels, TakeModel);
}

Expected<std::vector<RegistryEntry>> ReadDataSets(std::string_view yaml) {
  return TakeAll(yaml, kDataSets, TakeDataSet);
}

}  // namespace frostline::agent
