// SPDX-License-Identifier: Apache-2.0
//
// Ten thousand workers that wait: what they cost, and how soon one of them has
// the trial that somebody brings.
#include <algorithm>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "tests/bench/service/service_bench.h"

namespace frostline::bench {
namespace {

constexpr int kParked = 10'000;
constexpr Duration kLongestWait = std::chrono::seconds(90);

// When trials were granted, for the thread that brings them.
class Grants {
 public:
  void Put(const std::string& trial, SteadyTime when) {
    const std::lock_guard<std::mutex> lock(mutex_);
    when_.emplace(trial, when);
  }
  // Zero while it was not.
  SteadyTime Find(const std::string& trial) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = when_.find(trial);
    return found == when_.end() ? SteadyTime{} : found->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, SteadyTime> when_;
};

LoadOptions Waiting(const std::string& address, int per_channel) {
  LoadOptions options;
  options.connect = address;
  options.study = "";
  options.workers = kParked;
  options.per_channel = per_channel;
  return options;
}

// The number that wait once all do, or when time is up.
std::int64_t AwaitParked(AdminClient& admin, int wanted, const Clock& clock) {
  const SteadyTime until = clock.Steady() + kLongestWait;
  std::int64_t waiting = 0;
  while (waiting < wanted && clock.Steady() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto info = admin.GetInfo();
    Demand(info.status(), "asking who waits");
    waiting = info->waiting_workers();
  }
  return waiting;
}

// One study of one trial at a time: until a parked worker has it.
std::vector<double> MeasureWakes(ServiceBench& bench, AdminClient& admin,
                                 Grants& grants, int count) {
  std::vector<double> took;
  for (int i = 0; i < count; ++i) {
    const std::string id = absl::StrCat("wake-", i);
    const std::string trial = TrialNameOf(id, 0);
    const SteadyTime asked = bench.clock().Steady();
    CreateStudy(admin, id, 1);
    SteadyTime granted = grants.Find(trial);
    while (granted == SteadyTime{} &&
           bench.clock().Steady() - asked < std::chrono::seconds(5)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      granted = grants.Find(trial);
    }
    if (granted == SteadyTime{}) granted = bench.clock().Steady();
    took.push_back(
        std::chrono::duration<double, std::milli>(granted - asked).count());
  }
  std::sort(took.begin(), took.end());
  return took;
}

void Measure(ServiceBench& bench, int per_channel, bool wakes) {
  const auto coordinator = bench.StartCoordinator();
  AdminClient admin(coordinator->address());
  Demand(admin.GetInfo().status(), "a first call");
  const double before = coordinator->program().ResidentKib();
  Grants grants;
  LoadOptions options = Waiting(coordinator->address(), per_channel);
  options.on_grant = [&grants](const std::string& trial, SteadyTime when) {
    grants.Put(trial, when);
  };
  LoadRun run(options, bench.clock());
  run.Start();
  const std::int64_t parked = AwaitParked(admin, kParked, bench.clock());
  const double each = (coordinator->program().ResidentKib() - before) /
                      static_cast<double>(std::max<std::int64_t>(1, parked));
  if (per_channel > 1) {
    bench.Figure("kib_per_parked_worker.shared", each);
  } else {
    bench.Figure("parked_workers", static_cast<double>(parked));
    bench.Figure("kib_per_parked_worker", each);
  }
  if (wakes) {
    const auto took =
        MeasureWakes(bench, admin, grants, bench.quick() ? 200 : 400);
    bench.Figure("wake_p50_ms", Percentile(took, 0.5));
    bench.Figure("wake_p99_ms", Percentile(took, 0.99));
  }
  run.Stop();
}

}  // namespace

void MeasureParked(ServiceBench& bench) {
  if (RaiseOpenFiles() < kParked + 256) {
    std::cout << "too few open files allowed (ulimit -n) for " << kParked
              << " connections" << std::endl;
  } else {
    Measure(bench, 1, true);
  }
  Measure(bench, 50, false);
}

}  // namespace frostline::bench
