// SPDX-License-Identifier: Apache-2.0
//
// Cycles of Acquire and Finish: how many there are in a second when workers do
// nothing else, and how long a worker waits when they do.
#include "absl/strings/str_cat.h"
#include "tests/bench/service/service_bench.h"

namespace frostline::bench {
namespace {

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

}  // namespace frostline::bench
