// SPDX-License-Identifier: Apache-2.0
//
// `frostline apply`: trains what a study's plan says, beside its baselines, in
// a study of its own.
#include "cli/commands/apply.h"

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/client/notes.h"
#include "cli/commands/command.h"
#include "cli/commands/model.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/plan.h"
#include "cli/process/child_process.h"
#include "cli/report/ranked_points.h"
#include "cli/view/format.h"
#include "cli/view/plan_view.h"
#include "cli/view/registry_view.h"

namespace frostline::cli {
namespace {

constexpr char kPlan[] = "plan";             // as GetPlanRivals calls it
constexpr char kBestTrial[] = "best trial";  // likewise
constexpr char kNoInterval[] = "nan nan nan nan nan";

absl::Status CheckExport(const v1::StudySpec& spec) {
  const std::string& kind = spec.training().head().kind();
  const bool plain = spec.tasks().empty() && (kind.empty() || kind == "linear");
  if (plain) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   "transformers has no model with such a head, or with "
                   "several, so none can be exported",
                   "leave --export out", "--export");
}

// Copies the precision, whatever the device: plan and search must have the
// same.
void KeepPrecision(const v1::Study& searched, v1::StudySpec& spec) {
  const std::string& decided = searched.settings().auto_precision();
  const std::string& asked = spec.training().precision();
  if (decided.empty() || (!asked.empty() && asked != "auto")) return;
  spec.mutable_training()->set_precision(decided);
}

std::string AppliedLabelOf(const v1::EnqueuedTrial& trial,
                           const std::string& key) {
  const auto found = trial.labels().find(key);
  return found == trial.labels().end() ? "" : found->second;
}

// Returns the rival at the point of `named`, or null.
const v1::EnqueuedTrial* RivalAt(const v1::GetPlanRivalsReply& rivals,
                                 const v1::Trial& named) {
  const std::string point = PointKeyOf(named);
  for (const v1::EnqueuedTrial& trial : rivals.trials()) {
    if (PointKeyOf(trial) == point) return &trial;
  }
  return nullptr;
}

// Returns the trial with the labels of `named`, and the prediction of `same`,
// the rival at its point, if there is one.
v1::EnqueuedTrial Renamed(v1::EnqueuedTrial plan, const v1::Trial& named,
                          const v1::EnqueuedTrial* same) {
  plan.clear_strategy();
  plan.clear_values();
  for (const v1::ParameterValue& value : named.parameters()) {
    (*plan.mutable_values())[value.name()] = value.value();
  }
  auto& labels = *plan.mutable_labels();
  labels["rival"] = absl::StrCat("trial ", named.number());
  for (const char* const key : {"predicted", "one_run"}) {
    labels[key] = same != nullptr ? AppliedLabelOf(*same, key) : kNoInterval;
  }
  return plan;
}

// Turns the plan into the rival "best trial" when it has the best trial's
// point. The plan then needs no second rival there, and the label is right even
// when it is no longer the plan.
v1::EnqueuedTrial AsBestTrial(v1::EnqueuedTrial plan) {
  (*plan.mutable_labels())["rival"] = kBestTrial;
  return plan;
}

bool HasBestTrial(const v1::GetPlanRivalsReply& rivals) {
  return absl::c_any_of(rivals.trials(), [](const v1::EnqueuedTrial& trial) {
    return AppliedLabelOf(trial, "rival") == kBestTrial;
  });
}

// Returns the trials with `named` in the plan's place. A rival at its point is
// left out, because it would be compared with itself.
std::vector<v1::EnqueuedTrial> TrialsWith(
    const v1::Trial& named, const v1::GetPlanRivalsReply& rivals) {
  const v1::EnqueuedTrial* const same = RivalAt(rivals, named);
  const std::string point = PointKeyOf(named);
  const bool has_best = HasBestTrial(rivals);
  std::vector<v1::EnqueuedTrial> trials;
  for (const v1::EnqueuedTrial& trial : rivals.trials()) {
    const bool is_plan = AppliedLabelOf(trial, "rival") == kPlan;
    if (is_plan) trials.push_back(Renamed(trial, named, same));
    if (PointKeyOf(trial) == point || (is_plan && has_best)) continue;
    trials.push_back(is_plan ? AsBestTrial(trial) : trial);
  }
  for (v1::EnqueuedTrial& trial : trials) {
    (*trial.mutable_labels())["of"] = absl::StrCat(trials.size());
  }
  return trials;
}

}  // namespace

