// SPDX-License-Identifier: Apache-2.0
//
// File: entry_text.h
//
// Writes entries as docs/reference/datasets.md has them.
#ifndef FROSTLINE_WORKER_REGISTRY_ENTRY_TEXT_H_
#define FROSTLINE_WORKER_REGISTRY_ENTRY_TEXT_H_

#include <string>

#include "absl/status/status.h"
#include "worker/registry/registry.h"

namespace frostline::registry {

// All splits have one format and the same columns.
std::string EntryText(const trainer::DatasetEntry& set);
std::string EntryText(const trainer::ModelEntry& model);

// Writes `entry` behind what the file has, and all of it anew or not at all.
// What would not be read again as it was meant is refused.
absl::Status AppendEntry(const std::string& folder, const char* file,
                         const std::string& entry);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_ENTRY_TEXT_H_
