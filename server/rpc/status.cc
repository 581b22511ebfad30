// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/status.h"

#include <string>

#include "base/error.h"
#include "frostline/v1/errors.pb.h"
#include "proto/wire_error.h"

namespace frostline::server {
namespace {

constexpr int kRetrySeconds = 1;

static_assert(static_cast<int>(absl::StatusCode::kCancelled) ==
              static_cast<int>(grpc::StatusCode::CANCELLED));
static_assert(static_cast<int>(absl::StatusCode::kInvalidArgument) ==
              static_cast<int>(grpc::StatusCode::INVALID_ARGUMENT));
static_assert(static_cast<int>(absl::StatusCode::kUnauthenticated) ==
              static_cast<int>(grpc::StatusCode::UNAUTHENTICATED));

void Pack(const google::protobuf::Message& detail, const char* type_url,
          v1::StatusDetails* envelope) {
  auto* any = envelope->add_details();
  any->set_type_url(type_url);
  any->set_value(detail.SerializeAsString());
}

v1::ErrorInfo InfoOf(const ErrorDetail& detail, const std::string& cause) {
  v1::ErrorInfo info;
  info.set_reason(KindOf(detail.id).reason);
  info.set_domain(proto::kErrorDomain);
  auto& metadata = *info.mutable_metadata();
  metadata["id"] = ErrorCode(detail.id);
  metadata["cause"] = cause;
  metadata["fix"] = proto::CleanText(detail.fix, proto::kMaxFixBytes);
  if (!detail.field.empty()) {
    metadata["field"] = proto::CleanText(detail.field, proto::kMaxFieldBytes);
  }
  return info;
}

v1::BadRequest BadRequestOf(const ErrorDetail& detail) {
  v1::BadRequest bad_request;
  auto* violation = bad_request.add_field_violations();
  violation->set_field(proto::CleanText(detail.field, proto::kMaxFieldBytes));
  violation->set_description(KindOf(detail.id).title);
  return bad_request;
}

v1::RetryInfo RetryLater() {
  v1::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(kRetrySeconds);
  return retry;
}

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  ErrorDetail detail;  // INTERNAL, for errors that are not of ours
  detail.fix = "report it with the lines of the coordinator's log";
  detail = DetailOf(status).value_or(detail);
  const absl::StatusCode code = KindOf(detail.id).code;
  const std::string cause =
      proto::CleanText(std::string(status.message()), proto::kMaxCauseBytes);

  v1::StatusDetails envelope;
  envelope.set_code(static_cast<int>(code));
  envelope.set_message(cause);
  Pack(InfoOf(detail, cause), proto::kErrorInfoUrl, &envelope);
  if (code == absl::StatusCode::kInvalidArgument && !detail.field.empty()) {
    Pack(BadRequestOf(detail), proto::kBadRequestUrl, &envelope);
  }
  if (code == absl::StatusCode::kUnavailable ||
      code == absl::StatusCode::kResourceExhausted) {
    Pack(RetryLater(), proto::kRetryInfoUrl, &envelope);
  }
  return grpc::Status(static_cast<grpc::StatusCode>(code), cause,
                      envelope.SerializeAsString());
}

}  // namespace frostline::server
