// SPDX-License-Identifier: Apache-2.0
//
// File: fit.h
//
// Checks whether a registry has what a study needs, so that a study whose
// trials would all fail is refused before the first one. Also estimates what
// the study needs of a node's disk.
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
  std::int64_t max_length = 0;  // tokens; 0: not said
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

// Checks whether a study fits the registry. The error names the study's field:
// "model.layers". It reads configurations and the beginnings of files, no sums.
// `trains` says that frostline-trainer will train: another trainer has metrics
// of its own.
absl::Status CheckFit(const Registry& registry, const StudyNeeds& needs,
                      bool trains = true);

// Returns the metrics that frostline-trainer reports after a validation. For
// tagging these include precision and recall, which it has if tags mark spans.
std::vector<std::string> MetricsOf(trainer::TaskKind kind);

// Returns the metric of frostline-trainer that was probably meant; "" if
// `metric` is one or is similar to none.
std::string NearestMetric(const std::string& metric);

// What decides how much of a node's disk the boundaries of a study's frozen
// prefixes take. Empty and 0 mean that the study does not say.
struct BoundaryUse {
  StudyNeeds study;
  std::string test_split;
  std::int64_t train_rows = 0;
  double train_share = 0.0;
  double validation_share = 0.0;
  std::int64_t max_length = 0;
  bool reads_apart = false;     // reads the two texts of a pair separately
  bool reads_all = false;       // reads all tokens of a text, as tagging does
  bool evaluates_only = false;  // only evaluations use boundaries
  std::int64_t number_bytes = 4;
};

// How much of a node's disk the boundaries take, at most: of equal texts one
// boundary is kept, and a short text has a short one. Example: 25,000 texts of
// up to 64 tokens, with 384 numbers of 4 bytes each, take at most 2.5 GB for
// each number of frozen layers; with all layers frozen 38 MB, if the head reads
// only the first token.
struct BoundaryNeeds {
  std::int64_t texts = 0;   // at most
  std::int64_t tokens = 0;  // in a text, at most
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t number_bytes = 4;  // 2 in bf16
  bool top_is_one_token = false;

  // Returns the bytes with that many layers frozen.
  std::int64_t BytesAt(std::int64_t frozen_layers) const;
};

// Computes what a study needs. It reads a configuration, and each file once to
// count its rows. REQUIRES: HasAll(registry, use.study).
absl::StatusOr<BoundaryNeeds> BoundaryNeedsOf(const Registry& registry,
                                              const BoundaryUse& use);

// Returns the number of tokens, special ones included, that 95 % of the first
// 1,000 training rows do not exceed. REQUIRES: the registry has the model and
// the data set, and they were checked.
absl::StatusOr<std::int64_t> LongTextTokens(const Registry& registry,
                                            const std::string& model,
                                            const std::string& data);

// What a node's trainers keep of one frozen prefix, for people who look after
// the node.
struct KeptPrefix {
  std::string about;  // "minilm, embeddings and 4 of 6 layers, fp32"
  std::uint64_t bytes = 0;
  double rows_taken = 0.0;
  // An estimate: the time to compute anew each row that was taken from here,
  // less the time that it took to compute the stored rows.
  double seconds_saved = 0.0;
};

// Returns what trainers keep; those that are removed first when room is needed
// come first. Returns nothing if no trainer has kept anything. Trainers may use
// the folder meanwhile.
std::optional<std::vector<KeptPrefix>> ListPrefixes(const std::string& folder);

// Removes what no trainer uses now, and returns how many bytes that were.
std::uint64_t ClearPrefixes(const std::string& folder);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_FIT_H_
