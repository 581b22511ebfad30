// SPDX-License-Identifier: Apache-2.0
//
// File: boundary_needs.h
//
// What the boundaries of a study's frozen prefixes take of a node's disk. Sizes
// are bounds: of equal texts one boundary is kept, and of a short text a short
// one. Example: 25,000 texts of up to 64 tokens, of 384 numbers of 4 bytes,
// take at most 2.5 GB at each depth, and at the top, where the head reads the
// first token, 38 MB.
#ifndef FROSTLINE_WORKER_REGISTRY_BOUNDARY_NEEDS_H_
#define FROSTLINE_WORKER_REGISTRY_BOUNDARY_NEEDS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "worker/registry/fit.h"
#include "worker/registry/registry.h"

namespace frostline::registry {

// What of a study decides it; empty and 0 are not said.
struct BoundaryUse {
  StudyNeeds study;
  std::string test_split;
  std::int64_t train_rows = 0;
  double train_share = 0.0;
  double validation_share = 0.0;
  std::int64_t max_length = 0;
  bool reads_apart = false;     // the two texts of a pair
  bool reads_all = false;       // of a text, as tagging does
  bool evaluates_only = false;  // a training step takes none
};

struct BoundaryNeeds {
  std::int64_t texts = 0;   // at most
  std::int64_t tokens = 0;  // of a text, at most
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  bool top_is_one_token = false;

  // With so many of the layers frozen.
  std::int64_t BytesAt(std::int64_t frozen_layers) const;
};

// REQUIRES: HasAll(registry, use.study). It reads a configuration and counts
// the rows of files, each of which it reads once.
absl::StatusOr<BoundaryNeeds> BoundaryNeedsOf(const Registry& registry,
                                              const BoundaryUse& use);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_BOUNDARY_NEEDS_H_
