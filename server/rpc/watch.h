// SPDX-License-Identifier: Apache-2.0
//
// File: watch.h
//
// WatchStudy: a stream (stream.h) made of NextEvents calls.
#ifndef FROSTLINE_SERVER_RPC_WATCH_H_
#define FROSTLINE_SERVER_RPC_WATCH_H_

#include <functional>
#include <vector>

#include "server/coordinator.h"
#include "server/rpc/raw_service.h"

namespace frostline {

// Coordinator::NextEvents with the time to wait filled in.
using EventSource = std::function<void(v1::WatchStudyRequest, CancelFlag,
                                       Reply<std::vector<v1::StudyEvent>>)>;

// An empty answer of `source` becomes an `alive` event. The stream ends with
// the error of the source, or when the reader goes.
StreamMethod WatchMethod(EventSource source);

}  // namespace frostline

#endif  // FROSTLINE_SERVER_RPC_WATCH_H_
