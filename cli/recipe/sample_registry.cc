// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/sample_registry.h"

#include <filesystem>
#include <fstream>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "worker/registry/registry.h"

namespace frostline::cli {
namespace {

// The ids of a registry's file: the keys that begin a line.
std::set<std::string> SampleIdsIn(std::string_view file) {
  std::set<std::string> ids;
  for (const SampleFile& each : SampleFiles()) {
    if (each.path != file) continue;
    for (const absl::string_view line : absl::StrSplit(
             absl::string_view(each.content.data(), each.content.size()),
             '\n')) {
      if (line.empty() || line.front() == ' ' || line.front() == '#') continue;
      ids.insert(std::string(line.substr(0, line.find(':'))));
    }
  }
  return ids;
}

}  // namespace

RecipeStock StockOfSamples() {
  RecipeStock stock;
  stock.where = "the samples that the program carries";
  stock.models = SampleIdsIn(registry::kModelsFile);
  stock.data = SampleIdsIn(registry::kDataSetsFile);
  // The recipes themselves say how many layers it has.
  stock.model_facts = [](const std::string&) { return RecipeValues(); };
  return stock;
}

absl::Status MakeSampleRegistry(const std::string& folder) {
  namespace fs = std::filesystem;
  for (const SampleFile& each : SampleFiles()) {
    const fs::path path = fs::path(folder) / each.path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << each.content;
    file.close();
    if (file) continue;
    return MakeError(ErrorId::kStoreUnwritable,
                     absl::StrCat(path.string(), ": could not be written"),
                     "name a folder with room for 1 MB with --local DIR");
  }
  return absl::OkStatus();
}

}  // namespace frostline::cli
