// SPDX-License-Identifier: Apache-2.0
//
// File: filter_term.h
#ifndef FROSTLINE_SERVER_WIRE_FILTER_TERM_H_
#define FROSTLINE_SERVER_WIRE_FILTER_TERM_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "study/space.h"

namespace frostline::server {

// What the names of a study's trials may be; it outlives the filter's parsing.
struct TrialNames {
  const Space* space = nullptr;  // null: no names of parameters are known
  std::vector<std::string> metrics;
};

struct FilterTerm {
  std::string field;  // "values[0]", "labels.team"
  std::string op;
  std::string value;
  double number = 0.0;  // of a field that is a number
  // Of parameters.NAME: where a point has it, and what its number means there.
  std::optional<std::size_t> place = {};
  Domain domain = {};
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_FILTER_TERM_H_
