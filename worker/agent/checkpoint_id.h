// SPDX-License-Identifier: Apache-2.0
//
// File: checkpoint_id.h
//
// What a checkpoint is called outside of its attempt: "17.2.epoch-3" is
// "epoch-3" of attempt 2 of trial 17. So another attempt finds it, and no name
// is ever a path.
#ifndef FROSTLINE_WORKER_AGENT_CHECKPOINT_ID_H_
#define FROSTLINE_WORKER_AGENT_CHECKPOINT_ID_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "frostline/v1/worker.pb.h"

namespace frostline::agent {

// The whole id has at most 64 bytes, as all ids.
inline constexpr std::size_t kMaxCheckpointName = 40;

struct CheckpointId {
  std::int64_t trial = 0;
  std::int64_t attempt = 0;
  std::string name;
};

// `name` and the trial of `lease` are valid.
std::string PrintCheckpointId(const v1::LeaseRef& lease,
                              const std::string& name);
// Nothing where no agent wrote it.
std::optional<CheckpointId> ParseCheckpointId(const std::string& text);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_CHECKPOINT_ID_H_