absl::StatusOr<v1::CreateStudyRequest> ApplyRequest(
    const v1::Study& searched, const v1::GetPlanRivalsReply& rivals,
    const AppliedSpec& applied) {
  v1::CreateStudyRequest request;
  request.set_study_id(applied.id);
  v1::StudySpec& spec = *request.mutable_spec();
  spec = searched.spec();
  spec.clear_enqueue();
  spec.clear_warm_start();
  spec.clear_repeat();
  KeepPrecision(searched, spec);
  if (applied.exports) {
    RETURN_IF_ERROR(CheckExport(spec));
    (*spec.mutable_training()->mutable_extra()->mutable_fields())["export"]
        .set_string_value("best");
  }
  if (applied.named == nullptr) {
    *spec.mutable_enqueue() = rivals.trials();
  } else {
    for (v1::EnqueuedTrial& trial : TrialsWith(*applied.named, rivals)) {
      *spec.add_enqueue() = std::move(trial);
    }
  }
  v1::StudySettings& settings = *request.mutable_settings();
  settings = searched.settings();
  settings.clear_auto_precision();
  settings.clear_pruner();  // baselines are to end, too
  settings.clear_max_parallel();
  settings.mutable_budget()->Clear();
  settings.mutable_budget()->set_trials(spec.enqueue_size());
  (*settings.mutable_labels())[kAppliesLabel] = LastPart(searched.name());
  return request;
}

std::string WhatIsTried(const v1::StudySpec& spec) {
  const std::string first =
      spec.enqueue().empty() ? "" : AppliedLabelOf(spec.enqueue(0), "rival");
  return first == kPlan ? "the plan" : first;
}

