// SPDX-License-Identifier: Apache-2.0
//
// File: demo_registry.h
//
// The registry of the demo's workers (docs/reference/datasets.md): MiniLM, and
// the reviews that are built in.
#ifndef FROSTLINE_CLI_DEMO_DEMO_REGISTRY_H_
#define FROSTLINE_CLI_DEMO_DEMO_REGISTRY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frostline::cli {

// `named`, else where `./dev setup` has put it ($FROSTLINE_CACHE,
// $XDG_CACHE_HOME/frostline or ~/.cache/frostline). TRAINER_FILE, saying how to
// get it, when it is not there.
absl::StatusOr<std::string> FindDemoModel(const std::string& named);

// The model's files become hard links, or copies from another file system: a
// registry does not follow links out of its folder.
absl::Status MakeDemoRegistry(const std::string& folder,
                              const std::string& model);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_REGISTRY_H_
