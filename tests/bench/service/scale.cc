// SPDX-License-Identifier: Apache-2.0
//
// Where one coordinator ends: what workers that train cost it, and studies that
// are open. A trial takes a minute and heartbeats every 15 s, as with the
// defaults; the fleet is on the same cores, so the coordinator's own processor
// time is what tells.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/bench/service/service_bench.h"

namespace frostline::bench {
namespace {

constexpr int kPerChannel = 50;
constexpr Duration kTrial = std::chrono::seconds(60);
constexpr Duration kMeasured = std::chrono::seconds(20);
constexpr Duration kLongest = std::chrono::minutes(4);
constexpr std::size_t kUserTicks = 11;  // behind the name, proc(5)
constexpr std::size_t kSystemTicks = 12;

// Processor seconds of a process so far.
double CpuSecondsOf(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos) return 0.0;
  const std::vector<std::string> fields =
      absl::StrSplit(text.substr(name_end + 2), ' ');
  double user = 0.0, system = 0.0;
  if (fields.size() <= kSystemTicks ||
      !absl::SimpleAtod(fields[kUserTicks], &user) ||
      !absl::SimpleAtod(fields[kSystemTicks], &system)) {
    return 0.0;
  }
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

// Until all train, or time is up.
void AwaitHeld(const LoadRun& run, int workers, const Clock& clock) {
  const SteadyTime until = clock.Steady() + kLongest;
  while (run.held() < workers && clock.Steady() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

void MeasureWorkers(ServiceBench& bench, int workers) {
  const auto coordinator = bench.StartCoordinator();
  AdminClient admin(coordinator->address());
  LoadOptions options;
  options.connect = coordinator->address();
  options.study = CreateStudy(admin, "wide", kEndless);
  options.workers = workers;
  options.per_channel = std::min(workers, kPerChannel);
  options.think = kTrial;
  const Program& program = coordinator->program();
  const double before_kib = program.ResidentKib();
  LoadRun run(options, bench.clock());
  run.Start();
  AwaitHeld(run, workers - workers / 20, bench.clock());
  const double cpu = CpuSecondsOf(program.pid());
  const SteadyTime from = bench.clock().Steady();
  std::this_thread::sleep_for(kMeasured);
  const double took =
      std::chrono::duration<double>(bench.clock().Steady() - from).count();
  const std::string end = absl::StrCat(".w", workers);
  bench.Figure("scale.training" + end, static_cast<double>(run.held()));
  bench.Figure("scale.cores" + end, (CpuSecondsOf(program.pid()) - cpu) / took);
  bench.Figure("scale.kib_per_worker" + end,
               (program.ResidentKib() - before_kib) / workers);
  run.Stop();
  bench.Figure("scale.heartbeat_p99_ms" + end,
               run.figures().Milliseconds("heartbeat", 0.99));
}

void MeasureStudies(ServiceBench& bench, int studies) {
  const auto coordinator = bench.StartCoordinator();
  AdminClient admin(coordinator->address());
  const Program& program = coordinator->program();
  Demand(admin.GetInfo().status(), "a first call");
  const double before_kib = program.ResidentKib();
  for (int i = 0; i < studies; ++i) {
    CreateStudy(admin, absl::StrCat("study-", i), kEndless);
  }
  const std::string end = absl::StrCat(".s", studies);
  bench.Figure("scale.kib_per_study" + end,
               (program.ResidentKib() - before_kib) / studies);
  LoadOptions options;
  options.connect = coordinator->address();
  options.study = "";  // whatever there is
  options.workers = 100;
  options.warm_up = std::chrono::seconds(1);
  options.time = std::chrono::seconds(bench.quick() ? 3 : 8);
  const double cpu = CpuSecondsOf(program.pid());
  const auto run = bench.Run(options);
  const double cycles = static_cast<double>(run->cycles());
  bench.Figure("scale.cycles_per_s" + end,
               ServiceBench::PerSecond(run->figures().cycles(), *run));
  bench.Figure("scale.cpu_us_per_cycle" + end,
               1e6 * (CpuSecondsOf(program.pid()) - cpu) / cycles);
}

}  // namespace

void MeasureScale(ServiceBench& bench) {
  std::vector<int> workers = {1'000, 10'000};
  std::vector<int> studies = {1, 100, 1'000};
  if (!bench.quick()) {
    workers.insert(workers.end(), {30'000, 100'000});
    studies.push_back(10'000);
  }
  RaiseOpenFiles();
  for (const int count : workers) MeasureWorkers(bench, count);
  for (const int count : studies) MeasureStudies(bench, count);
}

}  // namespace frostline::bench
