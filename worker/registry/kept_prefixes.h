// SPDX-License-Identifier: Apache-2.0
//
// File: kept_prefixes.h
//
// What a node's trainers keep of frozen layers, for people who look after the
// node. Trainers may use it meanwhile.
#ifndef FROSTLINE_WORKER_REGISTRY_KEPT_PREFIXES_H_
#define FROSTLINE_WORKER_REGISTRY_KEPT_PREFIXES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace frostline::registry {

struct KeptPrefix {
  std::string about;  // "minilm, embeddings and 4 of 6 layers, fp32"
  std::uint64_t bytes = 0;
  double rows_taken = 0.0;
  // An estimate: what rows that were taken would have taken, without what they
  // did take.
  double seconds_saved = 0.0;
};

// What goes first when room is needed stands first. Returns nothing where no
// trainer has kept anything.
std::optional<std::vector<KeptPrefix>> ListPrefixes(const std::string& folder);

// Removes what no trainer uses, and returns its bytes.
std::uint64_t ClearPrefixes(const std::string& folder);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_KEPT_PREFIXES_H_
