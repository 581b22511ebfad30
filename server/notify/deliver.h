// SPDX-License-Identifier: Apache-2.0
//
// File: deliver.h
//
// One try to tell somebody of a study's end. A program gets the JSON on
// standard input, and has done it when it exits with 0. A webhook gets it as
// the body of a POST, and answers 2xx; curl makes the call, and reads the URL
// from its standard input, so that no list of processes shows it.
#ifndef FROSTLINE_SERVER_NOTIFY_DELIVER_H_
#define FROSTLINE_SERVER_NOTIFY_DELIVER_H_

#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "base/plain/result.h"
#include "server/notify/destinations.h"
#include "storage/rows.h"

namespace frostline::server {

inline constexpr Duration kDeliveryLimit = std::chrono::seconds(30);

// Blocks, up to `limit`. CANCELLED says that `stop` was raised; every other
// error says why it was not told, in words that may be logged.
absl::Status Deliver(const Destination& destination,
                     const storage::NotificationRow& notification,
                     const StopSign& stop, Duration limit = kDeliveryLimit);

// What curl reads: made here so that a test can look at it.
std::string CurlConfig(const std::string& url,
                       const storage::NotificationRow& notification,
                       Duration limit);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_NOTIFY_DELIVER_H_
