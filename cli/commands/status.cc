// SPDX-License-Identifier: Apache-2.0
//
// `frostline status`: whether a coordinator answers, and what it has.
#include "cli/commands/status.h"

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/ids.h"
#include "cli/commands/command.h"
#include "cli/live/full_screen.h"
#include "cli/live/top_screen.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

constexpr Duration kLongestStatusWait = std::chrono::hours(1);
constexpr Duration kAskAgain = std::chrono::milliseconds(200);

struct ServiceStatusArgs {
  std::string wait = "0s";
  Output output;
};

std::string RenderInfo(const v1::ServerInfo& info, const Target& target) {
  const auto count = [](std::int64_t number, const std::string& what) {
    return absl::StrCat(FormatCount(number), " ", what);
  };
  std::string text =
      KeyLine("coordinator", absl::StrCat("frostline ", info.version(), " at ",
                                          DescribeTarget(target)));
  text += KeyLine("since", FormatTime(info.start_time()));
  text += KeyLine("store", info.store());
  text += KeyLine("studies", FormatCount(info.studies()));
  text += KeyLine("workers",
                  absl::StrCat(count(info.live_workers(), "live, "),
                               count(info.waiting_workers(), "waiting")));
  text += KeyLine("leases", FormatCount(info.open_leases()));
  text += KeyLine("memory", count(info.resident_bytes() >> 20, "MiB"));
  for (const std::string& hole : info.known_holes()) {
    text += KeyLine("note", hole);
  }
  return text;
}

// Tries again while the coordinator is away, until `longest` is over.
absl::StatusOr<v1::ServerInfo> AskInfo(Client& client, Duration longest) {
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    auto info =
        client.Call(&v1::AdminService::Stub::GetInfo, v1::GetInfoRequest());
    const bool is_away = HasErrorId(info.status(), ErrorId::kCoordinatorAway);
    if (!is_away || std::chrono::steady_clock::now() - begin >= longest) {
      return info;
    }
    std::this_thread::sleep_for(kAskAgain);
  }
}

absl::StatusOr<ExitCode> ShowStatus(Session& session,
                                    const ServiceStatusArgs& args) {
  ASSIGN_OR_RETURN(
      const Duration wait,
      ReadTime("--wait", args.wait, Duration::zero(), kLongestStatusWait));
  // Not Connect(): it would wait, and here that is for the caller to say.
  ASSIGN_OR_RETURN(Client* const client, OpenClient(session));
  ASSIGN_OR_RETURN(const v1::ServerInfo info, AskInfo(*client, wait));
  return PrintOne(session.terminal, args.output, info, [&] {
    return WrapKeyLines(RenderInfo(info, session.target),
                        session.terminal.width);
  });
}

}  // namespace

void AddStatusCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, args] =
      AddVerb(app, "status", "Whether a coordinator answers, and what it has",
              invocation, ShowStatus);
  verb->add_option("--wait", args->wait,
                   "Try again for so long while there is none: 60s, 5m");
  AddOneFormats(verb, args->output);
}

namespace {

absl::StatusOr<ExitCode> BackUp(Session& session, const std::string& label) {
  if (!label.empty()) RETURN_IF_ERROR(CheckNewName(label, "--label"));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::BackupRequest request;
  request.set_label(label);
  ASSIGN_OR_RETURN(const v1::BackupReply reply,
                   client->Call(&v1::AdminService::Stub::Backup, request));
  std::cout << "backups/" << reply.file()
            << " in the data folder: " << reply.studies() << " studies, "
            << reply.trials() << " trials, " << reply.bytes()
            << " bytes, checked\n";
  return kExitOk;
}

}  // namespace

void AddBackupCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, label] =
      AddVerb(app, "backup",
              "Copy the coordinator's database while it runs; "
              "`serve --restore FILE` is the way back",
              invocation, BackUp);
  verb->add_option("--label", *label, "The file's name; made from the time")
      ->type_name("NAME");
}

// `frostline top`: who works on what, now.

absl::StatusOr<FleetAnswers> FleetAsker::Ask() {
  FleetAnswers answers;
  answers.coordinator = client_.address();
  ASSIGN_OR_RETURN(answers.info, client_.Call(&v1::AdminService::Stub::GetInfo,
                                              v1::GetInfoRequest()));
  ASSIGN_OR_RETURN(const v1::ListWorkersReply workers, FetchWorkers(client_));
  answers.workers = {workers.workers().begin(), workers.workers().end()};
  if (!study_.empty()) {
    ASSIGN_OR_RETURN(v1::Study study, FetchStudy(client_, study_));
    answers.studies.push_back(std::move(study));
  } else {
    ASSIGN_OR_RETURN(const v1::ListStudiesReply all,
                     client_.CallForAll(&v1::StudyService::Stub::ListStudies,
                                        v1::ListStudiesRequest()));
    answers.studies = {all.studies().begin(), all.studies().end()};
  }
  for (const v1::Study& study : answers.studies) {
    RETURN_IF_ERROR(AskOfStudy(study, &answers));
  }
  answers.time = clock_.Wall();
  return answers;
}

