// SPDX-License-Identifier: Apache-2.0
//
// File: lookups.h
//
// Which reads of the store are under way, and since which commit. What a group
// has written cannot be read before it is committed, and a read that began
// before the commit does not see it either: so memory keeps what was written
// until every read that may have missed it is over.
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

// Held as long as what was read matters.
using Lookup = std::shared_ptr<const void>;

// Thread-safe. Outlives its lookups.
class Lookups {
 public:
  Lookup Begin();
  // The group that is being written; it is the next when the loop says so.
  std::int64_t group() const;
  void NextGroup();
  // What groups before this one wrote can be read by all that look.
  std::int64_t OldestGroup() const;

 private:
  mutable Mutex mutex_;
  std::int64_t group_ ABSL_GUARDED_BY(mutex_) = 0;
  std::multiset<std::int64_t> begun_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_LOOKUPS_H_
