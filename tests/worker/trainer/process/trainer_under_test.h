// SPDX-License-Identifier: Apache-2.0
//
// File: trainer_under_test.h
//
// A registry of tiny recorded models and of data sets that a test writes, and
// trials that stand on them; a trial takes milliseconds.
//
//   SmallWorld world;
//   world.AddModel("m", "bert-seq2");
//   world.AddData("d", "format: tsv", {{"train", Reviews(48, 1)}, ...});
//   world.Write();
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_PROCESS_TRAINER_UNDER_TEST_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_PROCESS_TRAINER_UNDER_TEST_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

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

// The real frostline-trainer as a child, spoken to over its pipes. Every line
// that it writes must be one that the agent's own parser takes for a message;
// anything else fails the test at once.
//
//   TrainerUnderTest trainer(world.registry());
//   const nlohmann::json finish = trainer.Train(world.Trial()).finish;
struct TrainerStart {
  std::vector<std::string> arguments;    // beside --registry and --device
  std::vector<std::string> environment;  // "NAME=value", beside ours
  std::string threads = "1";
  std::uint64_t address_space = 0;  // bytes; 0: no limit
  std::uint64_t file_size = 0;      // the same; beyond it a disk is full
};

// All that a trial said.
struct Conversation {
  std::vector<nlohmann::json> messages;
  nlohmann::json finish;  // null when the process ended before

  std::vector<nlohmann::json> Of(const std::string& type) const;
  // The metrics that it reported; a slow machine hears signs of life between.
  std::vector<nlohmann::json> Evaluations() const;
  // All of the log in one text.
  std::string Log() const;
};

class TrainerUnderTest {
 public:
  explicit TrainerUnderTest(const std::string& registry,
                            const TrainerStart& start = {});
  // Kills it.
  ~TrainerUnderTest();
  TrainerUnderTest(const TrainerUnderTest&) = delete;
  TrainerUnderTest& operator=(const TrainerUnderTest&) = delete;

  void Send(const nlohmann::json& message) { SendBytes(message.dump() + "\n"); }
  void SendBytes(const std::string& bytes);
  // Nothing when the process has closed its output. hello is passed over.
  std::optional<nlohmann::json> Read();
  // Up to and with its finish.
  Conversation Train(const nlohmann::json& trial);
  Conversation ReadToFinish();

  void CloseInput();
  void CloseOutput();
  void Signal(int signal) const;
  // Its exit code; 128 and the number for one that a signal ended.
  int Wait();

  pid_t pid() const { return pid_; }
  // What is on its standard error so far.
  std::string Errors() const;
  // The very first line it wrote, once one was read.
  const std::string& first_line() const { return first_line_; }

 private:
  [[noreturn]] void Become(const std::string& registry,
                           const TrainerStart& start, const int* input,
                           const int* output);
  bool Fill();  // false at the end

  TempFolder folder_;
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int exit_code_ = -1;
  std::string buffer_;
  std::string first_line_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_PROCESS_TRAINER_UNDER_TEST_H_
