// SPDX-License-Identifier: Apache-2.0
#include "cli/live/running_trials.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/plain/statistics.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {

void RunningTrials::TakeEvent(const v1::Trial& trial) {
  since_look_.insert(trial.number());
  if (trial.state() == v1::TRIAL_STATE_RUNNING) {
    running_[trial.number()] = trial;
  } else {
    running_.erase(trial.number());
  }
}

void RunningTrials::EndLook(const std::vector<v1::Trial>& running) {
  std::erase_if(running_, [this](const auto& entry) {
    return !since_look_.contains(entry.first);
  });
  for (const v1::Trial& trial : running) {
    if (since_look_.contains(trial.number())) continue;
    running_[trial.number()] = trial;
  }
  are_all_known_ = true;
}

std::vector<v1::Trial> RunningTrials::All() const {
  std::vector<v1::Trial> all;
  all.reserve(running_.size());
  for (const auto& [number, trial] : running_) all.push_back(trial);
  return all;
}

v1::Study RunningTrials::Counted(v1::Study study) const {
  if (are_all_known_) {
    study.mutable_counts()->set_running(
        static_cast<std::int64_t>(running_.size()));
  }
  return study;
}

namespace {

// The least number of durations for an estimate.
constexpr std::size_t kFewest = 3;

double SecondsBetween(const google::protobuf::Timestamp& from, WallMicros to) {
  const double begin =
      static_cast<double>(from.seconds()) + from.nanos() * 1e-9;
  return std::max(0.0, static_cast<double>(to) * 1e-6 - begin);
}

TimeLeft Quartiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {QuantileOfSorted(values, 0.25), QuantileOfSorted(values, 0.5),
          QuantileOfSorted(values, 0.75)};
}

}  // namespace

std::optional<double> ToldSecondsLeft(const v1::Trial& trial, WallMicros now) {
  if (!trial.has_progress()) return std::nullopt;
  const v1::TrialProgress& progress = trial.progress();
  double left = 0.0;
  if (progress.has_remaining()) {
    left = static_cast<double>(progress.remaining().seconds()) +
           progress.remaining().nanos() * 1e-9;
  } else if (progress.steps_per_second() > 0.0 && progress.total_steps() > 0) {
    left = static_cast<double>(progress.total_steps() - progress.step()) /
           progress.steps_per_second();
  } else {
    return std::nullopt;
  }
  if (progress.has_as_of()) left -= SecondsBetween(progress.as_of(), now);
  return std::max(0.0, left);
}

std::optional<TimeLeft> TrialTimeLeft(const v1::Trial& trial,
                                      const std::vector<double>& durations,
                                      WallMicros now) {
  const auto told = ToldSecondsLeft(trial, now);
  if (told.has_value()) return TimeLeft{*told, *told, *told};
  if (durations.size() < kFewest || !trial.has_start_time()) {
    return std::nullopt;
  }
  const double elapsed = SecondsBetween(trial.start_time(), now);
  std::vector<double> left;
  for (const double duration : durations) {
    if (duration > elapsed) left.push_back(duration - elapsed);
  }
  if (left.empty()) return std::nullopt;  // it is longer than all before it
  return Quartiles(std::move(left));
}

std::optional<TimeLeft> StudyTimeLeft(const v1::Study& study,
                                      const std::vector<double>& durations,
                                      std::int64_t slots) {
  const std::int64_t trials =
      study.settings().budget().trials() - study.counts().budget_used();
  if (slots < 1 || trials < 1 || durations.size() < kFewest) {
    return std::nullopt;
  }
  const double turns =
      std::ceil(static_cast<double>(trials) / static_cast<double>(slots));
  const TimeLeft each = Quartiles(durations);
  return TimeLeft{turns * each.shortest, turns * each.likely,
                  turns * each.longest};
}

std::string TimeLeftText(const std::optional<TimeLeft>& left) {
  if (!left.has_value()) return "-";
  const std::string from = FormatSeconds(left->shortest);
  const std::string to = FormatSeconds(left->longest);
  return from == to ? from : absl::StrCat(from, " – ", to);
}

