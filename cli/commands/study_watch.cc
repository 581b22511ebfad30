// SPDX-License-Identifier: Apache-2.0
//
// `frostline study watch`: the stream of what changes, and beside it a look at
// what runs, since no change tells how far a trial is.
#include "cli/commands/study_watch.h"

#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "cli/client/notes.h"
#include "cli/client/watcher.h"
#include "cli/commands/command.h"
#include "cli/commands/connection_news.h"
#include "cli/commands/events.h"
#include "cli/live/event_lines.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

constexpr Duration kLookEvery = std::chrono::seconds(2);
constexpr Duration kSummaryEvery = std::chrono::minutes(1);

struct WatchArgs {
  std::string id;
  bool until_done = false;
  bool all = false;
  bool json = false;
};

// Looks at what runs, on a thread of its own, until it goes.
class RunningLooks {
 public:
  RunningLooks(Client& client, std::string study, bool is_terminal,
               WatchPrinter& printer)
      : client_(client),
        study_(std::move(study)),
        is_terminal_(is_terminal),
        printer_(printer),
        thread_([this] { Run(); }) {}
  ~RunningLooks() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_ending_ = true;
    }
    ends_.notify_all();
    thread_.join();
  }
  RunningLooks(const RunningLooks&) = delete;
  RunningLooks& operator=(const RunningLooks&) = delete;

 private:
  // The first look is at once; off a terminal nobody sees it.
  void Run() {
    Duration pause = Duration::zero();
    std::unique_lock<std::mutex> lock(mutex_);
    while (!ends_.wait_for(lock, pause, [this] { return is_ending_; })) {
      lock.unlock();
      Look();
      if (!is_terminal_ && pause > Duration::zero()) printer_.PrintSummary();
      pause = is_terminal_ ? kLookEvery : kSummaryEvery;
      lock.lock();
    }
  }

  // Without an answer what was seen last stays.
  void Look() {
    v1::ListTrialsRequest request;
    request.set_parent(study_);
    request.set_filter("state = RUNNING");
    printer_.OnLook();
    const auto running =
        client_.CallForAll(&v1::StudyService::Stub::ListTrials, request);
    const auto workers = FetchWorkers(client_);
    if (!running.ok() || !workers.ok()) return;
    std::int64_t slots = 0;
    for (const v1::Worker& worker : workers->workers()) {
      if (worker.state() == v1::WORKER_STATE_ACTIVE) slots += worker.slots();
    }
    printer_.OnRunning({running->trials().begin(), running->trials().end()},
                       slots);
  }

  Client& client_;
  const std::string study_;
  const bool is_terminal_;
  WatchPrinter& printer_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_ending_ = false;
  std::thread thread_;  // last: it uses all others
};

absl::StatusOr<ExitCode> WatchForPeople(Session& session, Client& client,
                                        const v1::Study& study,
                                        bool until_done) {
  const SystemClock clock;
  WatchPrinter printer(session, client, clock, until_done);
  RETURN_IF_ERROR(printer.Begin(study));
  if (!IsEnded(study.state())) {
    const RunningLooks looks(client, study.name(), session.terminal.out_is_tty,
                             printer);
    RETURN_IF_ERROR(Watch(
        client, {.study = study.name(), .after_revision = study.revision()},
        {.on_event = [&](const auto& event) { return printer.OnEvent(event); },
         .on_break = [&](const auto& status) { printer.OnBreak(status); }}));
  }
  return printer.End();
}

// The first line is the study as it is.
absl::StatusOr<ExitCode> WatchAsJson(Client& client, v1::Study study,
                                     bool until_done) {
  v1::StudyEvent first;
  first.set_revision(study.revision());
  *first.mutable_study() = study;
  ConnectionNews news(Notes());
  const auto print = [&](const v1::StudyEvent& event) {
    news.Back();
    if (event.has_study()) study = event.study();
    if (!event.has_alive()) std::cout << EventJson(event) << std::endl;
    return !(until_done && IsEnded(study.state()));
  };
  if (print(first) && !IsEnded(study.state())) {
    RETURN_IF_ERROR(Watch(
        client, {.study = study.name(), .after_revision = study.revision()},
        {.on_event = print,
         .on_break = [&](const auto& status) { news.Lost(status); }}));
  }
  if (!IsEnded(study.state())) return kExitOk;
  return study.counts().succeeded() > 0 ? kExitOk : kExitNoResult;
}

absl::StatusOr<ExitCode> WatchCommand(Session& session, const WatchArgs& args) {
  if (args.all == !args.id.empty() || (args.all && args.until_done)) {
    return MakeError(ErrorId::kRequestInvalid,
                     "there is one study to watch, or all of them without end",
                     "give ID, with or without --until-done, or --all alone");
  }
  if (args.all) return WatchAllStudies(session, args.json);
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  return args.json ? WatchAsJson(*client, study, args.until_done)
                   : WatchForPeople(session, *client, study, args.until_done);
}

}  // namespace

void AddStudyWatch(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<WatchArgs>();
  CLI::App* const verb = AddVerb(
      noun, "watch", "Follow a study as its trials start and end", invocation,
      [args](Session& session) { return WatchCommand(session, *args); });
  verb->add_option("ID", args->id, "The study");
  verb->add_flag("--all", args->all, "All studies, and those that come later");
  verb->add_flag("--until-done", args->until_done,
                 "Exit when the study ends: 0 with a result, 8 without one");
  verb->add_flag("--json", args->json, "A StudyEvent on each line");
}

}  // namespace frostline::cli