namespace {

constexpr int kMostApplySeeds = 32;

struct ApplyArgs {
  std::string study;
  std::string id;
  std::optional<std::int64_t> trial;
  double tolerance = 0.0;
  int seeds = 3;
  std::string folder;
  bool no_wait = false;
  Output output;
};

absl::StatusOr<v1::GetPlanRivalsReply> FetchRivals(Client& client,
                                                   const std::string& study,
                                                   const ApplyArgs& args) {
  v1::GetPlanRivalsRequest request;
  request.set_study(study);
  request.set_tolerance(args.tolerance);
  request.set_seeds(args.seeds);
  return client.Call(&v1::ImportanceService::Stub::GetPlanRivals, request);
}

absl::StatusOr<v1::Trial> FetchNamed(Client& client, const std::string& study,
                                     std::int64_t number) {
  v1::GetTrialRequest request;
  request.set_name(absl::StrCat(study, "/trials/", number));
  return client.Call(&v1::StudyService::Stub::GetTrial, request);
}

void TellItGoesOn(const std::string& id) {
  Notes() << id << " is there and goes on; --as ID begins another\n";
}

// Continues a study of this name that tries the same for the same searched
// study, so that an interrupted one is not started twice.
absl::Status GoOn(Client& client, const std::string& name,
                  const std::string& searched, const std::string& tried,
                  const absl::Status& refused) {
  if (!HasErrorId(refused, ErrorId::kStudyAlreadyExists)) return refused;
  ASSIGN_OR_RETURN(const v1::Study there, FetchStudy(client, name));
  const auto applies = there.settings().labels().find(kAppliesLabel);
  const bool is_ours = applies != there.settings().labels().end() &&
                       applies->second == LastPart(searched);
  if (!is_ours) return refused;
  if (WhatIsTried(there.spec()) != tried) {
    return MakeError(
        ErrorId::kStudyAlreadyExists,
        absl::StrCat(LastPart(name), " tries ", WhatIsTried(there.spec()),
                     ", and not ", tried),
        "name another study with --as ID", "--as");
  }
  TellItGoesOn(LastPart(name));
  return absl::OkStatus();
}

absl::Status Begin(Client& client, const v1::Study& searched,
                   const ApplyArgs& args, const std::string& id) {
  ASSIGN_OR_RETURN(const v1::GetPlanRivalsReply rivals,
                   FetchRivals(client, searched.name(), args));
  std::optional<v1::Trial> named;
  if (args.trial) {
    ASSIGN_OR_RETURN(named, FetchNamed(client, searched.name(), *args.trial));
  }
  ASSIGN_OR_RETURN(
      v1::CreateStudyRequest request,
      ApplyRequest(searched, rivals,
                   {id, !args.folder.empty(), named ? &*named : nullptr}));
  request.set_request_id(NewRequestId(SystemClock()));
  const auto created =
      client.Call(&v1::StudyService::Stub::CreateStudy, request);
  if (!created.ok()) {
    return GoOn(client, "studies/" + id, searched.name(),
                WhatIsTried(request.spec()), created.status());
  }
  // The same request again is answered with what it made before.
  const v1::TrialCounts& counts = created->study().counts();
  if (counts.budget_used() + counts.running() > 0) {
    TellItGoesOn(id);
    return absl::OkStatus();
  }
  Notes() << "study " << id << ": " << request.spec().enqueue_size()
          << " trials, " << args.seeds << " of each\n";
  return absl::OkStatus();
}

absl::StatusOr<v1::PlanVerification> Await(Session& session, Client& client,
                                           const std::string& name,
                                           StopSignals& signals) {
  StatusLine line(session.terminal);
  return AwaitVerification(
      client, name, signals, [&line](const v1::PlanVerification& so_far) {
        line.Show(absl::StrCat(so_far.ended(), "/", so_far.total(),
                               " trials have ended"));
        return absl::OkStatus();
      });
}

absl::StatusOr<ExitCode> ApplyPlan(Session& session, const ApplyArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.study));
  const std::string id = args.id.empty() ? LastPart(name) + "-apply" : args.id;
  RETURN_IF_ERROR(CheckNewName(id, "--as"));
  if (!args.folder.empty()) RETURN_IF_ERROR(CheckTarget(args.folder));
  StopSignals signals;  // before the client has threads
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study searched, FetchStudy(*client, name));
  RETURN_IF_ERROR(Begin(*client, searched, args, id));
  if (args.no_wait) {
    std::cout << "see what came of it: frostline plan " << id << " --verify\n";
    return kExitOk;
  }
  ASSIGN_OR_RETURN(const v1::PlanVerification seen,
                   Await(session, *client, "studies/" + id, signals));
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, seen, [&] {
    return RenderVerification(seen, session.terminal.width);
  }));
  if (args.folder.empty()) return kExitOk;
  return ExportBestModel(session, id, args.folder);
}

}  // namespace

void AddApplyCommand(CLI::App& app, Invocation& invocation) {
  const auto args = std::make_shared<ApplyArgs>();
  CLI::App* const verb = AddVerb(
      app, "apply",
      "Train a study's plan beside its baselines, and keep the best model",
      invocation,
      [args](Session& session) { return ApplyPlan(session, *args); });
  verb->add_option("STUDY", args->study, "The study that was searched")
      ->required();
  verb->add_option("--trial", args->trial,
                   "The rates of this trial instead of the plan's")
      ->check(AtLeastZero());
  verb->add_option("--tolerance", args->tolerance,
                   "How much of the score the plan may give up")
      ->check(AtLeastZero());
  verb->add_option("--seeds", args->seeds, "Runs of each, the same for all")
      ->check(CLI::Range(1, kMostApplySeeds))
      ->capture_default_str();
  verb->add_option("--as", args->id, "The new study's id [STUDY-apply]")
      ->type_name("ID");
  verb->add_option("--export", args->folder,
                   "Copy the best one's model there, for transformers")
      ->type_name("DIR");
  verb->add_flag("--no-wait", args->no_wait, "Begin, and go");
  AddOneFormats(verb, args->output);
}

}  // namespace frostline::cli
