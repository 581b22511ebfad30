// SPDX-License-Identifier: Apache-2.0
#include "study/metric_range.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

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
          "train_seconds", "trained_parameters", "steps", "kept_step",
          "words_cut"}) {
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

}  // namespace frostline
