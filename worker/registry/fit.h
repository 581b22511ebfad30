// SPDX-License-Identifier: Apache-2.0
//
// File: fit.h
//
// Checks whether a registry has what a study needs, so that a study whose
// trials would all fail is refused before the first one.
#ifndef FROSTLINE_WORKER_REGISTRY_FIT_H_
#define FROSTLINE_WORKER_REGISTRY_FIT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/registry/check.h"
#include "worker/registry/registry.h"

namespace frostline::registry {

// What a study names, in the words of the contract. Empty and 0 mean that the
// study does not say.
struct StudyNeeds {
  std::string model;
  std::string model_sha256;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  bool no_pooler = false;
  // Where the study says this: "data", or "tasks[0].data" of a task.
  std::string data_field = "data";
  std::string data;
  std::string data_sha256;
  std::string task;
  trainer::ColumnMap columns;
  std::string train_split;
  std::string validation_split;
  std::string stopping_metric;
  // The metrics of the objectives; empty ones belong to other tasks.
  std::vector<std::string> metrics;
  std::vector<std::string> also_evaluate;
};

// Says whether the registry has the model and the data set that the study
// names, and the others that it evaluates.
bool HasAll(const Registry& registry, const StudyNeeds& needs);

// An error is at the study's field: "model.layers". It reads configurations and
// the beginnings of files, no sums. `trains` says that frostline-trainer will
// train: another trainer has metrics of its own.
absl::Status CheckFit(const Registry& registry, const StudyNeeds& needs,
                      bool trains = true);

// What frostline-trainer reports after a validation. Of tagging it has
// precision and recall where tags mark spans.
std::vector<std::string> MetricsOf(trainer::TaskKind kind);

// The metric of frostline-trainer that was probably meant; "" where `metric` is
// one, or is near none.
std::string NearestMetric(const std::string& metric);

// What the boundaries of a study's frozen prefixes take of a node's disk. Sizes
// are bounds: of equal texts one boundary is kept, and of a short text a short
// one. Example: 25,000 texts of up to 64 tokens, of 384 numbers of 4 bytes,
// take at most 2.5 GB at each depth, and at the top, where the head reads the
// first token, 38 MB.

// What the size depends on. Empty and 0 mean that the study does not say.
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

// Returns a number of tokens of this model, special ones counted, that 95 % of
// the first 1,000 training rows do not exceed. The registry has both, and they
// are right.
absl::StatusOr<std::int64_t> LongTextTokens(const Registry& registry,
                                            const std::string& model,
                                            const std::string& data);

// What a node's trainers keep of frozen layers, for people who look after the
// node. Trainers may use it meanwhile.

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

#endif  // FROSTLINE_WORKER_REGISTRY_FIT_H_
