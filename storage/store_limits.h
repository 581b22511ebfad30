// SPDX-License-Identifier: Apache-2.0
//
// File: store_limits.h
#ifndef FROSTLINE_STORAGE_STORE_LIMITS_H_
#define FROSTLINE_STORAGE_STORE_LIMITS_H_

#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace frostline::storage {

struct StoreLimits {
  // With less free than this it is Room::kNoNewStudies, Room::kNoNewLeases.
  std::int64_t no_new_studies_bytes = std::int64_t{1} << 30;
  std::int64_t no_new_leases_bytes = std::int64_t{256} << 20;
  // It is given up on a full disk, so that results still get in.
  std::int64_t ballast_bytes = std::int64_t{64} << 20;
  // These are 4 MiB of log. Fewer sync the database more often, more make the
  // commit that pays for it slower.
  int pages_per_checkpoint = 1000;
  // A longer log, which some reader must hold, is warned of once.
  std::int64_t log_alarm_bytes = std::int64_t{64} << 20;
  // A longer read is ended, for while it lasts the log grows.
  Duration longest_read = std::chrono::seconds(1);
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_STORE_LIMITS_H_
