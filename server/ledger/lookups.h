// SPDX-License-Identifier: Apache-2.0
//
// File: lookups.h
//
// A read that began before a commit does not see its rows, so memory keeps what
// was written until every such read is over.
//
//   Lookup since = lookups.Begin();     // then the store is read
//   ...                                 // on the loop: what was read is used
//   // `since` goes: rows written before it may be forgotten
#ifndef FROSTLINE_SERVER_LEDGER_LOOKUPS_H_
#define FROSTLINE_SERVER_LEDGER_LOOKUPS_H_

#include <cstdint>
#include <memory>
#include <set>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"

namespace frostline::server {

// It is held while what was read matters.
using Lookup = std::shared_ptr<const void>;

// It is thread-safe, and outlives its lookups.
class Lookups {
 public:
  Lookup Begin();
  // Returns the group that is being written.
  std::int64_t group() const;
  void NextGroup();
  // All who look can read the groups before this one.
  std::int64_t OldestGroup() const;

 private:
  mutable Mutex mutex_;
  std::int64_t group_ ABSL_GUARDED_BY(mutex_) = 0;
  std::multiset<std::int64_t> begun_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_LOOKUPS_H_
