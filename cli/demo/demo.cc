// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/client/client.h"
#include "cli/commands/command.h"
#include "cli/commands/importance.h"
#include "cli/commands/plan.h"
#include "cli/demo/demo_registry.h"
#include "cli/process/child_process.h"
#include "cli/study_file/study_file.h"
#include "cli/term/terminal.h"
#include "cli/view/format.h"
#include "cli/view/importance_view.h"
#include "cli/view/plan_view.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr char kSpace[] = "\nspace:";
constexpr char kLevels[] = "&rates ";

// Returns the levels of the recipe's modules: the text after "&rates ".
std::string LevelsOf(const std::string& recipe) {
  const std::size_t found = recipe.find(kLevels);
  if (found == std::string::npos) return "";
  const std::size_t start = found + sizeof(kLevels) - 1;
  return recipe.substr(start, recipe.find('\n', start) - start);
}

std::vector<v1::PlannedModule> Searched(const v1::FreezePlan& plan) {
  std::vector<v1::PlannedModule> modules;
  for (const v1::PlannedModule& module : plan.modules()) {
    if (module.module() == "pooler" || module.module() == "head") continue;
    modules.push_back(module);
  }
  const auto is_advised = [](const v1::PlannedModule& module) {
    return module.advice() == v1::PLAN_ADVICE_FREEZE;
  };
  if (std::any_of(modules.begin(), modules.end(), is_advised)) {
    for (v1::PlannedModule& module : modules) {
      module.set_freeze(is_advised(module));
    }
  }
  const bool all_frozen =
      std::all_of(modules.begin(), modules.end(),
                  [](const v1::PlannedModule& m) { return m.freeze(); });
  if (!all_frozen || modules.empty()) return modules;
  std::max_element(modules.begin(), modules.end(),
                   [](const v1::PlannedModule& a, const v1::PlannedModule& b) {
                     return a.cost_of_freezing().value() <
                            b.cost_of_freezing().value();
                   })
      ->set_freeze(false);
  return modules;
}

}  // namespace

std::string NextStudyFile(const std::string& recipe, const std::string& id,
                          const v1::FreezePlan& plan) {
  const std::string levels = LevelsOf(recipe);
  std::string text = "# Made by `frostline demo` from what it has found.\n";
  const std::string kept = recipe.substr(0, recipe.find(kSpace));
  for (const absl::string_view line : absl::StrSplit(kept, '\n')) {
    if (line.substr(0, 1) == "#") continue;
    const bool is_id = line.substr(0, 3) == "id:";
    absl::StrAppend(&text, is_id ? "id: " + id : std::string(line), "\n");
  }
  absl::StrAppend(&text, "space:\n  modules:\n");
  for (const v1::PlannedModule& module : Searched(plan)) {
    absl::StrAppend(&text, "    ", module.module(), ": ",
                    module.freeze() ? "frozen" : levels, "  # ",
                    module.reason(), "\n");
  }
  return text + "    pooler: 1e-3\n    head: 1e-3\n";
}

