// SPDX-License-Identifier: Apache-2.0
//
// File: validate.h
//
// Checks that every request has its form. Errors name the field.
#ifndef FROSTLINE_SERVER_WIRE_VALIDATE_H_
#define FROSTLINE_SERVER_WIRE_VALIDATE_H_

#include "absl/status/status.h"
#include "base/clock.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "grpc/externalscaler/externalscaler.pb.h"

namespace frostline::server {

// --- StudyService ---
absl::Status Validate(const v1::CreateStudyRequest& request);
absl::Status Validate(const v1::GetStudyRequest& request);
absl::Status Validate(const v1::ListStudiesRequest& request);
absl::Status Validate(const v1::PauseStudyRequest& request);
absl::Status Validate(const v1::ResumeStudyRequest& request);
absl::Status Validate(const v1::StopStudyRequest& request);
absl::Status Validate(const v1::WatchStudyRequest& request);
absl::Status Validate(const v1::GetTrialRequest& request);
absl::Status Validate(const v1::ListTrialsRequest& request);
absl::Status Validate(const v1::ListMeasurementsRequest& request);
absl::Status Validate(const v1::UpdateStudyRequest& request);
absl::Status Validate(const v1::DeleteStudyRequest& request);
absl::Status Validate(const v1::ExplainStudyRequest& request);
absl::Status Validate(const v1::EnqueueTrialsRequest& request);
absl::Status Validate(const v1::ImportTrialsRequest& request);
absl::Status Validate(const v1::UpdateTrialRequest& request);
absl::Status Validate(const v1::CancelTrialRequest& request);
absl::Status Validate(const v1::RetryTrialRequest& request);
absl::Status Validate(const v1::ListBestTrialsRequest& request);
absl::Status Validate(const v1::ExportTrialsRequest& request);
absl::Status Validate(const v1::GetExampleOutcomesRequest& request);
absl::Status Validate(const v1::ReadPredictionsRequest& request);
absl::Status Validate(const v1::GetTrialLogRequest& request);

// --- WorkerService ---
absl::Status Validate(const v1::RegisterRequest& request);
absl::Status Validate(const v1::AcquireRequest& request);
absl::Status Validate(const v1::HeartbeatRequest& request);
absl::Status Validate(const v1::ListenRequest& request);
absl::Status Validate(const v1::SendPredictionsRequest& request);
absl::Status Validate(const v1::ReportRequest& request);
absl::Status Validate(const v1::FinishRequest& request);
absl::Status Validate(const v1::ReleaseRequest& request);
absl::Status Validate(const v1::ListWorkersRequest& request);
absl::Status Validate(const v1::DrainWorkerRequest& request);
absl::Status Validate(const v1::JoinRequest& request);
absl::Status Validate(const v1::RenewCertificateRequest& request);

// --- ImportanceService ---
absl::Status Validate(const v1::GetReportRequest& request);
absl::Status Validate(const v1::ListPairsRequest& request);
absl::Status Validate(const v1::GetMarginalsRequest& request);
absl::Status Validate(const v1::GetPairMarginalRequest& request);
absl::Status Validate(const v1::GetStabilityRequest& request);
absl::Status Validate(const v1::CompareStudiesRequest& request);
absl::Status Validate(const v1::CompareTrialsRequest& request);
absl::Status Validate(const v1::GetPlanRequest& request);
absl::Status Validate(const v1::GetFrontierRequest& request);
absl::Status Validate(const v1::AskPlanRequest& request);
absl::Status Validate(const v1::GetPlanRivalsRequest& request);
absl::Status Validate(const v1::GetPlanVerificationRequest& request);

// --- AdminService ---
absl::Status Validate(const v1::CreateTokenRequest& request);
absl::Status Validate(const v1::RotateTokenRequest& request);
absl::Status Validate(const v1::RevokeTokenRequest& request);
absl::Status Validate(const v1::ListTokensRequest& request);
absl::Status Validate(const v1::ListCertificatesRequest& request);
absl::Status Validate(const v1::RevokeCertificatesRequest& request);
absl::Status Validate(const v1::WhoAmIRequest& request);
absl::Status Validate(const v1::ListAuditEntriesRequest& request);
absl::Status Validate(const v1::BackupRequest& request);
absl::Status Validate(const v1::GetInfoRequest& request);

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
absl::Status CheckWait(const v1::GetTrialLogRequest& request,
                       Duration time_left);
absl::Status CheckWait(const v1::ReadPredictionsRequest& request,
                       Duration time_left);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_VALIDATE_H_
