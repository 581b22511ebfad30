// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/study_create.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/text.h"
#include "cli/client/client.h"
#include "cli/commands/command.h"
#include "cli/commands/imported_lines.h"
#include "cli/commands/registry.h"
#include "cli/commands/set_field.h"
#include "cli/commands/study.h"
#include "cli/commands/study_memory.h"
#include "cli/commands/trial_files.h"
#include "cli/study_file/study_file.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/term/text_file.h"
#include "cli/view/format.h"
#include "cli/view/registry_view.h"
#include "cli/view/study_view.h"
#include "proto/wire_error.h"
#include "tls/credentials.h"

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

// Returns the highest learning rate that a module may get.
double HighestRate(const v1::ModuleSpace& module) {
  if (module.has_log_uniform()) return module.log_uniform().hi();
  if (!module.has_levels()) return module.fixed();
  const auto& rates = module.levels().rates();
  return rates.empty() ? 0.0 : *std::ranges::max_element(rates);
}

// Doubts a rate above 1, as of "3e4" where 3e-4 was meant. It is no mistake: a
// trainer may mean anything by a rate.
void NoteHighRates(const StudyFile& study) {
  for (const v1::ModuleSpace& module : study.spec.space().modules()) {
    const double rate = HighestRate(module);
    if (rate <= 1.0) continue;
    const double exponent = std::floor(std::log10(rate));
    const double meant = rate / std::pow(10.0, 2.0 * exponent);
    Notes() << "note: a learning rate of " << FormatRate(rate) << " for "
            << module.select() << " is above 1"
            << (exponent > 0.0
                    ? absl::StrCat("; did you mean ", FormatRate(meant), "?")
                    : "")
            << "\n";
  }
}

// Says where the study is seen in a browser. The page of a coordinator on
// another machine is mostly on that machine's loopback, where nobody here finds
// it.
absl::Status SayPage(Client& client, const std::string& study) {
  ASSIGN_OR_RETURN(
      const v1::ServerInfo info,
      client.Call(&v1::AdminService::Stub::GetInfo, v1::GetInfoRequest()));
  const bool is_near = tls::IsLocalAddress(client.address()) ||
                       !(absl::StrContains(info.page(), "//127.0.0.1:") ||
                         absl::StrContains(info.page(), "//[::1]:"));
  if (!info.page().empty() && is_near) {
    Notes() << "page: " << info.page() << "#/" << study << "\n";
  }
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> CreateStudy(Session& session,
                                     const StudyCreateArgs& args) {
  ASSIGN_OR_RETURN(const StudyFile study, ReadStudy(args));
  RETURN_IF_ERROR(CheckStudyFit(study, args.registry));
  RETURN_IF_ERROR(CheckStudyMemory(study, args.registry));
  NoteUnusualMetrics(study);
  NoteHighRates(study);
  ASSIGN_OR_RETURN(Client* const client, ConnectFor(session, args.dry_run));
  v1::CreateStudyRequest request;
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
    return PrintOne(session.terminal, args.output, *reply, nullptr);
  }
  std::cout << RenderPlan(*reply, session.terminal.width);
  if (args.dry_run) {
    ASSIGN_OR_RETURN(const auto needs,
                     FindBoundaryNeeds(study.spec, args.registry));
    std::cout << RenderPrefixes(*reply, needs, session.terminal.width);
    ASSIGN_OR_RETURN(const std::string memory,
                     RenderStudyMemory(reply->study().spec(), args.registry,
                                       session.terminal.width));
    std::cout << memory;
  }
  if (args.dry_run) {
    std::cout << "dry run: nothing was created\n";
    return kExitOk;
  }
  std::cout << "study " << study.id << " is " << NameOf(reply->study().state())
            << "\n";
  RETURN_IF_ERROR(SayPage(*client, reply->study().name()));
  Notes() << "next: frostline study watch " << study.id << " --until-done\n";
  return kExitOk;
}

}  // namespace

