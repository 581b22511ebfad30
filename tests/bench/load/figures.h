// SPDX-License-Identifier: Apache-2.0
//
// File: figures.h
//
// What a load run counted: answers and their times by method, errors by id.
#ifndef FROSTLINE_TESTS_BENCH_LOAD_FIGURES_H_
#define FROSTLINE_TESTS_BENCH_LOAD_FIGURES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"

namespace frostline::bench {

// The value below which `share` of `sorted` lies; 0 when it is empty.
double Percentile(const std::vector<double>& sorted, double share);

class Figures {
 public:
  void Answered(const std::string& method, Duration took);
  void Failed(const std::string& error_id) { ++errors_[error_id]; }
  void Cycle() { ++cycles_; }
  void Measured(std::int64_t count) { measurements_ += count; }

  std::int64_t cycles() const { return cycles_; }
  std::int64_t measurements() const { return measurements_; }
  std::int64_t Count(const std::string& method) const;
  double Milliseconds(const std::string& method, double share) const;
  const std::map<std::string, std::int64_t>& errors() const { return errors_; }

  // A table for people; `spent` is the time it all took.
  std::string Describe(Duration spent) const;

 private:
  std::int64_t cycles_ = 0;
  std::int64_t measurements_ = 0;
  std::map<std::string, std::vector<double>> times_;  // in milliseconds
  std::map<std::string, std::int64_t> errors_;
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_LOAD_FIGURES_H_
