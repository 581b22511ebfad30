// SPDX-License-Identifier: Apache-2.0
//
// File: registry.h
//
// Reads a node's models.yaml and datasets.yaml (docs/reference/datasets.md) for
// programs without LibTorch. The trainer's own parser reads them, so that what
// is right here is right there.
#ifndef FROSTLINE_WORKER_REGISTRY_REGISTRY_H_
#define FROSTLINE_WORKER_REGISTRY_REGISTRY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/trainer/data/registry.h"

namespace frostline::registry {

inline constexpr char kModelsFile[] = "models.yaml";
inline constexpr char kDataSetsFile[] = "datasets.yaml";

struct Registry {
  std::string folder;
  trainer::ModelEntries models;
  trainer::DatasetEntries data_sets;
};

// A file that is not there has no entries. One that is malformed is an error
// that names the file and the line.
absl::StatusOr<Registry> ReadRegistry(const std::string& folder);

// The errors of docs/reference/errors.md that a trainer would report.
absl::Status ErrorOf(const Fault& fault, const std::string& field = "");

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_REGISTRY_H_
