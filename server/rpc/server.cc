// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/server.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/health_check_service_server_builder_option.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "server/rpc/call.h"
#include "server/rpc/connection_acceptor.h"
#include "server/rpc/listening_socket.h"
#include "server/rpc/reflection.h"
#include "server/rpc/transport_guard.h"

namespace frostline::server {

void SendLibraryLogsToOurs() {
  gpr_set_log_function([](gpr_log_func_args* args) {
    Log(args->severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kWarning
                                                 : LogLevel::kDebug,
        "grpc", {{"says", args->message}});
  });
  google::protobuf::SetLogHandler([](google::protobuf::LogLevel, const char*,
                                     int, const std::string& message) {
    Log(LogLevel::kDebug, "protobuf", {{"says", message}});
  });
}

namespace {

// Fifty workers of a node may share a channel, each with a parked call.
constexpr int kMaxStreams = 256;
constexpr int kMaxMetadataBytes = 8 * 1024;
constexpr std::size_t kMemoryQuota = std::size_t{1} << 30;
// A client that pings more often than this is disconnected.
constexpr int kMinPingIntervalMs = 5'000;
// A peer that answers no ping for so long is gone, whatever TCP believes.
constexpr int kKeepaliveMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;
// The time in which a peer must end its TLS handshake and begin HTTP/2.
constexpr int kHandshakeMs = 10'000;
// A connection without a call ends after this; a client makes another when it
// calls.
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

namespace {

constexpr char kField[] = "health-listen";

// Probes are few, and come from few places.
constexpr DoorLimits kLimits = {
    .connections = 256,
    .per_address = 64,
    .local = 128,
    .rate = {.per_second = 20, .at_once = 100},
    .local_rate = {.per_second = 100, .at_once = 500}};

// The address is checked like every other; only the flag has another name.
absl::Status AtHealthListen(const absl::Status& status) {
  const auto detail = DetailOf(status);
  if (status.ok() || !detail.has_value()) return status;
  return MakeError(detail->id, std::string(status.message()), detail->fix,
                   kField);
}

// Waits until the queue is shut down.
void Wait(grpc::ServerCompletionQueue* queue) {
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) {
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<HealthListener>> HealthListener::Listen(
    const std::string& listen, PageMaker::Measure measure) {
  auto address = ParseListenAddress(listen);
  if (!address.ok()) return AtHealthListen(address.status());
  RETURN_IF_ERROR(AtHealthListen(CheckPortFree(*address)));
  std::unique_ptr<HealthListener> listener(
      new HealthListener(std::move(measure)));
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  SetLimits(&builder);
  auto socket = ListeningSocket::Open(&*address);
  if (!socket.ok()) return AtHealthListen(socket.status());
  listener->acceptor_.AddDoor(
      *std::move(socket), &builder, grpc::InsecureServerCredentials(),
      ConnectionAcceptor::Handshake::kNone, &listener->probe_port_);
  listener->queue_ = builder.AddCompletionQueue();
  listener->server_ = BuildServer(builder);
  if (listener->server_ == nullptr) {
    return MakeError(ErrorId::kInternal, "gRPC does not start",
                     "look at its lines in the coordinator's log", kField);
  }
  listener->address_ = *std::move(address);
  listener->waiter_ =
      std::thread([queue = listener->queue_.get()] { Wait(queue); });
  listener->acceptor_.Start();
  return listener;
}

HealthListener::HealthListener(PageMaker::Measure measure)
    : page_maker_(std::move(measure), clock_),
      probe_port_(page_maker_, clock_),
      acceptor_("health", {.door = kLimits}, clock_) {}

HealthListener::~HealthListener() {
  acceptor_.Stop();
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  if (queue_ == nullptr) return;
  queue_->Shutdown();
  if (waiter_.joinable()) {
    waiter_.join();
  } else {
    Wait(queue_.get());
  }
}

void HealthListener::SetServing(const std::string& service, bool serving) {
  server_->GetHealthCheckService()->SetServingStatus(service, serving);
}

namespace {

constexpr const char* kServices[] = {
    "frostline.v1.StudyService", "frostline.v1.WorkerService",
    "frostline.v1.ImportanceService", "frostline.v1.AdminService",
    "externalscaler.ExternalScaler"};

constexpr char kTlsFix[] =
    "`frostline tls init --host HOST` makes certificates; then add --tls "
    "frostline-tls; or listen on 127.0.0.1";

absl::StatusOr<ListenAddress> Admissible(const std::string& listen,
                                         bool has_tls) {
  ASSIGN_OR_RETURN(ListenAddress address, ParseListenAddress(listen));
  const bool plain = address.is_loopback && !address.wants_tls;
  if (!plain && !has_tls) {
    return MakeError(
        ErrorId::kAddressNotLoopback,
        absl::StrCat(FormatAddress(address),
                     address.is_loopback ? " is to be encrypted"
                                         : " can be reached by other machines"),
        kTlsFix, "listen");
  }
  RETURN_IF_ERROR(CheckPortFree(address));
  return address;
}

// When nobody else can connect, this machine may have every connection.
DoorLimits LimitsFor(const std::vector<ListenAddress>& addresses,
                     DoorLimits limits) {
  const bool only_local =
      std::all_of(addresses.begin(), addresses.end(),
                  [](const ListenAddress& at) { return at.is_loopback; });
  if (only_local && limits.local == 0) {
    limits.local = std::numeric_limits<std::size_t>::max();
  }
  return limits;
}

void WriteDoor(const char* door, const DoorCounts& counts, MetricsPage& page) {
  page.Set("frostline_connections_open", counts.open.value(), {{"door", door}});
  page.Set("frostline_connections_accepted_total", counts.accepted,
           {{"door", door}});
  const auto set = [&](const char* name, const char* why,
                       const Counter& counter) {
    page.Set(name, counter, {{"door", door}, {"reason", why}});
  };
  constexpr char kRefused[] = "frostline_connections_refused_total";
  set(kRefused, "full", counts.full);
  set(kRefused, "address_full", counts.address_full);
  set(kRefused, "too_fast", counts.too_fast);
  set(kRefused, "barred", counts.barred);
  set(kRefused, "no_descriptor", counts.no_descriptor);
  constexpr char kCut[] = "frostline_connections_cut_total";
  set(kCut, "resets", counts.cut);
  set(kCut, "frames", counts.cut_for_frames);
  set(kCut, "room", counts.evicted);
}

void WarnIfUnguarded() {
  if (!TransportGuard::IsNeeded() || TransportGuard::InPlace()) return;
  Log(LogLevel::kWarning, "frames_unguarded",
      {{"grpc", grpc::Version()},
       {"cause",
        "what clients send is not looked at: whoever reaches a port "
        "can take all memory"},
       {"fix", "link gRPC 1.51 as a shared library, or take gRPC 1.59.2"}});
}

}  // namespace

class RpcServer::Impl {
 public:
  Impl(const VerbTable& served, const Gate* gate, AuditLog* audit,
       const DoorLimits& limits)
      : gate_(gate == nullptr ? local_gate_ : *gate),
        acceptor_("main", {.door = limits}, clock_) {
    for (const char* name : kServices) {
      services_.push_back(std::make_unique<RawService>(
          *google::protobuf::DescriptorPool::generated_pool()
               ->FindServiceByName(name),
          served, gate_, audit, kLongestDeadline, &calls_));
    }
  }

  absl::Status Start(
      std::vector<ListenAddress> addresses,
      const std::shared_ptr<grpc::ServerCredentials>& credentials) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    SetLimits(&builder);
    for (const auto& service : services_) {
      builder.RegisterService(service.get());
    }
    reflection_ = std::make_unique<ReflectionService>(
        std::vector<std::string>(std::begin(kServices), std::end(kServices)),
        gate_);
    builder.RegisterService(reflection_.get());
    for (ListenAddress& address : addresses) {
      const bool plain = address.is_loopback && !address.wants_tls;
      if (plain && address.socket.empty()) trusts_local_callers_ = true;
      ASSIGN_OR_RETURN(ListeningSocket socket, ListeningSocket::Open(&address));
      acceptor_.AddDoor(std::move(socket), &builder,
                        plain ? grpc::InsecureServerCredentials() : credentials,
                        plain ? ConnectionAcceptor::Handshake::kNone
                              : ConnectionAcceptor::Handshake::kTls);
      addresses_.push_back(FormatAddress(address));
      if (!plain && tls_address_.empty()) tls_address_ = addresses_.back();
    }
    server_ = BuildServer(builder);
    if (server_ == nullptr) {
      return MakeError(ErrorId::kInternal, "gRPC does not start",
                       "look at its lines in the coordinator's log");
    }
    WarnIfUnguarded();
    acceptor_.Start();
    SetServing(true);
    return absl::OkStatus();
  }

  absl::Status StartHealth(const std::string& listen,
                           PageMaker::Measure measure) {
    if (listen.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(
        health_,
        HealthListener::Listen(
            listen, [this, measure = std::move(measure)](MetricsPage& page) {
              Write(page);
              if (measure) measure(page);
            }));
    health_door_ = &health_->door();
    SetServing(true);
    return absl::OkStatus();
  }

  const std::vector<std::string>& addresses() const { return addresses_; }
  bool trusts_local_callers() const { return trusts_local_callers_; }
  CallCounts* counts() { return &calls_; }
  const std::string& tls_address() const { return tls_address_; }
  std::string health_address() const {
    return health_ == nullptr ? "" : health_->address();
  }

  void SetServing(bool serving) {
    if (server_ == nullptr) return;
    auto* health = server_->GetHealthCheckService();
    health->SetServingStatus(serving);
    for (const char* name : kServices) health->SetServingStatus(name, serving);
    if (health_ == nullptr) return;
    health_->SetServing("", serving);
    for (const char* name : kServices) health_->SetServing(name, serving);
  }

  void Shutdown(Duration grace) {
    if (server_ == nullptr) return;
    SetServing(false);
    acceptor_.Stop();
    server_->Shutdown(
        std::chrono::system_clock::now() +
        std::chrono::duration_cast<std::chrono::system_clock::duration>(grace));
    server_.reset();
  }

 private:
  void Write(MetricsPage& page) const {
    calls_.Write(page);
    page.Set("frostline_rate_refusals_total", gate_.too_fast());
    WriteDoor("main", acceptor_.counts(), page);
    const DoorCounts* const health = health_door_;
    if (health != nullptr) WriteDoor("health", *health, page);
  }

  const SystemClock clock_;
  CallCounts calls_;
  Credentials none_;
  const Gate local_gate_{none_, clock_, /*require_tokens=*/false};
  const Gate& gate_;
  std::vector<std::unique_ptr<RawService>> services_;
  std::unique_ptr<ReflectionService> reflection_;
  std::unique_ptr<grpc::Server> server_;  // dies before its services
  ConnectionAcceptor acceptor_;           // ends before the server
  std::vector<std::string> addresses_;
  std::string tls_address_;
  bool trusts_local_callers_ = false;
  // A scrape may come before the listener is ours.
  std::atomic<const DoorCounts*> health_door_ = nullptr;
  std::unique_ptr<HealthListener> health_;  // null: no port of its own
};

absl::Status RpcServer::Check(const RpcOptions& options) {
  for (const std::string& listen : options.listen) {
    RETURN_IF_ERROR(
        Admissible(listen, options.credentials != nullptr).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Listen(
    const RpcOptions& options, const VerbTable& verbs) {
  std::vector<ListenAddress> addresses;
  for (const std::string& listen : options.listen) {
    ASSIGN_OR_RETURN(addresses.emplace_back(),
                     Admissible(listen, options.credentials != nullptr));
  }
  auto impl = std::make_unique<Impl>(verbs, options.gate, options.audit,
                                     LimitsFor(addresses, options.door));
  RETURN_IF_ERROR(impl->Start(std::move(addresses), options.credentials));
  RETURN_IF_ERROR(impl->StartHealth(options.health_listen, options.measure));
  return std::unique_ptr<RpcServer>(new RpcServer(std::move(impl)));
}

RpcServer::RpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RpcServer::~RpcServer() { Shutdown(Duration::zero()); }

std::string RpcServer::address() const { return impl_->addresses().front(); }

const std::vector<std::string>& RpcServer::addresses() const {
  return impl_->addresses();
}

bool RpcServer::trusts_local_callers() const {
  return impl_->trusts_local_callers();
}

CallCounts* RpcServer::counts() { return impl_->counts(); }

const std::string& RpcServer::tls_address() const {
  return impl_->tls_address();
}

std::string RpcServer::health_address() const {
  return impl_->health_address();
}

void RpcServer::StopServing() { impl_->SetServing(false); }

void RpcServer::Shutdown(Duration grace) { impl_->Shutdown(grace); }

}  // namespace frostline::server
