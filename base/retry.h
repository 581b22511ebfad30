// SPDX-License-Identifier: Apache-2.0
//
// File: retry.h
//
// Full jitter keeps a fleet that lost its coordinator from coming back as one
// herd. The caller sleeps.
#ifndef FROSTLINE_BASE_RETRY_H_
#define FROSTLINE_BASE_RETRY_H_

#include "base/clock.h"
#include "base/rng.h"

namespace frostline {

class Backoff {
 public:
  Backoff(Duration first, Duration longest)
      : first_(first), longest_(longest), ceiling_(first) {}

  // Is uniform in (0, ceiling]; the ceiling doubles with each call up to
  // `longest`.
  Duration Next(Rng& rng);
  // The caller resets it after a success.
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