namespace {

std::string RunningLine(const v1::Trial& trial,
                        const std::vector<double>& durations, WallMicros now) {
  const v1::TrialProgress& progress = trial.progress();
  std::string line = absl::StrCat("  trial ", trial.number());
  const auto add = [&line](const std::string& part) {
    if (!part.empty()) absl::StrAppend(&line, "  ", part);
  };
  add(LastPart(trial.worker()));
  add(progress.phase());
  if (progress.total_epochs() > 0.0) {
    add(absl::StrFormat("epoch %.1f/%.4g", progress.epoch(),
                        progress.total_epochs()));
  }
  const std::int64_t step =
      trial.has_progress() ? progress.step() : trial.last_step();
  if (progress.total_steps() > 0) {
    add(absl::StrCat("step ", step, "/", progress.total_steps()));
  } else if (step > 0) {
    add(absl::StrCat("step ", step));
  }
  const auto left = TrialTimeLeft(trial, durations, now);
  if (left.has_value()) add("left " + TimeLeftText(left));
  return proto::CleanText(line, proto::kMaxCauseBytes);
}

}  // namespace

std::vector<std::string> RunningLines(std::vector<v1::Trial> running,
                                      const std::vector<double>& durations,
                                      WallMicros now, int most) {
  std::sort(running.begin(), running.end(),
            [](const v1::Trial& a, const v1::Trial& b) {
              return a.number() < b.number();
            });
  const auto room = static_cast<std::size_t>(std::max(1, most));
  const bool fits = running.size() <= room;
  const std::size_t shown = fits ? running.size() : room - 1;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < shown; ++i) {
    lines.push_back(RunningLine(running[i], durations, now));
  }
  if (!fits) {
    lines.push_back(absl::StrCat("  ", shown == 0 ? "" : "and ",
                                 running.size() - shown,
                                 shown == 0 ? " running" : " more running"));
  }
  return lines;
}

void AddDuration(const v1::Trial& trial, std::vector<double>* durations) {
  const bool ran = trial.state() == v1::TRIAL_STATE_SUCCEEDED ||
                   trial.state() == v1::TRIAL_STATE_PRUNED;
  // An imported one ran elsewhere.
  if (!ran || !trial.has_start_time() || !trial.has_end_time() ||
      trial.origin() == v1::TRIAL_ORIGIN_IMPORTED) {
    return;
  }
  durations->push_back(SecondsOf(trial));
}

namespace {

std::string StudyOf(const v1::Trial& trial) {
  return trial.name().substr(0, trial.name().find("/trials/"));
}

// Returns the time of the change that gave the trial its state.
const google::protobuf::Timestamp& WhenOf(const v1::Trial& trial) {
  if (trial.has_end_time()) return trial.end_time();
  return trial.has_start_time() ? trial.start_time() : trial.create_time();
}

const google::protobuf::Timestamp& WhenOf(const v1::StudyEvent& event) {
  return event.has_trial() ? WhenOf(event.trial())
                           : event.study().update_time();
}

std::string Line(const v1::StudyEvent& event, const std::string& study,
                 const std::string& what) {
  return absl::StrCat(FormatTime(WhenOf(event)), "  ", LastPart(study), "  ",
                      proto::CleanText(what, proto::kMaxCauseBytes));
}

}  // namespace

std::string EventJson(const v1::StudyEvent& event) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(event, &json, options);
  return status.ok() ? json : "{\"error\": \"no JSON\"}";
}

std::int64_t TimeOf(const v1::StudyEvent& event) {
  return WhenOf(event).seconds();
}

void EventLines::Know(const v1::Study& study) {
  specs_[study.name()] = study.spec();
}

bool EventLines::IsNews(const v1::Trial& trial) {
  const auto now = std::make_pair(trial.state(), trial.attempt());
  auto& last = trials_[trial.name()];
  return std::exchange(last, now) != now;
}

std::string EventLines::LineOf(const v1::StudyEvent& event) {
  if (event.has_trial() && IsNews(event.trial())) {
    const std::string study = StudyOf(event.trial());
    return Line(event, study, TrialLine(event.trial(), specs_[study]));
  }
  if (!event.has_study()) return "";
  const v1::Study& study = event.study();
  Know(study);
  auto& last = states_[study.name()];
  if (std::exchange(last, study.state()) == study.state()) return "";
  std::string what =
      absl::StrCat("study  ", NameOf(study.state()), "  ", ProgressText(study));
  if (!study.state_reason().empty()) {
    absl::StrAppend(&what, "  ", study.state_reason());
  }
  return Line(event, study.name(), what);
}

}  // namespace frostline::cli
