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
#include <iostream>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/log.h"
#include "worker/agent/agent.h"
#include "worker/agent/options.h"

namespace frostline::agent {
namespace {

// Before any thread starts, so that every thread inherits it and the signals
// arrive at the watcher alone.
int BlockStopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) {
    sigaddset(&signals, number);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // Whoever read our log may go; the trainings stay.
  std::signal(SIGPIPE, SIG_IGN);
  // A write beyond a limit on file sizes fails, as on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

// A second Ctrl-C, or a second SIGTERM, waits for no checkpoint.
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
    agent.Stop(level, number == SIGINT ? kExitInterrupted : kExitRequeue,
               number == SIGINT    ? "SIGINT"
               : number == SIGTERM ? "SIGTERM"
                                   : "SIGUSR1");
    level = StopLevel::kNow;
  }
}

ExitCode Fail(const absl::Status& status) {
  std::cerr << DescribeError(status) << std::endl;
  return ExitCodeOf(status);
}

ExitCode Main(int argc, const char* const* argv) {
  // gRPC's own lines say in another form what ours say.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  const int signals = BlockStopSignals();
  const auto options = ParseAgentOptions(argc, argv);
  if (!options.ok()) return Fail(options.status());
  if (!options->print.empty()) {
    std::cout << options->print << std::flush;
    return kExitOk;
  }
  SetLogLevel(options->log_level);
  const SystemClock clock;
  auto access = tls::Access::Open(options->access, options->connect, clock);
  if (!access.ok()) return Fail(access.status());
  Agent agent(*options, clock, *std::move(access));
  Wakeup done;
  std::thread watcher([&] { WatchSignals(signals, done, agent); });
  const auto code = agent.Run();
  done.Ring();
  watcher.join();
  return code.ok() ? *code : Fail(code.status());
}

}  // namespace
}  // namespace frostline::agent

int main(int argc, char** argv) { return frostline::agent::Main(argc, argv); }
