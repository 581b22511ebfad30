// SPDX-License-Identifier: Apache-2.0
//
// File: lengths.h
#ifndef FROSTLINE_WORKER_REGISTRY_LENGTHS_H_
#define FROSTLINE_WORKER_REGISTRY_LENGTHS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "worker/registry/registry.h"

namespace frostline::registry {

// Of the first 1,000 training rows 95 % have so many tokens of this model or
// fewer, special ones counted. Both are in the registry, and right.
absl::StatusOr<std::int64_t> LongTextTokens(const Registry& registry,
                                            const std::string& model,
                                            const std::string& data);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_LENGTHS_H_
