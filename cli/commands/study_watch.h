// SPDX-License-Identifier: Apache-2.0
//
// File: study_watch.h
#ifndef FROSTLINE_CLI_COMMANDS_STUDY_WATCH_H_
#define FROSTLINE_CLI_COMMANDS_STUDY_WATCH_H_

#include <cstdint>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "cli/client/client.h"
#include "cli/commands/command.h"
#include "cli/live/full_screen.h"
#include "cli/live/running_trials.h"
#include "frostline/v1/study.pb.h"

namespace frostline::cli {

// Messages about a broken stream: one when it breaks, however many tries
// follow, and one when it is back.
class ConnectionNews {
 public:
  explicit ConnectionNews(std::ostream& out) : out_(out) {}

  // Reports a broken stream. OK means an orderly end, for example by a proxy's
  // time limit, and is not reported.
  void Lost(const absl::Status& status) {
    if (status.ok() || std::exchange(is_lost_, true)) return;
    out_ << "connection lost (" << status.message() << "); trying again" << '\n'
         << std::flush;
  }
  void Back() {
    if (std::exchange(is_lost_, false)) {
      out_ << "connected again\n" << std::flush;
    }
  }

 private:
  std::ostream& out_;
  bool is_lost_ = false;
};

// The output of `study watch` for one study: a line for each change and, on a
// terminal, the running trials below. It is thread-safe.
class WatchPrinter {
 public:
  WatchPrinter(Session& session, Client& client, const Clock& clock,
               bool until_done)
      : client_(client),
        clock_(clock),
        area_(session.terminal.err_is_tty, clock),
        width_(session.terminal.width),
        is_terminal_(session.terminal.out_is_tty),
        until_done_(until_done) {}

  // Prints the study as it is before the first event.
  absl::Status Begin(const v1::Study& study);
  // Prints an event. Returns false to end the watch.
  bool OnEvent(const v1::StudyEvent& event);
  void OnBreak(const absl::Status& status);
  // OnLook() must be called before the running trials are fetched. OnRunning()
  // takes them, and the total number of slots of live workers.
  void OnLook();
  void OnRunning(const std::vector<v1::Trial>& running, std::int64_t slots);
  // Prints one line about the state of the study when the output is not a
  // terminal.
  void PrintSummary();
  ExitCode End();
  bool IsDone() const { return until_done_ && has_ended_; }

 private:
  void ShowFront();
  bool HasFront() const { return study_.spec().objectives_size() > 1; }
  bool IsNews(const v1::Trial& trial);
  bool IsWorthALine(const v1::Trial& trial) const;
  void TakeTrial(const v1::Trial& trial);
  void TakeStudy(const v1::Study& study);
  absl::Status FetchDurations();
  absl::Status UpdateBest();
  // `counted` is the study with the counts to show.
  std::string StatusText(const v1::Study& counted) const;
  std::string StudyLine() const;
  void ShowArea();

  Client& client_;
  const Clock& clock_;
  LiveArea area_;
  const int width_;
  const bool is_terminal_;
  const bool until_done_;
  std::mutex mutex_;
  ConnectionNews news_{Notes()};
  bool has_ended_ = false;
  v1::Study study_;
  std::optional<v1::Trial> best_;
  std::map<std::int64_t, std::pair<v1::TrialState, std::int64_t>> last_seen_;
  RunningTrials running_;
  bool is_study_behind_ = false;  // a trial came that it does not count yet
  std::vector<double> durations_;
  std::int64_t slots_ = 0;
};

// Prints the changes of all studies from now on, including studies that appear
// later. It ends only with an error. `json` prints one StudyEvent a line.
absl::StatusOr<ExitCode> WatchAllStudies(Session& session, bool json);

// The goals of `frostline study wait --for`.

// The condition that ends the wait.
struct WaitGoal {
  enum class Kind { kEnded, kTrials, kBest, kRunning };
  Kind kind = Kind::kEnded;
  std::int64_t trials = 0;  // trials that have ended
  double bound = 0.0;       // a value of the first objective
  bool at_least = true;     // false: at most
};

// Parses "ended", "running", "trials=N", "best>=X" or "best<=X". Returns
// REQUEST_INVALID for anything else.
absl::StatusOr<WaitGoal> ParseGoal(const std::string& text);

// Returns REQUEST_INVALID for a bound in the wrong direction: when an objective
// is maximized, even the worst trial meets "best<=X".
absl::Status CheckGoal(const WaitGoal& goal, const v1::StudySpec& spec);

// Returns whether the goal is met. `best` holds the first objective's values of
// the best trials.
bool IsMet(const WaitGoal& goal, const v1::Study& study,
           const std::vector<double>& best);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_STUDY_WATCH_H_
