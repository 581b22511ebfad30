// SPDX-License-Identifier: Apache-2.0
//
// The same work on a study that has come to have a hundred thousand trials,
// and how long a coordinator takes to start on them.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/wire_error.h"
#include "tests/bench/service/service_bench.h"

namespace frostline::bench {
namespace {

constexpr int kBatch = 1000;  // trials of one ImportTrials

void Import(AdminClient& admin, const std::string& study, int batches) {
  for (int i = 0; i < batches; ++i) {
    const auto imported =
        admin.Call(admin.studies(), &v1::StudyService::Stub::ImportTrials,
                   LoadHistory(study, kBatch, kParameters));
    Demand(imported.status(), "importing trials");
  }
}

double HistoryCyclesPerSecond(const ServiceBench& bench,
                              const std::string& address,
                              const std::string& study) {
  LoadOptions options;
  options.connect = address;
  options.study = study;
  options.warm_up = std::chrono::seconds(1);
  options.time = std::chrono::seconds(bench.quick() ? 3 : 8);
  const auto run = bench.Run(options);
  return ServiceBench::PerSecond(run->figures().cycles(), *run);
}

// All of a study as CSV; the lines that came.
std::int64_t Export(AdminClient& admin, const std::string& study) {
  v1::ExportTrialsRequest request;
  request.set_name(study);
  request.set_format(v1::ExportTrialsRequest::CSV);
  grpc::ClientContext context;
  const auto stream = admin.studies().ExportTrials(&context, request);
  std::int64_t lines = 0;
  v1::ExportChunk chunk;
  while (stream->Read(&chunk)) {
    lines += std::count(chunk.data().begin(), chunk.data().end(), '\n');
  }
  Demand(proto::FromGrpcStatus(stream->Finish()), "exporting");
  return lines;
}

void MeasureExport(ServiceBench& bench, CoordinatorProgram& coordinator,
                   const std::string& study) {
  AdminClient admin(coordinator.address());
  Demand(admin.GetStudy(study).status(), "connecting");
  const double before = coordinator.program().ResidentKib();
  const SteadyTime begin = bench.clock().Steady();
  const std::int64_t lines = Export(admin, study);
  const std::chrono::duration<double> spent = bench.clock().Steady() - begin;
  bench.Figure("export_s.trials100k",
               spent.count() * 100'000 / static_cast<double>(lines));
  bench.Figure("export_mib.trials100k",
               (coordinator.program().ResidentKib() - before) / 1024);
}

}  // namespace

void MeasureHistory(ServiceBench& bench) {
  const auto coordinator = bench.StartCoordinator();
  const std::string address = coordinator->address();
  AdminClient admin(address);
  const std::string study = CreateStudy(admin, "history", kEndless);
  std::int64_t there = 0;
  double first = 0.0;
  double last = 0.0;
  for (const int thousands : {1, 10, 100}) {
    const int more = thousands - static_cast<int>(there / kBatch);
    Import(admin, study, std::max(0, more));
    last = HistoryCyclesPerSecond(bench, address, study);
    if (thousands == 1) first = last;
    bench.Figure(absl::StrCat("cycles_per_s.trials", thousands, "k"), last);
    const auto info = admin.GetStudy(study);
    Demand(info.status(), "counting trials");
    there = info->counts().succeeded();
  }
  bench.Figure("ratio_100k_to_1k", last / first);
  coordinator->Kill();
  if (!coordinator->Start()) {
    Demand(absl::InternalError("it does not listen"), "starting again");
  }
  bench.Figure(
      "start_s.trials100k",
      std::chrono::duration<double>(coordinator->start_took()).count());
  MeasureExport(bench, *coordinator, study);
}

}  // namespace frostline::bench
