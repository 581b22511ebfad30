// SPDX-License-Identifier: Apache-2.0
//
// File: record.h
//
// What a test counted, as one line on standard output that scripts/record.py
// reads:
//
//   record: kills=12 acknowledged=4321 violations=0
//
// It is written when the object goes, so also after an assertion that ended the
// test. `violations` always comes last; where the test counted none and has
// failed all the same, it is 1.
#ifndef FROSTLINE_TESTS_SUPPORT_RECORD_H_
#define FROSTLINE_TESTS_SUPPORT_RECORD_H_

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace frostline {

class Record {
 public:
  Record() = default;
  ~Record() {
    if (counts_.empty() || testing::Test::IsSkipped()) return;
    std::cout << "record:";
    for (const auto& [name, count] : counts_) {
      std::cout << " " << name << "=" << count;
    }
    const std::int64_t failed = testing::Test::HasFailure() ? 1 : 0;
    std::cout << " violations=" << std::max(violations_, failed) << std::endl;
  }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  // A count by its name, in lower case with "_" between words; 0 at first.
  std::int64_t& operator[](const std::string& name) {
    for (auto& [known, count] : counts_) {
      if (known == name) return count;
    }
    return counts_.emplace_back(name, 0).second;
  }

  void AddViolations(std::size_t count) {
    violations_ += static_cast<std::int64_t>(count);
  }

 private:
  std::vector<std::pair<std::string, std::int64_t>> counts_;
  std::int64_t violations_ = 0;
};

}  // namespace frostline

#endif  // FROSTLINE_TESTS_SUPPORT_RECORD_H_
