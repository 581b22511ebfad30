// SPDX-License-Identifier: Apache-2.0
//
// File: event_lines.h
#ifndef FROSTLINE_CLI_LIVE_EVENT_LINES_H_
#define FROSTLINE_CLI_LIVE_EVENT_LINES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "frostline/v1/study_service.pb.h"

namespace frostline::cli {

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

#endif  // FROSTLINE_CLI_LIVE_EVENT_LINES_H_
