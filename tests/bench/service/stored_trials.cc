// SPDX-License-Identifier: Apache-2.0
//
// How long a coordinator takes to start on a database of many trials that have
// ended, and what it holds in memory then. The rows are written as a
// coordinator leaves them, without one, so that a million takes seconds.
#include <memory>

#include "absl/strings/str_cat.h"
#include "storage/factory.h"
#include "tests/bench/service/service_bench.h"

namespace frostline::bench {
namespace {

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

}  // namespace frostline::bench
