// SPDX-License-Identifier: Apache-2.0
//
// File: run_score.h
//
// The metric of one run as a function of its examples, so that it can be
// computed for resampled ones. A unit is what is resampled: a sentence, if the
// outcomes say where sentences end (words of one sentence are not independent),
// else an example.
#ifndef FROSTLINE_STATISTICS_RUN_SCORE_H_
#define FROSTLINE_STATISTICS_RUN_SCORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "statistics/scores/scores.h"

namespace frostline::statistics {

// What a run predicts for each example. Each pair of fields, truth and
// prediction, is filled on both sides or on none.
struct Outcomes {
  std::vector<float> marks;     // right as 1, wrong as 0; or a score
  bool right_or_wrong = false;  // what marks are
  std::vector<std::int32_t> true_class;
  std::vector<std::int32_t> predicted_class;
  std::vector<std::string> classes;  // names by index
  std::vector<double> true_value;
  std::vector<double> predicted_value;
  std::vector<std::uint32_t> sentence_ends;  // empty: each stands alone
};

// The metric of one run, which can be computed for any resample of its units.
class RunScore {
 public:
  virtual ~RunScore() = default;

  // Returns the metric if each unit counts this many times. Empty `times` means
  // once each. An undefined metric is 0, as in a trial's metrics.
  virtual double At(Times times) const = 0;

  // What each unit adds to a metric that is a mean over examples; else empty.
  const std::vector<double>& sums() const { return sums_; }
  // How many examples each unit has.
  const std::vector<std::uint32_t>& sizes() const { return sizes_; }
  std::size_t units() const { return sizes_.size(); }
  bool counts() const { return counts_; }  // sums are whole numbers
  bool by_sentence() const { return by_sentence_; }

 protected:
  explicit RunScore(const Outcomes& outcomes);

  std::vector<double> sums_;
  std::vector<std::uint32_t> sizes_;
  bool counts_ = false;
  bool by_sentence_ = false;
};

// Returns the metrics that MakeRunScore can compute from these outcomes.
std::vector<std::string> MetricsOf(const Outcomes& outcomes);

// Returns false for a metric that is known to be no mean over examples, such as
// F1. A mean that equals it does so by chance.
bool MayBeAMean(const std::string& metric);

// Returns the score of a metric, or null if the outcomes do not hold it. The
// name "" stands for the mean of the marks.
std::shared_ptr<const RunScore> MakeRunScore(const std::string& metric,
                                             const Outcomes& outcomes);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_RUN_SCORE_H_
