// SPDX-License-Identifier: Apache-2.0
//
// File: watch.h
//
// WatchStudy: a stream made of NextEvents calls. One event is written at a
// time, so a slow reader holds up its own stream and nobody else; the next
// events are asked for when the last one has been taken.
#ifndef FROSTLINE_SERVER_RPC_WATCH_H_
#define FROSTLINE_SERVER_RPC_WATCH_H_

#include "base/clock.h"
#include "server/coordinator.h"
#include "server/rpc/raw_service.h"

namespace frostline {

// Sends an `alive` event when nothing has changed for `alive_every`.
// `coordinator` must outlive the server.
StreamMethod WatchMethod(Coordinator& coordinator, Duration alive_every);

}  // namespace frostline

#endif  // FROSTLINE_SERVER_RPC_WATCH_H_
