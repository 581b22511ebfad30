// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "server/coordinator.h"
#include "server/rpc/server.h"
#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/server/rpc/raw_client.h"
#include "tests/support/fake_clock.h"
#include "tests/support/record.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "tls/authority.h"

namespace frostline::server {

// A good request spoilt in one field at a time, every field of its descriptor
// in every way its type allows: missing, oversized, non-finite, foreign, out of
// range.
struct Spoilt {
  std::string how;  // "lease.attempt = -1"
  std::unique_ptr<google::protobuf::Message> request;
};

std::vector<Spoilt> SpoilEachField(const google::protobuf::Message& good);

// A coordinator behind its socket in which everything is there once: a study
// with a running, an ended and a queued trial, a worker, measurements. Besides
// a good request for every unary method of the contract.
class WholeWorld {
 public:
  WholeWorld();
  ~WholeWorld();

  // "StudyService.PauseStudy": its request, good in this world, with a fresh
  // request id. Null for a method that this table lacks.
  std::unique_ptr<google::protobuf::Message> GoodRequest(
      const std::string& method) const;

  // The reply's bytes.
  absl::StatusOr<std::string> Send(const std::string& method,
                                   const google::protobuf::Message& request);

  // Everything there is, as text; equal texts: nothing has changed.
  std::string Everything();

 private:
  FakeClock clock_;  // stands still, so that nothing changes by itself
  const TempFolder folder_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Issuer> issuer_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<RawClient> client_;
  v1::Lease lease_;    // of the running trial
  std::string token_;  // its id
  std::string invitation_;
  std::string asked_;  // a certificate request
};

// "StudyService.GetStudy", … of the contract's services, without streams.
std::vector<std::string> UnaryMethods();
// Those of them for which there is a good request.
std::vector<std::string> ServedMethods();

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// A change of one field of a message of the request's type.
struct Change {
  std::string how;
  std::function<void(Message&)> apply;
};

template <typename T>
using Setter = void (google::protobuf::Reflection::*)(Message*,
                                                      const FieldDescriptor*,
                                                      T) const;

template <typename T>
void AddValues(const FieldDescriptor* field, Setter<T> set,
               const std::vector<T>& values, std::vector<Change>& changes) {
  for (const T& value : values) {
    changes.push_back(
        {absl::StrCat(" = ", value), [field, set, value](Message& message) {
           (message.GetReflection()->*set)(&message, field, value);
         }});
  }
}

void AddTexts(const FieldDescriptor* field, std::vector<Change>& changes) {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"70 KB of text", std::string(70'000, 'x')},
      {"no UTF-8", "\xff\xfe"},
      {"a line break", "a\nb"},
      {"a path", "../../etc/passwd"},
      {"a foreign study", "studies/nobodys"},
      {"a foreign trial", "studies/nobodys/trials/0"},
      {"a trial to come", "studies/a/trials/999999999999"},
      {"a foreign worker", "workers/nobody"},
      {"a token", "0123456789abcdef"}};
  for (const auto& [how, text] : texts) {
    changes.push_back(
        {absl::StrCat(": ", how), [field, text](Message& message) {
           message.GetReflection()->SetString(&message, field, text);
         }});
  }
}

void AddScalars(const FieldDescriptor* field, std::vector<Change>& changes) {
  using R = google::protobuf::Reflection;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr auto kMin64 = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax64 = std::numeric_limits<std::int64_t>::max();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return AddTexts(field, changes);
    case FieldDescriptor::CPPTYPE_INT32:
      return AddValues<std::int32_t>(
          field, &R::SetInt32,
          {-1, 0, std::numeric_limits<std::int32_t>::min(),
           std::numeric_limits<std::int32_t>::max()},
          changes);
    case FieldDescriptor::CPPTYPE_INT64:
      return AddValues<std::int64_t>(field, &R::SetInt64,
                                     {-1, 0, 1'000, kMin64, kMax64}, changes);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return AddValues<double>(field, &R::SetDouble,
                               {-kInf, kInf, kInf - kInf, -1.0, 1e308},
                               changes);
    case FieldDescriptor::CPPTYPE_ENUM:
      return AddValues<int>(field, &R::SetEnumValue, {0, -1, 99}, changes);
    case FieldDescriptor::CPPTYPE_BOOL:
      return AddValues<bool>(field, &R::SetBool, {true}, changes);
    default:
      return;
  }
}

std::vector<Change> ChangesOf(const Message& message, int depth);

// Those of an element, or of a message that is there, applied in its place.
void AddInner(const FieldDescriptor* field, const Message& inner, int depth,
              std::vector<Change>& changes) {
  for (Change& change : ChangesOf(inner, depth - 1)) {
    changes.push_back(
        {absl::StrCat(".", change.how),
         [field, apply = std::move(change.apply)](Message& message) {
           const auto* reflection = message.GetReflection();
           apply(field->is_repeated()
                     ? *reflection->MutableRepeatedMessage(&message, field, 0)
                     : *reflection->MutableMessage(&message, field));
         }});
  }
}

void AddMessages(const Message& message, const FieldDescriptor* field,
                 int depth, std::vector<Change>& changes) {
  const auto* reflection = message.GetReflection();
  if (!field->is_repeated()) {
    if (!reflection->HasField(message, field) || depth == 0) return;
    return AddInner(field, reflection->GetMessage(message, field), depth,
                    changes);
  }
  if (reflection->FieldSize(message, field) == 0) return;
  if (depth > 0) {
    AddInner(field, reflection->GetRepeatedMessage(message, field, 0), depth,
             changes);
  }
  changes.push_back({" twice over a thousand", [field](Message& changed) {
                       const auto* access = changed.GetReflection();
                       const auto& first =
                           access->GetRepeatedMessage(changed, field, 0);
                       const std::unique_ptr<Message> copy(first.New());
                       copy->CopyFrom(first);
                       for (int i = 0; i < 2'000; ++i) {
                         access->AddMessage(&changed, field)->CopyFrom(*copy);
                       }
                     }});
}

std::vector<Change> ChangesOf(const Message& message, int depth) {
  std::vector<Change> all;
  const auto* descriptor = message.GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* const field = descriptor->field(i);
    std::vector<Change> changes;
    changes.push_back({" missing", [field](Message& changed) {
                         changed.GetReflection()->ClearField(&changed, field);
                       }});
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      AddMessages(message, field, depth, changes);
    } else if (!field->is_repeated()) {
      AddScalars(field, changes);
    }
    for (Change& change : changes) {
      all.push_back({field->name() + change.how, std::move(change.apply)});
    }
  }
  return all;
}

}  // namespace

