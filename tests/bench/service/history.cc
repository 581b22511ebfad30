// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <memory>

#include "absl/strings/str_cat.h"
#include "proto/wire_error.h"
#include "sampler/pruner/pruner.h"
#include "server/ledger/study_book.h"
#include "storage/factory.h"
#include "tests/bench/service/service_bench.h"

namespace frostline::bench {
namespace {

// How long a coordinator takes to start on a database of many trials that have
// ended, and what it holds in memory then. The rows are written as a
// coordinator leaves them, without one, so that a million takes seconds.

constexpr std::int64_t kStudies = 10;
constexpr std::int64_t kChunk = 10'000;  // trials of one transaction

storage::TrialRow EndedTrial(storage::StudyKey study, std::int64_t number) {
  storage::TrialRow row;
  row.study = study;
  row.number = number;
  row.state = TrialState::kSucceeded;
  row.point = Point(kParameters, 0.0);
  row.attempt = 1;
  row.secret = SecretString("0123456789abcdef0123456789abcdef");
  row.worker = "bench-worker";
  row.values = {1.0 / static_cast<double>(number + 1)};
  row.metrics = {{"accuracy", row.values[0]}};
  row.revision = row.ended_revision = number + 2;
  row.created = row.started = row.ended = 1'700'000'000'000'000;
  return row;
}

void Write(storage::TrialStore& store, storage::Epoch epoch,
           absl::FunctionRef<absl::Status(storage::Transaction&)> body) {
  auto transaction = store.Begin(epoch);
  Demand(transaction.status(), "beginning");
  Demand((*transaction)->Operation([&] { return body(**transaction); }),
         "writing rows");
  Demand((*transaction)->Commit(), "committing");
}

storage::StudyKey InsertStudy(storage::TrialStore& store, storage::Epoch epoch,
                              const std::string& id, std::int64_t trials) {
  const v1::CreateStudyRequest request = LoadStudy(id, trials, kParameters);
  storage::StudyRow row;
  row.id = id;
  row.spec = request.spec().SerializeAsString();
  row.settings = request.settings().SerializeAsString();
  row.state = storage::StudyState::kCompleted;
  row.state_reason = "budget reached";
  row.revision = 1;
  storage::StudyKey key = 0;
  Write(store, epoch, [&](storage::Transaction& transaction) {
    const auto inserted = transaction.InsertStudy(row);
    key = inserted.value_or(0);
    return inserted.status();
  });
  return key;
}

void InsertTrials(storage::TrialStore& store, storage::Epoch epoch,
                  storage::StudyKey study, std::int64_t trials) {
  for (std::int64_t first = 0; first < trials; first += kChunk) {
    Write(store, epoch, [&](storage::Transaction& transaction) {
      absl::Status status;
      for (std::int64_t i = first;
           status.ok() && i < std::min(first + kChunk, trials); ++i) {
        status = transaction.InsertTrial(EndedTrial(study, i));
      }
      return status;
    });
  }
  Write(store, epoch, [&](storage::Transaction& transaction) {
    const absl::Status best =
        transaction.PutBest({study, 0, EndedTrial(study, 0).values});
    if (!best.ok()) return best;
    return transaction.PutSummary({.study = study,
                                   .succeeded = trials,
                                   .budget_used = trials,
                                   .next_number = trials,
                                   .revision = trials + 1});
  });
}

void MeasureOne(ServiceBench& bench, const char* name, std::int64_t trials) {
  const std::string folder = bench.NewFolder();
  {
    auto store = storage::OpenStore({.data_folder = folder});
    Demand(store.status(), "opening a store");
    const auto epoch = (*store)->TakeLead();
    Demand(epoch.status(), "taking the lead");
    for (std::int64_t i = 0; i < kStudies; ++i) {
      const std::int64_t share = trials / kStudies;
      InsertTrials(
          **store, *epoch,
          InsertStudy(**store, *epoch, absl::StrCat("study-", i), share),
          share);
    }
  }
  CoordinatorProgram coordinator(CoordinatorSpec{.data = folder});
  if (!coordinator.Start()) {
    Demand(absl::InternalError(coordinator.program().Log()), "starting");
  }
  bench.Figure(absl::StrCat("start_s.trials", name),
               std::chrono::duration<double>(coordinator.start_took()).count());
  bench.Figure(absl::StrCat("mib.trials", name),
               coordinator.program().ResidentKib() / 1024);
}

}  // namespace

void MeasureStoredTrials(ServiceBench& bench) {
  MeasureOne(bench, "10k.ended", 10'000);
  MeasureOne(bench, "100k.ended", 100'000);
  if (!bench.quick()) MeasureOne(bench, "1m", 1'000'000);
}

namespace {

// The same work on a study that has come to have a hundred thousand trials,
// and how long a coordinator takes to start on them.

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

namespace {

// What one more report, or one more result, costs in a study that has a hundred
// thousand trials: the judgement, and the set of the best. No coordinator runs.

constexpr std::int64_t kTrials = 100'000;
constexpr std::int64_t kSteps = 10;

// Spread over [0, 1) without order.
double Spread(std::int64_t i) {
  return static_cast<double>(i * 7919 % kTrials) / static_cast<double>(kTrials);
}

Observation Begun(std::int64_t number) {
  Observation trial;
  trial.number = number;
  trial.state = TrialState::kRunning;
  return trial;
}

frostline::History Grown() {
  frostline::History history;
  for (std::int64_t n = 0; n < kTrials; ++n) {
    history.Put(Begun(n));
    for (std::int64_t step = 0; step < kSteps; ++step) {
      history.Append(n, {.step = step, .value = Spread(n + step)});
    }
    history.Amend(n, [n](Observation& trial) {
      trial.state = TrialState::kSucceeded;
      trial.values = {Spread(n)};
    });
  }
  return history;
}

template <typename Unit>
double Took(const ServiceBench& bench, SteadyTime begin, std::int64_t times) {
  const std::chrono::duration<double, Unit> spent =
      bench.clock().Steady() - begin;
  return spent.count() / static_cast<double>(times);
}

// Trials report and succeed one after the other.
void MeasureMedian(ServiceBench& bench) {
  frostline::History history = Grown();
  const auto pruner = sampler::MakePruner({.name = "median", .options = {}},
                                          {{"loss", Direction::kMinimize}});
  Demand(pruner.status(), "making a pruner");
  (*pruner)->Judge(history, 0);  // reads what there is
  constexpr std::int64_t kMore = 1'000;
  std::int64_t pruned = 0;
  const SteadyTime begin = bench.clock().Steady();
  for (std::int64_t n = kTrials; n < kTrials + kMore; ++n) {
    history.Put(Begun(n));
    for (std::int64_t step = 0; step < kSteps; ++step) {
      history.Append(n, {.step = step, .value = Spread(n + step)});
      pruned += (*pruner)->Judge(history, n).prune ? 1 : 0;
    }
    history.Amend(n, [](Observation& trial) {
      trial.state = TrialState::kSucceeded;
      trial.values = {0.5};
    });
  }
  const double us = Took<std::micro>(bench, begin, kMore * kSteps);
  if (pruned == 0) Demand(absl::InternalError("nobody"), "pruning");
  bench.Figure("report_us.median.n100k", us);
}

// Nobody dominates anybody, which is the worst case.
void MeasurePareto(ServiceBench& bench) {
  server::BestTrials best(
      {{"accuracy", Direction::kMaximize}, {"seconds", Direction::kMinimize}});
  const SteadyTime begin = bench.clock().Steady();
  for (std::int64_t n = 0; n < kTrials; ++n) {
    best.Offer(n, {Spread(n), Spread(n)});
  }
  bench.Figure("pareto_ms.n100k.o2", Took<std::milli>(bench, begin, kTrials));
}

}  // namespace

void MeasureJudging(ServiceBench& bench) {
  MeasureMedian(bench);
  MeasurePareto(bench);
}

}  // namespace frostline::bench
