// SPDX-License-Identifier: Apache-2.0
//
// File: registry_fixture.h
#ifndef FROSTLINE_TESTS_WORKER_REGISTRY_REGISTRY_FIXTURE_H_
#define FROSTLINE_TESTS_WORKER_REGISTRY_REGISTRY_FIXTURE_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "worker/registry/add.h"

namespace frostline::registry {

// A folder of a person's own files, and a registry beside them.
class RegistryTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.File(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  std::string Text(const std::string& name) const {
    std::ifstream file(folder_.File(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool Exists(const std::string& name) const {
    return std::filesystem::exists(folder_.File(name));
  }
  std::string registry() const { return folder_.File("registry"); }

  // A model of three layers whose weights are real.
  std::string WriteModel(const std::string& name) const {
    const std::string source =
        std::string(std::getenv("FROSTLINE_SOURCE_DIR")) +
        "/tests/parity/data/models/bert-seq2";
    std::filesystem::create_directories(folder_.File(name));
    for (const char* const file : {"/config.json", "/model.safetensors"}) {
      std::filesystem::copy_file(source + file, folder_.File(name) + file);
    }
    std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (int i = 0; i < 135; ++i) {
      vocabulary += "w" + std::to_string(i) + "\n";
    }
    Write(name + "/vocab.txt", vocabulary);
    return folder_.File(name);
  }

  absl::StatusOr<AddedDataSet> Add(const NewDataSet& set) const {
    return AddDataSet(registry(), set);
  }
  absl::StatusOr<AddedDataSet> AddText(const std::string& name,
                                       const std::string& text) const {
    NewDataSet set;
    set.path = Write(name, text);
    return Add(set);
  }

  TempFolder folder_;
};

inline std::string CauseOf(const absl::Status& status) {
  return std::string(status.message());
}
inline std::string FixOf(const absl::Status& status) {
  return DetailOf(status)->fix;
}

}  // namespace frostline::registry

#endif  // FROSTLINE_TESTS_WORKER_REGISTRY_REGISTRY_FIXTURE_H_
