// SPDX-License-Identifier: Apache-2.0
//
// File: load_run.h
//
// A fleet of virtual workers at work, on one thread of its own.
//
//   LoadRun run({.connect = address, .workers = 100}, clock);
//   run.Start();
//   ...                      // kill what you like
//   run.Wait(minutes(1));    // until the study has ended for every worker
//   run.Stop();
//   CheckHistory(run.history(), stored);
#ifndef FROSTLINE_TESTS_BENCH_LOAD_LOAD_RUN_H_
#define FROSTLINE_TESTS_BENCH_LOAD_LOAD_RUN_H_

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "frostline/v1/worker_service.grpc.pb.h"
#include "tests/bench/load/fleet.h"
#include "tests/bench/load/virtual_worker.h"

namespace frostline::bench {

class LoadRun {
 public:
  LoadRun(LoadOptions options, const Clock& clock);
  ~LoadRun() { Stop(); }
  LoadRun(const LoadRun&) = delete;
  LoadRun& operator=(const LoadRun&) = delete;

  void Start();
  // Whether the run ended by itself within `longest`.
  bool Wait(Duration longest);
  // Hangs up on every call. Idempotent.
  void Stop();

  // From any thread at any time.
  std::int64_t cycles() const { return fleet_.cycles; }
  std::int64_t held() const { return fleet_.held; }
  int registered() const { return registered_; }

  // After Stop().
  const Figures& figures() const { return fleet_.figures; }
  const History& history() const { return fleet_.history; }
  // What the figures are of.
  Duration measured() const { return ended_ - measured_from_; }

 private:
  void Connect();
  void StartNext();
  void BeginToMeasure();

  Fleet fleet_;
  std::vector<std::unique_ptr<v1::WorkerService::Stub>> stubs_;
  std::vector<std::unique_ptr<VirtualWorker>> workers_;
  std::size_t started_ = 0;
  int ended_workers_ = 0;
  SteadyTime measured_from_{0};
  SteadyTime ended_{0};
  std::atomic<int> registered_{0};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

// Raises the limit of open files as far as is allowed; what it is then.
std::uint64_t RaiseOpenFiles();

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_LOAD_LOAD_RUN_H_
