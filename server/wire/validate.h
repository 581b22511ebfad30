// SPDX-License-Identifier: Apache-2.0
//
// File: validate.h
//
// Checks that every request has the form that the contract gives it. Errors
// name the field.
#ifndef FROSTLINE_SERVER_WIRE_VALIDATE_H_
#define FROSTLINE_SERVER_WIRE_VALIDATE_H_

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "base/clock.h"
#include "base/error.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "grpc/externalscaler/externalscaler.pb.h"
#include "proto/rules.h"

namespace frostline::server {

// Checks what no rule of the contract (proto/rules.h) can say: that each GPU is
// named once. Most requests have nothing of the kind.
inline absl::Status CheckBesides(const google::protobuf::Message&) {
  return absl::OkStatus();
}
absl::Status CheckBesides(const v1::WatchStudyRequest& request);
absl::Status CheckBesides(const v1::GetTrialRequest& request);
absl::Status CheckBesides(const v1::ListTrialsRequest& request);
absl::Status CheckBesides(const v1::RetryTrialRequest& request);
absl::Status CheckBesides(const v1::ExportTrialsRequest& request);
absl::Status CheckBesides(const v1::CompareTrialsRequest& request);
absl::Status CheckBesides(const v1::RegisterRequest& request);
absl::Status CheckBesides(const v1::HeartbeatRequest& request);
absl::Status CheckBesides(const v1::FinishRequest& request);
absl::Status CheckBesides(const v1::ReleaseRequest& request);
absl::Status CheckBesides(const v1::JoinRequest& request);
absl::Status CheckBesides(const v1::RenewCertificateRequest& request);
absl::Status CheckBesides(const v1::CreateTokenRequest& request);
absl::Status CheckBesides(const v1::RevokeCertificatesRequest& request);

template <typename Request>
absl::Status Validate(const Request& request) {
  RETURN_IF_ERROR(proto::CheckRules(request));
  return CheckBesides(request);
}
// The request id is missed first here, as everywhere.
absl::Status Validate(const v1::CreateStudyRequest& request);
// --- ExternalScaler: scaler_query.cc ---
absl::Status Validate(const externalscaler::ScaledObjectRef& request);
absl::Status Validate(const externalscaler::GetMetricsRequest& request);

// A call that waits must be able to answer before its deadline.
template <typename Request>
absl::Status CheckWait(const Request&, Duration) {
  return absl::OkStatus();
}
absl::Status CheckWait(const v1::AcquireRequest& request, Duration time_left);
absl::Status CheckWait(const v1::ListenRequest& request, Duration time_left);
absl::Status CheckWait(const v1::GetStudyDeltaRequest& request,
                       Duration time_left);
absl::Status CheckWait(const v1::GetTrialLogRequest& request,
                       Duration time_left);
absl::Status CheckWait(const v1::ReadPredictionsRequest& request,
                       Duration time_left);

// Decides which workers are served. Within v1 the contract only grows, but what
// the two sides do with it changes from version to version. The workers of a
// fleet are upgraded one after the other, so a coordinator serves workers of
// one minor version before and after its own:
//
//   coordinator 0.4.2: workers of 0.3.0 … 0.5.9, not 0.2.1, 0.6.0 or 1.4.0
//
// The error is REQUEST_INVALID at worker.version. A worker that names no
// version, or one that is no number, is somebody's own program, and is served.
absl::Status CheckWorkerVersion(const std::string& workers,
                                const std::string& ours);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_VALIDATE_H_
