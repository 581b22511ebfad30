// SPDX-License-Identifier: Apache-2.0
//
// File: line_input.h
//
// Reads lines from a file descriptor, so that a trainer looks for a stop
// between two epochs without waiting for one.
#ifndef FROSTLINE_WORKER_DEMO_TRAINER_LINE_INPUT_H_
#define FROSTLINE_WORKER_DEMO_TRAINER_LINE_INPUT_H_

#include <optional>
#include <string>

namespace frostline::demo_trainer {

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

#endif  // FROSTLINE_WORKER_DEMO_TRAINER_LINE_INPUT_H_
