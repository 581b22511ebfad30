// SPDX-License-Identifier: Apache-2.0
//
// File: trainer.h
//
// Takes one trial after the other and keeps what is loaded. What is wrong with
// a trial ends that trial alone.
#ifndef FROSTLINE_WORKER_TRAINER_PROCESS_TRAINER_H_
#define FROSTLINE_WORKER_TRAINER_PROCESS_TRAINER_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "worker/trainer/trial/fine_tuning.h"
#include "worker/trainer/trial/trial_end.h"

namespace frostline::trainer {

// Reads what the agent says in a thread of its own, so that a stop is seen
// while a step computes. A stop belongs to the trial sent before it.
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

// Writes each message to the agent whole. What a library prints on standard
// output goes to standard error, never into a message. One thread uses it.
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

struct TrainerParts {
  Inbox& inbox;
  Outbox& outbox;
  TrialPreparer& trial_preparer;
  TrialEnvironment environment;
  std::string software;  // "frostline-trainer 0.1.0, LibTorch 2.11.0"
};

// The loop of the trainer process: reads trials and trains them.
class Trainer {
 public:
  explicit Trainer(const TrainerParts& parts);

  // Says hello and works until there is no more to do, or nobody to hear it.
  void Run();

 private:
  TrialEnd RunTrial(const std::string& line);
  TrialEnd Train(const TrialMessage& trial, TrialListener& listener);
  TrialEnd RefuseUnfit(const Fault& why) const;

  TrainerParts parts_;
  SizeBook size_book_;
  const std::vector<std::string> precisions_;  // at full speed
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PROCESS_TRAINER_H_
