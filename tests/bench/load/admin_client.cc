// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/load/admin_client.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/rng.h"

namespace frostline::bench {
namespace {

constexpr double kLowest = 1e-6;
constexpr double kHighest = 1e-2;
constexpr int kPage = 1000;

std::string ParameterName(int i) { return absl::StrCat("x", i); }

std::shared_ptr<grpc::Channel> Connect(
    const std::string& address,
    std::shared_ptr<grpc::ChannelCredentials> credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  // In spite of its name: how long one attempt to connect may take.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20'000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 250);
  arguments.SetMaxReceiveMessageSize(-1);
  if (credentials == nullptr) credentials = grpc::InsecureChannelCredentials();
  return grpc::CreateCustomChannel(address, credentials, arguments);
}

}  // namespace

v1::CreateStudyRequest LoadStudy(const std::string& id, std::int64_t trials,
                                 int parameters) {
  v1::CreateStudyRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_study_id(id);
  v1::StudySpec& spec = *request.mutable_spec();
  spec.mutable_model()->set_id("load");
  spec.set_seed(7);
  v1::Objective* const objective = spec.add_objectives();
  objective->set_metric("accuracy");
  objective->set_direction(v1::DIRECTION_MAXIMIZE);
  for (int i = 0; i < parameters; ++i) {
    v1::ParameterSpace* const axis = spec.mutable_space()->add_parameters();
    axis->set_name(ParameterName(i));
    axis->mutable_log_uniform()->set_lo(kLowest);
    axis->mutable_log_uniform()->set_hi(kHighest);
  }
  spec.mutable_sampler()->set_name("random");
  request.mutable_settings()->mutable_budget()->set_trials(trials);
  return request;
}

v1::ImportTrialsRequest LoadHistory(const std::string& study, int count,
                                    int parameters) {
  static Rng rng(20261121);
  v1::ImportTrialsRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_name(study);
  for (int i = 0; i < count; ++i) {
    v1::ImportedTrial* const trial = request.add_trials();
    trial->set_state(v1::TRIAL_STATE_SUCCEEDED);
    for (int p = 0; p < parameters; ++p) {
      (*trial->mutable_parameters())[ParameterName(p)].set_number_value(
          kLowest * std::pow(kHighest / kLowest, rng.Uniform()));
    }
    (*trial->mutable_metrics())["accuracy"] = rng.Uniform();
  }
  return request;
}

AdminClient::AdminClient(
    const std::string& address,
    std::shared_ptr<grpc::ChannelCredentials> credentials) {
  const auto channel = Connect(address, std::move(credentials));
  studies_ = v1::StudyService::NewStub(channel);
  workers_ = v1::WorkerService::NewStub(channel);
  admin_ = v1::AdminService::NewStub(channel);
}

absl::StatusOr<v1::Study> AdminClient::GetStudy(const std::string& name) {
  v1::GetStudyRequest request;
  request.set_name(name);
  return Call(*studies_, &v1::StudyService::Stub::GetStudy, request);
}

absl::StatusOr<v1::ServerInfo> AdminClient::GetInfo() {
  return Call(*admin_, &v1::AdminService::Stub::GetInfo, v1::GetInfoRequest());
}

absl::StatusOr<StoredStudy> AdminClient::ReadStudy(const std::string& name,
                                                   bool with_measurements) {
  StoredStudy study;
  ASSIGN_OR_RETURN(study.study, GetStudy(name));
  RETURN_IF_ERROR(ReadTrials(&study));
  if (!with_measurements) return study;
  for (StoredTrial& trial : study.trials) {
    RETURN_IF_ERROR(ReadMeasurements(&trial));
  }
  return study;
}

absl::Status AdminClient::ReadTrials(StoredStudy* study) {
  v1::ListTrialsRequest request;
  request.set_parent(study->study.name());
  request.set_page_size(kPage);
  request.set_view(v1::TRIAL_VIEW_FULL);
  do {
    ASSIGN_OR_RETURN(
        const v1::ListTrialsReply page,
        Call(*studies_, &v1::StudyService::Stub::ListTrials, request));
    for (const v1::Trial& trial : page.trials()) {
      study->trials.push_back({trial, {}});
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return absl::OkStatus();
}

absl::Status AdminClient::ReadMeasurements(StoredTrial* trial) {
  for (const v1::Attempt& attempt : trial->trial.attempts()) {
    v1::ListMeasurementsRequest request;
    request.set_name(trial->trial.name());
    request.set_attempt(attempt.number());
    request.set_page_size(kPage);
    do {
      ASSIGN_OR_RETURN(
          const v1::ListMeasurementsReply page,
          Call(*studies_, &v1::StudyService::Stub::ListMeasurements, request));
      for (const v1::Measurement& measured : page.measurements()) {
        trial->measurements[attempt.number()].push_back(measured);
      }
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty());
  }
  return absl::OkStatus();
}

}  // namespace frostline::bench
