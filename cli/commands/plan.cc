// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/plan.h"

#include <cmath>
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
#include "cli/client/client.h"
#include "cli/commands/command.h"
#include "cli/commands/importance.h"
#include "cli/commands/model.h"
#include "cli/commands/study.h"
#include "cli/commands/tuned_rules.h"
#include "cli/process/child_process.h"
#include "cli/report/trial_figures.h"
#include "cli/term/terminal.h"
#include "cli/view/format.h"
#include "cli/view/importance_view.h"
#include "cli/view/plan_view.h"
#include "cli/view/registry_view.h"
#include "proto/rules.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr Duration kPlanPollInterval = std::chrono::milliseconds(500);

absl::StatusOr<v1::PlanVerification> FetchPlanTrials(Client& client,
                                                     const std::string& study) {
  v1::GetPlanVerificationRequest request;
  request.set_study(study);
  return client.Call(&v1::ImportanceService::Stub::GetPlanVerification,
                     request);
}

}  // namespace

absl::StatusOr<v1::EnqueueTrialsReply> EnqueuePlanned(
    Client& client, const std::string& study,
    const std::vector<v1::EnqueuedTrial>& trials) {
  v1::EnqueueTrialsRequest request;
  request.set_name(study);
  request.set_raise_budget(true);
  for (const v1::EnqueuedTrial& trial : trials) {
    *request.add_trials() = trial;
  }
  return client.Call(&v1::StudyService::Stub::EnqueueTrials, request);
}

std::string EnqueuedText(const v1::EnqueueTrialsReply& reply) {
  const int count = reply.trials_size();
  if (count == 0) return "nothing to enqueue";
  std::string text =
      count == 1 ? absl::StrCat("enqueued trial ", reply.trials(0).number())
                 : absl::StrCat("enqueued trials ", reply.trials(0).number(),
                                " to ", reply.trials(count - 1).number());
  if (reply.budget_raised_by() > 0) {
    absl::StrAppend(&text, "; the budget was raised by ",
                    FormatCount(reply.budget_raised_by()), " to ",
                    FormatCount(reply.budget()));
  }
  return text;
}

absl::StatusOr<v1::EnqueueTrialsReply> EnqueueRivals(Client& client,
                                                     const PlanAsked& plan,
                                                     int seeds) {
  v1::GetPlanRivalsRequest request;
  request.set_study(plan.study);
  *request.mutable_options() = plan.options;
  request.set_tolerance(plan.tolerance);
  request.set_seeds(seeds);
  ASSIGN_OR_RETURN(
      const v1::GetPlanRivalsReply rivals,
      client.Call(&v1::ImportanceService::Stub::GetPlanRivals, request));
  return EnqueuePlanned(client, plan.study,
                        {rivals.trials().begin(), rivals.trials().end()});
}

absl::StatusOr<std::optional<v1::PlanVerification>> FetchVerification(
    Client& client, const std::string& study) {
  absl::StatusOr<v1::PlanVerification> found = FetchPlanTrials(client, study);
  if (HasErrorId(found.status(), ErrorId::kTrialNotFound)) {
    return std::optional<v1::PlanVerification>();
  }
  RETURN_IF_ERROR(found.status());
  return std::optional<v1::PlanVerification>(*std::move(found));
}

absl::StatusOr<v1::PlanVerification> AwaitVerification(
    Client& client, const std::string& study, StopSignals& signals,
    const std::function<absl::Status(const v1::PlanVerification&)>& look) {
  while (true) {
    ASSIGN_OR_RETURN(v1::PlanVerification verification,
                     FetchPlanTrials(client, study));
    if (verification.ended() >= verification.total()) return verification;
    RETURN_IF_ERROR(look(verification));
    RETURN_IF_ERROR(signals.Pause(kPlanPollInterval));
  }
}

