// SPDX-License-Identifier: Apache-2.0
#include "statistics/run_score.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "statistics/paired/kinds_of_score.h"
#include "statistics/scores/span_f1.h"

namespace frostline::statistics {
namespace {

std::size_t ExamplesOf(const Outcomes& outcomes) {
  return std::max({outcomes.marks.size(), outcomes.true_class.size(),
                   outcomes.true_value.size()});
}

bool OfSpans(const Outcomes& outcomes) {
  return !outcomes.sentence_ends.empty() && MarkSpans(outcomes.classes);
}

bool MayBeSpans(const Outcomes& outcomes) {
  return MarkSpans(outcomes.classes);
}

// Right or wrong, from whichever of the two the outcomes have.
Outcomes RightOrWrong(const Outcomes& outcomes) {
  Outcomes marks;
  marks.sentence_ends = outcomes.sentence_ends;
  marks.right_or_wrong = true;
  if (outcomes.true_class.empty()) {
    marks.marks = outcomes.marks;
    return marks;
  }
  for (std::size_t i = 0; i < outcomes.true_class.size(); ++i) {
    marks.marks.push_back(
        outcomes.true_class[i] == outcomes.predicted_class[i] ? 1.0F : 0.0F);
  }
  return marks;
}

}  // namespace

RunScore::RunScore(const Outcomes& outcomes)
    : by_sentence_(!outcomes.sentence_ends.empty()) {
  std::uint32_t begin = 0;
  for (const std::uint32_t end : outcomes.sentence_ends) {
    sizes_.push_back(end - begin);
    begin = end;
  }
  if (!by_sentence_) sizes_.assign(ExamplesOf(outcomes), 1);
}

std::vector<std::string> MetricsOf(const Outcomes& outcomes) {
  if (!outcomes.true_value.empty()) {
    return {"mse", "pearson", "rmse", "spearman"};
  }
  std::vector<std::string> names;
  const bool classes = !outcomes.true_class.empty();
  if (classes || outcomes.right_or_wrong) names.push_back("accuracy");
  if (classes && (OfSpans(outcomes) || !MayBeSpans(outcomes))) {
    names.push_back("f1");
  }
  if (classes) names.insert(names.end(), {"f1_macro", "f1_micro", "mcc"});
  if (classes && OfSpans(outcomes)) {
    names.insert(names.end(), {"precision", "recall"});
  }
  return names;
}

bool MayBeAMean(const std::string& metric) {
  constexpr std::array<std::string_view, 8> kNoMeans = {
      "f1",     "f1_macro", "mcc",      "pearson",
      "recall", "rmse",     "spearman", "precision"};
  return std::find(kNoMeans.begin(), kNoMeans.end(), metric) == kNoMeans.end();
}

std::shared_ptr<const RunScore> MakeRunScore(const std::string& metric,
                                             const Outcomes& outcomes) {
  if (metric.empty()) {
    return outcomes.marks.empty() ? nullptr : MakeMean(outcomes);
  }
  const std::vector<std::string> names = MetricsOf(outcomes);
  if (std::find(names.begin(), names.end(), metric) == names.end()) {
    return nullptr;
  }
  if (metric == "accuracy" || metric == "f1_micro") {
    return MakeMean(RightOrWrong(outcomes));
  }
  if (!outcomes.true_value.empty()) {
    return MakeOfNumbers(metric, outcomes);
  }
  const bool of_spans =
      OfSpans(outcomes) && metric != "mcc" && metric != "f1_macro";
  return of_spans ? MakeOfSpans(metric, outcomes)
                  : MakeOfClasses(metric, outcomes);
}

}  // namespace frostline::statistics
