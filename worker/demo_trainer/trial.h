// SPDX-License-Identifier: Apache-2.0
//
// File: trial.h
//
// A trial as the agent sends it, its checkpoints, and the lines of input.
#ifndef FROSTLINE_WORKER_DEMO_TRAINER_TRIAL_H_
#define FROSTLINE_WORKER_DEMO_TRAINER_TRIAL_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/plain/json.h"
#include "worker/demo_trainer/fine_tuning.h"

namespace frostline::demo_trainer {

// What a trial asks for: of `training` the members `epochs`, `batch_size`,
// `optimizer` (adam, adamw, sgd), `weight_decay` and `extra.seconds_per_epoch`.
struct Trial {
  Settings settings;
  int epochs = 20;
  // A pause after each epoch, from training.extra.seconds_per_epoch, so that
  // one can watch a trial run.
  double pause_s = 0.0;
  bool takes_progress = false;  // the agent takes progress in reports
  std::string folder;
  std::string resume_path;  // empty: from the start
};

// Returns why this program cannot run a trial, since it is of another model
// than demo-mlp; "" if it can. A toy's numbers would be no result of a real
// study.
std::string ForeignModel(const JsonValue& message);

// Returns the text at `key`, or "".
std::string TextAt(const JsonValue& object, std::string_view key);

// Reads a trial. Modules without a rate are frozen, unknown ones ignored.
// Returns what is wrong, or "".
std::string ReadTrial(const JsonValue& message, Trial* trial);

// Writes a checkpoint, whole or not at all.
bool WriteCheckpoint(const std::string& folder, const std::string& id,
                     const std::string& bytes);
std::optional<std::string> ReadCheckpoint(const std::string& path);

// Reads lines from a file descriptor with a time limit, so that a trainer can
// look for a stop between two epochs without waiting for one.
class LineInput {
 public:
  explicit LineInput(int fd) : fd_(fd) {}

  // Returns the next line if it comes within `millis` (-1 waits for ever).
  std::optional<std::string> Next(int millis);
  bool ended() const { return ended_; }  // no line will come

 private:
  std::optional<std::string> Cut();

  const int fd_;
  std::string buffer_;
  bool ended_ = false;
};

}  // namespace frostline::demo_trainer

#endif  // FROSTLINE_WORKER_DEMO_TRAINER_TRIAL_H_
