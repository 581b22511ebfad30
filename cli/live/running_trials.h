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

// The trials of a study that run, from two sources: events say which begin and
// end, and looks say how far they are. What an event said while a look was
// under way stands against that look, which may have seen less.
class RunningTrials {
 public:
  void TakeEvent(const v1::Trial& trial);
  void BeginLook() { since_look_.clear(); }
  // All that ran when it was looked.
  void EndLook(const std::vector<v1::Trial>& running);

  // Before the first look only those are known that began since.
  bool are_all_known() const { return are_all_known_; }
  // By their numbers.
  std::vector<v1::Trial> All() const;
  // The study as of another moment, with as many running trials as there are
  // here, so that both may stand on one screen.
  v1::Study Counted(v1::Study study) const;

 private:
  bool are_all_known_ = false;
  std::map<std::int64_t, v1::Trial> running_;
  std::set<std::int64_t> since_look_;  // numbers of what events have told of
};

// How long a trial or a study still takes, as far as finished trials tell.

// Seconds: the lower quartile, the median and the upper quartile.
struct TimeLeft {
  double shortest = 0.0;
  double likely = 0.0;
  double longest = 0.0;
};

// What its trainer said, less the time since; failing that, its steps at their
// present pace.
std::optional<double> ToldSecondsLeft(const v1::Trial& trial, WallMicros now);

// What is told, else the quartiles of what is left of those `durations` that
// are longer than the trial has run. Nothing is said before three durations.
std::optional<TimeLeft> TrialTimeLeft(const v1::Trial& trial,
                                      const std::vector<double>& durations,
                                      WallMicros now);

// Trials that the budget leaves, in turn on so many slots. Nothing is said
// without slots, nor before three durations.
std::optional<TimeLeft> StudyTimeLeft(const v1::Study& study,
                                      const std::vector<double>& durations,
                                      std::int64_t slots);

// "12 s", "5m10s – 7m00s", or "-".
std::string TimeLeftText(const std::optional<TimeLeft>& left);

// "  trial 17  gpu03  training  epoch 1.2/3  step 120/400  left 12 s – 20 s",
// for each trial by its number; at most `most` lines, the last of which says
// how many there are beyond them.
std::vector<std::string> RunningLines(std::vector<v1::Trial> running,
                                      const std::vector<double>& durations,
                                      WallMicros now, int most);

// Appends the seconds of a trial that ran to its end, or to its pruning.
void AddDuration(const v1::Trial& trial, std::vector<double>* durations);

// One StudyEvent on one line, in the form of every --json.
std::string EventJson(const v1::StudyEvent& event);

// Seconds since 1970 of what has happened; 0: nothing has.
std::int64_t TimeOf(const v1::StudyEvent& event);

// Changes as lines for people: "2026-11-21 06:07:34Z  imdb  trial 17 …".
class EventLines {
 public:
  // The study's spec, which says what a trial's values are.
  void Know(const v1::Study& study);

  // Empty where people would read nothing new: every report changes a trial,
  // and every trial its study; their states are what is news.
  std::string LineOf(const v1::StudyEvent& event);

 private:
  bool IsNews(const v1::Trial& trial);

  std::map<std::string, v1::StudySpec> specs_;
  std::map<std::string, v1::StudyState> states_;
  std::map<std::string, std::pair<v1::TrialState, std::int64_t>> trials_;
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_RUNNING_TRIALS_H_
