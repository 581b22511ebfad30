// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/health_listener.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <chrono>
#include <utility>

#include "base/error.h"
#include "server/rpc/front_door.h"

namespace frostline::server {
namespace {

constexpr char kField[] = "health-listen";

// Probes are few, and come from few places.
constexpr DoorLimits kLimits = {
    .connections = 256,
    .per_address = 64,
    .local = 128,
    .rate = {.per_second = 20, .at_once = 100},
    .local_rate = {.per_second = 100, .at_once = 500}};

// The address is judged as every other; only the flag has another name.
absl::Status AtHealthListen(const absl::Status& status) {
  const auto detail = DetailOf(status);
  if (status.ok() || !detail.has_value()) return status;
  return MakeError(detail->id, std::string(status.message()), detail->fix,
                   kField);
}

// Until the queue is shut down.
void Wait(grpc::ServerCompletionQueue* queue) {
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok)) {
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<HealthListener>> HealthListener::Listen(
    const std::string& listen, Scribe::Measure measure) {
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
  listener->doorkeeper_.AddDoor(
      *std::move(socket), &builder, grpc::InsecureServerCredentials(),
      Doorkeeper::Handshake::kNone, &listener->anteroom_);
  listener->queue_ = builder.AddCompletionQueue();
  listener->server_ = builder.BuildAndStart();
  if (listener->server_ == nullptr) {
    return MakeError(ErrorId::kInternal, "gRPC does not start",
                     "look at its lines in the coordinator's log", kField);
  }
  listener->address_ = *std::move(address);
  listener->waiter_ =
      std::thread([queue = listener->queue_.get()] { Wait(queue); });
  listener->doorkeeper_.Start();
  return listener;
}

HealthListener::HealthListener(Scribe::Measure measure)
    : scribe_(std::move(measure), clock_),
      anteroom_(scribe_, clock_),
      doorkeeper_("health", {.door = kLimits}, clock_) {}

HealthListener::~HealthListener() {
  doorkeeper_.Stop();
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

}  // namespace frostline::server
