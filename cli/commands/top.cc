// SPDX-License-Identifier: Apache-2.0
//
// `frostline top`: who works on what, now.
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/flags.h"
#include "cli/commands/command.h"
#include "cli/commands/status.h"
#include "cli/live/full_screen.h"
#include "cli/live/top_screen.h"

namespace frostline::cli {

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
  v1::ListTrialsRequest request;
  request.set_parent(study.name());
  request.set_filter("state = RUNNING");
  request.set_view(v1::TRIAL_VIEW_FULL);
  ASSIGN_OR_RETURN(
      const v1::ListTrialsReply running,
      client_.CallForAll(&v1::StudyService::Stub::ListTrials, request));
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
  v1::GetTrialRequest request;
  request.set_name(trial);
  ASSIGN_OR_RETURN(v1::Trial best,
                   client_.Call(&v1::StudyService::Stub::GetTrial, request));
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
  const auto args = std::make_shared<TopArgs>();
  CLI::App* const verb = AddVerb(
      app, "top", "Who works on what: workers, slots, trials, on one screen",
      invocation, [args](Session& session) { return Top(session, *args); });
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
