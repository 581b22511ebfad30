// SPDX-License-Identifier: Apache-2.0
//
// The promises that need several threads.
#include <atomic>
#include <thread>

#include "base/error.h"
#include "tests/contract/trial_store_contract.h"

namespace frostline::test {
namespace {

constexpr int kTrialsEach = 5;
constexpr int kRounds = 300;

// Every transaction gives all trials the next priority, so a reader that sees
// two different ones has seen half a transaction.
absl::Status RaisePriority(storage::TrialStore& store, storage::StudyKey study,
                           int priority) {
  return Write(store, [&](storage::Transaction& transaction) -> absl::Status {
    for (int i = 0; i < kTrialsEach; ++i) {
      storage::TrialRow trial = FullTrial(study, i);
      const storage::TrialGuard guard = GuardOf(trial);
      trial.priority = priority;
      trial.revision = 1000 * priority + i;
      RETURN_IF_ERROR(transaction.UpdateTrial(trial, guard));
    }
    return absl::OkStatus();
  });
}

// The priority all trials of one snapshot have; -1: they differ.
int SeenPriority(const storage::TrialStore& store,
                 const storage::TrialQuery& query) {
  const auto rows = store.ListTrials(query);
  if (!rows.ok() || rows->size() != kTrialsEach) return -1;
  for (const storage::TrialRow& row : *rows) {
    if (row.priority != rows->front().priority) return -1;
  }
  return rows->front().priority;
}

}  // namespace

TEST_P(TrialStoreContract, ReadersSeeWholeTransactionsInTheirOrder) {
  const storage::StudyKey study = AddStudy("imdb");
  for (int i = 0; i < kTrialsEach; ++i) AddTrial(FullTrial(study, i));
  ASSERT_OK(RaisePriority(*store_, study, 0));
  std::atomic<bool> done = false;
  std::atomic<int> torn = 0;
  std::atomic<int> backwards = 0;
  std::atomic<int> reads = 0;
  const auto read = [&](storage::TrialQuery query) {
    for (int last = 0; !done; ++reads) {
      const int seen = SeenPriority(*store_, query);
      if (seen < 0) ++torn;
      if (seen >= 0 && seen < last) ++backwards;
      last = seen;
    }
  };
  std::vector<std::thread> readers;
  storage::TrialQuery query = TrialsOf(study);
  readers.emplace_back(read, query);
  query.order = storage::TrialQuery::Order::kRevision;
  readers.emplace_back(read, query);
  query.order = storage::TrialQuery::Order::kNumber;
  query.states = {TrialState::kRunning, TrialState::kQueued};
  readers.emplace_back(read, query);
  absl::Status status;
  for (int i = 1; i <= kRounds && status.ok(); ++i) {
    status = RaisePriority(*store_, study, i);
  }
  while (status.ok() && reads < 30) std::this_thread::yield();
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_OK(status);
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(backwards, 0);
}

TEST_P(TrialStoreContract, ReadersDoNotWaitForAnOpenTransaction) {
  AddStudy("imdb");
  ASSERT_OK_AND_ASSIGN(auto transaction, Begin(*store_));
  ASSERT_OK(transaction->InsertStudy(FullStudy("other")));
  std::thread([this] {  // would hang the test if it waited
    EXPECT_OK(store_->FindStudy("imdb"));
    EXPECT_EQ(store_->ListStudies({})->size(), 1u);
  })
      .join();
}

TEST_P(TrialStoreContract, WritersComeOneAfterTheOther) {
  const storage::StudyKey study = AddStudy("imdb");
  constexpr int kEach = 40;
  std::atomic<int> failures = 0;
  std::atomic<int> open = 0;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kEach; ++i) {
        auto transaction = Begin(*store_);
        if (!transaction.ok() || ++open != 1) ++failures;
        const auto inserted =
            (*transaction)->InsertTrial(FullTrial(study, writer * kEach + i));
        --open;
        if (!inserted.ok() || !(*transaction)->Commit().ok()) ++failures;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(Numbers(TrialsOf(study, 1000)).size(), 3u * kEach);
}

}  // namespace frostline::test