void AddStudyCreate(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] =
      AddVerb(noun, "create", "Create a study from a study file", invocation,
              CreateStudy);
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
  return PrintOne(session.terminal, args.output, reply.study(), [&] {
    return absl::StrCat(
        "study ", args.as, " is ", NameOf(reply.study().state()),
        args.with_trials
            ? absl::StrCat(
                  ", with ",
                  FormatCount(static_cast<std::int64_t>(trials.trials.size())),
                  " trials of ", LastPart(name))
            : "",
        "\n");
  });
}

}  // namespace

void AddStudyClone(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      noun, "clone", "A new study with the spec and settings of another",
      invocation, Clone);
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

namespace {

constexpr int kTries = 5;
constexpr std::size_t kMaxNoteBytes = 16 * 1024;

absl::StatusOr<v1::Study> ChangeOnce(
    Client& client, const std::string& study,
    const std::function<absl::Status(v1::UpdateStudyRequest&)>& change) {
  ASSIGN_OR_RETURN(const v1::Study now, FetchStudy(client, study));
  v1::UpdateStudyRequest request;
  request.set_name(study);
  request.set_etag(now.etag());
  *request.mutable_settings() = now.settings();
  RETURN_IF_ERROR(change(request));
  absl::StatusOr<v1::Study> updated =
      client.Call(&v1::StudyService::Stub::UpdateStudy, request);
  // Words of the command line, and of no file that could be corrected.
  if (!updated.ok()) return AsUsage(updated.status());
  return updated;
}

}  // namespace

absl::StatusOr<v1::Study> ChangeSettings(
    Client& client, const std::string& study,
    const std::function<absl::Status(v1::UpdateStudyRequest&)>& change) {
  absl::StatusOr<v1::Study> changed = ChangeOnce(client, study, change);
  for (int i = 1; i < kTries; ++i) {
    if (!HasErrorId(changed.status(), ErrorId::kEtagMismatch)) break;
    changed = ChangeOnce(client, study, change);
  }
  return changed;
}

absl::StatusOr<std::string> ReadNote(const std::string& word) {
  if (word != "-") return word;
  ASSIGN_OR_RETURN(const std::string text, ReadTextFile(word, kMaxNoteBytes));
  if (!IsValidUtf8(text)) {
    return MakeError(ErrorId::kRequestInvalid, "the note is no UTF-8 text",
                     "write it in UTF-8", "TEXT");
  }
  if (text.size() <= kMaxNoteBytes) return text;
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("the note has more than ", kMaxNoteBytes, " bytes"),
      "shorten it, or keep the long text in a file of yours", "TEXT");
}

// `frostline study update`: the fields of an existing study that may change.

namespace {

constexpr std::int64_t kMostBudget = 1'000'000;
constexpr int kMostStudyPriority = 1'000;
constexpr char kNone[] = "none";

struct UpdateArgs {
  std::string id;
  std::optional<std::int64_t> budget;  // trials
  std::optional<std::string> time;
  std::optional<std::string> training_time;
  std::optional<int> priority;
  std::optional<int> max_parallel;
  std::optional<std::string> pruner;  // by name
  std::optional<std::string> notes;
  std::vector<std::string> labels;
  std::vector<std::string> worker_labels;
  std::vector<std::string> notify;
  Output output = {};
};

absl::StatusOr<google::protobuf::Duration> UpdateTimeOf(
    const std::string& text, const std::string& flag) {
  const auto time = ReadDuration(text);
  if (time.has_value() && time->seconds() >= 0 && time->nanos() >= 0) {
    return *time;
  }
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("'", text, "' is no time"),
                   "write it like 90s, 30m or 2h; 0 is no limit", flag);
}

