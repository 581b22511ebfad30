// SPDX-License-Identifier: Apache-2.0
#include "cli/report/record_fetch.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "frostline/v1/importance_service.grpc.pb.h"
#include "frostline/v1/study_service.grpc.pb.h"

namespace frostline::cli {
namespace {

using Studies = v1::StudyService::Stub;
using Importance = v1::ImportanceService::Stub;

constexpr int kCurves = 10;
constexpr int kPointsOfACurve = 200;

// A study may be too young for this part, or not of its kind.
bool IsOfTheStudy(const absl::Status& status) {
  return HasErrorId(status, ErrorId::kTrialsTooFew) ||
         HasErrorId(status, ErrorId::kRequestInvalid);
}

template <typename Part>
absl::Status Keep(const char* what, absl::StatusOr<Part> answer,
                  std::optional<Part>& part, StudyRecord& record) {
  if (answer.ok()) {
    part = *std::move(answer);
    return absl::OkStatus();
  }
  if (!IsOfTheStudy(answer.status())) return answer.status();
  const std::string why = absl::StrCat(": ", answer.status().message(), ".");
  for (std::string& sentence : record.missing) {
    if (!absl::EndsWith(sentence, why)) continue;  // another reason
    sentence.insert(sentence.size() - why.size(), absl::StrCat(", ", what));
    return absl::OkStatus();
  }
  record.missing.push_back(absl::StrCat("No ", what, why));
  return absl::OkStatus();
}

absl::Status FetchCurves(Client& client, const std::string& study,
                         StudyRecord& record) {
  v1::ListBestTrialsRequest request;
  request.set_name(study);
  request.set_limit(kCurves);
  const auto best = client.Call(&Studies::ListBestTrials, request);
  if (!best.ok()) return absl::OkStatus();  // none has a result yet
  for (const v1::Trial& trial : best->trials()) {
    if (static_cast<int>(record.curves.size()) == kCurves) break;
    v1::ListMeasurementsRequest asked;
    asked.set_name(trial.name());
    asked.set_downsample_to(kPointsOfACurve);
    ASSIGN_OR_RETURN(record.curves[trial.number()],
                     client.Call(&Studies::ListMeasurements, asked));
  }
  return absl::OkStatus();
}

absl::Status FetchImportance(Client& client, const std::string& study,
                             double tolerance, StudyRecord& record) {
  v1::GetReportRequest report;
  report.set_study(study);
  RETURN_IF_ERROR(Keep("importance",
                       client.Call(&Importance::GetReport, report),
                       record.importance, record));
  v1::GetPlanRequest plan;
  plan.set_study(study);
  plan.set_tolerance(tolerance);
  RETURN_IF_ERROR(Keep("plan", client.Call(&Importance::GetPlan, plan),
                       record.plan, record));
  v1::GetFrontierRequest frontier;
  frontier.set_study(study);
  frontier.set_tolerance(tolerance);
  RETURN_IF_ERROR(Keep("frontier",
                       client.Call(&Importance::GetFrontier, frontier),
                       record.frontier, record));
  v1::GetPlanVerificationRequest verification;
  verification.set_study(study);
  const auto verified =
      client.Call(&Importance::GetPlanVerification, verification);
  if (verified.ok()) record.verification = *verified;  // else none was run
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StudyRecord> FetchTrialsRecord(Client& client,
                                              const std::string& study) {
  StudyRecord record;
  v1::GetStudyRequest asked;
  asked.set_name(study);
  ASSIGN_OR_RETURN(record.study, client.Call(&Studies::GetStudy, asked));
  v1::ListTrialsRequest trials;
  trials.set_parent(study);
  trials.set_view(v1::TRIAL_VIEW_FULL);
  ASSIGN_OR_RETURN(record.trials,
                   client.CallForAll(&Studies::ListTrials, trials));
  RETURN_IF_ERROR(FetchCurves(client, study, record));
  return record;
}

absl::StatusOr<StudyRecord> FetchRecord(Client& client,
                                        const std::string& study,
                                        double tolerance) {
  ASSIGN_OR_RETURN(StudyRecord record, FetchTrialsRecord(client, study));
  RETURN_IF_ERROR(FetchImportance(client, study, tolerance, record));
  return record;
}

}  // namespace frostline::cli
