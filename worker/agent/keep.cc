// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/keep.h"

#include <algorithm>

namespace frostline::agent {

bool KeepsEnded(KeepPolicy policy, bool failed, bool leaves_work) {
  switch (policy) {
    case KeepPolicy::kAll:
      return true;
    case KeepPolicy::kUseful:
      return failed || leaves_work;
    case KeepPolicy::kFailed:
      return failed;
    case KeepPolicy::kNone:
      return false;
  }
  return true;
}

std::vector<std::string> FoldersToRemove(const KeepRules& rules,
                                         std::vector<TrialFolderInfo> trials) {
  std::sort(trials.begin(), trials.end(), [](const auto& a, const auto& b) {
    return a.touched != b.touched ? a.touched < b.touched : a.path < b.path;
  });
  std::int64_t bytes = 0;
  auto count = static_cast<std::int64_t>(trials.size());
  for (const TrialFolderInfo& trial : trials) bytes += trial.bytes;
  std::vector<std::string> remove;
  const auto take = [&](const TrialFolderInfo& trial) {
    remove.push_back(trial.path);
    bytes -= trial.bytes;
    --count;
  };
  std::vector<TrialFolderInfo> wanted;
  for (const TrialFolderInfo& trial : trials) {
    if (trial.in_use || !trial.ended) continue;
    if (KeepsEnded(rules.policy, trial.failed, trial.leaves_work)) {
      wanted.push_back(trial);
    } else {
      take(trial);
    }
  }
  std::stable_partition(wanted.begin(), wanted.end(),
                        [](const auto& trial) { return !trial.has_model; });
  for (const TrialFolderInfo& trial : wanted) {
    const bool too_large = rules.most_bytes > 0 && bytes > rules.most_bytes;
    const bool too_many = rules.most_trials > 0 && count > rules.most_trials;
    if (!too_large && !too_many) break;
    take(trial);
  }
  return remove;
}

}  // namespace frostline::agent
