// SPDX-License-Identifier: Apache-2.0
//
// File: request_id.h
//
// Later ids sort later, so that the coordinator's index grows at its end, which
// costs less. Any unique text of the form serves.
#ifndef FROSTLINE_BASE_REQUEST_ID_H_
#define FROSTLINE_BASE_REQUEST_ID_H_

#include <string>

#include "base/clock.h"

namespace frostline {

// Returns 32 hexadecimal digits: milliseconds since 1970, then 80 random bits,
// which nobody guesses.
std::string NewRequestId(const Clock& clock);

}  // namespace frostline

#endif  // FROSTLINE_BASE_REQUEST_ID_H_
