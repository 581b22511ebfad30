// SPDX-License-Identifier: Apache-2.0
//
// File: progress_board.h
//
// How far workers last said that the running trials are. Only people look at
// it, so it is kept in memory alone: a heartbeat costs no write for it, and the
// next one after a restart brings it again.
//
// The loop posts and removes, readers look: any thread may call. It holds one
// entry for each trial that runs, as small as wire/ lets pass.
#ifndef FROSTLINE_SERVER_LEDGER_PROGRESS_BOARD_H_
#define FROSTLINE_SERVER_LEDGER_PROGRESS_BOARD_H_

#include <cstdint>
#include <map>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "frostline/v1/worker_service.pb.h"
#include "server/ledger/lease_book.h"

namespace frostline::server {

class ProgressBoard {
 public:
  // Takes what a holder of the trial's lease said at `now`; nothing, where it
  // did not say how far it is.
  void Post(TrialKey trial, const v1::LeaseProgress& said, WallMicros now);
  void Remove(TrialKey trial);
  void Clear();

  // Answers nothing where only another attempt has said it.
  std::optional<v1::TrialProgress> Of(TrialKey trial,
                                      std::int64_t attempt) const;

 private:
  struct Entry {
    std::int64_t attempt = 0;
    v1::TrialProgress progress;
  };

  mutable Mutex mutex_;
  std::map<TrialKey, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_PROGRESS_BOARD_H_
