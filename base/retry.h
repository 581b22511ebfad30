// SPDX-License-Identifier: Apache-2.0
//
// File: retry.h
//
// Pauses between tries. Full jitter keeps workers that lost their coordinator
// from all coming back at once. The caller does the sleeping.
#ifndef FROSTLINE_BASE_RETRY_H_
#define FROSTLINE_BASE_RETRY_H_

#include "base/clock.h"
#include "base/rng.h"

namespace frostline {

// The pauses between the tries of one call.
class Backoff {
 public:
  Backoff(Duration first, Duration longest)
      : first_(first), longest_(longest), ceiling_(first) {}

  // Returns a pause that is uniform in (0, ceiling]. The ceiling doubles with
  // each call, up to `longest`.
  Duration Next(Rng& rng);
  // To be called after a success.
  void Reset() { ceiling_ = first_; }

 private:
  Duration first_;
  Duration longest_;
  Duration ceiling_;
};

// Returns `mean` times a factor uniform in [1 - spread, 1 + spread].
Duration Jitter(Duration mean, double spread, Rng& rng);

}  // namespace frostline

#endif  // FROSTLINE_BASE_RETRY_H_
