// SPDX-License-Identifier: Apache-2.0
//
// File: checkpoint_id.h
//
// What a checkpoint is called outside of its attempt. The trainer's own name
// for it ("epoch-3") means something beside one attempt only; on the wire it
// stands behind the numbers of trial and attempt: "17.2.epoch-3". So another
// attempt, or a retry under another number, finds it in the folder of the
// attempt that wrote it, and no name is ever a path.
#ifndef FROSTLINE_WORKER_AGENT_CHECKPOINT_ID_H_
#define FROSTLINE_WORKER_AGENT_CHECKPOINT_ID_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "frostline/v1/worker.pb.h"

namespace frostline::agent {

// Of the trainer's name: the whole id keeps to the 64 bytes of all ids.
inline constexpr std::size_t kMaxCheckpointName = 40;

struct CheckpointId {
  std::int64_t trial = 0;
  std::int64_t attempt = 0;
  std::string name;
};

// `name` is valid; the trial of `lease` too.
std::string PrintCheckpointId(const v1::LeaseRef& lease,
                              const std::string& name);
// Nothing where no agent wrote it.
std::optional<CheckpointId> ParseCheckpointId(const std::string& text);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_CHECKPOINT_ID_H_
