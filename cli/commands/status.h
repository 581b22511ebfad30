// SPDX-License-Identifier: Apache-2.0
//
// File: status.h
#ifndef FROSTLINE_CLI_COMMANDS_STATUS_H_
#define FROSTLINE_CLI_COMMANDS_STATUS_H_

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "cli/client/client.h"
#include "cli/live/top_screen.h"

namespace frostline::cli {

// Fetches everything that `frostline top` shows, again and again. It is for one
// thread.
class FleetAsker {
 public:
  // An empty `study` means all studies.
  FleetAsker(Client& client, std::string study, const Clock& clock)
      : client_(client), study_(std::move(study)), clock_(clock) {}

  absl::StatusOr<FleetAnswers> Ask();

 private:
  absl::Status AskOfStudy(const v1::Study& study, FleetAnswers* answers);
  // Returns a best trial, fetched once and kept, because a trial that ended
  // does not change.
  absl::StatusOr<v1::Trial> Best(const std::string& trial);

  Client& client_;
  const std::string study_;
  const Clock& clock_;
  std::map<std::string, v1::Trial> best_;
};

// A thread that fetches the answers, so that the program reacts to keys
// meanwhile.
class AskingThread {
 public:
  AskingThread(FleetAsker& asker, Duration every);
  // Waits for the call that is under way; see IsAsking().
  ~AskingThread();
  AskingThread(const AskingThread&) = delete;
  AskingThread& operator=(const AskingThread&) = delete;

  // Returns the answers that came since the last call, if any.
  std::optional<absl::StatusOr<FleetAnswers>> Take();
  bool IsAsking();

 private:
  void Run();

  FleetAsker& asker_;
  const Duration every_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_ending_ = false;
  bool is_asking_ = false;
  std::optional<absl::StatusOr<FleetAnswers>> answers_;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_STATUS_H_
