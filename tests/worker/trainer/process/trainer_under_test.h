// SPDX-License-Identifier: Apache-2.0
//
// File: trainer_under_test.h
//
// The real frostline-trainer as a child, spoken to over its pipes. Every line
// that it writes must be one that the agent's own parser takes for a message;
// anything else fails the test at once.
//
//   TrainerUnderTest trainer(world.registry());
//   const nlohmann::json finish = trainer.Train(world.Trial()).finish;
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_PROCESS_TRAINER_UNDER_TEST_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_PROCESS_TRAINER_UNDER_TEST_H_

#include <sys/types.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"

namespace frostline::trainer {

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
