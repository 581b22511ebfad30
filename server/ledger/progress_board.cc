// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/progress_board.h"

#include <algorithm>
#include <utility>

#include "proto/wire_time.h"

namespace frostline::server {

void ProgressBoard::Post(TrialKey trial, const v1::LeaseProgress& said,
                         WallMicros now) {
  if (!said.has_progress()) return;
  Entry entry{said.lease().attempt(), said.progress()};
  // Nobody has looked at what this version does not know.
  entry.progress.DiscardUnknownFields();
  entry.progress.set_step(std::max<std::int64_t>(0, said.step()));
  entry.progress.set_total_steps(std::max<std::int64_t>(0, said.total_steps()));
  *entry.progress.mutable_as_of() = proto::TimestampToProto(now);
  const MutexLock lock(&mutex_);
  entries_[trial] = std::move(entry);
}

void ProgressBoard::Remove(TrialKey trial) {
  const MutexLock lock(&mutex_);
  entries_.erase(trial);
}

void ProgressBoard::Clear() {
  const MutexLock lock(&mutex_);
  entries_.clear();
}

std::optional<v1::TrialProgress> ProgressBoard::Of(TrialKey trial,
                                                   std::int64_t attempt) const {
  const MutexLock lock(&mutex_);
  const auto found = entries_.find(trial);
  if (found == entries_.end() || found->second.attempt != attempt) {
    return std::nullopt;
  }
  return found->second.progress;
}

}  // namespace frostline::server
