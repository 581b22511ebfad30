// SPDX-License-Identifier: Apache-2.0
//
// File: service_bench.h
//
// What the chapters of the service's benchmark share: fresh coordinators on a
// real disk, and fleets against them. Each chapter prints its figures.
#ifndef FROSTLINE_TESTS_BENCH_SERVICE_SERVICE_BENCH_H_
#define FROSTLINE_TESTS_BENCH_SERVICE_SERVICE_BENCH_H_

#include <memory>
#include <string>

#include "base/clock.h"
#include "tests/bench/bench_main.h"
#include "tests/bench/load/admin_client.h"
#include "tests/bench/load/load_run.h"
#include "tests/bench/load/program.h"

namespace frostline::bench {

inline constexpr int kParameters = 12;
inline constexpr std::int64_t kEndless = 1'000'000;  // trials

class ServiceBench {
 public:
  explicit ServiceBench(const Bench& bench);
  ~ServiceBench();  // removes the data
  ServiceBench(const ServiceBench&) = delete;
  ServiceBench& operator=(const ServiceBench&) = delete;

  bool quick() const { return bench_.quick(); }
  void Figure(const std::string& key, double value) const {
    bench_.Figure(key, value);
  }
  const Clock& clock() const { return clock_; }

  // A coordinator on an empty folder of its own; ends the program when it does
  // not start.
  std::unique_ptr<CoordinatorProgram> StartCoordinator();
  std::string NewFolder();

  // Runs a fleet to its end, after a warm-up.
  std::unique_ptr<LoadRun> Run(LoadOptions options) const;
  static double PerSecond(std::int64_t count, const LoadRun& run);

 private:
  const Bench& bench_;
  const SystemClock clock_;
  std::string folder_;
  int folders_ = 0;
};

// Ends the program with the error when there is one.
void Demand(const absl::Status& status, const std::string& what);
// Creates a study with the random sampler and answers its name.
std::string CreateStudy(AdminClient& admin, const std::string& id,
                        std::int64_t trials);

void MeasureStart(ServiceBench& bench);
void MeasureCycles(ServiceBench& bench);
void MeasureReports(ServiceBench& bench);
void MeasureParked(ServiceBench& bench);
void MeasureMtls(ServiceBench& bench);
void MeasureBusy(ServiceBench& bench);
void MeasureHistory(ServiceBench& bench);
void MeasureJudging(ServiceBench& bench);
void MeasureStoredTrials(ServiceBench& bench);
void MeasureFrontDoor(ServiceBench& bench);
void MeasureFlood(ServiceBench& bench);
void MeasureScale(ServiceBench& bench);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_SERVICE_SERVICE_BENCH_H_
