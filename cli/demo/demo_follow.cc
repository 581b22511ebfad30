// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_follow.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"

namespace frostline::cli {
namespace {

constexpr Duration kDemoPollInterval = std::chrono::milliseconds(250);
constexpr Duration kStallBound = std::chrono::minutes(5);
constexpr int kProgressLines = 3;  // off a terminal

double SecondsBetween(SteadyTime from, SteadyTime to) {
  return std::chrono::duration<double>(to - from).count();
}

// Says how far the study is: on a terminal all the time, else now and then.
class Progress {
 public:
  explicit Progress(const Terminal& terminal)
      : terminal_(terminal), line_(terminal) {}

  void Show(const v1::Study& study, const std::optional<v1::Trial>& best) {
    std::string text = ProgressText(study);
    if (best.has_value()) {
      absl::StrAppend(&text, ", best ", ObjectiveText(*best, study.spec()),
                      " (trial ", best->number(), ")");
    }
    line_.Show(text);
    const std::int64_t done = study.counts().budget_used();
    const std::int64_t step = std::max<std::int64_t>(
        1, study.settings().budget().trials() / kProgressLines);
    if (terminal_.err_is_tty || done < shown_ + step) return;
    shown_ = done;
    std::cout << text << std::endl;
  }

 private:
  const Terminal& terminal_;
  StatusLine line_;
  std::int64_t shown_ = 0;
};

absl::Status Stalled() {
  return MakeError(ErrorId::kTrainerExited,
                   "nothing has changed for five minutes",
                   "run the demo with --dir DIR and read the logs there");
}

}  // namespace

absl::StatusOr<v1::Study> FollowDemo(Client& client, v1::Study study,
                                     LocalFleet& fleet, StopSignals& signals,
                                     const Terminal& terminal,
                                     DemoTimes& times) {
  const SystemClock clock;
  Progress progress(terminal);
  SteadyTime last_change = clock.Steady();
  std::int64_t revision = -1;
  std::optional<v1::Trial> best;
  while (!IsEnded(study.state())) {
    RETURN_IF_ERROR(signals.Pause(kDemoPollInterval));
    RETURN_IF_ERROR(fleet.Check());
    ASSIGN_OR_RETURN(study, FetchStudy(client, study.name()));
    if (study.revision() == revision) {
      if (clock.Steady() - last_change > kStallBound) return Stalled();
      continue;
    }
    revision = study.revision();
    last_change = clock.Steady();
    if (!times.first_lease &&
        study.counts().running() + study.counts().budget_used() > 0) {
      times.first_lease = last_change;
      std::cout << "first trial after "
                << FormatSeconds(SecondsBetween(times.begin, last_change))
                << std::endl;
    }
    ASSIGN_OR_RETURN(best, FetchBest(client, study));
    progress.Show(study, best);
  }
  times.end = clock.Steady();
  return study;
}

void ShowDemoTimes(const v1::Study& study, const DemoTimes& times) {
  std::cout << ProgressText(study);
  if (times.first_lease.has_value()) {
    std::cout << " in "
              << FormatSeconds(SecondsBetween(*times.first_lease, times.end))
              << " from the first lease";
  }
  std::cout << ", "
            << FormatSeconds(
                   SecondsBetween(times.begin, SystemClock().Steady()))
            << " in all" << std::endl;
}

}  // namespace frostline::cli
