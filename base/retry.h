// SPDX-License-Identifier: Apache-2.0
//
// File: retry.h
//
// Exponential back-off with full jitter, so that a fleet that lost its
// coordinator does not come back as one herd. The caller sleeps.
#ifndef FROSTLINE_BASE_RETRY_H_
#define FROSTLINE_BASE_RETRY_H_

#include "base/clock.h"
#include "base/rng.h"

namespace frostline {

class Backoff {
 public:
  Backoff(Duration first, Duration longest)
      : first_(first), longest_(longest), ceiling_(first) {}

  // Uniform in (0, ceiling]; the ceiling doubles with each call up to
  // `longest`.
  Duration Next(Rng& rng);
  // After a success.
  void Reset() { ceiling_ = first_; }

 private:
  Duration first_;
  Duration longest_;
  Duration ceiling_;
};

// `mean` times a factor uniform in [1 - spread, 1 + spread].
Duration Jitter(Duration mean, double spread, Rng& rng);

}  // namespace frostline

#endif  // FROSTLINE_BASE_RETRY_H_
