// SPDX-License-Identifier: Apache-2.0
//
// File: transport_guard.h
//
// Stands between gRPC 1.51 and its own HTTP/2. What a client sends passes a
// FrameFilter, after TLS and before gRPC reads it. When a connection does not
// pass, gRPC itself ends it.
//
// libgrpc calls four of its functions through the dynamic linker. We define
// these too, and ours forward to those of libgrpc: the linker takes a program's
// definition before a library's. So this works only where gRPC is a shared
// library, and only for the one version that was examined.
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

// The guarded connections of one door. Any thread may call.
class TransportGuard {
 public:
  struct Cut {
    PeerAddress from;
    FrameVerdict why = FrameVerdict::kPass;
  };

  explicit TransportGuard(const FrameLimits& limits) : limits_(limits) {}

  // Says whether this gRPC is too old to keep these limits itself.
  static bool IsNeeded();
  // Says whether this gRPC's connections pass here at all.
  static bool InPlace();
  // Notes that the connection with this descriptor belongs to `guard`. Called
  // just before gRPC gets it.
  static void Expect(int fd, std::shared_ptr<TransportGuard> guard);

  const FrameLimits& limits() const { return limits_; }
  // The bytes of unfinished messages on all connections.
  std::atomic<std::int64_t>& messages() { return messages_; }
  // Returns what was cut since the last call; in a flood some are left out.
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
