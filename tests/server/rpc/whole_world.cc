// SPDX-License-Identifier: Apache-2.0
#include "tests/server/rpc/whole_world.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>

#include <cstdlib>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "storage/factory.h"
#include "tests/support/status_matchers.h"
#include "tls/authority.h"

namespace frostline::server {
namespace {

using google::protobuf::Message;

// The options of every verb of importance. Each field is there once, to be
// spoilt.
std::string Options() {
  return "options { evaluator: 'fanova' target: 'accuracy' top_quantile: 0.9 "
         "at_step: 3 filter: 'number >= 0' seed: 3 trees: 4 bootstraps: 4 "
         "parameters: 'layer.0' best_by: 'accuracy' ped_anova { "
         "target_quantile: 0.2 } target_direction: DIRECTION_MAXIMIZE }";
}

// The object that KEDA's calls name.
std::string Trigger() {
  return "name: 'w' namespace: 'n' scalerMetadata { key: 'study' value: 'a' }";
}

// "StudyService.GetStudy" with its package.
std::string FullName(const std::string& method) {
  const bool is_kedas = method.starts_with("ExternalScaler");
  return (is_kedas ? "externalscaler." : "frostline.v1.") + method;
}

// $LEASE is the running trial's, $TOKEN a token's. `request_id` is filled in
// where there is one.
const std::map<std::string, std::string>& GoodRequests() {
  static const auto* const requests = new std::map<std::string, std::string>{
      {"StudyService.GetStudy", "name: 'studies/a'"},
      {"StudyService.ListStudies", "page_size: 10 filter: 'state = ACTIVE'"},
      {"StudyService.PauseStudy", "name: 'studies/a' reason: 'lunch'"},
      {"StudyService.ResumeStudy", "name: 'studies/a'"},
      {"StudyService.StopStudy", "name: 'studies/a' reason: 'enough'"},
      {"StudyService.UpdateStudy",
       "name: 'studies/a' settings { budget { trials: 50 } priority: 3 "
       "max_parallel: 2 labels { key: 'k' value: 'v' } notes: 'n' } "
       "update_mask { paths: 'budget' paths: 'priority' paths: 'labels' "
       "paths: 'max_parallel' paths: 'notes' }"},
      {"StudyService.DeleteStudy", "name: 'studies/a' force: true"},
      {"StudyService.ExplainStudy", "name: 'studies/a' trial_number: 0"},
      {"StudyService.EnqueueTrials",
       "name: 'studies/a' priority: 1 trials { values { key: 'layer.0' value "
       "{ number_value: 1e-5 } } labels { key: 'k' value: 'v' } }"},
      {"StudyService.ImportTrials",
       "name: 'studies/a' trials { state: TRIAL_STATE_SUCCEEDED "
       "parameters { key: 'layer.0' value { number_value: 1e-5 } } "
       "parameters { key: 'layer.1' value { number_value: 0 } } "
       "metrics { key: 'accuracy' value: 0.5 } "
       "measurements { step: 1 metrics { key: 'accuracy' value: 0.4 } } "
       "usage { train_seconds: 3 } labels { key: 'k' value: 'v' } "
       "start_time { seconds: 1000 } end_time { seconds: 2000 } }"},
      {"StudyService.GetTrial",
       "name: 'studies/a/trials/0' view: TRIAL_VIEW_FULL"},
      {"StudyService.ListTrials",
       "parent: 'studies/a' page_size: 5 view: TRIAL_VIEW_FULL"},
      {"StudyService.UpdateTrial",
       "name: 'studies/a/trials/0' labels { key: 'k' value: 'v' } note: 'n' "
       "update_mask { paths: 'labels' paths: 'note' }"},
      {"StudyService.CancelTrial", "name: 'studies/a/trials/1' reason: 'r'"},
      {"StudyService.RetryTrial", "name: 'studies/a/trials/0'"},
      {"StudyService.ListMeasurements",
       "name: 'studies/a/trials/0' attempt: 1 page_size: 5"},
      {"StudyService.GetExampleOutcomes", "name: 'studies/a/trials/0'"},
      {"StudyService.ListBestTrials", "name: 'studies/a' limit: 2"},
      {"StudyService.GetTrialLog",
       "name: 'studies/a/trials/0' attempt: 1 max_bytes: 100"},
      {"StudyService.ReadPredictions",
       "name: 'studies/a/trials/0' set: 'validation' max_bytes: 100 "
       "examples: 1 wait { nanos: 1000 }"},
      {"WorkerService.SendPredictions",
       "worker: 'workers/w' boot_id: 'boot-1' wish: 'a.1' piece: 'p' size: 1 "
       "path: '/p'"},
      {"WorkerService.Register",
       "worker_id: 'w2' worker { boot_id: 'boot-7' slots: 2 labels { key: "
       "'k' value: 'v' } hardware { host: 'h' cpu_cores: 4 } version: '1' }"},
      {"WorkerService.Acquire",
       "worker: 'workers/w' boot_id: 'boot-1' max_leases: 1 "
       "study: 'studies/a' wait { seconds: 0 nanos: 1000 }"},
      {"WorkerService.Heartbeat",
       "worker: 'workers/w' boot_id: 'boot-1' sequence: 5 leases { lease { "
       "$LEASE } step: 3 total_steps: 10 since_step { seconds: 1 } }"},
      {"WorkerService.Listen",
       "worker: 'workers/w' boot_id: 'boot-1' seen: 's'"},
      {"WorkerService.Report",
       "lease { $LEASE } sequence: 1 measurements { step: 8 elapsed_s: 2 "
       "metrics { key: 'accuracy' value: 0.5 } } checkpoint { id: 'c' "
       "sha256: 'ab' step: 8 bytes: 10 }"},
      {"WorkerService.Finish",
       "lease { $LEASE } outcome { kind: SUCCEEDED metrics { key: 'accuracy' "
       "value: 0.75 } cause: 'c' log_tail: 'l' usage { train_seconds: 1 } "
       "examples { data_fingerprint: 'f' encoding: PACKED_BITS count: 8 data: "
       "'x' } } measurements { step: 9 metrics { key: 'accuracy' value: 1 } }"},
      {"WorkerService.Release",
       "lease { $LEASE } reason: PREEMPTED detail: 'd' checkpoint { id: 'c' } "
       "measurements { step: 9 metrics { key: 'accuracy' value: 1 } }"},
      {"WorkerService.ListWorkers", "page_size: 3 filter: 'state = ACTIVE'"},
      {"WorkerService.DrainWorker", "worker: 'workers/w' reason: 'r'"},
      {"ImportanceService.GetReport", "study: 'studies/a' " + Options()},
      {"ImportanceService.ListPairs",
       "study: 'studies/a' page_size: 5 " + Options()},
      {"ImportanceService.GetMarginals", "study: 'studies/a' " + Options()},
      {"ImportanceService.GetPairMarginal",
       "study: 'studies/a' first: 'layer.0' second: 'layer.1' " + Options()},
      {"ImportanceService.GetStability",
       "study: 'studies/a' points: 3 " + Options()},
      {"ImportanceService.CompareStudies",
       "first: 'studies/a' second: 'studies/a' " + Options()},
      {"ImportanceService.CompareTrials",
       "contenders { trials: 'studies/a/trials/0' name: 'n' } contenders { "
       "trials: 'studies/a/trials/1' with_repeats: true } metric: 'accuracy' "
       "margin: 0.01"},
      {"ImportanceService.GetPlan",
       "study: 'studies/a' tolerance: 0.01 options { trees: 4 bootstraps: 4 }"},
      {"ImportanceService.GetFrontier",
       "study: 'studies/a' options { trees: 4 bootstraps: 4 }"},
      {"ImportanceService.AskPlan",
       "study: 'studies/a' trials: 2 options { trees: 4 bootstraps: 4 }"},
      {"ImportanceService.GetPlanRivals",
       "study: 'studies/a' seeds: 2 options { trees: 4 bootstraps: 4 }"},
      {"ImportanceService.GetPlanVerification", "study: 'studies/a'"},
      {"AdminService.Backup", "label: 'one.sqlite'"},
      {"AdminService.GetInfo", ""},
      {"AdminService.CreateToken",
       "role: ROLE_VIEWER subject: 'ana' note: 'n' lifetime { seconds: 60 }"},
      {"AdminService.RotateToken", "$TOKEN overlap { seconds: 60 }"},
      {"AdminService.RevokeToken", "$TOKEN"},
      {"AdminService.ListTokens", "page_size: 3"},
      {"AdminService.ListCertificates", "page_size: 3"},
      {"AdminService.RevokeCertificates", "subject: 'workers/w9'"},
      {"AdminService.ListAuditEntries",
       "page_size: 3 filter: 'subject = nobody'"},
      {"WorkerService.Join", "worker_id: 'w3' certificate_request: '$ASKED'"},
      {"WorkerService.RenewCertificate", "certificate_request: '$ASKED'"},
      {"AdminService.WhoAmI", ""},
      {"ExternalScaler.IsActive", Trigger()},
      {"ExternalScaler.GetMetricSpec", Trigger()},
      {"ExternalScaler.GetMetrics",
       "scaledObjectRef { " + Trigger() +
           " } metricName: 'frostline-unclaimed-trials'"}};
  return *requests;
}

std::unique_ptr<Message> NewRequest(const std::string& method) {
  const auto* const pool = google::protobuf::DescriptorPool::generated_pool();
  const auto* const found = pool->FindMethodByName(FullName(method));
  auto* const factory = google::protobuf::MessageFactory::generated_factory();
  return std::unique_ptr<Message>(
      factory->GetPrototype(found->input_type())->New());
}

void Demand(const absl::Status& status) {
  if (status.ok()) return;
  ADD_FAILURE() << DescribeError(status);
  std::abort();
}

}  // namespace

WholeWorld::WholeWorld() {
  auto store = storage::OpenStore({.data_folder = folder_.File("data")});
  Demand(store.status());
  store_ = *std::move(store);
  const auto authority = tls::MakeAuthority("test", clock_.Wall());
  Demand(authority.status());
  issuer_ = std::make_unique<Issuer>(*authority, "", kUsualCertificateLife);
  asked_ = tls::MakeRequest("w3")->request_pem;
  CoordinatorOptions made_of;
  made_of.backup_folder = folder_.File("backups");
  made_of.issuer = issuer_.get();
  driver_ = std::make_unique<Driver>(*store_, clock_, std::move(made_of));
  Demand(driver_->started());
  v1::CreateStudyRequest create = ExampleStudy("a", 20);
  create.mutable_spec()->mutable_training()->set_epochs(2);
  Demand(driver_->Call<v1::CreateStudyReply>(create).status());
  Demand(driver_->Register("w", "boot-1").status());
  v1::AcquireRequest two = Driver::AcquireOf("w", "boot-1");
  const v1::Lease ended = driver_->AcquireOne("w", "boot-1");
  lease_ = driver_->AcquireOne("w", "boot-1");
  Demand(driver_->Report(ended, 0, 0.25).status());
  Demand(driver_->Report(lease_, 5, 0.25).status());
  Demand(driver_->Finish(ended, 0.5).status());
  // The next one is prepared for the slot that is free now.
  while (driver_->GetStudy("a")->counts().queued() == 0) {
  }
  v1::CreateTokenRequest token;
  token.set_request_id(RandomHexId());
  token.set_role(v1::ROLE_VIEWER);
  token.set_subject("ana");
  const auto made = driver_->Call<v1::CreateTokenReply>(token);
  Demand(made.status());
  token_ = made->token().id();
  token.set_request_id(RandomHexId());
  token.set_role(v1::ROLE_WORKER);
  token.clear_subject();
  token.set_single_use(true);
  const auto invited = driver_->Call<v1::CreateTokenReply>(token);
  Demand(invited.status());
  invitation_ = invited->secret();
  gate_ = std::make_unique<Gate>(driver_->coordinator().credentials(), clock_,
                                 /*require_tokens=*/false);
  RpcOptions options;
  options.listen = {"127.0.0.1:0"};
  options.gate = gate_.get();
  auto server = RpcServer::Listen(options, driver_->coordinator().verbs());
  Demand(server.status());
  server_ = *std::move(server);
  client_ = std::make_unique<RawClient>(server_->address());
}

WholeWorld::~WholeWorld() {
  driver_->coordinator().Drain();
  server_->Shutdown(std::chrono::seconds(5));
}

std::unique_ptr<Message> WholeWorld::GoodRequest(
    const std::string& method) const {
  std::unique_ptr<Message> request = NewRequest(method);
  if (method == "StudyService.CreateStudy") {
    request->CopyFrom(ExampleStudy("b", 3));
  } else {
    const auto found = GoodRequests().find(method);
    if (found == GoodRequests().end()) return nullptr;
    const std::string lease = absl::StrCat("trial: '", lease_.trial(),
                                           "' attempt: ", lease_.attempt(),
                                           " secret: '", lease_.secret(), "'");
    if (!google::protobuf::TextFormat::ParseFromString(
            absl::StrReplaceAll(
                found->second,
                {{"$LEASE", lease},
                 {"$ASKED", absl::CEscape(asked_)},
                 {"$TOKEN", absl::StrCat("id: '", token_, "'")}}),
            request.get())) {
      ADD_FAILURE() << method;
    }
  }
  const auto* const id =
      request->GetDescriptor()->FindFieldByName("request_id");
  if (id != nullptr) {
    request->GetReflection()->SetString(request.get(), id, RandomHexId());
  }
  return request;
}

absl::StatusOr<std::string> WholeWorld::Send(const std::string& method,
                                             const Message& request) {
  grpc::ClientContext context;
  if (method == "WorkerService.Join") {
    context.AddMetadata("authorization", "Bearer " + invitation_);
  }
  return client_->Call(
      absl::StrCat(
          "/", absl::StrReplaceAll(FullName(method), {{"Service.", "Service/"},
                                                      {"Scaler.", "Scaler/"}})),
      request.SerializeAsString(), &context);
}

std::string WholeWorld::Everything() {
  std::string all;
  v1::ListStudiesRequest studies;
  studies.set_show_deleted(true);
  const auto list = driver_->Call<v1::ListStudiesReply>(studies);
  Demand(list.status());
  absl::StrAppend(&all, list->DebugString());
  for (const v1::Study& study : list->studies()) {
    if (study.state() == v1::STUDY_STATE_DELETED) continue;
    v1::ListTrialsRequest trials;
    trials.set_parent(study.name());
    trials.set_view(v1::TRIAL_VIEW_FULL);
    const auto page = driver_->Call<v1::ListTrialsReply>(trials);
    Demand(page.status());
    absl::StrAppend(&all, page->DebugString());
    for (const v1::Trial& trial : page->trials()) {
      v1::ListMeasurementsRequest curve;
      curve.set_name(trial.name());
      const auto steps = driver_->Call<v1::ListMeasurementsReply>(curve);
      Demand(steps.status());
      absl::StrAppend(&all, steps->DebugString());
    }
  }
  const auto workers =
      driver_->Call<v1::ListWorkersReply>(v1::ListWorkersRequest());
  Demand(workers.status());
  const auto tokens =
      driver_->Call<v1::ListTokensReply>(v1::ListTokensRequest());
  Demand(tokens.status());
  const auto certificates =
      driver_->Call<v1::ListCertificatesReply>(v1::ListCertificatesRequest());
  Demand(certificates.status());
  return absl::StrCat(all, workers->DebugString(), tokens->DebugString(),
                      certificates->DebugString());
}

std::vector<std::string> UnaryMethods() {
  std::vector<std::string> names;
  const auto* const pool = google::protobuf::DescriptorPool::generated_pool();
  for (const char* service :
       {"StudyService", "WorkerService", "ImportanceService", "AdminService",
        "ExternalScaler"}) {
    const auto* const found = pool->FindServiceByName(FullName(service));
    for (int i = 0; i < found->method_count(); ++i) {
      if (found->method(i)->server_streaming()) continue;
      names.push_back(absl::StrCat(service, ".", found->method(i)->name()));
    }
  }
  return names;
}

std::vector<std::string> ServedMethods() {
  std::vector<std::string> served = UnaryMethods();
  std::erase_if(served, [](const std::string& method) {
    return method != "StudyService.CreateStudy" &&
           !GoodRequests().contains(method);
  });
  return served;
}

}  // namespace frostline::server
