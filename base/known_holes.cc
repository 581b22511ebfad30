// SPDX-License-Identifier: Apache-2.0
#include "base/known_holes.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

namespace frostline {
namespace {

// Reads at most nine digits of each number, so that none overflows.
std::vector<int> NumbersOf(const std::string& version) {
  std::vector<int> numbers;
  std::size_t at = 0;
  while (at < version.size() &&
         std::isdigit(static_cast<unsigned char>(version[at])) != 0) {
    int number = 0;
    for (int digits = 0; at < version.size() && digits < 9 &&
                         std::isdigit(static_cast<unsigned char>(version[at]));
         ++at, ++digits) {
      number = number * 10 + (version[at] - '0');
    }
    numbers.push_back(number);
    if (at >= version.size() || version[at] != '.') break;
    ++at;
  }
  return numbers;
}

}  // namespace

const std::vector<KnownHole>& KnownHoles() {
  constexpr char kOneWriter[] =
      "the coordinator writes and moves the log on one connection";
  constexpr char kDoor[] = "the coordinator's front door counts connections";
  static const auto* const holes = new std::vector<KnownHole>{
      {"gRPC", "0", "1.53.2", "CVE-2023-4785",
       "a server that ran out of descriptors serves nobody any more", kDoor},
      {"gRPC", "0", "1.53.2", "CVE-2023-33953",
       "a header above the limit takes the processor",
       "the front door bounds headers before gRPC reads them"},
      {"gRPC", "0", "1.59.2", "CVE-2023-44487",
       "streams that are opened and cancelled take all memory",
       "the front door cuts connections that cancel too fast"},
      // Repaired in 3.51.3, and in 3.44.6 and 3.50.7 for their lines.
      {"SQLite", "3.7.0", "3.44.6", "the WAL-reset race",
       "two connections that write and move the log can lose commits",
       kOneWriter},
      {"SQLite", "3.45.0", "3.50.7", "the WAL-reset race",
       "two connections that write and move the log can lose commits",
       kOneWriter},
      {"SQLite", "3.51.0", "3.51.3", "the WAL-reset race",
       "two connections that write and move the log can lose commits",
       kOneWriter},
      {"LibTorch", "0", "2.6.0", "CVE-2025-32434",
       "a file of weights can run a program when it is loaded",
       "the trainer reads safetensors alone"},
  };
  return *holes;
}

bool IsBefore(const std::string& version, const std::string& other) {
  std::vector<int> left = NumbersOf(version);
  std::vector<int> right = NumbersOf(other);
  left.resize(std::max(left.size(), right.size()));
  right.resize(left.size());
  return left < right;
}

std::vector<KnownHole> HolesOf(const std::string& library,
                               const std::string& version,
                               const std::vector<KnownHole>& known) {
  std::vector<KnownHole> found;
  for (const KnownHole& hole : known) {
    if (hole.library == library && !IsBefore(version, hole.from) &&
        IsBefore(version, hole.before)) {
      found.push_back(hole);
    }
  }
  return found;
}

std::vector<std::string> OpenHolesOf(const LibraryVersions& libraries,
                                     const std::vector<KnownHole>& known) {
  std::vector<std::string> sentences;
  for (const auto& [library, version] : libraries) {
    for (const KnownHole& hole : HolesOf(library, version, known)) {
      if (!hole.answer.empty()) continue;
      std::string sentence = library;
      sentence += " " + version + " has " + hole.id + " (" + hole.what + ")";
      sentences.push_back(std::move(sentence));
    }
  }
  return sentences;
}

}  // namespace frostline