namespace {

using PlanStub = v1::ImportanceService::Stub;

constexpr std::size_t kMaxPlanName = 40;  // of a rival

// Returns a request about the plan that is asked for.
template <typename Request>
Request About(const PlanAsked& plan) {
  Request request;
  request.set_study(plan.study);
  *request.mutable_options() = plan.options;
  request.set_tolerance(plan.tolerance);
  return request;
}

// Makes a call and shows on a terminal that a slow one is under way.
template <typename Method, typename Request>
auto Busily(Client& client, const PlanAsked& plan, Method method,
            const Request& request) {
  const BusyLine busy(plan.terminal, "planning");
  return client.Call(method, request);
}

absl::Status EnqueuePlan(Client& client, const PlanAsked& plan,
                         const std::vector<v1::EnqueuedTrial>& trials) {
  ASSIGN_OR_RETURN(const v1::EnqueueTrialsReply reply,
                   EnqueuePlanned(client, plan.study, trials));
  std::cerr << EnqueuedText(reply) << "\n";
  return absl::OkStatus();
}

// Returns what was verified; `apply --trial` runs a trial in the plan's place.
std::string WhatWasVerified(const v1::PlanVerification& found) {
  const std::string name = found.rivals().empty() ? "" : found.rivals(0).name();
  if (name.empty() || name == "plan") {
    return "of the plan as it was; --anew verifies it as it is now";
  }
  return absl::StrCat("of ", proto::CleanText(name, kMaxPlanName),
                      ", which was applied; --anew verifies the plan");
}

}  // namespace

absl::Status ShowPlan(Client& client, const PlanArgs& args,
                      const PlanAsked& plan, int width) {
  auto request = About<v1::GetPlanRequest>(plan);
  request.set_for_tool(args.tool);
  ASSIGN_OR_RETURN(const v1::FreezePlan answer,
                   Busily(client, plan, &PlanStub::GetPlan, request));
  if (!args.tool.empty()) {
    return WriteOne(args.output, answer.in_tool(), answer.in_tool().text(), "");
  }
  RETURN_IF_ERROR(WriteOne(args.output, answer, RenderFreezePlan(answer, width),
                           PlanCsv(answer)));
  if (!args.enqueue) return absl::OkStatus();
  return EnqueuePlan(client, plan, {answer.as_trial()});
}

absl::Status ShowFrontier(Client& client, const PlanArgs& args,
                          const PlanAsked& plan, int width) {
  ASSIGN_OR_RETURN(const v1::Frontier answer,
                   Busily(client, plan, &PlanStub::GetFrontier,
                          About<v1::GetFrontierRequest>(plan)));
  return WriteOne(args.output, answer, RenderFrontier(answer, width),
                  FrontierCsv(answer), FrontierSvg(answer));
}

absl::Status ShowAsked(Client& client, const PlanArgs& args,
                       const PlanAsked& plan, int width) {
  auto request = About<v1::AskPlanRequest>(plan);
  request.set_trials(args.ask);
  ASSIGN_OR_RETURN(const v1::AskPlanReply answer,
                   Busily(client, plan, &PlanStub::AskPlan, request));
  RETURN_IF_ERROR(WriteOne(args.output, answer, RenderAsked(answer, width),
                           AskedCsv(answer)));
  if (!args.enqueue) return absl::OkStatus();
  std::vector<v1::EnqueuedTrial> trials;
  for (const v1::AskedTrial& asked : answer.trials()) {
    trials.push_back(asked.as_trial());
  }
  return EnqueuePlan(client, plan, trials);
}

absl::Status ShowVerification(Session& session, Client& client,
                              const PlanArgs& args, const PlanAsked& plan,
                              int width, StopSignals* signals) {
  ASSIGN_OR_RETURN(auto found, FetchVerification(client, plan.study));
  if (args.anew || !found.has_value()) {
    ASSIGN_OR_RETURN(const v1::EnqueueTrialsReply reply,
                     EnqueueRivals(client, plan, args.seeds));
    std::cerr << EnqueuedText(reply) << "\n";
    ASSIGN_OR_RETURN(found, FetchVerification(client, plan.study));
    if (!found.has_value()) {
      return MakeError(ErrorId::kTrialNotFound,
                       "the trials that were enqueued are gone",
                       "see whether somebody has deleted the study");
    }
  } else {
    std::cerr << WhatWasVerified(*found) << "\n";
  }
  if (signals != nullptr) {
    StatusLine line(session.terminal);
    ASSIGN_OR_RETURN(
        found, AwaitVerification(client, plan.study, *signals,
                                 [&line](const v1::PlanVerification& so_far) {
                                   line.Show(absl::StrCat(
                                       so_far.ended(), "/", so_far.total(),
                                       " trials have ended"));
                                   return absl::OkStatus();
                                 }));
  }
  return WriteOne(args.output, *found, RenderVerification(*found, width),
                  VerificationCsv(*found));
}

