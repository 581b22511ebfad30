// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/server.h"

#include <grpcpp/ext/health_check_service_server_builder_option.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "server/rpc/admission.h"
#include "server/rpc/listen_address.h"
#include "server/rpc/raw_service.h"
#include "server/rpc/reflection.h"

namespace frostline::server {
namespace {

constexpr const char* kServices[] = {
    "frostline.v1.StudyService", "frostline.v1.WorkerService",
    "frostline.v1.ImportanceService", "frostline.v1.AdminService"};

// Fifty workers of a node may share a channel, each with a parked call.
constexpr int kMaxStreams = 256;
constexpr int kMaxMetadataBytes = 8 * 1024;
constexpr std::size_t kMemoryQuota = std::size_t{1} << 30;
// A client may ping this often; more often, and it is sent away.
constexpr int kMinPingIntervalMs = 5'000;
// A peer that answers no ping for so long is gone, whatever TCP believes.
constexpr int kKeepaliveMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;

void SetLimits(grpc::ServerBuilder* builder) {
  builder->SetMaxReceiveMessageSize(kMaxTransportBytes);
  // Off, or two coordinators would share a port without a word.
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
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

absl::StatusOr<ListenAddress> Admissible(const std::string& listen) {
  ASSIGN_OR_RETURN(ListenAddress address, ParseListenAddress(listen));
  if (!address.is_loopback) {
    return MakeError(ErrorId::kAddressNotLoopback,
                     absl::StrCat(FormatAddress(address),
                                  " can be reached by other machines"),
                     "listen on 127.0.0.1 or [::1], and reach it from afar "
                     "through an SSH tunnel",
                     "listen");
  }
  RETURN_IF_ERROR(CheckPortFree(address));
  return address;
}

}  // namespace

class RpcServer::Impl {
 public:
  explicit Impl(const VerbTable& served) {
    for (const char* name : kServices) {
      services_.push_back(std::make_unique<RawService>(
          *google::protobuf::DescriptorPool::generated_pool()
               ->FindServiceByName(name),
          served));
    }
  }

  absl::Status Start(ListenAddress address,
                     std::shared_ptr<grpc::ServerCredentials> credentials) {
    if (credentials == nullptr) credentials = grpc::InsecureServerCredentials();
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    SetLimits(&builder);
    for (const auto& service : services_) {
      builder.RegisterService(service.get());
    }
    reflection_ = std::make_unique<ReflectionService>(
        std::vector<std::string>(std::begin(kServices), std::end(kServices)),
        CheckReflection(address.is_loopback, FormatAddress(address)));
    builder.RegisterService(reflection_.get());
    builder.AddListeningPort(FormatAddress(address), credentials,
                             &address.port);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) {
      return MakeError(
          ErrorId::kPortBusy,
          absl::StrCat(FormatAddress(address), " was taken a moment ago"),
          "try again, or choose another port with --listen", "listen");
    }
    address_ = std::move(address);
    SetServing(true);
    return absl::OkStatus();
  }

  const ListenAddress& address() const { return address_; }

  void SetServing(bool serving) {
    if (server_ == nullptr) return;
    auto* health = server_->GetHealthCheckService();
    health->SetServingStatus(serving);
    for (const char* name : kServices) health->SetServingStatus(name, serving);
  }

  void Shutdown(Duration grace) {
    if (server_ == nullptr) return;
    SetServing(false);
    server_->Shutdown(
        std::chrono::system_clock::now() +
        std::chrono::duration_cast<std::chrono::system_clock::duration>(grace));
    server_.reset();
  }

 private:
  std::vector<std::unique_ptr<RawService>> services_;
  std::unique_ptr<ReflectionService> reflection_;
  std::unique_ptr<grpc::Server> server_;  // dies before its services
  ListenAddress address_;
};

absl::Status RpcServer::Check(const RpcOptions& options) {
  return Admissible(options.listen).status();
}

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Listen(
    const RpcOptions& options, const VerbTable& verbs) {
  ASSIGN_OR_RETURN(const ListenAddress address, Admissible(options.listen));
  auto impl = std::make_unique<Impl>(verbs);
  RETURN_IF_ERROR(impl->Start(address, options.credentials));
  return std::unique_ptr<RpcServer>(new RpcServer(std::move(impl)));
}

RpcServer::RpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RpcServer::~RpcServer() { Shutdown(Duration::zero()); }

int RpcServer::port() const { return impl_->address().port; }

std::string RpcServer::address() const {
  return FormatAddress(impl_->address());
}

void RpcServer::StopServing() { impl_->SetServing(false); }

void RpcServer::Shutdown(Duration grace) { impl_->Shutdown(grace); }

}  // namespace frostline::server
