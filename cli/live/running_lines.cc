// SPDX-License-Identifier: Apache-2.0
#include "cli/live/running_lines.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/live/time_left.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
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
  add("left " + TimeLeftText(TrialTimeLeft(trial, durations, now)));
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

}  // namespace frostline::cli
