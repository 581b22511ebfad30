// SPDX-License-Identifier: Apache-2.0
//
// File: token_book.h
//
// All tokens in memory. The loop changes them; any thread asks. What the loop
// puts holds from Committed() on, and Undo() forgets it.
#ifndef FROSTLINE_SERVER_AUTH_TOKEN_BOOK_H_
#define FROSTLINE_SERVER_AUTH_TOKEN_BOOK_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "base/secret.h"
#include "server/loop/call_context.h"
#include "server/loop/loop_thread.h"
#include "storage/trial_store.h"

namespace frostline::server {

class TokenBook {
 public:
  // Replaces all by what the store has.
  absl::Status Load(const storage::TrialStore& store) FROSTLINE_ON_LOOP;
  void Put(const storage::TokenRow& row) FROSTLINE_ON_LOOP {
    pending_[row.id] = row;
  }
  void Committed() FROSTLINE_ON_LOOP;
  void Undo() FROSTLINE_ON_LOOP { pending_.clear(); }
  // It sees what was put in this group, too.
  std::optional<storage::TokenRow> Find(const std::string& id) const
      FROSTLINE_ON_LOOP;

  // Answers TOKEN_INVALID or TOKEN_EXPIRED. The use is noted.
  absl::StatusOr<CallerIdentity> Identify(const SecretString& secret,
                                          WallMicros now);
  // They rise by id, with their last use.
  std::vector<storage::TokenRow> List() const;
  // Says whether a token that holds stands for this subject.
  bool HasSubject(const std::string& subject, WallMicros now) const;
  // Returns those whose last use is `age` newer than the one on disk.
  std::vector<storage::TokenRow> UsedSince(WallMicros age) const;

 private:
  std::map<std::string, storage::TokenRow> pending_
      ABSL_GUARDED_BY(kLoopThread);
  mutable Mutex mutex_;
  std::map<std::string, storage::TokenRow> rows_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, WallMicros> used_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_TOKEN_BOOK_H_