namespace {

// Returns the error for a study without a result, with the cause that one trial
// gives.
absl::Status ShowCause(Client& client, const std::string& study) {
  v1::ListTrialsRequest request;
  request.set_parent(study);
  request.set_filter("state = FAILED");
  request.set_page_size(1);
  ASSIGN_OR_RETURN(const v1::ListTrialsReply page,
                   client.Call(&v1::StudyService::Stub::ListTrials, request));
  for (const v1::Trial& trial : page.trials()) {
    std::cout << "\ntrial " << trial.number() << " has failed: "
              << proto::CleanText(trial.cause(), proto::kMaxCauseBytes) << "\n";
  }
  return absl::OkStatus();
}

void ShowBest(const v1::Trial& best, const v1::Study& study, int width) {
  std::cout << "\nbest trial " << best.number() << ": "
            << ObjectiveText(best, study.spec()) << "\n"
            << Sentence("  its rates", RatesInShort(best.rates()), width);
}

// Returns whether the trials are too few, or too equal, for an answer.
bool IsTooFew(const absl::Status& status) {
  return HasErrorId(status, ErrorId::kTrialsTooFew) ||
         HasErrorId(status, ErrorId::kTargetConstant);
}

// Shows importance. If there are too few trials, says so and returns false.
absl::StatusOr<bool> ShowImportance(Client& client, const v1::Study& study,
                                    int width) {
  Asked asked;
  asked.client = &client;
  asked.study = study.name();
  const auto report = Fetch(asked, &v1::ImportanceService::Stub::GetReport);
  if (IsTooFew(report.status())) {
    std::cout << "\nno importance: " << report.status().message() << '\n'
              << std::flush;
    return false;
  }
  RETURN_IF_ERROR(report.status());
  ASSIGN_OR_RETURN(const auto frontier, FetchFrontier(asked, *report));
  const std::string head = frontier.has_value()
                               ? RenderFrontierInShort(*frontier, width) + "\n"
                               : "";
  std::cout << "\n" << RenderImportance(*report, head, width) << std::flush;
  return true;
}

absl::StatusOr<std::optional<v1::FreezePlan>> FetchDemoPlan(
    Client& client, const std::string& study) {
  v1::GetPlanRequest request;
  request.set_study(study);
  absl::StatusOr<v1::FreezePlan> plan =
      client.Call(&v1::ImportanceService::Stub::GetPlan, request);
  if (IsTooFew(plan.status())) return std::optional<v1::FreezePlan>();
  RETURN_IF_ERROR(plan.status());
  return std::optional<v1::FreezePlan>(*std::move(plan));
}

absl::Status WriteFile(const std::string& folder, const std::string& name,
                       const std::string& text) {
  const std::string file = absl::StrCat(folder, "/", name);
  std::ofstream stream(file);
  stream << text;
  stream.close();
  if (stream) return absl::OkStatus();
  const int error = errno;
  const std::string cause =
      absl::StrCat(file, " cannot be written: ", std::strerror(error));
  return DiskErrorOr(
      error, cause,
      MakeError(ErrorId::kStoreUnwritable, cause,
                "name a folder you may write to with --dir DIR"));
}

}  // namespace

absl::StatusOr<std::optional<v1::FreezePlan>> ReportRates(
    Client& client, const v1::Study& study, int width) {
  std::optional<v1::FreezePlan> none;
  ASSIGN_OR_RETURN(const auto best, FetchBest(client, study));
  if (!best.has_value()) {
    RETURN_IF_ERROR(ShowCause(client, study.name()));
    return none;
  }
  ShowBest(*best, study, width);
  ASSIGN_OR_RETURN(const bool has_importance,
                   ShowImportance(client, study, width));
  if (!has_importance) return none;
  ASSIGN_OR_RETURN(auto plan, FetchDemoPlan(client, study.name()));
  if (plan.has_value()) {
    std::cout << "\n" << RenderFreezePlanInShort(*plan, width) << std::flush;
  }
  return plan;
}

absl::StatusOr<std::optional<v1::FreezePlan>> ReportDepths(
    Client& client, const v1::Study& study, const std::string& folder,
    int width) {
  std::optional<v1::FreezePlan> none;
  ASSIGN_OR_RETURN(const auto best, FetchBest(client, study));
  if (!best.has_value()) {
    RETURN_IF_ERROR(ShowCause(client, study.name()));
    return none;
  }
  v1::GetFrontierRequest request;
  request.set_study(study.name());
  const auto frontier =
      client.Call(&v1::ImportanceService::Stub::GetFrontier, request);
  if (IsTooFew(frontier.status())) {
    ShowBest(*best, study, width);
    std::cout << "no finding: " << frontier.status().message() << '\n'
              << std::flush;
    return none;
  }
  RETURN_IF_ERROR(frontier.status());
  RETURN_IF_ERROR(WriteFile(folder, "frontier.svg", FrontierSvg(*frontier)));
  std::cout << "\n"
            << RenderPrefixBars(*frontier, width) << "as a picture: " << folder
            << "/frontier.svg\n"
            << std::flush;
  return FetchDemoPlan(client, study.name());
}

