// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/device/verdicts.h"

#include <sstream>

namespace frostline::trainer {

void Verdicts::Near(const std::string& what, double off, double limit,
                    const std::string& otherwise) {
  std::ostringstream figures;
  figures.precision(2);
  figures << what << ": " << std::scientific << off << ", limit " << limit;
  True(figures.str(), off <= limit, otherwise);
}

void Verdicts::True(const std::string& what, bool holds,
                    const std::string& otherwise) {
  ++(holds ? passed_ : failed_);
  *out_ << (holds ? "PASS " : "FAIL ") << what;
  if (!holds && !otherwise.empty()) *out_ << ": " << otherwise;
  *out_ << std::endl;
}

void Verdicts::Skip(const std::string& what, const std::string& why) {
  ++skipped_;
  *out_ << "SKIP " << what << ": " << why << std::endl;
}

void Verdicts::Say(const std::string& line) {
  *out_ << "     " << line << std::endl;
}

std::string Verdicts::Totals() const {
  return std::to_string(passed_) + " passed, " + std::to_string(failed_) +
         " failed, " + std::to_string(skipped_) + " skipped";
}

}  // namespace frostline::trainer
