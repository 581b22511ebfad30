// SPDX-License-Identifier: Apache-2.0
//
// File: parity.h
//
// Comparing our numbers with recorded ones. A room adds a check for one kind
// of recording in a file of its own, <room>_parity.cc in this folder:
//
//   const bool registered = RegisterParity(
//       "truncnorm", R"(truncnorm.*\.json)",
//       [](const std::string& path, ParityResult& result) {
//         const nlohmann::json recording = ReadJson(path);
//         result.Near("ppf(0.5)", recording["ppf"], Ppf(0.5), 1e-12);
//       });
//
// The runner calls it once for every recorded file whose name matches.
#ifndef FROSTLINE_TESTS_PARITY_PARITY_H_
#define FROSTLINE_TESTS_PARITY_PARITY_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace frostline::test {

// What one recorded file said. Not thread safe; lives as long as the check.
class ParityResult {
 public:
  // Passes when |actual - expected| <= tolerance * max(1, |expected|). Equal
  // infinities and two NaNs agree.
  void Near(const std::string& what, double expected, double actual,
            double tolerance);
  // Passes when `holds`.
  void True(const std::string& what, bool holds);
  void Fail(const std::string& message);
  // The file is of this kind, but a form of it that we do not compare.
  void Skip(const std::string& reason);

  int compared() const { return compared_; }
  int failed() const { return failed_; }
  const std::string& skip_reason() const { return skip_reason_; }
  // The largest difference seen by Near, scaled as there; 0 when none was.
  double worst() const { return worst_; }
  // The first few failures, one line each.
  const std::vector<std::string>& messages() const { return messages_; }

 private:
  int compared_ = 0;
  int failed_ = 0;
  double worst_ = 0.0;
  std::string skip_reason_;
  std::vector<std::string> messages_;
};

// May throw: an exception is a failure of that file (a broken recording).
using ParityCheck = std::function<void(const std::string&, ParityResult&)>;

// `pattern` must match the whole file name, or the whole path below the folder
// that is searched ("models/.*/expected\\.json"). Called before main. The
// value is always true: it makes a registration a variable.
bool RegisterParity(const std::string& kind, const std::string& pattern,
                    ParityCheck check);

// Throws std::runtime_error, naming the file, when it cannot be read or parsed.
nlohmann::json ReadJson(const std::string& path);

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_PARITY_PARITY_H_
