// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/front_door.h"

#include <grpcpp/resource_quota.h>

#include "server/rpc/admission.h"

namespace frostline::server {
namespace {

// Fifty workers of a node may share a channel, each with a parked call.
constexpr int kMaxStreams = 256;
constexpr int kMaxMetadataBytes = 8 * 1024;
constexpr std::size_t kMemoryQuota = std::size_t{1} << 30;
// A client may ping this often; more often, and it is sent away.
constexpr int kMinPingIntervalMs = 5'000;
// A peer that answers no ping for so long is gone, whatever TCP believes.
constexpr int kKeepaliveMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;
// Until then a peer has ended its TLS handshake and begun HTTP/2.
constexpr int kHandshakeMs = 10'000;
// A connection without a call ends then; clients make another when they call.
constexpr int kMaxIdleMs = 600'000;

}  // namespace

void SetLimits(grpc::ServerBuilder* builder) {
  builder->SetMaxReceiveMessageSize(kMaxTransportBytes);
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                              kHandshakeMs);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kMaxIdleMs);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreams);
  builder->AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                              kKeepaliveTimeoutMs);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder->AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
      kMinPingIntervalMs);
  grpc::ResourceQuota quota("frostline");
  quota.Resize(kMemoryQuota);
  builder->SetResourceQuota(quota);
}

}  // namespace frostline::server
