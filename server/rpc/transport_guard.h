// SPDX-License-Identifier: Apache-2.0
//
// File: transport_guard.h
//
// Stands between gRPC 1.51 and its own HTTP/2: what a client sends passes a
// FrameFilter, after TLS and before gRPC reads it, and a connection that does
// not pass is ended by gRPC itself.
//
// Four functions of libgrpc, which calls them through the dynamic linker, are
// defined by us as well, and ours forward to its: programs come before
// libraries. So it works where gRPC is a shared library, and for the one
// version that was looked at.
#ifndef FROSTLINE_SERVER_RPC_TRANSPORT_GUARD_H_
#define FROSTLINE_SERVER_RPC_TRANSPORT_GUARD_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "server/rpc/door_policy.h"
#include "server/rpc/frame_filter.h"

namespace frostline::server {

// Connections of one door that are guarded. Any thread may call.
class TransportGuard {
 public:
  struct Cut {
    PeerAddress from;
    FrameVerdict why = FrameVerdict::kPass;
  };

  explicit TransportGuard(const FrameLimits& limits) : limits_(limits) {}

  // Whether this gRPC is too old to bound by itself what this bounds.
  static bool IsNeeded();
  // Whether its connections pass here at all.
  static bool InPlace();
  // The connection with this descriptor is one of those that `guard` is for.
  // Just before gRPC gets it.
  static void Expect(int fd, std::shared_ptr<TransportGuard> guard);

  const FrameLimits& limits() const { return limits_; }
  // Bytes of messages that have not ended, of all.
  std::atomic<std::int64_t>& messages() { return messages_; }
  // What was cut since this was asked last; of a flood of them some are left
  // out.
  std::vector<Cut> TakeCuts();
  void NoteCut(const Cut& cut);

 private:
  const FrameLimits limits_;
  std::atomic<std::int64_t> messages_ = 0;
  Mutex mutex_;
  std::vector<Cut> cuts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_TRANSPORT_GUARD_H_
