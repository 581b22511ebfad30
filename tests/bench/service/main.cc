// SPDX-License-Identifier: Apache-2.0
//
// The service as its users meet it: the real coordinator on a real disk, and
// thousands of virtual workers. FROSTLINE_BENCH_CHAPTER=parked measures one
// chapter alone.
#include <cstdlib>
#include <string>

#include "tests/bench/service/service_bench.h"

namespace frostline::bench {
namespace {

struct Chapter {
  const char* name;
  void (*measure)(ServiceBench&);
};
constexpr Chapter kChapters[] = {
    {"start", MeasureStart},     {"cycles", MeasureCycles},
    {"reports", MeasureReports}, {"busy", MeasureBusy},
    {"parked", MeasureParked},   {"history", MeasureHistory},
    {"judging", MeasureJudging}, {"stored", MeasureStoredTrials},
    {"mtls", MeasureMtls},       {"door", MeasureFrontDoor},
    {"flood", MeasureFlood},     {"scale", MeasureScale}};

void Run(const Bench& bench) {
  const char* const only = std::getenv("FROSTLINE_BENCH_CHAPTER");
  ServiceBench service(bench);
  for (const Chapter& chapter : kChapters) {
    if (only == nullptr || std::string(only) == chapter.name) {
      chapter.measure(service);
    }
  }
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  const frostline::bench::Bench bench(argc, argv);
  frostline::bench::Run(bench);
}
