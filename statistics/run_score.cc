// SPDX-License-Identifier: Apache-2.0
//
// Only run_score.cc asks for these: each kind of metric keeps what it needs of
// the outcomes, and nothing else.
#include "statistics/run_score.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "statistics/scores/scores.h"

namespace frostline::statistics {

// The mean of the marks.
std::shared_ptr<const RunScore> MakeMean(const Outcomes& outcomes);
// f1, f1_macro or mcc.
std::shared_ptr<const RunScore> MakeOfClasses(const std::string& metric,
                                              const Outcomes& outcomes);
// f1, precision or recall. REQUIRES: sentence ends.
std::shared_ptr<const RunScore> MakeOfSpans(const std::string& metric,
                                            const Outcomes& outcomes);
// mse, rmse, pearson or spearman; every example is a unit.
std::shared_ptr<const RunScore> MakeOfNumbers(const std::string& metric,
                                              const Outcomes& outcomes);

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
  constexpr std::array<std::string_view, 9> kNoMeans = {
      "f1",   "f1_macro", "mcc",       "pearson",   "recall",
      "rmse", "spearman", "precision", "perplexity"};
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

namespace {

std::uint32_t CountAt(Times times, std::size_t unit) {
  return times.empty() ? 1 : times[unit];
}

class MeanScore : public RunScore {
 public:
  explicit MeanScore(const Outcomes& outcomes) : RunScore(outcomes) {
    counts_ = outcomes.right_or_wrong;
    std::size_t example = 0;
    for (const std::uint32_t size : sizes_) {
      double sum = 0.0;
      for (std::uint32_t i = 0; i < size; ++i) sum += outcomes.marks[example++];
      sums_.push_back(sum);
    }
  }

  double At(Times times) const override {
    double sum = 0.0, examples = 0.0;
    for (std::size_t unit = 0; unit < sums_.size(); ++unit) {
      const double often = CountAt(times, unit);
      sum += often * sums_[unit];
      examples += often * sizes_[unit];
    }
    return examples > 0.0 ? sum / examples : 0.0;
  }
};

class ClassScore : public RunScore {
 public:
  ClassScore(const std::string& metric, const Outcomes& outcomes)
      : RunScore(outcomes),
        metric_(metric),
        classes_(ClassesOf(outcomes)),
        truth_(outcomes.true_class),
        prediction_(outcomes.predicted_class) {}

  double At(Times times) const override {
    Confusion confusion(classes_);
    std::size_t example = 0;
    for (std::size_t unit = 0; unit < sizes_.size(); ++unit) {
      const std::uint32_t often = CountAt(times, unit);
      for (std::uint32_t i = 0; i < sizes_[unit]; ++i, ++example) {
        if (often == 0) continue;
        confusion.AddTimes(truth_[example], prediction_[example], often);
      }
    }
    if (metric_ == "mcc") return confusion.Matthews();
    return metric_ == "f1" ? confusion.F1() : confusion.MacroF1();
  }

 private:
  // At least as many as are named: those that nobody is of count for nothing.
  static std::size_t ClassesOf(const Outcomes& outcomes) {
    std::size_t classes = outcomes.classes.size();
    for (const auto* side : {&outcomes.true_class, &outcomes.predicted_class}) {
      for (const std::int32_t c : *side) {
        classes = std::max(classes, static_cast<std::size_t>(c) + 1);
      }
    }
    return classes;
  }

  std::string metric_;
  std::size_t classes_;
  std::vector<std::int32_t> truth_;
  std::vector<std::int32_t> prediction_;
};

class SpanScore : public RunScore {
 public:
  SpanScore(const std::string& metric, const Outcomes& outcomes)
      : RunScore(outcomes), metric_(metric) {
    const std::span<const std::int32_t> truth(outcomes.true_class);
    const std::span<const std::int32_t> prediction(outcomes.predicted_class);
    std::size_t begin = 0;
    for (const std::uint32_t size : sizes_) {
      SpanF1 sentence(outcomes.classes);
      sentence.Add(truth.subspan(begin, size), prediction.subspan(begin, size));
      sentences_.push_back(sentence.counts());
      begin += size;
    }
  }

  double At(Times times) const override {
    SpanCounts all;
    for (std::size_t i = 0; i < sentences_.size(); ++i) {
      all.AddTimes(sentences_[i], CountAt(times, i));
    }
    return metric_ == "precision" ? all.Precision()
           : metric_ == "recall"  ? all.Recall()
                                  : all.F1();
  }

 private:
  std::string metric_;
  std::vector<SpanCounts> sentences_;
};

class NumberScore : public RunScore {
 public:
  NumberScore(const std::string& metric, const Outcomes& outcomes)
      : RunScore(outcomes),
        metric_(metric),
        truth_(outcomes.true_value),
        prediction_(outcomes.predicted_value),
        spearman_(truth_, prediction_) {}
  // The ranks borrow the numbers.
  NumberScore(const NumberScore&) = delete;
  NumberScore& operator=(const NumberScore&) = delete;

  double At(Times times) const override {
    if (metric_ == "spearman") return spearman_.At(times).value_or(0.0);
    if (metric_ == "pearson") {
      return Pearson(truth_, prediction_, times).value_or(0.0);
    }
    const double error =
        MeanSquaredError(truth_, prediction_, times).value_or(0.0);
    return metric_ == "rmse" ? std::sqrt(error) : error;
  }

 private:
  std::string metric_;
  std::vector<double> truth_;
  std::vector<double> prediction_;
  ResampledSpearman spearman_;
};

}  // namespace

std::shared_ptr<const RunScore> MakeMean(const Outcomes& outcomes) {
  return std::make_shared<MeanScore>(outcomes);
}

std::shared_ptr<const RunScore> MakeOfClasses(const std::string& metric,
                                              const Outcomes& outcomes) {
  return std::make_shared<ClassScore>(metric, outcomes);
}

std::shared_ptr<const RunScore> MakeOfSpans(const std::string& metric,
                                            const Outcomes& outcomes) {
  return std::make_shared<SpanScore>(metric, outcomes);
}

std::shared_ptr<const RunScore> MakeOfNumbers(const std::string& metric,
                                              const Outcomes& outcomes) {
  return std::make_shared<NumberScore>(metric, outcomes);
}

}  // namespace frostline::statistics
