// SPDX-License-Identifier: Apache-2.0
//
// Whose a study is, and what the audit says of who tried.
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/plain/audit_chain.h"
#include "gmock/gmock.h"
#include "tests/server/example_study.h"
#include "tests/server/rpc/auth_fixture.h"

namespace frostline::server {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class OwnershipTest : public AuthFixture {
 protected:
  Caller With(v1::Role role, const std::string& subject,
              const std::string& team = "") {
    v1::CreateTokenRequest request = TokenRequest(role, subject);
    if (!team.empty()) (*request.mutable_study_labels())["team"] = team;
    const auto made =
        Call<v1::CreateTokenReply>(local_, "AdminService/CreateToken", request);
    EXPECT_OK(made);
    secrets_.push_back(made->secret());
    return WithToken(made->secret());
  }
  absl::Status Make(const Caller& caller, const std::string& id,
                    const std::string& team = "") {
    v1::CreateStudyRequest request = ExampleStudy(id, 8);
    request.set_request_id(RandomHexId());
    if (!team.empty()) {
      (*request.mutable_settings()->mutable_labels())["team"] = team;
    }
    return Call<v1::CreateStudyReply>(caller, "StudyService/CreateStudy",
                                      request)
        .status();
  }
  absl::Status Pause(const Caller& caller, const std::string& id) {
    v1::PauseStudyRequest request;
    request.set_request_id(RandomHexId());
    request.set_name(StudyNameOf(id));
    return Call<v1::Study>(caller, "StudyService/PauseStudy", request).status();
  }
  absl::StatusOr<v1::Study> Get(const Caller& caller, const std::string& id) {
    v1::GetStudyRequest request;
    request.set_name(StudyNameOf(id));
    return Call<v1::Study>(caller, "StudyService/GetStudy", request);
  }
  std::vector<std::string> List(const Caller& caller) {
    const auto page = Call<v1::ListStudiesReply>(
        caller, "StudyService/ListStudies", v1::ListStudiesRequest());
    EXPECT_OK(page);
    std::vector<std::string> names;
    for (const v1::Study& study : page->studies()) {
      names.push_back(study.name());
    }
    return names;
  }
  // The worker begins to run the next trial of this study.
  absl::Status Begin(const std::string& study) {
    v1::RegisterRequest known;
    known.set_request_id(RandomHexId());
    known.set_worker_id("gpu03");
    known.mutable_worker()->set_boot_id("boot");
    known.mutable_worker()->set_slots(4);
    RETURN_IF_ERROR(
        Call<v1::RegisterReply>(local_, "WorkerService/Register", known)
            .status());
    v1::AcquireRequest acquire;
    acquire.set_request_id(RandomHexId());
    acquire.set_worker("workers/gpu03");
    acquire.set_boot_id("boot");
    acquire.set_max_leases(1);
    acquire.set_study(StudyNameOf(study));
    acquire.mutable_wait()->set_seconds(5);
    return Call<v1::AcquireReply>(local_, "WorkerService/Acquire", acquire)
        .status();
  }
  std::vector<std::string> TrialsOnWorkers(const Caller& caller) {
    const auto page = Call<v1::ListWorkersReply>(
        caller, "WorkerService/ListWorkers", v1::ListWorkersRequest());
    EXPECT_OK(page);
    std::vector<std::string> trials;
    for (const v1::Worker& worker : page->workers()) {
      trials.insert(trials.end(), worker.trials().begin(),
                    worker.trials().end());
    }
    return trials;
  }
  // What the call says that names this study, or a trial of it, wherever its
  // request has a name; nothing where it has none.
  std::vector<absl::Status> Ask(const Caller& caller, const std::string& method,
                                const google::protobuf::Message& request,
                                const std::string& study) {
    std::vector<absl::Status> said;
    for (const std::string& name : {study, study + "/trials/0"}) {
      const std::unique_ptr<google::protobuf::Message> about(request.New());
      for (const char* const field_name :
           {"name", "parent", "study", "first", "second"}) {
        const auto* const field =
            about->GetDescriptor()->FindFieldByName(field_name);
        if (field == nullptr || field->is_repeated() ||
            field->message_type() != nullptr) {  // a study that is told
          continue;
        }
        about->GetReflection()->SetString(about.get(), field, name);
      }
      if (about->ByteSizeLong() == 0) return said;
      for (const char* const number : {"trials", "seeds"}) {
        const auto* const field =
            about->GetDescriptor()->FindFieldByName(number);
        if (field == nullptr || field->is_repeated()) continue;
        about->GetReflection()->SetInt32(about.get(), field, 1);
      }
      said.push_back(Send(caller, method, about->SerializeAsString()).status());
    }
    return said;
  }
  std::vector<std::string> Audit(const std::string& filter) {
    v1::ListAuditEntriesRequest request;
    request.set_filter(filter);
    const auto page = Call<v1::ListAuditEntriesReply>(
        local_, "AdminService/ListAuditEntries", request);
    EXPECT_OK(page);
    std::vector<std::string> told;
    for (const v1::AuditEntry& entry : page->entries()) {
      told.push_back(absl::StrCat(entry.subject(), " ", entry.method(), " ",
                                  entry.resource(), " ", entry.outcome()));
    }
    return told;
  }

