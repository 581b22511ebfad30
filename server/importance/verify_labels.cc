// SPDX-License-Identifier: Apache-2.0
#include "server/importance/verify_labels.h"

#include <array>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "frostline/v1/trial.pb.h"
#include "server/importance/convert_importance.h"

namespace frostline::server {
namespace {

constexpr char kKind[] = "kind";
constexpr char kVerify[] = "verify";  // also the kind
constexpr char kMaximize[] = "maximize";

std::string LabelOf(const v1::Trial& trial, const std::string& key) {
  const auto found = trial.labels().find(key);
  return found == trial.labels().end() ? "" : found->second;
}

}  // namespace

std::string IntervalText(const importance::Interval& interval) {
  return absl::StrCat(ExactText(interval.value), " ", ExactText(interval.lo80),
                      " ", ExactText(interval.hi80), " ",
                      ExactText(interval.lo95), " ", ExactText(interval.hi95));
}

std::optional<importance::Interval> IntervalFromText(const std::string& text) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  std::array<double, 5> ends{};
  if (words.size() != ends.size()) return std::nullopt;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (!absl::SimpleAtod(words[i], &ends[i])) return std::nullopt;
  }
  return importance::Interval{ends[0], ends[1], ends[2], ends[3], ends[4]};
}

void MarkToVerify(const VerifyMark& mark, v1::EnqueuedTrial& trial) {
  trial.set_seed(mark.seed);
  auto& labels = *trial.mutable_labels();
  labels[kKind] = kVerify;
  labels[kVerify] = mark.batch;
  labels["rival"] = mark.rival;
  labels["target"] = mark.objective.metric;
  labels["goal"] =
      mark.objective.direction == Direction::kMaximize ? kMaximize : "minimize";
  labels["of"] = absl::StrCat(mark.total);
  labels["predicted"] = IntervalText(mark.predicted);
  labels["one_run"] = IntervalText(mark.one_run);
}

std::optional<VerifyMark> VerifyMarkOf(const storage::TrialRow& row) {
  v1::Trial trial;
  trial.ParseFromString(row.labels);
  if (LabelOf(trial, kKind) != kVerify) return std::nullopt;
  VerifyMark mark;
  mark.batch = LabelOf(trial, kVerify);
  mark.rival = LabelOf(trial, "rival");
  mark.objective = {LabelOf(trial, "target"),
                    LabelOf(trial, "goal") == kMaximize ? Direction::kMaximize
                                                        : Direction::kMinimize};
  const auto predicted = IntervalFromText(LabelOf(trial, "predicted"));
  const auto one_run = IntervalFromText(LabelOf(trial, "one_run"));
  if (mark.batch.empty() || mark.rival.empty() ||
      mark.objective.metric.empty() || !predicted.has_value() ||
      !one_run.has_value() ||
      !absl::SimpleAtoi(LabelOf(trial, "of"), &mark.total)) {
    return std::nullopt;
  }
  mark.seed = trial.seed();
  mark.predicted = *predicted;
  mark.one_run = *one_run;
  return mark;
}

}  // namespace frostline::server
