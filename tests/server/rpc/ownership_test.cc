// SPDX-License-Identifier: Apache-2.0
//
// Whose a study is, and what the audit says of who tried.
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/plain/audit_chain.h"
#include "gmock/gmock.h"
#include "tests/server/example_study.h"
#include "tests/server/rpc/auth_fixture.h"

namespace frostline::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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