absl::Status SetTimes(const UpdateArgs& args, v1::Budget& budget,
                      google::protobuf::FieldMask& mask) {
  if (args.time) {
    ASSIGN_OR_RETURN(*budget.mutable_time(),
                     UpdateTimeOf(*args.time, "--time"));
    mask.add_paths("budget.time");
  }
  if (args.training_time) {
    ASSIGN_OR_RETURN(const google::protobuf::Duration time,
                     UpdateTimeOf(*args.training_time, "--training-time"));
    budget.set_training_seconds(static_cast<double>(time.seconds()) +
                                static_cast<double>(time.nanos()) * 1e-9);
    mask.add_paths("budget.training_seconds");
  }
  return absl::OkStatus();
}

absl::Status SetLists(const UpdateArgs& args, v1::StudySettings& settings,
                      google::protobuf::FieldMask& mask) {
  if (!args.labels.empty()) {
    RETURN_IF_ERROR(
        ChangeLabels(args.labels, "--label", *settings.mutable_labels()));
    mask.add_paths("labels");
  }
  if (!args.worker_labels.empty()) {
    RETURN_IF_ERROR(ChangeLabels(args.worker_labels, "--require",
                                 *settings.mutable_required_worker_labels()));
    mask.add_paths("required_worker_labels");
  }
  if (!args.notify.empty()) {
    const bool none = args.notify.size() == 1 && args.notify[0] == kNone;
    settings.clear_notify();
    for (const std::string& id : args.notify) {
      if (!none) settings.add_notify(id);
    }
    mask.add_paths("notify");
  }
  return absl::OkStatus();
}

// Makes the changes and names them in the mask.
absl::Status ApplyChanges(const UpdateArgs& args,
                          v1::UpdateStudyRequest& request) {
  v1::StudySettings& settings = *request.mutable_settings();
  google::protobuf::FieldMask& mask = *request.mutable_update_mask();
  if (args.budget) {
    settings.mutable_budget()->set_trials(*args.budget);
    mask.add_paths("budget.trials");
  }
  if (args.priority) {
    settings.set_priority(*args.priority);
    mask.add_paths("priority");
  }
  if (args.max_parallel) {
    settings.set_max_parallel(*args.max_parallel);
    mask.add_paths("max_parallel");
  }
  if (args.pruner) {
    settings.mutable_pruner()->Clear();
    settings.mutable_pruner()->set_name(*args.pruner);
    mask.add_paths("pruner");
  }
  if (args.notes) {
    settings.set_notes(*args.notes);
    mask.add_paths("notes");
  }
  RETURN_IF_ERROR(SetTimes(args, *settings.mutable_budget(), mask));
  return SetLists(args, settings, mask);
}

absl::StatusOr<ExitCode> UpdateStudy(Session& session, const UpdateArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  // What cannot be read is refused before anybody is asked.
  v1::UpdateStudyRequest tried;
  RETURN_IF_ERROR(ApplyChanges(args, tried));
  if (tried.update_mask().paths().empty()) {
    return MakeError(ErrorId::kRequestInvalid, "nothing is to be changed",
                     "say what: --budget, --time, --training-time, "
                     "--priority, --max-parallel, --pruner, --notes, "
                     "--label, --require or --notify");
  }
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(
      const v1::Study study,
      ChangeSettings(*client, name, [&args](v1::UpdateStudyRequest& request) {
        return ApplyChanges(args, request);
      }));
  return PrintOne(session.terminal, args.output, study, [&study] {
    return absl::StrCat("study ", LastPart(study.name()), " is ",
                        NameOf(study.state()), ", ", ProgressText(study), "\n");
  });
}

void AddLists(CLI::App* verb, UpdateArgs& args) {
  verb->add_option("--label", args.labels,
                   "KEY=VALUE sets a label, KEY- takes "
                   "it away")
      ->expected(1)
      ->take_all();
  verb->add_option("--require", args.worker_labels,
                   "KEY=VALUE that a worker must carry; KEY- takes it away")
      ->expected(1)
      ->take_all();
  verb->add_option("--notify", args.notify,
                   "Whom the coordinator tells of its end, instead of those "
                   "so far; none: nobody")
      ->expected(1)
      ->take_all();
}

}  // namespace

