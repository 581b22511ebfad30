// SPDX-License-Identifier: Apache-2.0
//
// File: run_score.h
//
// One run's metric as a function of its examples, so that it can be had of
// resampled ones. What is resampled is a unit: a sentence where the outcomes
// say where sentences end, since words of one sentence are not independent,
// else an example.
#ifndef FROSTLINE_STATISTICS_RUN_SCORE_H_
#define FROSTLINE_STATISTICS_RUN_SCORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "statistics/scores/correlation.h"

namespace frostline::statistics {

// What a run says of each example. Of the pairs both sides are there or none.
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

class RunScore {
 public:
  virtual ~RunScore() = default;

  // Each unit counts so often; none stands for once. Undefined is 0, as in a
  // trial's metrics.
  virtual double At(Times times) const = 0;

  // Of a metric that is a mean over examples: what each unit adds. Else empty.
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

// The metrics that MakeRunScore computes of these outcomes.
std::vector<std::string> MetricsOf(const Outcomes& outcomes);

// False where it is known that no mean over examples gives it, as of F1: what
// equals it then does so by chance.
bool MayBeAMean(const std::string& metric);

// Null for a metric that the outcomes do not hold. The name "" stands for the
// mean of the marks.
std::shared_ptr<const RunScore> MakeRunScore(const std::string& metric,
                                             const Outcomes& outcomes);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_RUN_SCORE_H_
