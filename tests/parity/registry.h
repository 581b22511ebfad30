// SPDX-License-Identifier: Apache-2.0
//
// File: registry.h
//
// What the rooms have registered, for the runner alone.
#ifndef FROSTLINE_TESTS_PARITY_REGISTRY_H_
#define FROSTLINE_TESTS_PARITY_REGISTRY_H_

#include <regex>
#include <string>
#include <vector>

#include "tests/parity/parity.h"

namespace frostline::test {

struct ParityKind {
  std::string kind;
  std::regex pattern;
  ParityCheck check;
};

// Filled before main, read-only after.
std::vector<ParityKind>& ParityRegistry();

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_PARITY_REGISTRY_H_
