// SPDX-License-Identifier: Apache-2.0
#include "cli/live/time_left.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "base/plain/statistics.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

// Fewer durations say nothing of the next one.
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

}  // namespace frostline::cli
