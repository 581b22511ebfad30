// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/client/notes.h"
#include "cli/commands/command.h"
#include "cli/commands/imported_lines.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/registry.h"
#include "cli/commands/set_field.h"
#include "cli/commands/study.h"
#include "cli/commands/study_export.h"
#include "cli/commands/trial_files.h"
#include "cli/study_file/study_file.h"
#include "cli/view/format.h"
#include "cli/view/registry_view.h"
#include "cli/view/study_view.h"

namespace frostline::cli {
namespace {

constexpr std::int64_t kMostPlannedTrials = 1'000'000;

struct StudyCreateArgs {
  std::string file;
  std::string id;
  std::string registry;
  bool dry_run = false;
  Output output;
  std::optional<std::int64_t> trials;
  std::optional<std::uint64_t> seed;
};

absl::StatusOr<StudyFile> ReadStudy(const StudyCreateArgs& args) {
  ASSIGN_OR_RETURN(StudyFile study, ReadStudyFile(args.file));
  if (!args.id.empty()) {
    RETURN_IF_ERROR(CheckNewName(args.id, "--id"));
    study.id = args.id;
  }
  if (study.id.empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     "neither the study file nor its name gives an id",
                     "give --id ID, or write id: in the file", "id");
  }
  if (args.trials) study.settings.mutable_budget()->set_trials(*args.trials);
  if (args.seed) study.spec.set_seed(*args.seed);
  return study;
}

// Prints the coordinator's refusal as a mistake in the file.
absl::StatusOr<ExitCode> Refused(const absl::Status& status,
                                 const StudyFile& study) {
  absl::Status placed = PlaceError(status, study);
  const bool file_is_wrong =
      placed.code() == absl::StatusCode::kInvalidArgument ||
      HasErrorId(placed, ErrorId::kMethodNotBuilt);
  if (!file_is_wrong) return placed;
  std::cerr << DescribeError(placed) << "\n";
  return kExitInvalidFile;
}

// Says what a dry run could check without a coordinator and what it could not.
ExitCode HalfChecked(const StudyFile& study, const std::string& address) {
  std::cout << "dry run: " << study.file << " is a study file, of the study "
            << study.id << " with "
            << FormatCount(study.settings.budget().trials()) << " trials\n";
  Notes() << "not checked, as no coordinator answers at " << address
          << ": the search space, sampler, pruner and objectives, what "
             "frozen prefixes trials can share, and whether the id is "
             "free\n";
  return kExitOk;
}

// Connects; a dry run does not wait for the coordinator.
absl::StatusOr<Client*> ConnectFor(Session& session, bool dry_run) {
  return dry_run ? OpenClient(session) : Connect(session);
}

// Notes unusual names of metrics. They are not mistakes, because a trainer may
// name its metrics freely.
void NoteUnusualMetrics(const StudyFile& study) {
  if (study.spec.model().id().empty()) return;
  for (const v1::Objective& objective : study.spec.objectives()) {
    const std::string near = registry::NearestMetric(objective.metric());
    if (near.empty()) continue;
    Notes() << "note: no metric of frostline-trainer is called '"
            << objective.metric() << "'; did you mean '" << near << "'?\n";
  }
}

absl::StatusOr<ExitCode> CreateStudy(Session& session,
                                     const StudyCreateArgs& args) {
  ASSIGN_OR_RETURN(const StudyFile study, ReadStudy(args));
  RETURN_IF_ERROR(CheckStudyFit(study, args.registry));
  NoteUnusualMetrics(study);
  ASSIGN_OR_RETURN(Client* const client, ConnectFor(session, args.dry_run));
  v1::CreateStudyRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_study_id(study.id);
  *request.mutable_spec() = study.spec;
  *request.mutable_settings() = study.settings;
  request.set_validate_only(args.dry_run);
  const auto reply =
      client->Call(&v1::StudyService::Stub::CreateStudy, request);
  const bool is_away = HasErrorId(reply.status(), ErrorId::kCoordinatorAway);
  const bool for_people = args.output.format == Format::kTable;
  if (is_away && args.dry_run && for_people) {
    return HalfChecked(study, client->address());
  }
  if (!reply.ok()) return Refused(reply.status(), study);
  if (!for_people) {
    RETURN_IF_ERROR(PrintOne(session.terminal, args.output, *reply, nullptr));
    return kExitOk;
  }
  std::cout << RenderPlan(*reply, session.terminal.width);
  if (args.dry_run) {
    ASSIGN_OR_RETURN(const auto needs,
                     FindBoundaryNeeds(study.spec, args.registry));
    std::cout << RenderPrefixes(*reply, needs, session.terminal.width);
  }
  if (args.dry_run) {
    std::cout << "dry run: nothing was created\n";
    return kExitOk;
  }
  std::cout << "study " << study.id << " is " << NameOf(reply->study().state())
            << "\n";
  Notes() << "next: frostline study watch " << study.id << " --until-done\n";
  return kExitOk;
}

}  // namespace

void AddStudyCreate(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<StudyCreateArgs>();
  CLI::App* const verb =
      AddVerb(noun, "create", "Create a study from a study file", invocation,
              [args](Session& session) { return CreateStudy(session, *args); });
  verb->add_option("FILE", args->file, "The study file; - is standard input")
      ->required();
  verb->add_option("--id", args->id, "Instead of the file's id");
  verb->add_flag("--dry-run", args->dry_run,
                 "Check everything and show the space; create nothing");
  verb->add_option("--trials", args->trials, "Instead of the file's budget")
      ->check(CLI::Range(std::int64_t{1}, kMostPlannedTrials));
  verb->add_option("--seed", args->seed, "Instead of the file's seed")
      ->check(AtLeastZero());
  verb->add_option("--registry", args->registry,
                   "Hold the study against this registry first; else "
                   "$FROSTLINE_REGISTRY or ./registry, if it has its model "
                   "and data")
      ->type_name("DIR");
  AddOneFormats(verb, args->output);
}

// `frostline study clone`: a new study with the spec and settings of another.

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

// Checks that no study has this id. Creating it would return the existing one,
// with its own trials.
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

// Imports the trials; if that fails, the clone is deleted.
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
