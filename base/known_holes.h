// SPDX-License-Identifier: Apache-2.0
//
// File: known_holes.h
//
// Published security holes of libraries, by version, and what in Frostline
// closes each of them. A release knows the holes that were known when it was
// made.
#ifndef FROSTLINE_BASE_KNOWN_HOLES_H_
#define FROSTLINE_BASE_KNOWN_HOLES_H_

#include <map>
#include <string>
#include <vector>

namespace frostline {

// Versions by library: {"gRPC", "1.51.1"}.
using LibraryVersions = std::map<std::string, std::string>;

// A hole that the versions from `from` up to, but not including, `before` have.
struct KnownHole {
  std::string library;  // "gRPC"
  std::string from;
  std::string before;
  std::string id;  // "CVE-2023-4785"
  std::string what;
  std::string answer;  // what in Frostline closes it; empty: nothing
};

const std::vector<KnownHole>& KnownHoles();

// Compares versions number by number: "1.9" is before "1.51.1". What follows
// the numbers ("+cpu", "-2") does not count.
bool IsBefore(const std::string& version, const std::string& other);

std::vector<KnownHole> HolesOf(const std::string& library,
                               const std::string& version,
                               const std::vector<KnownHole>& known);

// Returns a sentence for each hole that nothing closes.
std::vector<std::string> OpenHolesOf(const LibraryVersions& libraries,
                                     const std::vector<KnownHole>& known);

}  // namespace frostline

#endif  // FROSTLINE_BASE_KNOWN_HOLES_H_
