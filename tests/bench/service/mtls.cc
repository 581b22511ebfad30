// SPDX-License-Identifier: Apache-2.0
//
// What certificates on both sides cost: cycles beside those in plaintext, the
// memory of who waits, and how soon a fleet is back after a restart.
#include <algorithm>
#include <iostream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/bench/service/service_bench.h"
#include "tests/bench/service/tls_coordinator.h"

namespace frostline::bench {
namespace {

constexpr int kRounds = 3;
constexpr int kReconnecting = 10'000;
constexpr int kMtlsParked = 2'000;
constexpr Duration kMtlsLongest = std::chrono::minutes(4);

double MtlsCyclesPerSecond(
    ServiceBench& bench, AdminClient& admin, const std::string& address,
    const std::string& id,
    std::shared_ptr<grpc::ChannelCredentials> credentials) {
  LoadOptions options;
  options.connect = address;
  options.study = CreateStudy(admin, id, kEndless);
  options.workers = 100;
  options.warm_up = std::chrono::seconds(1);
  options.time = std::chrono::seconds(bench.quick() ? 3 : 8);
  options.credentials = std::move(credentials);
  const auto run = bench.Run(options);
  return ServiceBench::PerSecond(run->figures().cycles(), *run);
}

// Round by round, so that a slow moment of the machine meets both.
void MeasureCyclesBeside(ServiceBench& bench) {
  const auto plain = bench.StartCoordinator();
  TlsCoordinator tls(bench.NewFolder(), bench.clock());
  AdminClient plain_admin(plain->address());
  AdminClient tls_admin(tls.address(), tls.credentials());
  std::vector<double> in_plain, with_tls, ratios;
  for (int round = 0; round < kRounds; ++round) {
    const std::string id = absl::StrCat("round-", round);
    in_plain.push_back(
        MtlsCyclesPerSecond(bench, plain_admin, plain->address(), id, nullptr));
    with_tls.push_back(MtlsCyclesPerSecond(bench, tls_admin, tls.address(), id,
                                           tls.credentials()));
    ratios.push_back(with_tls.back() / in_plain.back());
  }
  for (auto* figures : {&in_plain, &with_tls, &ratios}) {
    std::sort(figures->begin(), figures->end());
  }
  bench.Figure("cycles_per_s.w100.plain", Percentile(in_plain, 0.5));
  bench.Figure("cycles_per_s.w100.mtls", Percentile(with_tls, 0.5));
  bench.Figure("ratio_mtls_to_plain", Percentile(ratios, 0.5));
}

std::int64_t WaitingAt(AdminClient& admin) {
  const auto info = admin.GetInfo();
  return info.ok() ? info->waiting_workers() : 0;
}

// Seconds until all wait; negative when they never do.
double AwaitAll(ServiceBench& bench, AdminClient& admin, int workers) {
  const SteadyTime from = bench.clock().Steady();
  while (WaitingAt(admin) < workers) {
    if (bench.clock().Steady() - from > kMtlsLongest) return -1.0;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return std::chrono::duration<double>(bench.clock().Steady() - from).count();
}

LoadOptions MtlsWaiting(TlsCoordinator& tls, int workers, int per_channel) {
  LoadOptions options;
  options.connect = tls.address();
  options.study = "";
  options.workers = workers;
  options.per_channel = per_channel;
  options.credentials = tls.credentials();
  return options;
}

void MeasureMemory(ServiceBench& bench, int workers, int per_channel,
                   const std::string& key) {
  TlsCoordinator tls(bench.NewFolder(), bench.clock());
  AdminClient admin(tls.address(), tls.credentials());
  Demand(admin.GetInfo().status(), "a first call with TLS");
  const double before = tls.program().program().ResidentKib();
  LoadRun run(MtlsWaiting(tls, workers, per_channel), bench.clock());
  run.Start();
  AwaitAll(bench, admin, workers);
  const auto parked =
      static_cast<double>(std::max<std::int64_t>(1, WaitingAt(admin)));
  bench.Figure(key, (tls.program().program().ResidentKib() - before) / parked);
  run.Stop();
}

// From the kill of the coordinator until all wait again at its successor.
void MeasureReconnect(ServiceBench& bench, int workers) {
  TlsCoordinator tls(bench.NewFolder(), bench.clock());
  AdminClient admin(tls.address(), tls.credentials());
  LoadRun run(MtlsWaiting(tls, workers, 1), bench.clock());
  run.Start();
  bench.Figure(absl::StrCat("connect_s.w", workers, ".mtls"),
               AwaitAll(bench, admin, workers));
  tls.program().Kill();
  const SteadyTime killed = bench.clock().Steady();
  if (!tls.program().Start()) std::exit(1);
  AdminClient again(tls.address(), tls.credentials());
  const double back = AwaitAll(bench, again, workers);
  bench.Figure(
      absl::StrCat("reconnect_s.w", workers, ".mtls"),
      back < 0 ? back
               : std::chrono::duration<double>(bench.clock().Steady() - killed)
                     .count());
  run.Stop();
}

}  // namespace

void MeasureMtls(ServiceBench& bench) {
  MeasureCyclesBeside(bench);
  MeasureMemory(bench, kMtlsParked, 1, "kib_per_parked_worker.mtls");
  MeasureMemory(bench, kMtlsParked, 50, "kib_per_parked_worker.mtls.shared");
  if (RaiseOpenFiles() < kReconnecting + 256) {
    std::cout << "too few open files allowed (ulimit -n) for " << kReconnecting
              << " connections" << std::endl;
  } else {
    MeasureReconnect(bench, bench.quick() ? kMtlsParked : kReconnecting);
  }
}

}  // namespace frostline::bench