  std::vector<std::string> secrets_;
};

TEST_F(OwnershipTest, AStudyIsChangedByItsOwnerAndReadByAll) {
  const Caller ana = With(v1::ROLE_RESEARCHER, "ana");
  const Caller bob = With(v1::ROLE_RESEARCHER, "bob");
  ASSERT_OK(Make(ana, "imdb"));
  EXPECT_EQ(Get(bob, "imdb")->owner(), "ana");
  EXPECT_THAT(Pause(bob, "imdb"), FailsWith(ErrorId::kStudyDenied));
  EXPECT_THAT(Make(bob, "imdb"), FailsWith(ErrorId::kStudyDenied));
  EXPECT_OK(Pause(ana, "imdb"));
  EXPECT_OK(Pause(local_, "imdb"));
}

TEST_F(OwnershipTest, WhatALocalCallerMadeIsForAdmins) {
  ASSERT_OK(Make(local_, "imdb"));
  EXPECT_EQ(Get(local_, "imdb")->owner(), "");
  EXPECT_THAT(Pause(With(v1::ROLE_RESEARCHER, "ana"), "imdb"),
              FailsWith(ErrorId::kStudyDenied));
  EXPECT_OK(Pause(With(v1::ROLE_ADMIN, "root"), "imdb"));
}

TEST_F(OwnershipTest, LabelsBindWhatATokenSeesAndChanges) {
  const Caller nlp = With(v1::ROLE_RESEARCHER, "ana", "nlp");
  const Caller reader = With(v1::ROLE_VIEWER, "vic", "nlp");
  ASSERT_OK(Make(local_, "theirs", "vision"));
  ASSERT_OK(Make(local_, "shared", "nlp"));
  EXPECT_THAT(List(nlp), ElementsAre("studies/shared"));
  EXPECT_THAT(List(reader), ElementsAre("studies/shared"));
  EXPECT_OK(Pause(nlp, "shared"));
  EXPECT_THAT(Pause(reader, "shared"), FailsWith(ErrorId::kRoleDenied));
  for (const Caller& caller : {nlp, reader}) {
    EXPECT_THAT(Get(caller, "theirs"), FailsWith(ErrorId::kStudyDenied));
  }
}

TEST_F(OwnershipTest, WhatALabelledTokenMakesCarriesItsLabels) {
  const Caller nlp = With(v1::ROLE_RESEARCHER, "ana", "nlp");
  EXPECT_THAT(Make(nlp, "imdb"), FailsWith(ErrorId::kStudyDenied));
  ASSERT_OK(Make(nlp, "imdb", "nlp"));
  v1::UpdateStudyRequest strip;
  strip.set_request_id(RandomHexId());
  strip.set_name("studies/imdb");
  strip.mutable_update_mask()->add_paths("labels");
  EXPECT_THAT(Call<v1::Study>(nlp, "StudyService/UpdateStudy", strip),
              FailsWith(ErrorId::kStudyDenied));
}

TEST_F(OwnershipTest, AStudyNamedWithinARequestIsLookedAtToo) {
  const Caller nlp = With(v1::ROLE_RESEARCHER, "ana", "nlp");
  ASSERT_OK(Make(local_, "theirs", "vision"));
  ASSERT_OK(Make(local_, "shared", "nlp"));
  v1::CompareStudiesRequest compare;
  compare.set_first("studies/shared");
  compare.set_second("studies/theirs");
  EXPECT_THAT(Call<v1::StudyComparison>(nlp, "ImportanceService/CompareStudies",
                                        compare),
              FailsWith(ErrorId::kStudyDenied));
  v1::CompareTrialsRequest trials;
  trials.add_contenders()->add_trials("studies/shared/trials/0");
  trials.add_contenders()->add_trials("studies/theirs/trials/0");
  EXPECT_THAT(
      Call<v1::TrialComparison>(nlp, "ImportanceService/CompareTrials", trials),
      FailsWith(ErrorId::kStudyDenied));
}

TEST_F(OwnershipTest, NoReadAndNoStreamTellsOfAHiddenStudy) {
  const std::vector<Caller> limited = {With(v1::ROLE_RESEARCHER, "ana", "nlp"),
                                       With(v1::ROLE_VIEWER, "vic", "nlp")};
  ASSERT_OK(Make(local_, "theirs", "vision"));
  ASSERT_OK(Begin("theirs"));
  const std::string predictions = "frostline.v1.StudyService.ReadPredictions";
  ASSERT_TRUE(coordinator_->verbs().unary.contains(predictions));
  std::vector<std::string> not_asked;
  const auto look = [&](const std::string& method, const VerbRow& row) {
    // KEDA names a study in its own way (scaler_test.cc).
    const bool is_kedas = absl::StartsWith(method, "externalscaler.");
    const bool is_read =
        row.role == CallerRole::kViewer || method == predictions;
    if (!is_read || is_kedas) return;
    const std::string path = absl::StrReplaceAll(
        absl::StripPrefix(method, "frostline.v1."), {{".", "/"}});
    for (const Caller& caller : limited) {
      // Predictions are a researcher's alone.
      if (method == predictions && &caller != &limited[0]) continue;
      SCOPED_TRACE(path);
      const auto said = Ask(caller, path, *row.request, "studies/theirs");
      if (said.empty()) return not_asked.push_back(path);
      EXPECT_THAT(said, Contains(FailsWith(ErrorId::kStudyDenied)));
      EXPECT_THAT(said, Not(Contains(absl::OkStatus())));
    }
  };
  for (const auto& [method, verb] : coordinator_->verbs().unary) {
    look(method, verb);
  }
  for (const auto& [method, verb] : coordinator_->verbs().streams) {
    look(method, verb);
  }
  // These name no study, or name several (see below); a new verb is none of
  // them.
  EXPECT_THAT(
      not_asked,
      ElementsAre("AdminService/GetInfo", "ImportanceService/CompareTrials",
                  "ImportanceService/Explain", "StudyService/ListStudies",
                  "StudyService/Suggest", "WorkerService/ListWorkers"));
}

TEST_F(OwnershipTest, AWorkersTrialsOfHiddenStudiesAreNotTold) {
  ASSERT_OK(Make(local_, "theirs", "vision"));
  ASSERT_OK(Make(local_, "shared", "nlp"));
  ASSERT_OK(Begin("theirs"));
  ASSERT_OK(Begin("shared"));
  EXPECT_THAT(TrialsOnWorkers(local_),
              UnorderedElementsAre("studies/shared/trials/0",
                                   "studies/theirs/trials/0"));
  EXPECT_THAT(TrialsOnWorkers(With(v1::ROLE_VIEWER, "vic", "nlp")),
              ElementsAre("studies/shared/trials/0"));
}

TEST_F(OwnershipTest, WhoseAHiddenStudyIsIsNotTold) {
  ASSERT_OK(Make(With(v1::ROLE_RESEARCHER, "bob"), "theirs", "vision"));
  const absl::Status denied =
      Get(With(v1::ROLE_VIEWER, "vic", "nlp"), "theirs").status();
  EXPECT_THAT(denied, FailsWith(ErrorId::kStudyDenied));
  EXPECT_THAT(std::string(denied.message()), Not(HasSubstr("bob")));
}

TEST_F(OwnershipTest, APageTokenOfOneStudyIsNoneOfAnother) {
  ASSERT_OK(Make(local_, "one"));
  ASSERT_OK(Make(local_, "other"));
  ASSERT_OK(Begin("one"));
  ASSERT_OK(Begin("one"));
  v1::ListTrialsRequest request;
  request.set_parent("studies/one");
  request.set_page_size(1);
  const auto page =
      Call<v1::ListTrialsReply>(local_, "StudyService/ListTrials", request);
  ASSERT_OK(page);
  ASSERT_NE(page->next_page_token(), "");
  request.set_page_token(page->next_page_token());
  EXPECT_OK(
      Call<v1::ListTrialsReply>(local_, "StudyService/ListTrials", request));
  request.set_parent("studies/other");
  EXPECT_THAT(
      Call<v1::ListTrialsReply>(local_, "StudyService/ListTrials", request),
      FailsWith(ErrorId::kPageTokenInvalid));
}

TEST_F(OwnershipTest, TheAuditHasWhatWasChangedAndWhatWasRefused) {
  const Caller ana = With(v1::ROLE_RESEARCHER, "ana");
  const Caller bob = With(v1::ROLE_RESEARCHER, "bob");
  ASSERT_OK(Make(ana, "imdb"));
  (void)Pause(bob, "imdb");
  (void)Pause(ana, "imdb");
  (void)Get(bob, "imdb");
  EXPECT_THAT(
      Audit("study = \"studies/imdb\""),
      ElementsAre("ana StudyService.PauseStudy studies/imdb OK",
                  "bob StudyService.PauseStudy studies/imdb STUDY_DENIED",
                  "ana StudyService.CreateStudy studies/imdb OK"));
}

TEST_F(OwnershipTest, TheAuditHasWhatTheGateRefused) {
  (void)Pause(WithToken("frost_wrong"), "imdb");
  const Caller vic = With(v1::ROLE_VIEWER, "vic");
  (void)Pause(vic, "imdb");
  // It has a lease instead of a request id.
  (void)Call<v1::FinishReply>(vic, "WorkerService/Finish", v1::FinishRequest());
  // It is written after the answer.
  const std::string refused = "subject = vic AND outcome = PERMISSION_DENIED";
  for (int i = 0; i < 500 && Audit(refused).size() < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_THAT(Audit(refused),
              ElementsAre("vic WorkerService.Finish  PERMISSION_DENIED",
                          "vic StudyService.PauseStudy  PERMISSION_DENIED"));
  EXPECT_THAT(Audit("outcome = TOKEN_INVALID"),
              ElementsAre(" StudyService.PauseStudy  TOKEN_INVALID"));
}

TEST_F(OwnershipTest, TheFileIsAChainWithoutSecrets) {
  ASSERT_OK(Make(With(v1::ROLE_RESEARCHER, "ana"), "imdb"));
  std::string text;
  for (int i = 0; i < 500 && !absl::StrContains(text, "CreateStudy"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::ifstream file(folder_.File("data/audit/audit.jsonl"));
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::string chain = FirstChain();
  int lines = 0;
  for (const auto line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const auto chained =
        ReadChainedLine(std::string_view(line.data(), line.size()));
    ASSERT_TRUE(chained.has_value());
    chain = NextChain(chain, chained->text);
    EXPECT_EQ(chained->chain, chain);
    ++lines;
  }
  EXPECT_EQ(lines, 2);
  for (const std::string& secret : secrets_) {
    EXPECT_THAT(text, Not(HasSubstr(secret.substr(23))));
  }
}

}  // namespace
}  // namespace frostline::server
