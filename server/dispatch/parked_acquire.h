// SPDX-License-Identifier: Apache-2.0
//
// File: parked_acquire.h
//
// A worker that waits for trials.
#ifndef FROSTLINE_SERVER_DISPATCH_PARKED_ACQUIRE_H_
#define FROSTLINE_SERVER_DISPATCH_PARKED_ACQUIRE_H_

#include <string>

#include "frostline/v1/worker_service.pb.h"
#include "server/loop/call_context.h"

namespace frostline::server {

struct ParkedAcquire {
  v1::AcquireRequest request;
  std::string worker;  // id
  SteadyTime deadline{};
  CallContext caller;
  Reply<v1::AcquireReply> reply;

  const std::string& Key() const { return worker; }
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_DISPATCH_PARKED_ACQUIRE_H_