std::vector<Spoilt> SpoilEachField(const Message& good) {
  std::vector<Spoilt> requests;
  for (const Change& change : ChangesOf(good, 3)) {
    Spoilt spoilt{change.how, std::unique_ptr<Message>(good.New())};
    spoilt.request->CopyFrom(good);
    change.apply(*spoilt.request);
    requests.push_back(std::move(spoilt));
  }
  return requests;
}

namespace {

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
      {"StudyService.GetStudyDelta",
       "name: 'studies/a' max_trials: 5 view: TRIAL_VIEW_FULL wait {}"},
      {"StudyService.GetTrialTable",
       "parent: 'studies/a' page_size: 5 columns: 'state' columns: 'values'"},
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
      {"StudyService.Suggest",
       "study { space { modules { select: 'layer.*' levels { rates: 0 rates: "
       "1e-5 } } } model { id: 'm' layers: 2 } objectives { metric: "
       "'accuracy' direction: DIRECTION_MAXIMIZE } constraints { metric: 'mib' "
       "upper_bound: 3 } seed: 3 trials { state: TRIAL_STATE_SUCCEEDED "
       "parameters { key: 'layer.0' value { number_value: 1e-5 } } parameters "
       "{ key: 'layer.1' value { number_value: 0 } } metrics { key: 'accuracy' "
       "value: 0.5 } measurements { step: 1 metrics { key: 'accuracy' value: "
       "0.4 } } } } sampler { name: 'random' } count: 2"},
      {"ImportanceService.Explain",
       "study { space { modules { select: 'layer.*' levels { rates: 0 rates: "
       "1e-5 } } } model { id: 'm' layers: 2 } objectives { metric: "
       "'accuracy' direction: DIRECTION_MAXIMIZE } trials { state: "
       "TRIAL_STATE_SUCCEEDED parameters { key: 'layer.0' value { "
       "number_value: 1e-5 } } parameters { key: 'layer.1' value { "
       "number_value: 0 } } metrics { key: 'accuracy' value: 0.5 } } } "
       "with_marginals: true " +
           Options()},
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
      {"ImportanceService.ExplainDifference",
       "study: 'studies/a' first_trial: 0 second_trial: 1 options { trees: 4 "
       "bootstraps: 4 "
       "}"},
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

namespace {

// Every unary method of the contract under hostile and repeated requests.

class HostileRequests : public ::testing::TestWithParam<std::string> {};

// A typed error with cause and fix that changes nothing, or it was no mistake.
TEST_P(HostileRequests, AreRefusedWithACauseAndChangeNothing) {
  auto world = std::make_unique<WholeWorld>();
  const auto good = world->GoodRequest(GetParam());
  std::string before = world->Everything();
  int refused = 0;
  Record record;
  ++record["methods"];
  for (const Spoilt& spoilt : SpoilEachField(*good)) {
    const auto reply = world->Send(GetParam(), *spoilt.request);
    ++record["requests"];
    record["refused"] += reply.ok() ? 0 : 1;
    if (reply.ok()) {
      if (world->Everything() != before) world = std::make_unique<WholeWorld>();
      before = world->Everything();
      continue;
    }
    ++refused;
    const auto detail = DetailOf(reply.status());
    ASSERT_TRUE(detail.has_value()) << spoilt.how;
    EXPECT_NE(detail->id, ErrorId::kInternal)
        << spoilt.how << ": " << reply.status().message();
    EXPECT_FALSE(detail->fix.empty()) << spoilt.how;
    EXPECT_FALSE(reply.status().message().empty()) << spoilt.how;
    ASSERT_EQ(world->Everything(), before) << spoilt.how;
  }
  const bool can_fail = good->GetDescriptor()->field_count() > 0;
  EXPECT_EQ(refused > 0, can_fail);
}

// A reply that was lost is asked for again, and again.
TEST_P(HostileRequests, ARepetitionGetsTheSameReplyAndChangesNothing) {
  WholeWorld world;
  const auto good = world.GoodRequest(GetParam());
  const auto first = world.Send(GetParam(), *good);
  const std::string after = world.Everything();
  for (int i = 0; i < 2; ++i) {
    const auto again = world.Send(GetParam(), *good);
    EXPECT_EQ(again.ok(), first.ok());
    EXPECT_EQ(world.Everything(), after);
    // A secret is in one reply; a repetition draws another.
    const bool has_secret = absl::StrContains(GetParam(), "CreateToken") ||
                            absl::StrContains(GetParam(), "RotateToken");
    if (has_secret) continue;
    const bool tells_time = absl::StrContains(GetParam(), "GetInfo") ||
                            absl::StrContains(GetParam(), "GetReport");
    if (first.ok() && again.ok() && !tells_time) {
      EXPECT_EQ(*again, *first);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, HostileRequests,
                         ::testing::ValuesIn(ServedMethods()),
                         [](const auto& method) {
                           return absl::StrReplaceAll(method.param,
                                                      {{".", "_"}});
                         });

struct Mistake {
  const char* method;
  const char* change;  // merged into the good request; "": an empty request
  ErrorId id;
};

const Mistake kMistakes[] = {
    {"StudyService.CreateStudy", "", ErrorId::kRequestInvalid},
    {"StudyService.CreateStudy", "study_id: 'A b'", ErrorId::kNameInvalid},
    {"StudyService.CreateStudy", "study_id: 'a' spec { seed: 9 }",
     ErrorId::kStudyAlreadyExists},
    {"StudyService.CreateStudy", "settings { budget { trials: -4 } }",
     ErrorId::kBudgetInvalid},
    {"StudyService.CreateStudy", "spec { tasks { name: 'sst' } }",
     ErrorId::kRequestInvalid},
    {"StudyService.CreateStudy", "spec { enqueue { baseline: true } }",
     ErrorId::kMethodNotBuilt},
    {"StudyService.CreateStudy", "settings { notify: 'mail' }",
     ErrorId::kRequestInvalid},
    {"StudyService.UpdateStudy",
     "settings { notify: 'mail' } update_mask { paths: 'notify' }",
     ErrorId::kRequestInvalid},
    {"StudyService.ImportTrials", "trials { baseline: true }",
     ErrorId::kMethodNotBuilt},
    {"StudyService.RetryTrial", "seed: 7 from_checkpoint: true",
     ErrorId::kRequestInvalid},
    {"WorkerService.Acquire", "prefixes { depth: 4 }",
     ErrorId::kMethodNotBuilt},
    {"WorkerService.Heartbeat",
     "load { gpus { uuid: 'GPU-0' utilization: nan } }",
     ErrorId::kRequestInvalid},
    {"WorkerService.Heartbeat",
     "leases { lease { trial: 'studies/a/trials/1' attempt: 1 secret: 's' } "
     "progress { epoch: nan } }",
     ErrorId::kRequestInvalid},
    {"WorkerService.Finish",
     "outcome { evaluations { set: 'test' } evaluations { set: 'test' } }",
     ErrorId::kRequestInvalid},
    {"StudyService.GetStudy", "", ErrorId::kNameInvalid},
    {"StudyService.GetStudy", "name: 'studies/x'", ErrorId::kStudyNotFound},
    {"StudyService.ListStudies", "page_size: 1001", ErrorId::kRequestInvalid},
    {"StudyService.ListStudies", "page_token: 'x'", ErrorId::kPageTokenInvalid},
    {"StudyService.ListStudies", "filter: '('", ErrorId::kFilterInvalid},
    {"StudyService.PauseStudy", "request_id: 'short'",
     ErrorId::kRequestInvalid},
    {"StudyService.ResumeStudy", "name: 'studies/x'", ErrorId::kStudyNotFound},
    {"StudyService.StopStudy", "name: 'workers/w'", ErrorId::kNameInvalid},
    {"StudyService.UpdateStudy", "etag: '77'", ErrorId::kEtagMismatch},
    {"StudyService.UpdateStudy", "update_mask { paths: 'spec' }",
     ErrorId::kRequestInvalid},
    {"StudyService.UpdateStudy", "settings { budget { trials: 1 } }",
     ErrorId::kBudgetInvalid},
    {"StudyService.DeleteStudy", "force: false", ErrorId::kStudyNotActive},
    {"StudyService.ExplainStudy", "trial_number: 99", ErrorId::kTrialNotFound},
    {"StudyService.EnqueueTrials",
     "trials { values { key: 'layer.9' value { number_value: 0 } } }",
     ErrorId::kValueOutOfSpace},
    {"StudyService.ImportTrials", "trials { state: TRIAL_STATE_RUNNING }",
     ErrorId::kRequestInvalid},
    {"StudyService.GetTrial", "name: 'studies/a/trials/77'",
     ErrorId::kTrialNotFound},
    {"StudyService.ListTrials", "filter: 'nonsense = 3'",
     ErrorId::kFilterInvalid},
    {"StudyService.GetStudyDelta", "after_revision: 1000000",
     ErrorId::kHistoryGone},
    {"StudyService.GetTrialTable", "columns: 'nonsense'",
     ErrorId::kRequestInvalid},
    {"StudyService.UpdateTrial", "update_mask { paths: 'state' }",
     ErrorId::kRequestInvalid},
    {"StudyService.CancelTrial", "name: 'studies/a/trials/0'",
     ErrorId::kTrialTerminal},
    {"StudyService.RetryTrial", "name: 'studies/a/trials/1'",
     ErrorId::kTrialNotTerminal},
    {"StudyService.RetryTrial", "from_checkpoint: true",
     ErrorId::kTrialNotFound},
    {"StudyService.ListMeasurements", "attempt: -1", ErrorId::kRequestInvalid},
    {"StudyService.GetExampleOutcomes", "", ErrorId::kNameInvalid},
    {"StudyService.ReadPredictions", "name: 'studies/a/trials/0'",
     ErrorId::kPredictionsMissing},
    {"StudyService.ReadPredictions", "offset: -1", ErrorId::kRequestInvalid},
    {"StudyService.ReadPredictions", "wait { seconds: 31 }",
     ErrorId::kRequestInvalid},
    {"WorkerService.SendPredictions", "boot_id: 'boot-0'",
     ErrorId::kWorkerUnknown},
    {"WorkerService.SendPredictions", "wish: '!'", ErrorId::kRequestInvalid},
    {"StudyService.ListBestTrials", "limit: -1", ErrorId::kRequestInvalid},
    {"StudyService.GetTrialLog", "attempt: 9", ErrorId::kTrialNotFound},
    {"StudyService.GetTrialLog", "wait { seconds: 31 }",
     ErrorId::kRequestInvalid},
    {"StudyService.GetTrialLog", "after: -1", ErrorId::kRequestInvalid},
    {"WorkerService.Register", "worker { slots: -2 }",
     ErrorId::kRequestInvalid},
    {"WorkerService.Acquire", "worker: 'workers/x'", ErrorId::kWorkerUnknown},
    {"WorkerService.Acquire", "boot_id: 'boot-0'", ErrorId::kWorkerUnknown},
    {"WorkerService.Acquire", "max_leases: 65", ErrorId::kRequestInvalid},
    {"WorkerService.Heartbeat", "boot_id: 'boot-0'", ErrorId::kWorkerUnknown},
    {"WorkerService.Listen", "boot_id: 'boot-0'", ErrorId::kWorkerUnknown},
    {"WorkerService.Listen", "wait { seconds: 31 }", ErrorId::kRequestInvalid},
    {"WorkerService.Report", "lease { secret: 'stolen' }", ErrorId::kLeaseLost},
    {"WorkerService.Report", "lease { attempt: 2 }", ErrorId::kLeaseLost},
    {"WorkerService.Report", "measurements { step: 8 }",
     ErrorId::kStepOutOfOrder},
    {"WorkerService.Finish", "lease { secret: 'stolen' }", ErrorId::kLeaseLost},
    {"WorkerService.Finish",
     "outcome { metrics { key: 'accuracy' value: nan } }",
     ErrorId::kMetricNotFinite},
    {"WorkerService.Release", "lease { secret: 'stolen' }",
     ErrorId::kLeaseLost},
    {"WorkerService.ListWorkers", "page_token: 'x'",
     ErrorId::kPageTokenInvalid},
    {"WorkerService.DrainWorker", "worker: 'workers/x'",
     ErrorId::kWorkerUnknown},
    {"ImportanceService.GetReport", "study: 'studies/x'",
     ErrorId::kStudyNotFound},
    {"ImportanceService.GetReport", "options { at_step: -1 }",
     ErrorId::kRequestInvalid},
    {"ImportanceService.ListPairs", "page_token: 'x'",
     ErrorId::kPageTokenInvalid},
    {"ImportanceService.GetMarginals", "options { parameters: 'layer.9' }",
     ErrorId::kRequestInvalid},
    {"ImportanceService.GetPairMarginal", "second: 'layer.0'",
     ErrorId::kRequestInvalid},
    {"ImportanceService.GetStability", "points: 101", ErrorId::kRequestInvalid},
    {"ImportanceService.CompareStudies", "second: 'studies/x'",
     ErrorId::kStudyNotFound},
    {"ImportanceService.CompareTrials", "margin: -1", ErrorId::kRequestInvalid},
    {"ImportanceService.CompareTrials", "", ErrorId::kRequestInvalid},
    {"ImportanceService.CompareTrials", "contenders { trials: 'studies/a' }",
     ErrorId::kNameInvalid},
    {"ImportanceService.CompareTrials",
     "contenders { trials: 'studies/x/trials/0' }", ErrorId::kStudyNotFound},
    {"ImportanceService.CompareTrials",
     "contenders { trials: 'studies/a/trials/99' }", ErrorId::kOutcomesMissing},
    {"ImportanceService.GetPlan", "options { filter: '(' }",
     ErrorId::kFilterInvalid},
    {"ImportanceService.GetFrontier", "options { filter: '(' }",
     ErrorId::kFilterInvalid},
    {"ImportanceService.AskPlan", "trials: 65", ErrorId::kRequestInvalid},
    {"ImportanceService.GetPlanRivals", "seeds: -1", ErrorId::kRequestInvalid},
    {"ImportanceService.ExplainDifference", "first_trial: -1",
     ErrorId::kRequestInvalid},
    {"ImportanceService.ExplainDifference", "options { parameters: 'layer.0' }",
     ErrorId::kRequestInvalid},
    {"ImportanceService.GetPlanVerification", "study: 'studies/x'",
     ErrorId::kStudyNotFound},
    {"StudyService.Suggest", "count: 257", ErrorId::kRequestInvalid},
    {"StudyService.Suggest", "sampler { name: 'oracle' }",
     ErrorId::kSamplerInvalid},
    {"StudyService.Suggest", "study { table { rows: 1 } }",
     ErrorId::kMethodNotBuilt},
    {"ImportanceService.Explain", "options { at_step: -1 }",
     ErrorId::kRequestInvalid},
    {"AdminService.Backup", "label: '../x'", ErrorId::kNameInvalid},
    {"AdminService.CreateToken", "subject: 'a b'", ErrorId::kRequestInvalid},
    {"AdminService.CreateToken", "subject: 'workers/w'",
     ErrorId::kRequestInvalid},
    {"AdminService.CreateToken", "role: ROLE_WORKER", ErrorId::kNameInvalid},
    {"AdminService.CreateToken",
     "role: ROLE_ADMIN study_labels { key: 'a' value: 'b' }",
     ErrorId::kRequestInvalid},
    {"AdminService.CreateToken", "single_use: true", ErrorId::kRequestInvalid},
    {"AdminService.CreateToken",
     "role: ROLE_WORKER subject: '' single_use: true "
     "lifetime { seconds: 86401 }",
     ErrorId::kRequestInvalid},
    {"AdminService.CreateToken",
     "role: ROLE_WORKER subject: 'workers/w' single_use: true "
     "lifetime { seconds: 7776001 }",
     ErrorId::kRequestInvalid},
    {"AdminService.ListCertificates", "page_token: 'x'",
     ErrorId::kPageTokenInvalid},
    {"AdminService.RevokeCertificates", "sha256: 'x'",
     ErrorId::kRequestInvalid},
    {"AdminService.RevokeCertificates", "subject: ''",
     ErrorId::kRequestInvalid},
    {"AdminService.ListAuditEntries", "filter: 'nonsense = 3'",
     ErrorId::kFilterInvalid},
    {"AdminService.ListAuditEntries", "page_token: 'x'",
     ErrorId::kPageTokenInvalid},
    {"WorkerService.Join", "worker_id: 'A b'", ErrorId::kNameInvalid},
    {"WorkerService.Join", "certificate_request: 'x'",
     ErrorId::kRequestInvalid},
    {"WorkerService.RenewCertificate", "certificate_request: 'x'",
     ErrorId::kRoleDenied},
    {"AdminService.RotateToken", "id: '0000000000000000'",
     ErrorId::kTokenNotFound},
    {"AdminService.RotateToken", "overlap { seconds: 9999999 }",
     ErrorId::kRequestInvalid},
    {"AdminService.RevokeToken", "id: 'x'", ErrorId::kRequestInvalid},
    {"AdminService.ListTokens", "page_token: 'x'", ErrorId::kPageTokenInvalid},
    {"ExternalScaler.IsActive", "", ErrorId::kRequestInvalid},
    {"ExternalScaler.IsActive", "scalerMetadata { key: 'stduy' value: 'a' }",
     ErrorId::kRequestInvalid},
    {"ExternalScaler.IsActive", "scalerMetadata { key: 'study' value: 'x' }",
     ErrorId::kStudyNotFound},
    {"ExternalScaler.GetMetricSpec",
     "scalerMetadata { key: 'slots' value: '0' }", ErrorId::kRequestInvalid},
    {"ExternalScaler.GetMetrics", "metricName: 'x'", ErrorId::kRequestInvalid},
    {"ExternalScaler.GetMetrics",
     "scaledObjectRef { scalerMetadata { key: 'study' value: 'A b' } }",
     ErrorId::kNameInvalid},
};

TEST(MistakeTable, EachMistakeHasItsId) {
  WholeWorld world;
  for (const Mistake& mistake : kMistakes) {
    auto request = world.GoodRequest(mistake.method);
    if (std::string(mistake.change).empty()) request->Clear();
    google::protobuf::TextFormat::MergeFromString(mistake.change,
                                                  request.get());
    EXPECT_THAT(world.Send(mistake.method, *request), FailsWith(mistake.id))
        << mistake.method << " with " << mistake.change;
  }
}

TEST(MistakeTable, HasARowForEveryServedMethod) {
  std::set<std::string> in_table = {"AdminService.GetInfo",  // they ask nothing
                                    "AdminService.WhoAmI"};
  for (const Mistake& mistake : kMistakes) in_table.insert(mistake.method);
  WholeWorld world;
  for (const std::string& method : UnaryMethods()) {
    const auto request = world.GoodRequest(method);
    if (request == nullptr) {
      // Not served, and said so by its own error.
      const google::protobuf::Message& any = v1::GetInfoRequest();
      EXPECT_THAT(world.Send(method, any), FailsWith(ErrorId::kMethodNotBuilt));
      continue;
    }
    EXPECT_TRUE(in_table.contains(method)) << method;
  }
}

}  // namespace
}  // namespace frostline::server
