// SPDX-License-Identifier: Apache-2.0
//
// File: small_world.h
//
// A registry of tiny recorded models and of data sets that a test writes, and
// trials that stand on them; a trial takes milliseconds.
//
//   SmallWorld world;
//   world.AddModel("m", "bert-seq2");
//   world.AddData("d", "format: tsv", {{"train", Reviews(48, 1)}, ...});
//   world.Write();
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_PROCESS_SMALL_WORLD_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_PROCESS_SMALL_WORLD_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/temp_folder.h"

namespace frostline::trainer {

std::string Sha256Of(const std::string& bytes);
std::string ReadBytes(const std::string& path);
void WriteBytes(const std::string& path, const std::string& bytes);

// "text<tab>label" and rows of words w0 to w99; the label is what most of its
// words are: low (below w50) or high. Drawn from `seed`.
std::string Reviews(int rows, std::uint64_t seed);

class SmallWorld {
 public:
  // The model "m" (bert-seq2) and the data set "d" are there from the
  // beginning.
  SmallWorld();

  // A copy of tests/parity/data/models/`recorded` with a vocabulary of
  // `tokens` lines. Its sum is that of what is in the folder at Write.
  void AddModel(const std::string& id, const std::string& recorded,
                int tokens = 140);
  // `lines`: of datasets.yaml, separated by newlines, without indentation.
  void AddData(const std::string& id, const std::string& lines,
               const std::map<std::string, std::string>& splits);
  // As it is in the file.
  void AddModelLines(const std::string& yaml) { models_ += yaml; }
  void AddDataLines(const std::string& yaml) { data_ += yaml; }
  // The files of the registry.
  void Write() const;

  std::string registry() const { return folder_.File("registry"); }
  std::string ModelFile(const std::string& id, const std::string& name) const {
    return registry() + "/" + id + "/" + name;
  }
  // A new empty folder for an attempt. Any thread, as Trial.
  std::string NewFolder();
  // Twelve steps over "d" with "m": 48 rows in batches of 12, three epochs.
  nlohmann::json Trial(const std::string& model = "m",
                       const std::string& data = "d");

 private:
  TempFolder folder_;
  std::string models_;  // but for the sums of weights
  std::map<std::string, std::string> sums_;
  std::string data_;
  std::atomic<int> attempts_ = 0;
};

// The final metrics but for what a clock measured.
nlohmann::json Numbers(const nlohmann::json& finish);

}  // namespace frostline::trainer

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_PROCESS_SMALL_WORLD_H_
