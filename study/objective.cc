// SPDX-License-Identifier: Apache-2.0
#include "study/objective.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/statistics.h"

namespace frostline {
namespace {

constexpr double kRounding = 1e-6;  // of a thousand sums in single precision
constexpr double kOpen = std::numeric_limits<double>::infinity();

// What the trainer names (worker/trainer/trial/scores.h), and the spellings of
// the same in other programs.
const std::map<std::string, MetricRange, std::less<>>& KnownRanges() {
  static const auto* const kRanges = [] {
    auto* const ranges = new std::map<std::string, MetricRange, std::less<>>;
    for (const char* const name :
         {"accuracy", "balanced_accuracy", "f1", "f1_macro", "f1_micro",
          "f1_weighted", "macro_f1", "micro_f1", "precision", "recall"}) {
      ranges->emplace(name, MetricRange{0.0, 1.0});
    }
    for (const char* const name :
         {"mcc", "matthews", "matthews_correlation", "pearson", "spearman",
          "spearmanr", "kendall"}) {
      ranges->emplace(name, MetricRange{-1.0, 1.0});
    }
    ranges->emplace("r2", MetricRange{-kOpen, 1.0});
    for (const char* const name :
         {"loss", "error", "error_rate", "mae", "mse", "rmse", "perplexity",
          "train_seconds", "trained_parameters", "peak_memory_mib", "steps",
          "kept_step", "words_cut"}) {
      ranges->emplace(name, MetricRange{0.0, kOpen});
    }
    return ranges;
  }();
  return *kRanges;
}

std::string_view WithoutSplit(std::string_view name) {
  for (const std::string_view split :
       {"train_", "validation_", "val_", "eval_", "test_"}) {
    if (name.starts_with(split)) return name.substr(split.size());
  }
  return name;
}

double Slack(double end) { return kRounding * std::max(1.0, std::fabs(end)); }

}  // namespace

bool MetricRange::IsBoundedBelow() const { return std::isfinite(lo); }

bool MetricRange::IsBoundedAbove() const { return std::isfinite(hi); }

bool MetricRange::Holds(double value) const {
  const bool below = IsBoundedBelow() && value < lo - Slack(lo);
  const bool above = IsBoundedAbove() && value > hi + Slack(hi);
  return !std::isnan(value) && !below && !above;
}

double MetricRange::Clamp(double value) const {
  return std::min(std::max(value, lo), hi);
}

MetricRange PresumedRange(const std::string& metric) {
  const std::string lower = absl::AsciiStrToLower(metric);
  std::string_view name = lower;
  const std::size_t cut = name.find_last_of("./");
  if (cut != std::string_view::npos) name.remove_prefix(cut + 1);
  const auto& known = KnownRanges();
  auto found = known.find(name);  // "train_seconds" is a name of its own
  if (found == known.end()) found = known.find(WithoutSplit(name));
  return found == known.end() ? MetricRange() : found->second;
}

std::string DescribeRange(const MetricRange& range) {
  if (!range.IsBounded()) return "any number";
  if (!range.IsBoundedAbove()) return absl::StrCat(range.lo, " or more");
  if (!range.IsBoundedBelow()) return absl::StrCat("at most ", range.hi);
  return absl::StrCat(range.lo, " … ", range.hi);
}

namespace {

// `field` is where the range would be found in the study.
absl::Status CheckRange(const Objective& objective, const std::string& field) {
  if (!objective.range.has_value()) return absl::OkStatus();
  const MetricRange& range = *objective.range;
  const auto bad = [&](const std::string& cause, const std::string& fix) {
    return MakeError(ErrorId::kRangeInvalid, cause, fix, field);
  };
  if (std::isnan(range.lo) || std::isnan(range.hi)) {
    return bad(absl::StrCat("an end of the range of ", objective.metric,
                            " is no number"),
               "give finite ends, or leave one out where it is open");
  }
  if (range.lo < range.hi) return absl::OkStatus();
  return bad(absl::StrCat("the range of ", objective.metric, " goes from ",
                          range.lo, " to ", range.hi),
             "give the lower end first: {range: [0, 1]}");
}

}  // namespace

bool Dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

absl::Status CheckObjectives(const std::vector<Objective>& objectives) {
  const auto bad = [](const std::string& cause, const std::string& fix,
                      const std::string& field) {
    return MakeError(ErrorId::kObjectiveInvalid, cause, fix, field);
  };
  if (objectives.empty()) {
    return bad("the study has no objective",
               "name a metric, e.g. {metric: accuracy, direction: maximize}",
               "objectives");
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    const std::string field = absl::StrCat("objectives[", i, "].metric");
    if (objectives[i].metric.empty()) {
      return bad("an objective names no metric", "name the metric", field);
    }
    if (!seen.insert(objectives[i].metric).second) {
      return bad(absl::StrCat(objectives[i].metric, " is listed twice"),
                 "list each metric once", field);
    }
    RETURN_IF_ERROR(
        CheckRange(objectives[i], absl::StrCat("objectives[", i, "].range")));
  }
  return absl::OkStatus();
}

MetricRange ClaimedRange(const Objective& objective) {
  return objective.range.value_or(PresumedRange(objective.metric));
}

RangeInForce EffectiveRange(const Objective& objective,
                            const std::vector<double>& seen) {
  RangeInForce in_force;
  in_force.claimed = ClaimedRange(objective);
  if (objective.range.has_value()) {
    in_force.source = RangeSource::kStated;
  } else if (in_force.claimed.IsBounded()) {
    in_force.source = RangeSource::kPresumed;
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!std::isfinite(seen[i]) || in_force.claimed.Holds(seen[i])) continue;
    in_force.broken_by = i;
    in_force.broken_value = seen[i];
    return in_force;
  }
  in_force.range = in_force.claimed;
  return in_force;
}

