// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/study_wait.h"
#include "cli/study_file/yaml_scalar.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"

namespace frostline::cli {
namespace {

constexpr char kUntilFlag[] = "--for";
constexpr char kTrials[] = "trials=";
constexpr char kBest[] = "best";

absl::Status NoGoal(const std::string& text) {
  // A shell takes an unquoted > for a file's name.
  const std::string hint = text == kBest
                               ? "quote it: --for 'best>=0.9'"
                               : "write ended, running, trials=N or 'best>=X'";
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("'", text, "' is nothing to wait for"), hint,
                   kUntilFlag);
}

}  // namespace

absl::StatusOr<WaitGoal> ParseGoal(const std::string& text) {
  WaitGoal goal;
  if (text == "ended") return goal;
  if (text == "running") {
    goal.kind = WaitGoal::Kind::kRunning;
    return goal;
  }
  if (absl::StartsWith(text, kTrials)) {
    const auto count = ReadInt(text.substr(sizeof(kTrials) - 1));
    if (!count.has_value() || *count < 1) return NoGoal(text);
    goal.kind = WaitGoal::Kind::kTrials;
    goal.trials = *count;
    return goal;
  }
  goal.at_least = absl::StartsWith(text, "best>=");
  if (!goal.at_least && !absl::StartsWith(text, "best<=")) return NoGoal(text);
  const auto bound = ReadDouble(text.substr(sizeof("best>=") - 1));
  if (!bound.has_value()) return NoGoal(text);
  goal.kind = WaitGoal::Kind::kBest;
  goal.bound = *bound;
  return goal;
}

absl::Status CheckGoal(const WaitGoal& goal, const v1::StudySpec& spec) {
  if (goal.kind != WaitGoal::Kind::kBest || spec.objectives().empty()) {
    return absl::OkStatus();
  }
  const bool maximizes =
      spec.objectives(0).direction() == v1::DIRECTION_MAXIMIZE;
  if (maximizes == goal.at_least) return absl::OkStatus();
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("the study ", maximizes ? "maximizes " : "minimizes ",
                   spec.objectives(0).metric()),
      absl::StrCat("wait for 'best",
                   maximizes ? ">=" : "<=", FormatNumber(goal.bound), "'"),
      kUntilFlag);
}

bool IsMet(const WaitGoal& goal, const v1::Study& study,
           const std::vector<double>& best) {
  const v1::TrialCounts& counts = study.counts();
  switch (goal.kind) {
    case WaitGoal::Kind::kEnded:
      return IsEnded(study.state());
    case WaitGoal::Kind::kRunning:
      return counts.running() > 0;
    case WaitGoal::Kind::kTrials:
      return EndedTrials(counts) >= goal.trials;
    case WaitGoal::Kind::kBest:
      return std::ranges::any_of(best, [&goal](double value) {
        return goal.at_least ? value >= goal.bound : value <= goal.bound;
      });
  }
  return false;
}

}  // namespace frostline::cli
