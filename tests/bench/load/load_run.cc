// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/load/load_run.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

namespace frostline::bench {
namespace {

// Workers that may register at one time, so that a large fleet does not time
// out on its own connecting.
constexpr std::size_t kStartWindow = 64;

// For ten thousand connections, and a child that is a coordinator of as many.
constexpr rlim_t kEnoughFiles = 24'000;

grpc::ChannelArguments ChannelArgumentsOf() {
  grpc::ChannelArguments arguments;
  // Or channels to one address would share a connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  // In spite of its name: how long one attempt to connect may take.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20'000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  return arguments;
}

}  // namespace

std::uint64_t RaiseOpenFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  // Only root may raise the upper one.
  const rlimit enough{kEnoughFiles, std::max(limit.rlim_max, kEnoughFiles)};
  if (setrlimit(RLIMIT_NOFILE, &enough) == 0) return kEnoughFiles;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

LoadRun::LoadRun(LoadOptions options, const Clock& clock)
    : fleet_(std::move(options), clock) {}

void LoadRun::Connect() {
  const LoadOptions& options = fleet_.options;
  const auto credentials = options.credentials != nullptr
                               ? options.credentials
                               : grpc::InsecureChannelCredentials();
  for (int i = 0; i < options.workers; ++i) {
    if (i % options.per_channel == 0) {
      stubs_.push_back(v1::WorkerService::NewStub(grpc::CreateCustomChannel(
          options.connect, credentials, ChannelArgumentsOf())));
    }
    workers_.push_back(
        std::make_unique<VirtualWorker>(fleet_, i, *stubs_.back()));
  }
}

void LoadRun::StartNext() {
  if (started_ < workers_.size()) workers_[started_++]->Start();
}

void LoadRun::BeginToMeasure() {
  fleet_.figures = Figures();
  measured_from_ = fleet_.clock.Steady();
}

void LoadRun::Start() {
  RaiseOpenFiles();
  Connect();
  const LoadOptions& options = fleet_.options;
  fleet_.on_registered = [this] {
    ++registered_;
    StartNext();
  };
  fleet_.on_ended = [this] {
    if (++ended_workers_ == fleet_.options.workers) fleet_.loop.Stop();
  };
  fleet_.on_cycle = [this] {
    const std::int64_t most = fleet_.options.cycles;
    if (most > 0 && fleet_.figures.cycles() >= most) fleet_.loop.Stop();
  };
  BeginToMeasure();
  if (options.warm_up > Duration::zero()) {
    fleet_.loop.After(options.warm_up, [this] { BeginToMeasure(); });
  }
  if (options.time > Duration::zero()) {
    fleet_.loop.After(options.warm_up + options.time,
                      [this] { fleet_.loop.Stop(); });
  }
  for (std::size_t i = 0; i < kStartWindow; ++i) StartNext();
  thread_ = std::thread([this] {
    fleet_.loop.Run();
    ended_ = fleet_.clock.Steady();
    done_ = true;
  });
}

bool LoadRun::Wait(Duration longest) {
  const SteadyTime until = fleet_.clock.Steady() + longest;
  while (!done_ && fleet_.clock.Steady() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return done_;
}

void LoadRun::Stop() {
  if (!thread_.joinable()) return;
  fleet_.loop.Stop();
  thread_.join();
  workers_.clear();
  stubs_.clear();
}

}  // namespace frostline::bench
