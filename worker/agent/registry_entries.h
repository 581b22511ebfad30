// SPDX-License-Identifier: Apache-2.0
//
// File: registry_entries.h
//
// Reads of models.yaml and datasets.yaml what tells whether a trainer could
// open an entry: ids, sums and paths. What else is in them is the trainer's
// (docs/reference/datasets.md); a key that it does not know is a fault here
// too, since it opens no registry that has one.
#ifndef FROSTLINE_WORKER_AGENT_REGISTRY_ENTRIES_H_
#define FROSTLINE_WORKER_AGENT_REGISTRY_ENTRIES_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"

namespace frostline::agent {

struct RegistryEntry {
  std::string id;
  std::string sha256;  // of a data set that of its split `train`, if any
  // Each is the path of a regular file below the registry's folder. Of a data
  // set it is that of `train`: a trial opens no split that it does not use.
  std::vector<std::string> files;
};

// They keep the file's order. A fault's cause has the file and the line.
Expected<std::vector<RegistryEntry>> ReadModels(std::string_view yaml);
Expected<std::vector<RegistryEntry>> ReadDataSets(std::string_view yaml);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_REGISTRY_ENTRIES_H_