absl::Status WriteNext(const v1::FreezePlan& plan, const std::string& folder) {
  return WriteFile(folder, "next.yaml",
                   NextStudyFile(kRatesRecipe, kNextStudy, plan));
}

namespace {

// Returns the command as it is typed from the working folder.
std::string CommandName() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "frostline";
  const std::string near = std::filesystem::proximate(path, error).string();
  return error || absl::StartsWith(near, "..") ? path.string() : near;
}

}  // namespace

std::string WaysOnText(const WaysOn& ways, const std::string& command) {
  const std::string begin = absl::StrCat("  ", ShellWord(command), " ");
  std::string text = absl::StrCat("Next, type\n", begin, "serve --data ",
                                  ShellWord(ways.folder), " &\n");
  if (ways.has_next) {
    absl::StrAppend(&text, begin, "worker --registry ",
                    ShellWord(ways.folder + "/registry"), " --slots 2 &\n",
                    begin, "study create ",
                    ShellWord(ways.folder + "/next.yaml"),
                    "  # then: study watch ", kNextStudy, "\n");
  } else {
    absl::StrAppend(&text, begin, "study show demo\n");
    if (ways.has_importance) {
      absl::StrAppend(&text, begin, "importance demo\n");
    }
  }
  if (ways.has_example) {
    absl::StrAppend(&text, begin, "report example -o example.html\n");
  }
  return text;
}

void ShowWaysOn(const WaysOn& ways) {
  std::cout << WaysOnText(ways, CommandName()) << std::flush;
}

absl::Status VerifyDemo(Client& client, const std::string& study, int seeds,
                        LocalFleet& fleet, StopSignals& signals,
                        const Terminal& terminal) {
  ASSIGN_OR_RETURN(const auto before, FetchVerification(client, study));
  if (!before.has_value()) {
    PlanAsked plan;
    plan.study = study;
    ASSIGN_OR_RETURN(const v1::EnqueueTrialsReply reply,
                     EnqueueRivals(client, plan, seeds));
    std::cout << "running it beside what it has to beat: "
              << reply.trials_size() << " trials, " << seeds
              << " new seeds each\n"
              << std::flush;
  }
  StatusLine line(terminal);
  ASSIGN_OR_RETURN(
      const v1::PlanVerification verification,
      AwaitVerification(
          client, study, signals, [&](const v1::PlanVerification& so_far) {
            line.Show(
                absl::StrCat(so_far.ended(), "/", so_far.total(), " done"));
            return fleet.Check();
          }));
  line.Clear();
  std::cout << RenderVerificationInShort(verification, terminal.width)
            << std::flush;
  return absl::OkStatus();
}

namespace {

constexpr Duration kDemoPollInterval = std::chrono::milliseconds(250);
constexpr Duration kStallBound = std::chrono::minutes(5);
constexpr int kProgressLines = 3;  // off a terminal

double SecondsBetween(SteadyTime from, SteadyTime to) {
  return std::chrono::duration<double>(to - from).count();
}

// Returns "about 2m10s left" for the trials that are to come, if they take as
// long as those of the last `seconds` did, before which `before` had ended; ""
// where too few have.
std::string DemoTimeLeft(const v1::Study& study, std::int64_t before,
                         double seconds) {
  constexpr std::int64_t kEnough = 3;
  const std::int64_t done = study.counts().budget_used() - before;
  const std::int64_t left =
      study.settings().budget().trials() - study.counts().budget_used();
  if (done < kEnough || left <= 0) return "";
  return absl::StrCat("about ",
                      FormatSeconds(seconds * static_cast<double>(left) /
                                    static_cast<double>(done)),
                      " left");
}

// Prints the progress of the study: all the time on a terminal, else now and
// then.
class Progress {
 public:
  Progress(const Terminal& terminal, const v1::Study& study)
      : terminal_(terminal),
        line_(terminal),
        before_(study.counts().budget_used()) {}

  // Prints a line that stays, instead of the one that is rewritten.
  void Say(const std::string& text) {
    line_.Clear();
    std::cout << text << "\n" << std::flush;
  }

