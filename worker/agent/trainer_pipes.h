// SPDX-License-Identifier: Apache-2.0
//
// File: trainer_pipes.h
//
// Our ends of a trainer's input, output and error: lines go in without
// blocking, whole lines come out, and what it says of errors goes to its log.
// All calls come from one thread.
#ifndef FROSTLINE_WORKER_AGENT_TRAINER_PIPES_H_
#define FROSTLINE_WORKER_AGENT_TRAINER_PIPES_H_

#include <string>
#include <vector>

#include "worker/agent/log_tail.h"

namespace frostline::agent {

class TrainerPipes {
 public:
  struct Output {
    std::vector<std::string> lines;  // whole ones, without newline
    bool ended = false;              // and all it wrote is handed out
    bool overlong = false;  // a line above kMaxLineBytes; nothing more is read
  };

  // It owns the descriptors, which are non-blocking, and borrows `log`.
  TrainerPipes(int in, int out, int err, LogTail& log)
      : in_(in), out_(out), err_(err), log_(log) {}
  ~TrainerPipes();
  TrainerPipes(const TrainerPipes&) = delete;
  TrainerPipes& operator=(const TrainerPipes&) = delete;

  // They are to be polled; negative ones are not.
  int in_to_write() const { return unsent_.empty() ? -1 : in_; }
  int out() const { return out_; }
  int err() const { return err_; }

  // What the pipe does not take waits for the next Flush().
  void Send(const std::string& line);
  // Ends the input once all that was sent is written.
  void CloseInput();
  void Flush();

  void ReadError();
  // `gone` says that nobody is left to write.
  void ReadOutput(bool gone, Output* output);

 private:
  void CutLines(Output* output);

  int in_;
  int out_;
  int err_;
  LogTail& log_;
  std::string unsent_;
  bool input_ends_ = false;
  std::string unread_;
};

// Closes it, unless it is, and makes it -1.
void CloseFd(int* fd);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_TRAINER_PIPES_H_
