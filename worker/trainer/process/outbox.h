// SPDX-License-Identifier: Apache-2.0
//
// File: outbox.h
//
// Writes each message to the agent whole. What a library prints on standard
// output goes to standard error, never into a message. One thread uses it.
#ifndef FROSTLINE_WORKER_TRAINER_PROCESS_OUTBOX_H_
#define FROSTLINE_WORKER_TRAINER_PROCESS_OUTBOX_H_

#include <string>

namespace frostline::trainer {

class Outbox {
 public:
  // Takes `fd` over: writes to a copy, and lets `fd` lead to standard error.
  explicit Outbox(int fd);
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  void Send(const std::string& line);
  bool broken() const { return broken_; }  // the agent is gone

 private:
  int fd_;
  bool broken_ = false;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PROCESS_OUTBOX_H_
