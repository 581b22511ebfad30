// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/checkpoint_id.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/ids.h"

namespace frostline::agent {
namespace {

// Written as we write it: no sign, no blank, no leading zero.
bool ReadNumber(const std::string& text, std::int64_t least,
                std::int64_t* number) {
  return absl::SimpleAtoi(text, number) && *number >= least &&
         absl::StrCat(*number) == text;
}

}  // namespace

std::string PrintCheckpointId(const v1::LeaseRef& lease,
                              const std::string& name) {
  const auto trial = ParseTrialName(lease.trial());
  const std::int64_t number = trial.ok() ? trial->number : 0;
  return absl::StrCat(number, ".", lease.attempt(), ".", name);
}

std::optional<CheckpointId> ParseCheckpointId(const std::string& text) {
  const std::vector<std::string> parts =
      absl::StrSplit(text, absl::MaxSplits('.', 2));
  CheckpointId id;
  // Trials are counted from 0, attempts from 1.
  if (parts.size() != 3 || !ReadNumber(parts[0], 0, &id.trial) ||
      !ReadNumber(parts[1], 1, &id.attempt) || !CheckId(parts[2], "id").ok()) {
    return std::nullopt;
  }
  id.name = parts[2];
  return id;
}

}  // namespace frostline::agent
