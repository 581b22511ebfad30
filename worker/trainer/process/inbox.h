// SPDX-License-Identifier: Apache-2.0
//
// File: inbox.h
//
// Reads what the agent says in a thread of its own, so that a stop is seen
// while a step computes. A stop belongs to the trial sent before it.
#ifndef FROSTLINE_WORKER_TRAINER_PROCESS_INBOX_H_
#define FROSTLINE_WORKER_TRAINER_PROCESS_INBOX_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "worker/trainer/trial/trial_end.h"

namespace frostline::trainer {

class Inbox {
 public:
  // Reads `fd` until its end, or `exit`. A line that is no message ends the
  // process with code 1: no agent wrote it. Numbers may be NaN and infinite.
  explicit Inbox(int fd);
  // Waits for the reader, and so for the end of `fd` or `exit`.
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Returns the next message `trial`, whole, of which stop() speaks from now
  // on, or nothing when there will be none.
  std::optional<std::string> NextTrial();

  // Any thread may ask. After `exit` a trial is told that it will come back.
  StopReason stop() const;

 private:
  void Read(int fd);
  void Take(const std::string& line);
  bool TakeMessage(const std::string& line);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> trials_;
  bool ended_ = false;
  std::int64_t received_ = 0;  // trials
  std::atomic<std::int64_t> current_ = 0;
  std::atomic<std::int64_t> stopped_ = 0;  // the trial that a stop was for
  std::atomic<StopReason> reason_ = StopReason::kNone;
  std::atomic<bool> exiting_ = false;
  std::thread reader_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PROCESS_INBOX_H_
