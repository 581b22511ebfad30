// SPDX-License-Identifier: Apache-2.0
//
// File: known_holes.h
#ifndef FROSTLINE_CLI_DOCTOR_KNOWN_HOLES_H_
#define FROSTLINE_CLI_DOCTOR_KNOWN_HOLES_H_

#include <string>
#include <vector>

namespace frostline::cli::doctor {

// A mistake that is published of versions from `from` up to, without, `before`.
struct Hole {
  std::string library;  // "gRPC"
  std::string from;
  std::string before;
  std::string id;  // "CVE-2023-4785"
  std::string what;
  std::string answer;  // what of Frostline takes the occasion; empty: nothing
};

const std::vector<Hole>& KnownHoles();

// Compares number by number: "1.9" is before "1.51.1". What follows the
// numbers ("+cpu", "-2") does not count.
bool IsBefore(const std::string& version, const std::string& other);

std::vector<Hole> HolesOf(const std::string& library,
                          const std::string& version,
                          const std::vector<Hole>& known);

}  // namespace frostline::cli::doctor

#endif  // FROSTLINE_CLI_DOCTOR_KNOWN_HOLES_H_
