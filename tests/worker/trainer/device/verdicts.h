// SPDX-License-Identifier: Apache-2.0
//
// File: verdicts.h
//
// What a run of checks found, printed line by line: for machines that have no
// test library.
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_DEVICE_VERDICTS_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_DEVICE_VERDICTS_H_

#include <ostream>
#include <string>

namespace frostline::trainer {

// One line for each: PASS, FAIL or SKIP.
class Verdicts {
 public:
  explicit Verdicts(std::ostream& out) : out_(&out) {}

  // Passes when `off` <= `limit`; a NaN does not.
  void Near(const std::string& what, double off, double limit,
            const std::string& otherwise = "");
  void True(const std::string& what, bool holds,
            const std::string& otherwise = "");
  void Skip(const std::string& what, const std::string& why);
  void Say(const std::string& line);

  int failed() const { return failed_; }
  // "N passed, N failed, N skipped"
  std::string Totals() const;

 private:
  std::ostream* out_;
  int passed_ = 0;
  int failed_ = 0;
  int skipped_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_DEVICE_VERDICTS_H_