std::string OutOfRangeSentence(const Objective& objective,
                               const RangeInForce& range, std::int64_t number) {
  const bool stated = range.source == RangeSource::kStated;
  return absl::StrCat(
      "trial ", number, " has ", objective.metric, " ", range.broken_value,
      ", outside of the ", stated ? "stated " : "presumed ",
      DescribeRange(range.claimed), ": predictions are bound to no range. ",
      stated ? "The next study should state another"
             : "A study can state it: {range: [lo, hi]}");
}

const char* NameOf(Purpose purpose) {
  switch (purpose) {
    case Purpose::kBest:
      return "best";
    case Purpose::kUnderstand:
      return "understand";
    case Purpose::kBoth:
      return "both";
  }
  return "";
}

const char* MeaningOf(Purpose purpose) {
  switch (purpose) {
    case Purpose::kBest:
      return "every trial is for the best value";
    case Purpose::kUnderstand:
      return "every trial is chosen for what it tells";
    case Purpose::kBoth:
      return "a balanced beginning, then the best value; while it rests, part "
             "of the trials for what they tell";
  }
  return "";
}

bool IsOfTestSplit(std::string_view metric) {
  return metric.starts_with("test.") ||
         metric.find(".test.") != std::string_view::npos;
}

std::string TestObjectiveSentence(std::string_view metric) {
  return absl::StrCat("trials are chosen by ", std::string(metric),
                      ", so the best of them looks better on the test split "
                      "than on rows that nobody has looked at: what it "
                      "reports is no test result");
}

namespace {

// One value in so many may lie outside of a range that holds otherwise.
constexpr std::size_t kOneInOutside = 10;
constexpr double kTimesTheirRange = 20.0;
constexpr double kTimesTheirSize = 10.0;

// Returns the lowest loss that is far beyond all lower ones, among the highest
// of sorted losses; infinity if there is none.
double FirstFarBeyond(const std::vector<double>& losses) {
  double wild = std::numeric_limits<double>::infinity();
  const std::size_t n = losses.size();
  for (std::size_t k = 1; k * kOneInOutside <= n; ++k) {
    const double others = losses[n - k - 1];  // the worst of them
    const double size = std::max(std::abs(losses.front()), std::abs(others));
    const double range = others - losses.front();
    const double beyond = losses[n - k] - others;
    if (range > 0.0 && beyond > kTimesTheirRange * range &&
        beyond > kTimesTheirSize * size) {
      wild = losses[n - k];
    }
  }
  return wild;
}

}  // namespace

std::vector<ValueScale> FindOffScale(const Objective& objective,
                                     const std::vector<double>& losses) {
  const MetricRange range = ClaimedRange(objective);
  const auto is_held = [&](double loss) {
    return range.Holds(AsLoss(objective, loss));  // its own inverse
  };
  std::vector<double> held;
  std::copy_if(losses.begin(), losses.end(), std::back_inserter(held), is_held);
  const bool holds =
      (losses.size() - held.size()) * kOneInOutside <= losses.size();
  if (!holds) held = losses;
  std::vector<ValueScale> scales(losses.size(), ValueScale::kOn);
  if (held.empty()) return scales;
  std::sort(held.begin(), held.end());
  const double best = held.front();
  const double reach = QuantileOfSorted(held, 0.5) - best;
  const double wild = FirstFarBeyond(held);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const bool is_outside = holds && !is_held(losses[i]);
    if (is_outside && losses[i] < best) {
      // What is presumed may be a little wrong: a loss can fall below 0.
      const bool is_far =
          objective.range.has_value() || best - losses[i] > reach;
      if (is_far) scales[i] = ValueScale::kOffBetter;
    } else if (is_outside || losses[i] >= wild) {
      scales[i] = ValueScale::kOffWorse;
    }
  }
  return scales;
}

}  // namespace frostline