absl::Status FleetAsker::AskOfStudy(const v1::Study& study,
                                    FleetAnswers* answers) {
  if (study.counts().running() == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const v1::ListTrialsReply running,
                   FetchTrials(client_, study.name(), "state = RUNNING",
                               v1::TRIAL_VIEW_FULL));
  answers->running.insert(answers->running.end(), running.trials().begin(),
                          running.trials().end());
  if (study.best_trials().empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(v1::Trial best, Best(study.best_trials(0)));
  answers->best.push_back(std::move(best));
  return absl::OkStatus();
}

absl::StatusOr<v1::Trial> FleetAsker::Best(const std::string& trial) {
  const auto known = best_.find(trial);
  if (known != best_.end()) return known->second;
  ASSIGN_OR_RETURN(v1::Trial best, FetchTrial(client_, trial));
  return best_[trial] = std::move(best);
}

AskingThread::AskingThread(FleetAsker& asker, Duration every)
    : asker_(asker), every_(every), thread_([this] { Run(); }) {}

AskingThread::~AskingThread() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

std::optional<absl::StatusOr<FleetAnswers>> AskingThread::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(answers_, std::nullopt);
}

bool AskingThread::IsAsking() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_asking_;
}

void AskingThread::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ends_.wait_for(lock, every_, [this] { return is_ending_; })) {
    is_asking_ = true;
    lock.unlock();
    auto answers = asker_.Ask();
    lock.lock();
    is_asking_ = false;
    answers_ = std::move(answers);
  }
}

namespace {

constexpr Duration kShortestEvery = std::chrono::milliseconds(200);
constexpr Duration kLongestEvery = std::chrono::hours(1);
// The screen is drawn at most ten times a second.
constexpr Duration kLook = std::chrono::milliseconds(100);

struct TopArgs {
  std::string study;
  std::string every = "2s";
  std::string format = "table";
  bool json = false;
  bool once = false;

  bool wants_json() const { return json || format == "json"; }
};

ExitCode PrintOnce(const FleetAnswers& answers, const TopArgs& args,
                   const Terminal& terminal) {
  std::cout << (args.wants_json() ? FleetJson(answers)
                                  : TopText(answers, terminal.width));
  return kExitOk;
}

// Returns the exit code as a shell does: 130 for Ctrl-C, 143 for SIGTERM, 129
// for SIGHUP.
ExitCode CodeOfEnd(const Key& key) {
  return key.signal == 0 ? kExitInterrupted
                         : static_cast<ExitCode>(128 + key.signal);
}

// Shows the screen. Returns CodeOfEnd() when a signal or the end of input ended
// it.
absl::StatusOr<ExitCode> FollowTop(AskingThread& asking, FleetAnswers answers) {
  ASSIGN_OR_RETURN(const auto screen, FullScreen::Open());
  TopState state;
  std::string trouble;
  while (true) {
    screen->Show(TopLines(answers, state, screen->Size(), trouble));
    for (const Key& key : screen->Await(kLook)) {
      if (key.kind == KeyKind::kEnd) return CodeOfEnd(key);
      state = AfterKey(std::move(state), key, TableOf(answers));
    }
    if (state.is_done) return kExitOk;
    auto news = asking.Take();
    if (state.is_paused || !news.has_value()) continue;
    trouble = std::string(news->status().message());
    if (news->ok()) answers = std::move(**news);
  }
}

absl::StatusOr<ExitCode> Top(Session& session, const TopArgs& args) {
  std::string study;
  if (!args.study.empty()) {
    ASSIGN_OR_RETURN(study, StudyNameFrom(args.study));
  }
  ASSIGN_OR_RETURN(
      const Duration every,
      ReadTime("--every", args.every, kShortestEvery, kLongestEvery));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const SystemClock clock;
  FleetAsker asker(*client, study, clock);
  ASSIGN_OR_RETURN(FleetAnswers answers, asker.Ask());
  if (args.once || args.wants_json()) {
    return PrintOnce(answers, args, session.terminal);
  }
  // A dumb terminal is none: it cannot draw over what it has written.
  const bool is_screen = session.terminal.out_is_tty &&
                         session.terminal.err_is_tty &&
                         isatty(STDIN_FILENO) == 1;
  if (!is_screen) {
    std::cerr << "not on a terminal: shown once, as with --once\n";
    return PrintOnce(answers, args, session.terminal);
  }
  AskingThread asking(asker, every);
  const auto code = FollowTop(asking, std::move(answers));
  // Whoever quits does not wait for a coordinator that does not answer.
  if (code.ok() && asking.IsAsking()) _exit(*code);
  return code;
}

}  // namespace

void AddTopCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      app, "top", "Who works on what: workers, slots, trials, on one screen",
      invocation, Top);
  verb->add_option("STUDY", args->study, "Of this study alone");
  verb->add_flag("--once", args->once, "Print it once, and end");
  verb->add_option("--every", args->every, "Ask again so often")
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_option("--format", args->format, "table, or json: once")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  verb->add_flag("--json", args->json, "The same as --format json");
  verb->footer(
      "Keys: q quit, s sort, f filter, arrows and enter details, space pause.");
}

}  // namespace frostline::cli
