// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/stock_entries.h"

#include "worker/registry/registry.h"

namespace frostline::registry {

Expected<std::vector<StockEntry>> StockOfModels(std::string_view yaml) {
  const auto models = trainer::ParseModels(yaml, kModelsFile);
  if (!models.ok()) return models.fault();
  std::vector<StockEntry> entries;
  for (const auto& [id, model] : models.value()) {
    const std::string folder = model.path + "/";
    StockEntry entry{id, model.sha256, {}};
    entry.files.push_back({folder + model.weights, model.sha256});
    entry.files.push_back({folder + "config.json", ""});
    for (const auto& [shard, sum] : model.shards) {
      entry.files.push_back({folder + shard, sum});
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

Expected<std::vector<StockEntry>> StockOfDataSets(std::string_view yaml) {
  const auto sets = trainer::ParseDatasets(yaml, kDataSetsFile);
  if (!sets.ok()) return sets.fault();
  std::vector<StockEntry> entries;
  for (const auto& [id, set] : sets.value()) {
    StockEntry entry{id, "", {}};
    const auto train = set.splits.find("train");
    if (train != set.splits.end()) {
      entry.sha256 = train->second.sha256;
      entry.files.push_back({train->second.path, train->second.sha256});
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace frostline::registry