namespace {

constexpr int kMostPlanSeeds = 32;

// Checks what CLI11 cannot check and what needs no coordinator.
absl::Status CheckArgs(const PlanArgs& args) {
  if (!std::isfinite(args.tolerance)) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("tolerance is ", args.tolerance),
                     "give a part of the score, 0 or more");
  }
  if (args.output.format == Format::kSvg && !args.frontier) {
    return MakeError(ErrorId::kRequestInvalid, "there is no picture of that",
                     "use --frontier, or another format");
  }
  if (args.output.format == Format::kCsv && !args.tool.empty()) {
    return MakeError(ErrorId::kRequestInvalid, "what a tool reads is no table",
                     "leave --format out, or use json");
  }
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> Plan(Session& session, const PlanArgs& args) {
  RETURN_IF_ERROR(CheckArgs(args));
  PlanAsked plan;
  ASSIGN_OR_RETURN(plan.study, StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(plan.options, args.question.Options());
  plan.tolerance = args.tolerance;
  plan.terminal = session.terminal;
  std::optional<StopSignals> signals;  // before the client has threads
  if (args.wait) signals.emplace();
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const int width = args.output.file.empty() ? session.terminal.width : 0;
  const absl::Status shown =
      args.frontier  ? ShowFrontier(*client, args, plan, width)
      : args.ask > 0 ? ShowAsked(*client, args, plan, width)
      : args.verify  ? ShowVerification(session, *client, args, plan, width,
                                       signals ? &*signals : nullptr)
                     : ShowPlan(*client, args, plan, width);
  RETURN_IF_ERROR(AsUsage(HelpEndedStudy(*client, plan.study, shown)));
  return kExitOk;
}

void AddPlanFlags(CLI::App& verb, PlanArgs& args) {
  CLI::Option* const frontier = verb.add_flag(
      "--frontier", args.frontier, "The least to train, by how much it is");
  CLI::Option* const ask =
      verb.add_option("--ask", args.ask,
                      "The so many trials that would tell most")
          ->check(CLI::Range(
              1, static_cast<int>(proto::MostOf<v1::AskPlanRequest>("trials"))))
          ->excludes(frontier);
  CLI::Option* const verify =
      verb.add_flag("--verify", args.verify,
                    "Run the plan and its rivals; then predicted and seen")
          ->excludes(frontier)
          ->excludes(ask);
  verb.add_option("--seeds", args.seeds, "Each rival's runs")
      ->check(CLI::Range(1, kMostPlanSeeds))
      ->needs(verify)
      ->capture_default_str();
  verb.add_flag("--wait", args.wait, "Until all of them have ended")
      ->needs(verify);
  verb.add_flag("--anew", args.anew, "Even where a plan was verified before")
      ->needs(verify);
  CLI::Option* const enqueue =
      verb.add_flag("--enqueue", args.enqueue,
                    "Have the study run the plan, or with --ask those trials")
          ->excludes(frontier)
          ->excludes(verify);
  verb.add_option("--for", args.tool,
                  "The plan in the words of axolotl, llama-factory, ms-swift, "
                  "peft, timm, torch, hf-trainer or unsloth")
      ->type_name("TOOL")
      ->excludes(frontier)
      ->excludes(ask)
      ->excludes(verify)
      ->excludes(enqueue);
}

}  // namespace

void AddPlanCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      app, "plan", "What to freeze, and at which rate to train the rest",
      invocation, Plan);
  verb->add_option("STUDY", args->study, "The study")->required();
  verb->add_option("--tolerance", args->tolerance,
                   "How much of the score freezing may cost [the study's, else "
                   "what nobody could notice]")
      ->check(AtLeastZero());
  AddPlanFlags(*verb, *args);
  args->question.AddTo(*verb);
  AddFileFormats(verb, args->output,
                 {"table", "json", "jsonl", "yaml", "csv", "svg"});
}

