// SPDX-License-Identifier: Apache-2.0
//
// File: store_limits.h
//
// The amounts at which a store on a disk changes its behaviour. The defaults
// are for service; small disks and tests scale them.
#ifndef FROSTLINE_STORAGE_STORE_LIMITS_H_
#define FROSTLINE_STORAGE_STORE_LIMITS_H_

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace frostline::storage {

struct StoreLimits {
  // With less free than this: Room::kNoNewStudies, Room::kNoNewLeases.
  std::int64_t no_new_studies_bytes = std::int64_t{1} << 30;
  std::int64_t no_new_leases_bytes = std::int64_t{256} << 20;
  // Room kept to be given up, so that on a full disk results still get in.
  std::int64_t ballast_bytes = std::int64_t{64} << 20;
  // 4 MiB of log. Fewer cost a sync of the database more often, more make the
  // commit that pays for it slower.
  int pages_per_checkpoint = 1000;
  // A log that grows beyond this is kept from being used again: logged once.
  std::int64_t log_alarm_bytes = std::int64_t{64} << 20;
  // A read that takes longer is ended, for while it lasts the log grows.
  Duration longest_read = std::chrono::seconds(1);
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_STORE_LIMITS_H_
