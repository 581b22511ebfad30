// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/ids.h"
#include "tests/bench/service/service_bench.h"

namespace frostline::bench {
namespace {

// Cycles of Acquire and Finish: how many there are in a second when workers do
// nothing else, and how long a worker waits when they do.

// A fleet that asks for about a thousand trials a second: the queue is warm,
// the coordinator is not full.
constexpr Duration kPace = std::chrono::milliseconds(100);

LoadOptions FleetOf(const ServiceBench& bench, const std::string& address,
                    const std::string& study, int workers) {
  LoadOptions options;
  options.connect = address;
  options.study = study;
  options.workers = workers;
  options.warm_up = std::chrono::seconds(1);
  options.time = std::chrono::seconds(bench.quick() ? 3 : 8);
  return options;
}

}  // namespace

void MeasureCycles(ServiceBench& bench) {
  const auto coordinator = bench.StartCoordinator();
  AdminClient admin(coordinator->address());
  for (const int workers : {1, 16, 100, 1000}) {
    const std::string size = absl::StrCat("w", workers);
    const auto run =
        bench.Run(FleetOf(bench, coordinator->address(),
                          CreateStudy(admin, size, kEndless), workers));
    bench.Figure("cycles_per_s." + size,
                 ServiceBench::PerSecond(run->figures().cycles(), *run));
    bench.Figure("acquire_p50_ms.full." + size,
                 run->figures().Milliseconds("acquire", 0.5));
    bench.Figure("acquire_p99_ms.full." + size,
                 run->figures().Milliseconds("acquire", 0.99));
  }
}

void MeasureReports(ServiceBench& bench) {
  const auto coordinator = bench.StartCoordinator();
  AdminClient admin(coordinator->address());
  LoadOptions paced = FleetOf(bench, coordinator->address(),
                              CreateStudy(admin, "paced", kEndless), 100);
  paced.think = kPace / 2;
  paced.reports = 1;
  auto run = bench.Run(paced);
  bench.Figure("acquire_p50_ms.w100",
               run->figures().Milliseconds("acquire", 0.5));
  bench.Figure("acquire_p99_ms.w100",
               run->figures().Milliseconds("acquire", 0.99));
  bench.Figure("report_p99_ms.w100",
               run->figures().Milliseconds("report", 0.99));

  LoadOptions curves = FleetOf(bench, coordinator->address(),
                               CreateStudy(admin, "curves", kEndless), 100);
  curves.reports = 10;
  curves.measurements = 50;
  run = bench.Run(curves);
  bench.Figure("measurements_per_s",
               ServiceBench::PerSecond(run->figures().measurements(), *run));
}

namespace {

// How long a worker's heartbeat takes while many people list all studies.

constexpr int kBusyStudies = 300;
constexpr int kListing = 16;
constexpr auto kPause = std::chrono::milliseconds(2);

// A worker with one trial.
class BeatingWorker {
 public:
  BeatingWorker(AdminClient& client, const Clock& clock)
      : client_(client), clock_(clock) {
    v1::RegisterRequest request;
    request.set_request_id(RandomHexId());
    request.set_worker_id("beating");
    request.mutable_worker()->set_boot_id("boot-1");
    request.mutable_worker()->set_slots(1);
    Demand(client_
               .Call(client_.workers(), &v1::WorkerService::Stub::Register,
                     request)
               .status(),
           "registering");
    v1::AcquireRequest acquire;
    acquire.set_request_id(RandomHexId());
    acquire.set_worker(WorkerNameOf("beating"));
    acquire.set_boot_id("boot-1");
    acquire.set_max_leases(1);
    acquire.mutable_wait()->set_seconds(20);
    const auto leased = client_.Call(
        client_.workers(), &v1::WorkerService::Stub::Acquire, acquire);
    Demand(leased.status(), "acquiring");
    beat_.set_worker(WorkerNameOf("beating"));
    beat_.set_boot_id("boot-1");
    if (leased->leases_size() != 1) return;
    v1::LeaseRef& held = *beat_.add_leases()->mutable_lease();
    held.set_trial(leased->leases(0).trial());
    held.set_attempt(leased->leases(0).attempt());
    held.set_secret(leased->leases(0).secret());
  }

  double BeatMs() {
    const SteadyTime begin = clock_.Steady();
    Demand(
        client_
            .Call(client_.workers(), &v1::WorkerService::Stub::Heartbeat, beat_)
            .status(),
        "a heartbeat");
    return std::chrono::duration<double, std::milli>(clock_.Steady() - begin)
        .count();
  }

  // Sorted, as Percentile() takes them.
  std::vector<double> Beats(int count) {
    std::vector<double> took;
    for (int i = 0; i < count; ++i) {
      took.push_back(BeatMs());
      std::this_thread::sleep_for(kPause);
    }
    std::sort(took.begin(), took.end());
    return took;
  }

 private:
  AdminClient& client_;
  const Clock& clock_;
  v1::HeartbeatRequest beat_;
};

}  // namespace

void MeasureBusy(ServiceBench& bench) {
  const auto coordinator = bench.StartCoordinator();
  AdminClient admin(coordinator->address());
  for (int i = 0; i < kBusyStudies; ++i) {
    CreateStudy(admin, absl::StrCat("listed-", i), 2);
  }
  BeatingWorker worker(admin, bench.clock());
  const int beats = bench.quick() ? 500 : 2'000;
  bench.Figure("heartbeat_p99_ms.idle", Percentile(worker.Beats(beats), 0.99));
  std::atomic<bool> over = false;
  std::atomic<int> lists = 0;
  std::vector<std::thread> people;
  for (int i = 0; i < kListing; ++i) {
    people.emplace_back([&] {
      AdminClient person(coordinator->address());
      v1::ListStudiesRequest request;
      request.set_page_size(1'000);
      while (!over) {
        const auto page = person.Call(
            person.studies(), &v1::StudyService::Stub::ListStudies, request);
        Demand(page.status(), "listing studies");
        ++lists;
      }
    });
  }
  const SteadyTime begin = bench.clock().Steady();
  const std::vector<double> took = worker.Beats(beats);
  const std::chrono::duration<double> spent = bench.clock().Steady() - begin;
  over = true;
  for (std::thread& person : people) person.join();
  bench.Figure("heartbeat_p50_ms.busy", Percentile(took, 0.5));
  bench.Figure("heartbeat_p99_ms.busy", Percentile(took, 0.99));
  bench.Figure("lists_per_s.busy", lists / spent.count());
}

namespace {

// Ten thousand workers that wait: what they cost, and how soon one of them has
// the trial that somebody brings.

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

namespace {

// Where one coordinator ends: what workers that train cost it, and studies that
// are open. A trial takes a minute and heartbeats every 15 s, as with the
// defaults; the fleet is on the same cores, so the coordinator's own processor
// time is what tells.

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

// What a coordinator costs before anybody asks it for anything.

void MeasureStart(ServiceBench& bench) {
  constexpr int kRounds = 5;
  std::vector<double> took;
  double resident_kib = 0.0;
  for (int i = 0; i < kRounds; ++i) {
    const auto coordinator = bench.StartCoordinator();
    took.push_back(
        std::chrono::duration<double, std::milli>(coordinator->start_took())
            .count());
    resident_kib = std::max(resident_kib, coordinator->program().ResidentKib());
  }
  std::sort(took.begin(), took.end());
  bench.Figure("start_ms", Percentile(took, 0.5));
  bench.Figure("idle_mib", resident_kib / 1024);
}

}  // namespace frostline::bench