void AddStudyUpdate(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      noun, "update", "Change settings of a study; its spec never changes",
      invocation, UpdateStudy);
  verb->add_option("ID", args->id, "The study")->required();
  verb->add_option("--budget", args->budget,
                   "So many trials in all; more let a complete study go on")
      ->check(CLI::Range(std::int64_t{1}, kMostBudget));
  verb->add_option("--time", args->time,
                   "Propose no more after this much time, e.g. 12h; 0: no "
                   "limit");
  verb->add_option("--training-time", args->training_time,
                   "The same of training, over all trials; 0: no limit");
  verb->add_option("--priority", args->priority,
                   "Higher goes first among studies that compete for workers")
      ->check(CLI::Range(-kMostStudyPriority, kMostStudyPriority));
  verb->add_option("--max-parallel", args->max_parallel,
                   "At most so many trials at a time; 0: as many as the "
                   "sampler can use")
      ->check(AtLeastZero());
  verb->add_option("--pruner", args->pruner,
                   "Another pruner, with its usual options; none: no pruner");
  verb->add_option("--notes", args->notes, "Other notes, in Markdown");
  AddLists(verb, *args);
  AddOneFormats(verb, args->output);
}

// `frostline study label` and `study note`.

namespace {

// The most bytes of labels that a study or a trial may have.
constexpr std::size_t kMaxStudyLabelsBytes = 64 << 10;

struct StudyLabelArgs {
  std::string id;
  std::vector<std::string> changes;
  std::optional<std::string> note;  // nothing: it is shown
  Output output = {};
};

std::string StudyLabelsText(const v1::Study& study) {
  const std::string labels = proto::CleanText(
      FormatLabels(study.settings().labels()), kMaxStudyLabelsBytes);
  return "study " + LastPart(study.name()) + " " +
         (labels.empty() ? "has no labels" : "is labelled " + labels) + "\n";
}

absl::StatusOr<ExitCode> LabelStudy(Session& session,
                                    const StudyLabelArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  LabelMap tried;
  RETURN_IF_ERROR(ChangeLabels(args.changes, "KEY=VALUE", tried));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const auto change = [&args](v1::UpdateStudyRequest& request) {
    request.mutable_update_mask()->add_paths("labels");
    return ChangeLabels(args.changes, "KEY=VALUE",
                        *request.mutable_settings()->mutable_labels());
  };
  const absl::StatusOr<v1::Study> study =
      args.changes.empty() ? FetchStudy(*client, name)
                           : ChangeSettings(*client, name, change);
  RETURN_IF_ERROR(study.status());
  return PrintOne(session.terminal, args.output, *study,
                  [&study] { return StudyLabelsText(*study); });
}

std::string NoteSaid(const v1::Study& study, bool is_new) {
  return NoteText("study " + LastPart(study.name()), study.settings().notes(),
                  is_new);
}

absl::StatusOr<ExitCode> ShowNote(Session& session, const StudyLabelArgs& args,
                                  const std::string& name) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  return PrintOne(session.terminal, args.output, study,
                  [&study] { return NoteSaid(study, false); });
}

absl::StatusOr<ExitCode> NoteStudy(Session& session,
                                   const StudyLabelArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  if (!args.note.has_value()) return ShowNote(session, args, name);
  ASSIGN_OR_RETURN(const std::string note, ReadNote(*args.note));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const auto change = [&note](v1::UpdateStudyRequest& request) {
    request.mutable_update_mask()->add_paths("notes");
    request.mutable_settings()->set_notes(note);
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(const v1::Study study,
                   ChangeSettings(*client, name, change));
  return PrintOne(session.terminal, args.output, study,
                  [&study] { return NoteSaid(study, true); });
}

}  // namespace

