// SPDX-License-Identifier: Apache-2.0
//
// File: known_holes.h
//
// Published mistakes of libraries, by version, and what of Frostline takes the
// occasion. A release knows those that were known when it was made.
#ifndef FROSTLINE_BASE_KNOWN_HOLES_H_
#define FROSTLINE_BASE_KNOWN_HOLES_H_

#include <map>
#include <string>
#include <vector>

namespace frostline {

// By name: {"gRPC", "1.51.1"}.
using LibraryVersions = std::map<std::string, std::string>;

// A mistake that is published of versions from `from` up to, without, `before`.
struct KnownHole {
  std::string library;  // "gRPC"
  std::string from;
  std::string before;
  std::string id;  // "CVE-2023-4785"
  std::string what;
  std::string answer;  // what of Frostline takes the occasion; empty: nothing
};

const std::vector<KnownHole>& KnownHoles();

// Compares number by number: "1.9" is before "1.51.1". What follows the
// numbers ("+cpu", "-2") does not count.
bool IsBefore(const std::string& version, const std::string& other);

std::vector<KnownHole> HolesOf(const std::string& library,
                               const std::string& version,
                               const std::vector<KnownHole>& known);

// A sentence for each that nothing takes the occasion of.
std::vector<std::string> OpenHolesOf(const LibraryVersions& libraries,
                                     const std::vector<KnownHole>& known);

}  // namespace frostline

#endif  // FROSTLINE_BASE_KNOWN_HOLES_H_
