// SPDX-License-Identifier: Apache-2.0
//
// File: keep.h
//
// Decides which trials' folders may go: none in use, nor that of a trial that
// has not ended, as another attempt may need its checkpoint.
#ifndef FROSTLINE_WORKER_AGENT_KEEP_H_
#define FROSTLINE_WORKER_AGENT_KEEP_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace frostline::agent {

enum class KeepPolicy {
  kAll,
  kUseful,  // failed ones, and those with a checkpoint
  kFailed,
  kNone,
};

struct KeepRules {
  KeepPolicy policy = KeepPolicy::kUseful;
  std::int64_t most_bytes = std::int64_t{100} << 30;  // 0: no bound
  std::int64_t most_trials = 0;                       // 0: no bound
};

struct TrialFolderInfo {
  std::string path;
  bool in_use = false;  // runs, or has something to deliver
  bool ended = false;
  bool failed = false;
  bool leaves_work = false;
  bool has_model = false;  // a trained one that was asked for
  std::int64_t bytes = 0;
  std::chrono::nanoseconds touched{};  // orders them by age
};

bool KeepsEnded(KeepPolicy policy, bool failed, bool leaves_work);

// What the policy does not want goes first, then, oldest first, what is beyond
// the bounds: trials with a trained model after all others.
std::vector<std::string> FoldersToRemove(const KeepRules& rules,
                                         std::vector<TrialFolderInfo> trials);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_KEEP_H_