// `frostline apply`: trains what a study's plan says, beside its baselines, in
// a study of its own.

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

// Returns the plan labelled as the rival "best trial", for when it has the best
// trial's point. It then needs no second rival there, and the label is right
// even when another trial takes the plan's place.
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
  std::string rivals;  // "all": the rules of the recipe too
  bool no_wait = false;
  Output output;
};

// Returns the trials of what an applied study tries first, the plan, that
// succeeded.
absl::StatusOr<std::vector<v1::Trial>> FetchTried(Client& client,
                                                  const std::string& name) {
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(client, name));
  const std::string first =
      study.spec().enqueue().empty()
          ? ""
          : AppliedLabelOf(study.spec().enqueue(0), "rival");
  ASSIGN_OR_RETURN(const v1::ListTrialsReply reply,
                   FetchTrials(client, name, "", v1::TRIAL_VIEW_FULL));
  std::vector<v1::Trial> tried;
  for (const v1::Trial& trial : reply.trials()) {
    const auto rival = trial.labels().find("rival");
    const bool is_first =
        rival != trial.labels().end() && rival->second == first;
    if (is_first && trial.state() == v1::TRIAL_STATE_SUCCEEDED) {
      tried.push_back(trial);
    }
  }
  return tried;
}

// Refuses what rules that are tuned cannot be told in.
absl::Status CheckRivals(const ApplyArgs& args, const v1::Study& searched) {
  if (args.rivals.empty()) return absl::OkStatus();
  if (args.output.format != Format::kTable) {
    return MakeError(ErrorId::kRequestInvalid,
                     "--rivals all tells what came of it as text alone",
                     "leave the format out; the report of ID-rules keeps all "
                     "of it",
                     "--rivals");
  }
  return CheckHasRules(searched.spec());
}

absl::StatusOr<v1::GetPlanRivalsReply> FetchRivals(Client& client,
                                                   const std::string& study,
                                                   const ApplyArgs& args) {
  v1::GetPlanRivalsRequest request;
  request.set_study(study);
  request.set_tolerance(args.tolerance);
  request.set_seeds(args.seeds);
  return client.Call(&v1::ImportanceService::Stub::GetPlanRivals, request);
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
    ASSIGN_OR_RETURN(
        named, FetchTrial(client, absl::StrCat(searched.name(), "/trials/",
                                               *args.trial)));
  }
  ASSIGN_OR_RETURN(
      v1::CreateStudyRequest request,
      ApplyRequest(searched, rivals,
                   {id, !args.folder.empty(), named ? &*named : nullptr}));
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
  RETURN_IF_ERROR(CheckRivals(args, searched));
  RETURN_IF_ERROR(Begin(*client, searched, args, id));
  if (args.no_wait) {
    std::cout << "see what came of it: frostline plan " << id << " --verify\n";
    return kExitOk;
  }
  SayWhyNothingRuns(*client, "studies/" + id);
  ASSIGN_OR_RETURN(const v1::PlanVerification seen,
                   Await(session, *client, "studies/" + id, signals));
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, seen, [&] {
                    return RenderVerification(seen, session.terminal.width);
                  }).status());
  if (!args.rivals.empty()) {
    ASSIGN_OR_RETURN(const std::vector<v1::Trial> plan,
                     FetchTried(*client, "studies/" + id));
    ASSIGN_OR_RETURN(const ExitCode code,
                     TuneRules(session, *client, searched, plan, id + "-rules",
                               args.tolerance, signals));
    if (code != kExitOk) return code;
  }
  if (args.folder.empty()) return kExitOk;
  return ExportBestModel(session, id, args.folder);
}

}  // namespace

void AddApplyCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      app, "apply",
      "Train a study's plan beside its baselines, and keep the best model",
      invocation, ApplyPlan);
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
  CLI::Option* const no_wait =
      verb->add_flag("--no-wait", args->no_wait, "Begin, and go");
  verb->add_option("--rivals", args->rivals,
                   "`all`: also the rules of the recipe rivals, each tuned by "
                   "a rate of its own in as many seconds as the search took")
      ->type_name("WHICH")
      ->check(CLI::IsMember({"all"}))
      ->excludes(no_wait);
  AddOneFormats(verb, args->output);
}

}  // namespace frostline::cli