  // `seconds` have gone since the first trial began.
  void Show(const v1::Study& study, const std::optional<v1::Trial>& best,
            double seconds) {
    std::string text = ProgressText(study);
    if (best.has_value()) {
      absl::StrAppend(&text, ", best ", ObjectiveText(*best, study.spec()),
                      " (trial ", best->number(), ")");
    }
    const std::string left = DemoTimeLeft(study, before_, seconds);
    line_.Show(left.empty() ? text : absl::StrCat(text, ", ", left));
    const std::int64_t done = study.counts().budget_used();
    const std::int64_t step = std::max<std::int64_t>(
        1, study.settings().budget().trials() / kProgressLines);
    if (terminal_.err_is_tty || done < shown_ + step) return;
    shown_ = done;
    std::cout << text << "\n" << std::flush;
  }

 private:
  const Terminal& terminal_;
  StatusLine line_;
  const std::int64_t before_;  // trials of an earlier run of this demo
  std::int64_t shown_ = 0;
};

absl::Status Stalled() {
  return MakeError(ErrorId::kTrainerExited,
                   "nothing has changed for five minutes",
                   "run the demo with --dir DIR and read the logs there");
}

}  // namespace

absl::StatusOr<v1::Study> FollowDemo(Client& client, v1::Study study,
                                     LocalFleet& fleet, StopSignals& signals,
                                     const Terminal& terminal,
                                     DemoTimes& times) {
  const SystemClock clock;
  Progress progress(terminal, study);
  SteadyTime last_change = clock.Steady();
  std::int64_t revision = -1;
  std::optional<v1::Trial> best;
  while (!IsEnded(study.state())) {
    RETURN_IF_ERROR(signals.Pause(kDemoPollInterval));
    RETURN_IF_ERROR(fleet.Check());
    ASSIGN_OR_RETURN(study, FetchStudy(client, study.name()));
    if (study.revision() == revision) {
      if (clock.Steady() - last_change > kStallBound) return Stalled();
      continue;
    }
    revision = study.revision();
    last_change = clock.Steady();
    if (!times.first_lease &&
        study.counts().running() + study.counts().budget_used() > 0) {
      times.first_lease = last_change;
      progress.Say(absl::StrCat(
          "first trial after ",
          FormatSeconds(SecondsBetween(times.begin, last_change))));
    }
    ASSIGN_OR_RETURN(best, FetchBest(client, study));
    progress.Show(study, best,
                  SecondsBetween(times.first_lease.value_or(last_change),
                                 clock.Steady()));
  }
  times.end = clock.Steady();
  return study;
}

void ShowDemoTimes(const v1::Study& study, const DemoTimes& times) {
  std::cout << ProgressText(study);
  if (times.first_lease.has_value()) {
    std::cout << " in "
              << FormatSeconds(SecondsBetween(*times.first_lease, times.end))
              << " from the first lease";
  }
  std::cout << ", "
            << FormatSeconds(
                   SecondsBetween(times.begin, SystemClock().Steady()))
            << " in all" << "\n"
            << std::flush;
}

