// SPDX-License-Identifier: Apache-2.0
//
// File: checkpoint_id.h
//
// "17.2.epoch-3" names checkpoint "epoch-3" of attempt 2 of trial 17, so that
// another attempt finds it, and no name is ever a path.
#ifndef FROSTLINE_WORKER_AGENT_CHECKPOINT_ID_H_
#define FROSTLINE_WORKER_AGENT_CHECKPOINT_ID_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "frostline/v1/worker.pb.h"

namespace frostline::agent {

// An id has at most 64 bytes.
inline constexpr std::size_t kMaxCheckpointName = 40;

struct CheckpointId {
  std::int64_t trial = 0;
  std::int64_t attempt = 0;
  std::string name;
};

// `name` and `lease` must be valid.
std::string PrintCheckpointId(const v1::LeaseRef& lease,
                              const std::string& name);
std::optional<CheckpointId> ParseCheckpointId(const std::string& text);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_CHECKPOINT_ID_H_
