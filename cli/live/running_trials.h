// SPDX-License-Identifier: Apache-2.0
//
// File: running_trials.h
#ifndef FROSTLINE_CLI_LIVE_RUNNING_TRIALS_H_
#define FROSTLINE_CLI_LIVE_RUNNING_TRIALS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

// The running trials of a study, from two sources: events say which trials
// begin and end, and polls say how far they are. An event that came during a
// poll overrides that poll, which may be older.
class RunningTrials {
 public:
  void TakeEvent(const v1::Trial& trial);
  void BeginLook() { since_look_.clear(); }
  // Takes the result of a poll: all trials that ran then.
  void EndLook(const std::vector<v1::Trial>& running);

  // Returns whether all running trials are known. Before the first poll only
  // those are known that began since.
  bool are_all_known() const { return are_all_known_; }
  // Returns the running trials by number.
  std::vector<v1::Trial> All() const;
  // Returns `study` with the number of running trials replaced by the number
  // here, so that both agree on one screen.
  v1::Study Counted(v1::Study study) const;

 private:
  bool are_all_known_ = false;
  std::map<std::int64_t, v1::Trial> running_;
  std::set<std::int64_t> since_look_;  // trials in events since then
};

// Estimates of the time that a trial or a study still takes, from finished
// trials.

// An estimate in seconds: lower quartile, median and upper quartile.
struct TimeLeft {
  double shortest = 0.0;
  double likely = 0.0;
  double longest = 0.0;
};

// Returns the time that the trainer reported, minus the time since then.
// Without a report, returns the time for its remaining steps at the current
// pace.
std::optional<double> ToldSecondsLeft(const v1::Trial& trial, WallMicros now);

// Returns the reported time. Without one, returns the quartiles of the
// remaining time, from those `durations` that are longer than the trial has
// run. Returns nothing when there are fewer than three durations.
std::optional<TimeLeft> TrialTimeLeft(const v1::Trial& trial,
                                      const std::vector<double>& durations,
                                      WallMicros now);

// Returns the time for the trials that the budget still allows, on this many
// slots. Returns nothing without slots or with fewer than three durations.
std::optional<TimeLeft> StudyTimeLeft(const v1::Study& study,
                                      const std::vector<double>& durations,
                                      std::int64_t slots);

// Returns "12 s", "5m10s – 7m00s", or "-" when there is no estimate.
std::string TimeLeftText(const std::optional<TimeLeft>& left);

// Returns a line for each running trial, by number: "  trial 17  gpu03
// training  epoch 1.2/3  step 120/400  left 12 s – 20 s". At most `most` lines;
// the last one then says how many more there are.
std::vector<std::string> RunningLines(std::vector<v1::Trial> running,
                                      const std::vector<double>& durations,
                                      WallMicros now, int most);

// Appends the seconds of a trial that ran to its end or was pruned.
void AddDuration(const v1::Trial& trial, std::vector<double>* durations);

// Returns a StudyEvent on one line, in the format of every --json.
std::string EventJson(const v1::StudyEvent& event);

// Returns the time of an event in seconds since 1970, or 0 for an empty event.
std::int64_t TimeOf(const v1::StudyEvent& event);

// A writer of events as lines for people: "2026-11-21 06:07:34Z  imdb  trial 17
// …".
class EventLines {
 public:
  // Learns the study's spec, which explains the values of trials.
  void Know(const v1::Study& study);

  // Returns the line for an event, or "" when it holds no news for people.
  // Every report changes a trial, and every trial changes its study; only a new
  // state is news.
  std::string LineOf(const v1::StudyEvent& event);

 private:
  bool IsNews(const v1::Trial& trial);

  std::map<std::string, v1::StudySpec> specs_;
  std::map<std::string, v1::StudyState> states_;
  std::map<std::string, std::pair<v1::TrialState, std::int64_t>> trials_;
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_RUNNING_TRIALS_H_
