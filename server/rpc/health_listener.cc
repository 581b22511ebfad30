// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/health_listener.h"

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "server/rpc/front_door.h"

namespace frostline::server {
namespace {

constexpr char kField[] = "health-listen";

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
    const std::string& listen) {
  auto address = ParseListenAddress(listen);
  if (!address.ok()) return AtHealthListen(address.status());
  RETURN_IF_ERROR(AtHealthListen(CheckPortFree(*address)));
  std::unique_ptr<HealthListener> listener(new HealthListener());
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  SetLimits(&builder);
  builder.AddListeningPort(FormatAddress(*address),
                           grpc::InsecureServerCredentials(), &address->port);
  listener->queue_ = builder.AddCompletionQueue();
  listener->server_ = builder.BuildAndStart();
  if (listener->server_ == nullptr) {
    return MakeError(
        ErrorId::kPortBusy,
        absl::StrCat(FormatAddress(*address), " was taken a moment ago"),
        "try again, or choose another with --health-listen", kField);
  }
  listener->address_ = *std::move(address);
  listener->waiter_ =
      std::thread([queue = listener->queue_.get()] { Wait(queue); });
  return listener;
}

HealthListener::~HealthListener() {
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
