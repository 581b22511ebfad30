// SPDX-License-Identifier: Apache-2.0
//
// frostline-worker: reads the command line, turns signals into stops, and lets
// the agent live.
#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "base/secret.h"
#include "base/terminal_log.h"
#include "spans/exporter.h"
#include "tls/credentials.h"
#include "worker/agent/agent.h"
#include "worker/agent/identity.h"
#include "worker/agent/options.h"

namespace frostline::agent {
namespace {

// Blocks the signals that stop the agent. `main` calls it before any thread
// starts, so that every thread inherits it and only the watcher gets the
// signals.
int BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2}) {
    sigaddset(&signals, number);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // If the reader of our log goes, the trainings stay.
  std::signal(SIGPIPE, SIG_IGN);
  // A write beyond a limit on file sizes fails, as on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

// Turns signals into stops. A second Ctrl-C, or a second SIGTERM, waits for no
// checkpoint. SIGUSR2 lets running trials finish; any other signal may follow
// it.
void WatchSignals(int signals, Wakeup& done, Agent& agent) {
  StopLevel level = StopLevel::kRelease;
  while (true) {
    std::array<pollfd, 2> entries = {
        {{signals, POLLIN, 0}, {done.fd(), POLLIN, 0}}};
    poll(entries.data(), entries.size(), -1);
    if (entries[1].revents != 0) return;
    signalfd_siginfo info{};
    if (read(signals, &info, sizeof(info)) != sizeof(info)) continue;
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGUSR2) {
      agent.Stop(StopLevel::kDone, kExitOk, "SIGUSR2");
      continue;
    }
    agent.Stop(level, number == SIGINT ? kExitInterrupted : kExitRequeue,
               number == SIGINT    ? "SIGINT"
               : number == SIGTERM ? "SIGTERM"
                                   : "SIGUSR1");
    level = StopLevel::kNow;
  }
}

ExitCode Fail(const absl::Status& status) {
  std::cerr << DescribeError(status) << "\n";
  return ExitCodeOf(status);
}

// Sleeps until a stop signal comes, for what waits before the agent runs.
class Rest {
 public:
  explicit Rest(int signals) : signals_(signals) {}

  bool operator()(Duration time) {
    pollfd entry = {signals_, POLLIN, 0};
    if (poll(&entry, 1, PollMillis(time)) <= 0) return true;
    signalfd_siginfo info{};
    const ssize_t size = read(signals_, &info, sizeof(info));
    const unsigned number = size == sizeof(info) ? info.ssi_signo : SIGTERM;
    exit_code_ = number == SIGINT    ? kExitInterrupted
                 : number == SIGUSR2 ? kExitOk
                                     : kExitRequeue;
    return false;
  }
  ExitCode exit_code() const { return exit_code_; }

 private:
  const int signals_;
  ExitCode exit_code_ = kExitRequeue;
};

absl::StatusOr<std::optional<tls::JoinLine>> LineOf(const SecretString& given) {
  if (given.empty()) return std::nullopt;
  ASSIGN_OR_RETURN(tls::JoinLine line, ReadJoinLine(given, std::cin));
  return line;
}

// Returns null if nobody wants spans.
absl::StatusOr<std::unique_ptr<spans::Exporter>> ExporterOf(
    const AgentOptions& options, const Clock& clock) {
  if (options.collector.empty()) return nullptr;
  return spans::Exporter::Open(options.collector,
                               {{"service.name", "frostline-worker"},
                                {"service.version", FROSTLINE_VERSION},
                                {"service.instance.id", options.id}},
                               clock);
}

// Lets the agent live, with its log in a file if a person looks on.
absl::StatusOr<ExitCode> RunAgent(const AgentOptions& options,
                                  const Clock& clock, tls::Access access,
                                  spans::SpanSink* sink, int signals) {
  const TerminalLog log(LogFileOf(options), !options.wants_log_here);
  Agent agent(options, clock, std::move(access), sink);
  Wakeup done;
  std::thread watcher([&] { WatchSignals(signals, done, agent); });
  auto code = agent.Run();
  done.Ring();
  watcher.join();
  return code;
}

ExitCode Main(int argc, char** argv) {
  // gRPC's own log says the same as ours in another form.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  tls::LookAfterIdleConnections();
  const int signals = BlockStopSignals();
  auto options = ParseAgentOptions(argc, argv);
  HideJoinLine(argc, argv);
  if (!options.ok()) return Fail(options.status());
  if (!options->print.empty()) {
    std::cout << options->print << std::flush;
    return kExitOk;
  }
  SetLogLevel(options->log_level);
  const SystemClock clock;
  const auto line = LineOf(options->join);
  if (!line.ok()) return Fail(line.status());
  Rest rest(signals);
  const absl::Status settled =
      SettleIdentity(*line, clock, std::ref(rest), &*options);
  if (absl::IsCancelled(settled)) return rest.exit_code();
  if (!settled.ok()) return Fail(settled);
  auto access = tls::Access::Open(options->access, options->connect, clock);
  if (!access.ok()) return Fail(access.status());
  const auto exporter = ExporterOf(*options, clock);
  if (!exporter.ok()) return Fail(exporter.status());
  const auto code =
      RunAgent(*options, clock, *std::move(access), exporter->get(), signals);
  return code.ok() ? *code : Fail(code.status());
}

}  // namespace
}  // namespace frostline::agent

int main(int argc, char** argv) {
  frostline::ForbidCoreDumps();
  return frostline::agent::Main(argc, argv);
}
