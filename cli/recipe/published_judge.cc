// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/published_judge.h"

#include <cmath>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

constexpr double kTwoSided95 = 1.959963984540054;  // of the normal law

const double* Find(const std::map<std::string, double>& metrics,
                   const std::string& metric) {
  for (const std::string& name :
       {metric, metric.substr(metric.rfind('.') + 1)}) {
    const auto found = metrics.find(name);
    if (found != metrics.end()) return &found->second;
  }
  return nullptr;
}

std::string JudgeSentence(const std::string& run, double value,
                          const std::string& to, double of_to,
                          std::int64_t examples) {
  const double difference = value - of_to;
  const double least = LeastVisibleDifference(value, of_to, examples);
  const char* const verdict =
      std::abs(difference) >= least
          ? "more than the choice of examples makes by chance"
          : "not to be told from chance";
  return absl::StrFormat(
      "Published of '%s': %s, which is %.4f %s '%s'; on %s examples two runs "
      "that are equally good differ by %.4f or more once in twenty, so this is "
      "%s.",
      run, FormatNumber(value), std::abs(difference),
      difference < 0.0 ? "below" : "above", to, FormatCount(examples), least,
      verdict);
}

}  // namespace

double LeastVisibleDifference(double first, double second,
                              std::int64_t examples) {
  const double p = (first + second) / 2.0;
  if (examples < 1 || !(p > 0.0 && p < 1.0)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return kTwoSided95 *
         std::sqrt(2.0 * p * (1.0 - p) / static_cast<double>(examples));
}

std::vector<std::string> JudgePublished(const PublishedStage& published,
                                        const std::string& to,
                                        const std::string& metric) {
  std::vector<std::string> sentences;
  const auto base = published.runs.find(to);
  if (base == published.runs.end() || !absl::EndsWith(metric, "accuracy")) {
    return sentences;
  }
  const double* const of_to = Find(base->second, metric);
  if (of_to == nullptr) return sentences;
  for (const auto& [run, metrics] : published.runs) {
    const double* const value = Find(metrics, metric);
    if (run == to || value == nullptr) continue;
    if (std::isnan(
            LeastVisibleDifference(*value, *of_to, published.examples))) {
      continue;
    }
    sentences.push_back(
        JudgeSentence(run, *value, to, *of_to, published.examples));
  }
  return sentences;
}

}  // namespace frostline::cli