void AddStudyLabel(CLI::App& noun, Invocation& invocation) {
  const auto [label, args] = AddVerb(
      noun, "label", "Set labels of a study, take some away, or show them",
      invocation, LabelStudy);
  label->add_option("ID", args->id, "The study")->required();
  label->add_option("KEY=VALUE", args->changes,
                    "Set this label; KEY- takes it away");
  AddOneFormats(label, args->output);
  const auto [note, written] =
      AddVerb(noun, "note", "Write a study's note, in Markdown, or show it",
              invocation, NoteStudy);
  note->add_option("ID", written->id, "The study")->required();
  // The parser would take '' for an optional that is not there.
  note->add_option_function<std::string>(
      "TEXT", [to = &written->note](const std::string& text) { *to = text; },
      "The note; - is standard input, '' takes it away");
  AddOneFormats(note, written->output);
}

// `frostline study delete`: asks first, and deletes exactly what was shown.

namespace {

struct DeleteArgs {
  std::string id;
  bool force = false;
  bool yes = false;
  Output output = {};
};

// Shows what would be deleted and asks.
bool Agrees(const v1::Study& study) {
  std::cerr << "study " << LastPart(study.name()) << " is "
            << NameOf(study.state()) << ", " << ProgressText(study)
            << "\ndelete it? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  answer = absl::AsciiStrToLower(absl::StripAsciiWhitespace(answer));
  return answer == "y" || answer == "yes";
}

absl::Status CheckRunning(const v1::Study& study, const DeleteArgs& args,
                          bool can_ask) {
  const std::int64_t running = study.counts().running();
  if (running == 0 || (args.force && (args.yes || can_ask))) {
    return absl::OkStatus();
  }
  const std::string id = LastPart(study.name());
  return MakeError(
      ErrorId::kStudyNotActive, absl::StrCat(running, " trials are running"),
      absl::StrCat("stop them with `frostline study stop ", id,
                   "`, or delete all the same: `frostline study delete ", id,
                   " --force --yes`"),
      args.force ? "--yes" : "--force");
}

// Refuses when nobody can be asked and --yes is missing, as in a script.
absl::Status CheckAgreed(const DeleteArgs& args, const std::string& id,
                         bool can_ask) {
  if (args.yes || can_ask) return absl::OkStatus();
  return MakeError(
      ErrorId::kRequestInvalid,
      "nobody can be asked here, and --yes is not given: nothing was deleted",
      absl::StrCat("give it: frostline study delete ", id,
                   args.force ? " --force" : "", " --yes"),
      "--yes");
}

absl::StatusOr<ExitCode> Delete(Session& session, const DeleteArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  const bool can_ask = session.terminal.err_is_tty && isatty(STDIN_FILENO) != 0;
  RETURN_IF_ERROR(CheckRunning(study, args, can_ask));
  RETURN_IF_ERROR(CheckAgreed(args, LastPart(name), can_ask));
  if (can_ask && !args.yes && !Agrees(study)) {
    std::cerr << "nothing was deleted\n";
    return kExitFailure;
  }
  v1::DeleteStudyRequest request;
  request.set_name(name);
  request.set_etag(study.etag());
  request.set_force(args.force);
  ASSIGN_OR_RETURN(const v1::Study deleted,
                   client->Call(&v1::StudyService::Stub::DeleteStudy, request));
  return PrintOne(session.terminal, args.output, deleted, [&deleted] {
    return absl::StrCat("study ", LastPart(deleted.name()),
                        " is deleted; its data goes for good at ",
                        FormatTime(deleted.expire_time()), "\n");
  });
}

}  // namespace

void AddStudyDelete(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      noun, "delete", "Delete a study and its trials; its id is free again",
      invocation, Delete);
  verb->add_option("ID", args->id, "The study")->required();
  verb->add_flag("--force", args->force,
                 "Also when trials are running; they are told to stop");
  verb->add_flag("-y,--yes", args->yes, "Do not ask");
  AddOneFormats(verb, args->output);
}

}  // namespace frostline::cli
