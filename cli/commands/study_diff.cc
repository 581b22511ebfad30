// SPDX-License-Identifier: Apache-2.0
//
// `frostline study diff`: which fields of two studies differ, as `diff` says
// it: exit code 0 for none, 1 for some.
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/study_verbs.h"
#include "cli/study_file/study_file.h"
#include "cli/view/field_changes.h"

namespace frostline::cli {
namespace {

struct DiffArgs {
  std::string from;
  std::string to;
  bool json = false;
};

// What is compared: of a study, or of a file, which a coordinator completes.
struct Side {
  v1::Study study;  // spec and settings alone count
  std::optional<StudyFile> file;
};

bool IsFile(const std::string& word) {
  return word == "-" || absl::EndsWith(word, ".yaml") ||
         absl::EndsWith(word, ".yml") || absl::StartsWith(word, "/") ||
         absl::StartsWith(word, ".");
}

absl::StatusOr<Side> ReadSide(Session& session, const std::string& word) {
  Side side;
  if (IsFile(word)) {
    ASSIGN_OR_RETURN(side.file, ReadStudyFile(word));
    *side.study.mutable_spec() = side.file->spec;
    *side.study.mutable_settings() = side.file->settings;
    return side;
  }
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(word));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(side.study, FetchStudy(*client, name));
  return side;
}

// A file leaves open what the coordinator then chooses, and that is there in
// the study which the file is compared with.
absl::Status CompleteSpec(Session& session, const Side& other, Side& side) {
  v1::CreateStudyRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  // Not the file's own id: of a study that is there only that would be said.
  request.set_study_id(request.request_id());
  request.set_validate_only(true);
  *request.mutable_spec() = side.study.spec();
  *request.mutable_settings() = side.study.settings();
  if (request.spec().seed() == 0) {
    request.mutable_spec()->set_seed(other.study.spec().seed());
  }
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const absl::StatusOr<v1::CreateStudyReply> reply =
      client->Call(&v1::StudyService::Stub::CreateStudy, request);
  if (!reply.ok()) return PlaceError(reply.status(), *side.file);
  side.study = reply->study();
  return absl::OkStatus();
}

// As one message, so that a path is that of a study file.
std::vector<FieldChange> Changes(const v1::Study& from, const v1::Study& to) {
  std::vector<FieldChange> changes = FieldChanges(from.spec(), to.spec());
  v1::StudySettings before = from.settings();
  v1::StudySettings after = to.settings();
  // What the first trial decided is no wish of anybody.
  before.clear_auto_precision();
  after.clear_auto_precision();
  for (FieldChange& change : FieldChanges(before, after)) {
    changes.push_back(std::move(change));
  }
  return changes;
}

absl::StatusOr<ExitCode> Diff(Session& session, const DiffArgs& args) {
  if (args.from == "-" && args.to == "-") {
    return MakeError(ErrorId::kRequestInvalid,
                     "standard input cannot be both studies",
                     "name one of them");
  }
  ASSIGN_OR_RETURN(Side from, ReadSide(session, args.from));
  ASSIGN_OR_RETURN(Side to, ReadSide(session, args.to));
  if (from.file.has_value() != to.file.has_value()) {
    RETURN_IF_ERROR(from.file.has_value() ? CompleteSpec(session, to, from)
                                          : CompleteSpec(session, from, to));
  }
  const std::vector<FieldChange> changes = Changes(from.study, to.study);
  std::cout << (args.json ? FieldChangesToJson(changes)
                          : RenderFieldChanges(changes));
  return changes.empty() ? kExitOk : kExitFailure;
}

}  // namespace

void AddStudyDiff(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<DiffArgs>();
  CLI::App* const verb = AddVerb(
      noun, "diff", "Which fields of two studies differ: exit code 1 if any",
      invocation, [args](Session& session) { return Diff(session, *args); });
  verb->add_option("FROM", args->from,
                   "A study, or a study file, named by .yaml or a path")
      ->required();
  verb->add_option("TO", args->to, "The other one")->required();
  verb->add_flag("--json", args->json, "As JSON: {\"differences\": […]}");
}

}  // namespace frostline::cli
