// SPDX-License-Identifier: Apache-2.0
//
// File: domain.h
//
// Domains are checked here, so that every door (RPC, study file, import)
// refuses the same in the same words.
#ifndef FROSTLINE_STUDY_DOMAIN_H_
#define FROSTLINE_STUDY_DOMAIN_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"

namespace frostline {

inline constexpr std::int64_t kMaxChoices = 1'000;

// A first level of 0 is frozen.
struct Levels {
  std::vector<double> rates;  // strictly rising, finite, >= 0
};

// With `freeze`, 0 is a value too, frozen.
struct LogUniform {
  double lo = 0.0;  // > 0
  double hi = 0.0;  // > lo
  bool freeze = false;
};

struct FloatRange {
  double lo = 0.0;
  double hi = 0.0;
  double step = 0.0;  // 0: continuous
  bool log = false;
};

struct IntRange {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  std::int64_t step = 1;
  bool log = false;
};

// Each is a JSON literal: "\"adam\"", "16", "true", "null".
struct Categorical {
  std::vector<std::string> choices;
};

using Domain =
    std::variant<Levels, LogUniform, FloatRange, IntRange, Categorical>;

// Errors name `field`, as "space.modules[3].levels".
absl::Status CheckDomain(const Domain& domain, const std::string& field);

// The value is encoded as in point.h.
bool Contains(const Domain& domain, double value);

// Answers infinity for a continuous one.
double CountValues(const Domain& domain);

// They rise. REQUIRES: CountValues is finite.
std::vector<double> ListValues(const Domain& domain);

// Returns "frozen", "2e-05", "16", "\"adam\"".
std::string FormatValue(const Domain& domain, double value);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_DOMAIN_H_
