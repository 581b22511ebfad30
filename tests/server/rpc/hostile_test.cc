// SPDX-License-Identifier: Apache-2.0
//
// Every unary method of the contract under hostile and repeated requests.
#include <google/protobuf/text_format.h>

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/server/rpc/hostile_fields.h"
#include "tests/server/rpc/whole_world.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

class HostileRequests : public ::testing::TestWithParam<std::string> {};

// A typed error with cause and fix that changes nothing, or it was no mistake.
TEST_P(HostileRequests, AreRefusedWithACauseAndChangeNothing) {
  auto world = std::make_unique<WholeWorld>();
  const auto good = world->GoodRequest(GetParam());
  std::string before = world->Everything();
  int refused = 0;
  for (const Spoilt& spoilt : SpoilEachField(*good)) {
    const auto reply = world->Send(GetParam(), *spoilt.request);
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
    {"ImportanceService.GetPlanVerification", "study: 'studies/x'",
     ErrorId::kStudyNotFound},
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
