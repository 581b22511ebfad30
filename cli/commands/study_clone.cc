// SPDX-License-Identifier: Apache-2.0
//
// `frostline study clone`: a new study with the spec and settings of another.
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/imported_lines.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/set_field.h"
#include "cli/commands/study_export.h"
#include "cli/commands/study_verbs.h"
#include "cli/commands/trial_import.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

constexpr std::int64_t kMostClonedTrials = 1'000'000;

struct CloneArgs {
  std::string id;
  std::string as;
  std::vector<std::string> changes;
  std::optional<std::int64_t> trials;
  std::optional<std::uint64_t> seed;
  bool with_trials = false;
  Output output = {};
};

absl::StatusOr<v1::CreateStudyRequest> CloneRequest(const v1::Study& study,
                                                    const CloneArgs& args) {
  v1::CreateStudyRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_study_id(args.as);
  *request.mutable_spec() = study.spec();
  *request.mutable_settings() = study.settings();
  // Its own first trial decides it.
  request.mutable_settings()->clear_auto_precision();
  for (const std::string& change : args.changes) {
    RETURN_IF_ERROR(
        SetField(change, *request.mutable_spec(), *request.mutable_settings()));
  }
  if (args.trials) {
    request.mutable_settings()->mutable_budget()->set_trials(*args.trials);
  }
  if (args.seed) {
    request.mutable_spec()->set_seed(*args.seed);
  }
  return request;
}

// To create what is there already would answer it, and its trials are its own.
absl::Status CheckFree(Client& client, const std::string& id) {
  const absl::Status found = FetchStudy(client, StudyNameOf(id)).status();
  if (HasErrorId(found, ErrorId::kStudyNotFound)) return absl::OkStatus();
  RETURN_IF_ERROR(found);
  return MakeError(ErrorId::kStudyAlreadyExists,
                   absl::StrCat("there is a study ", id),
                   "give the clone another name", "NEW");
}

absl::StatusOr<ImportedLines> FetchClonedTrials(Client& client,
                                                const v1::Study& study) {
  v1::ExportTrialsRequest request;
  request.set_name(study.name());
  request.set_with_measurements(true);
  std::string text;
  RETURN_IF_ERROR(
      StreamTrials(client, request, [&text](const std::string& piece) {
        text += piece;
        return absl::OkStatus();
      }));
  if (text.empty()) return ImportedLines();
  return ParseImportedLines(text, study.name(), study.spec());
}

// A clone that cannot take the trials does not stay.
absl::Status TakeTrials(Client& client, const v1::Study& clone,
                        const ImportedLines& trials,
                        const std::string& source) {
  const absl::Status done = ImportAll(client, clone, trials, source).status();
  if (done.ok()) return done;
  v1::DeleteStudyRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_name(clone.name());
  request.set_force(true);
  const absl::Status deleted =
      client.Call(&v1::StudyService::Stub::DeleteStudy, request).status();
  if (!deleted.ok()) {
    std::cerr << clone.name() << " was created and has not all trials; remove "
              << "it with `frostline study delete " << LastPart(clone.name())
              << "`\n";
  }
  return done;
}

absl::StatusOr<ExitCode> Clone(Session& session, const CloneArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  RETURN_IF_ERROR(CheckNewName(args.as, "NEW"));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  ASSIGN_OR_RETURN(const v1::CreateStudyRequest request,
                   CloneRequest(study, args));
  RETURN_IF_ERROR(CheckFree(*client, args.as));
  ImportedLines trials;
  if (args.with_trials) {
    ASSIGN_OR_RETURN(trials, FetchClonedTrials(*client, study));
  }
  ASSIGN_OR_RETURN(const v1::CreateStudyReply reply,
                   client->Call(&v1::StudyService::Stub::CreateStudy, request));
  RETURN_IF_ERROR(TakeTrials(*client, reply.study(), trials, name));
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, reply.study(), [&] {
    return absl::StrCat(
        "study ", args.as, " is ", NameOf(reply.study().state()),
        args.with_trials
            ? absl::StrCat(
                  ", with ",
                  FormatCount(static_cast<std::int64_t>(trials.trials.size())),
                  " trials of ", LastPart(name))
            : "",
        "\n");
  }));
  return kExitOk;
}

}  // namespace

void AddStudyClone(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<CloneArgs>();
  CLI::App* const verb = AddVerb(
      noun, "clone", "A new study with the spec and settings of another",
      invocation, [args](Session& session) { return Clone(session, *args); });
  verb->add_option("ID", args->id, "The study that is copied")->required();
  verb->add_option("NEW", args->as, "The new study's id")->required();
  verb->add_option("--set", args->changes,
                   "PATH=VALUE: another value of a field, as in a study file, "
                   "e.g. training.epochs=3")
      ->expected(1)
      ->take_all();
  verb->add_option("--trials", args->trials, "Another budget")
      ->check(CLI::Range(std::int64_t{1}, kMostClonedTrials));
  verb->add_option("--seed", args->seed,
                   "Another seed; 0: one that the coordinator chooses")
      ->check(AtLeastZero());
  verb->add_flag("--with-trials", args->with_trials,
                 "Import its trials that have ended, outside the budget");
  AddOneFormats(verb, args->output);
}

}  // namespace frostline::cli