namespace {

absl::StatusOr<v1::Study> CreateExample(Client& client) {
  ASSIGN_OR_RETURN(const StudyFile file,
                   ParseStudyFile(kExampleRecipe, "recipes/demo/example.yaml"));
  v1::CreateStudyRequest request;
  request.set_study_id(file.id);
  *request.mutable_spec() = file.spec;
  *request.mutable_settings() = file.settings;
  ASSIGN_OR_RETURN(const v1::CreateStudyReply reply,
                   client.Call(&v1::StudyService::Stub::CreateStudy, request));
  return reply.study();
}

absl::Status ImportExample(Client& client, const std::string& study) {
  v1::ImportTrialsRequest request;
  request.set_name(study);
  ASSIGN_OR_RETURN(const std::vector<v1::ImportedTrial> trials,
                   ReadImported(kExampleTrials));
  request.mutable_trials()->Assign(trials.begin(), trials.end());
  return client.Call(&v1::StudyService::Stub::ImportTrials, request).status();
}

// Completes a study that needs no more runs.
absl::Status Finish(Client& client, const std::string& study) {
  v1::StopStudyRequest request;
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
  // An interrupted demo goes on with the next step.
  if (study->counts().succeeded() == 0)
    RETURN_IF_ERROR(ImportExample(client, name));
  if (!IsEnded(study->state())) RETURN_IF_ERROR(Finish(client, name));
  std::cout << "study example: 200 recorded trials of MiniLM on reviews\n";
  return absl::OkStatus();
}

namespace {

constexpr int kMostDemoTrials = 1000;
constexpr int kSeeds = 5;  // of each rival
constexpr int kSeedsOfToy = 3;

// Checks the number of trials. With another number the user would wait for
// trials that never come. Trials that a plan has enqueued are extra.
absl::Status CheckSameTrials(Client& client, const v1::Study& there,
                             const DemoOptions& options) {
  if (options.trials == 0) return absl::OkStatus();
  v1::ListTrialsRequest request;
  request.set_parent(there.name());
  request.set_page_size(kMostDemoTrials);
  ASSIGN_OR_RETURN(const v1::ListTrialsReply page,
                   client.Call(&v1::StudyService::Stub::ListTrials, request));
  const auto of_plan = std::count_if(
      page.trials().begin(), page.trials().end(), [](const v1::Trial& trial) {
        return trial.origin() == v1::TRIAL_ORIGIN_ENQUEUED;
      });
  const std::int64_t has = there.settings().budget().trials() - of_plan;
  if (options.trials == has) return absl::OkStatus();
  return MakeError(ErrorId::kStudyAlreadyExists,
                   absl::StrCat("the demo in ", options.folder, " is one of ",
                                has, " trials, not ", options.trials),
                   "leave --trials out to go on with it, or name another --dir",
                   "--trials");
}

absl::StatusOr<v1::Study> CreateDemoStudy(Client& client,
                                          const DemoOptions& options) {
  ASSIGN_OR_RETURN(
      const StudyFile file,
      options.synthetic
          ? ParseStudyFile(kSyntheticRecipe, "recipes/demo/study.yaml")
          : ParseStudyFile(kDemoRecipe, "recipes/demo/demo.yaml"));
  v1::CreateStudyRequest request;
  request.set_study_id(file.id);
  *request.mutable_spec() = file.spec;
  *request.mutable_settings() = file.settings;
  if (options.trials > 0) {
    request.mutable_settings()->mutable_budget()->set_trials(options.trials);
    // Fewer trials than there are points leave none to run again.
    v1::StudySpec& spec = *request.mutable_spec();
    if (spec.repeat().after() >= options.trials) spec.clear_repeat();
  }
  // A demo that is there goes on: its plan may have raised the budget.
  const auto there = FetchStudy(client, StudyNameOf(file.id));
  if (there.ok()) {
    RETURN_IF_ERROR(CheckSameTrials(client, *there, options));
    *request.mutable_settings() = there->settings();
  }
  const auto reply = client.Call(&v1::StudyService::Stub::CreateStudy, request);
  if (!reply.ok()) return PlaceError(reply.status(), file);
  std::cout << RenderPlanInShort(*reply) << std::flush;
  return reply->study();
}

absl::StatusOr<ExitCode> RunDemoStages(const DemoOptions& options,
                                       const Terminal& terminal,
                                       const std::vector<std::string>& trainer,
                                       SteadyTime begin, LocalFleet& fleet,
                                       StopSignals& signals, WaysOn& ways) {
  DemoTimes times = {begin, std::nullopt, begin};
  RETURN_IF_ERROR(fleet.StartCoordinator(signals));
  ASSIGN_OR_RETURN(const auto client, Client::Open(fleet.address()));
  if (options.example) RETURN_IF_ERROR(LeaveExample(*client));
  RETURN_IF_ERROR(fleet.StartWorkers(options.workers, trainer));
  std::cout << "coordinator on " << fleet.address() << ", " << options.workers
            << (options.workers == 1 ? " worker\n" : " workers\n");
  ASSIGN_OR_RETURN(v1::Study study, CreateDemoStudy(*client, options));
  std::cout << "watch it at " << fleet.page() << "#/" << study.name() << "\n";
  if (IsEnded(study.state())) {
    std::cout << "\nThe demo of this folder has ended before.\n";
  }
  ASSIGN_OR_RETURN(study, FollowDemo(*client, std::move(study), fleet, signals,
                                     terminal, times));
  ASSIGN_OR_RETURN(
      const auto plan,
      options.synthetic
          ? ReportRates(*client, study, terminal.width)
          : ReportDepths(*client, study, ways.folder, terminal.width));
  if (plan.has_value()) {
    RETURN_IF_ERROR(VerifyDemo(*client, study.name(),
                               options.synthetic ? kSeedsOfToy : kSeeds, fleet,
                               signals, terminal));
    ASSIGN_OR_RETURN(study, FetchStudy(*client, study.name()));
    times.end = SystemClock().Steady();
  }
  if (plan.has_value() && !options.synthetic) {
    std::cout << Sentence(
        "sharing",
        absl::StrCat("the trials took ",
                     FormatSeconds(study.usage().total_seconds()), "; ",
                     EstimateText(study.usage())),
        terminal.width);
    RETURN_IF_ERROR(WriteNext(*plan, ways.folder));
    ways.has_next = true;
  }
  ways.has_importance = plan.has_value();
  ways.has_example = options.example;
  ShowDemoTimes(study, times);
  return study.counts().succeeded() > 0 ? kExitOk : kExitNoResult;
}

// Returns the arguments of a worker. For the real demo it also makes the
// registry.
absl::StatusOr<std::vector<std::string>> PrepareTrainer(
    const DemoOptions& options, const std::string& folder) {
  if (options.synthetic) return SyntheticTrainer();
  ASSIGN_OR_RETURN(const std::string model, FindDemoModel(options.model));
  const std::string registry = absl::StrCat(folder, "/registry");
  ASSIGN_OR_RETURN(auto trainer, RealTrainer(registry));
  RETURN_IF_ERROR(MakeDemoRegistry(registry, model));
  return trainer;
}

}  // namespace

absl::StatusOr<ExitCode> RunDemo(const DemoOptions& options,
                                 const Terminal& terminal) {
  const SteadyTime begin = SystemClock().Steady();
  StopSignals signals;
  ASSIGN_OR_RETURN(WorkFolder folder,
                   WorkFolder::Make(options.folder, options.keep));
  ASSIGN_OR_RETURN(const auto trainer, PrepareTrainer(options, folder.path()));
  LocalFleet fleet(folder.path());
  WaysOn ways = {.folder = folder.path()};
  const auto code =
      RunDemoStages(options, terminal, trainer, begin, fleet, signals, ways);
  if (signals.caught()) {
    signals.Release();
    std::cerr << "stopping; Ctrl-C again to stop at once" << "\n" << std::flush;
  }
  fleet.Stop();
  // One goes on from what it has made; without a result, its logs say why.
  if (code.ok()) folder.Keep();
  if (folder.stays()) std::cerr << "kept: " << folder.path() << "\n";
  if (code.ok() && *code == kExitOk) ShowWaysOn(ways);
  return code;
}

namespace {

absl::StatusOr<ExitCode> ShowDemo(Session& session,
                                  const DemoOptions& options) {
  return RunDemo(options, session.terminal);
}

}  // namespace

void AddDemoCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, options] =
      AddVerb(app, "demo", "A whole search on this machine, in a few minutes",
              invocation, ShowDemo);
  verb->add_option("--trials", options->trials,
                   "How many trials [114; synthetic 40]")
      ->check(CLI::Range(1, 10'000));
  verb->add_option("--workers", options->workers, "How many workers")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  verb->add_option("--dir", options->folder,
                   "Keep the database and the logs in this folder");
  verb->add_option("--model", options->model,
                   "The folder of MiniLM [the one of ./dev setup]");
  verb->add_flag("--synthetic", options->synthetic,
                 "A small network on made-up numbers: seconds, no model");
  verb->add_flag("--example", options->example,
                 "Leave a finished study of 200 recorded trials, too");
  verb->add_flag("--keep", options->keep,
                 "Keep the temporary folder after Ctrl-C or an error, too");
}

}  // namespace frostline::cli
