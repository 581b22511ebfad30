// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/lookups.h"

namespace frostline::server {

Lookup Lookups::Begin() {
  const MutexLock lock(&mutex_);
  const auto begun = begun_.insert(group_);
  return Lookup(this, [this, begun](const void*) {
    const MutexLock end(&mutex_);
    begun_.erase(begun);
  });
}

std::int64_t Lookups::group() const {
  const MutexLock lock(&mutex_);
  return group_;
}

void Lookups::NextGroup() {
  const MutexLock lock(&mutex_);
  ++group_;
}

std::int64_t Lookups::OldestGroup() const {
  const MutexLock lock(&mutex_);
  return begun_.empty() ? group_ : *begun_.begin();
}

}  // namespace frostline::server
