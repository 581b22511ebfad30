// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_example.h"

#include <google/protobuf/util/json_util.h>

#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/command.h"
#include "cli/demo/demo_recipe.h"
#include "cli/study_file/study_file.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

absl::StatusOr<v1::Study> CreateExample(Client& client) {
  ASSIGN_OR_RETURN(const StudyFile file,
                   ParseStudyFile(kExampleRecipe, "recipes/demo/example.yaml"));
  v1::CreateStudyRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_study_id(file.id);
  *request.mutable_spec() = file.spec;
  *request.mutable_settings() = file.settings;
  ASSIGN_OR_RETURN(const v1::CreateStudyReply reply,
                   client.Call(&v1::StudyService::Stub::CreateStudy, request));
  return reply.study();
}

absl::Status ImportExample(Client& client, const std::string& study) {
  v1::ImportTrialsRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_name(study);
  ASSIGN_OR_RETURN(const std::vector<v1::ImportedTrial> trials,
                   ReadImported(kExampleTrials));
  request.mutable_trials()->Assign(trials.begin(), trials.end());
  return client.Call(&v1::StudyService::Stub::ImportTrials, request).status();
}

// Nothing more is to be run of it.
absl::Status Finish(Client& client, const std::string& study) {
  v1::StopStudyRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_name(study);
  request.set_reason("its trials were recorded before");
  return client.Call(&v1::StudyService::Stub::StopStudy, request).status();
}

}  // namespace

absl::StatusOr<std::vector<v1::ImportedTrial>> ReadImported(
    const std::string& text) {
  std::vector<v1::ImportedTrial> trials;
  const std::vector<std::string> lines =
      absl::StrSplit(text, '\n', absl::SkipEmpty());
  for (const std::string& line : lines) {
    const auto read = google::protobuf::util::JsonStringToMessage(
        line, &trials.emplace_back());
    if (!read.ok()) {
      return MakeError(ErrorId::kInternal,
                       absl::StrCat("a recorded trial cannot be read: ",
                                    std::string(read.message())),
                       "run recipes/demo/make_example.py and build anew");
    }
  }
  return trials;
}

absl::Status LeaveExample(Client& client) {
  const std::string name = StudyNameOf("example");
  absl::StatusOr<v1::Study> study = FetchStudy(client, name);
  if (HasErrorId(study.status(), ErrorId::kStudyNotFound)) {
    study = CreateExample(client);
  }
  RETURN_IF_ERROR(study.status());
  // Who was stopped between two steps goes on with the next.
  if (study->counts().succeeded() == 0)
    RETURN_IF_ERROR(ImportExample(client, name));
  if (!IsEnded(study->state())) RETURN_IF_ERROR(Finish(client, name));
  std::cout << "study example: 200 recorded trials of MiniLM on reviews\n";
  return absl::OkStatus();
}

}  // namespace frostline::cli
