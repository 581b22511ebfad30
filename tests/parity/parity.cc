// SPDX-License-Identifier: Apache-2.0
#include "tests/parity/parity.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "tests/parity/figures/figures.h"
#include "tests/parity/registry.h"

namespace frostline::test {
namespace {

// More lines than this about one file help nobody.
constexpr std::size_t kMaxMessages = 5;

}  // namespace

void ParityResult::Near(const std::string& what, double expected, double actual,
                        double tolerance) {
  ++compared_;
  const double difference = Off(expected, actual);
  // A NaN difference fails the comparison below, as it should.
  if (difference <= tolerance) {
    worst_ = std::max(worst_, difference);
    return;
  }
  std::ostringstream line;
  line.precision(17);
  line << what << ": expected " << expected << ", got " << actual
       << ", tolerance " << tolerance;
  Fail(line.str());
}

void ParityResult::True(const std::string& what, bool holds) {
  ++compared_;
  if (!holds) Fail(what);
}

void ParityResult::Fail(const std::string& message) {
  ++failed_;
  if (messages_.size() < kMaxMessages) messages_.push_back(message);
}

void ParityResult::Skip(const std::string& reason) { skip_reason_ = reason; }

std::vector<ParityKind>& ParityRegistry() {
  static std::vector<ParityKind> registry;
  return registry;
}

bool RegisterParity(const std::string& kind, const std::string& pattern,
                    ParityCheck check) {
  ParityRegistry().push_back({kind, std::regex(pattern), std::move(check)});
  return true;
}

nlohmann::json ReadJson(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  try {
    return nlohmann::json::parse(file);
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

}  // namespace frostline::test
