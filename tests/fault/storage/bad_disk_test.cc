// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "tests/fault/storage/power_cut_fixture.h"
#include "tests/storage/sqlite_fixture.h"
#include "tests/support/record.h"

namespace frostline::test {
namespace {

// Every write, sync and truncation of a whole workflow fails, once or from then
// on, and the disk is full at every point of it: the store says so or stops, it
// never says OK to what is not there afterwards.

using Call = PowerCutDisk::Call;

constexpr int kSteps = 25;
constexpr int kWorkflows = 1;
constexpr std::int64_t kFillStep = 3001;

class BadDiskTest : public PowerCutFixture {
 protected:
  // From a blank disk; errors are expected, and what was acknowledged is
  // recorded.
  void RunWorkflow() {
    if (!Open().ok()) return;
    for (int i = 0; i < kSteps; ++i) workload_->Step(*store_).IgnoreError();
  }

  // Starts again where the process ended, on what programs see; works on; then
  // the power goes.
  void ExpectIntactForGood(Rng& rng) {
    disk().Follow({});
    ASSERT_OK(Open());
    ASSERT_TRUE(IsIntact());
    ASSERT_OK(Run(3));
    Cut(rng);
    ASSERT_OK(Open());
    ASSERT_TRUE(IsIntact());
  }
  void ExpectIntactAfterCut(Rng& rng) {
    Cut(rng);
    ASSERT_OK(Open());
    ASSERT_TRUE(IsIntact());
  }

  // How many calls there were to fail.
  std::int64_t FailEach(Call call, bool for_ever, std::uint64_t seed) {
    for (std::int64_t n = 1;; ++n) {
      SCOPED_TRACE(testing::Message()
                   << "call " << n << " of kind " << static_cast<int>(call)
                   << (for_ever ? " and all after it" : " alone") << ", seed "
                   << seed);
      Rng rng(seed + static_cast<std::uint64_t>(n));
      Begin(seed);
      disk().Follow({.failing = call, .fail_at = n, .fail_for_ever = for_ever});
      RunWorkflow();
      const bool reached = disk().failures() > 0;
      if (reached) ++record_["failed_calls"];
      Close();
      if (n % 2 == 0) {
        ExpectIntactAfterCut(rng);
      } else {
        ExpectIntactForGood(rng);
      }
      if (!reached || HasFailure()) return n - 1;
    }
  }
};

TEST_F(BadDiskTest, NoCallThatFailsIsTakenForOneThatWorked) {
  const int workflows = FaultCount(kWorkflows);
  for (std::uint64_t seed = 1;
       seed <= static_cast<std::uint64_t>(workflows) && !HasFailure(); ++seed) {
    ++record_["workflows"];
    for (const bool for_ever : {false, true}) {
      EXPECT_GT(FailEach(Call::kWrite, for_ever, seed), 100);
      EXPECT_GT(FailEach(Call::kSync, for_ever, seed), 20);
      EXPECT_GE(FailEach(Call::kTruncate, for_ever, seed), 1);
      EXPECT_GE(FailEach(Call::kDelete, for_ever, seed), 1);
    }
  }
}

TEST_F(BadDiskTest, ASyncThatFailedEndsTheStore) {
  Begin(1);
  ASSERT_OK(Open());
  ASSERT_OK(Run(5));
  disk().Follow({.failing = Call::kSync, .fail_at = 1});
  EXPECT_THAT(workload_->Step(*store_), FailsWith(ErrorId::kStoreIo));
  for (int i = 0; i < 3; ++i) {  // although the disk would work again
    EXPECT_THAT(workload_->Step(*store_), FailsWith(ErrorId::kStoreIo));
  }
  EXPECT_OK(store_->ListStudies({}));
  Rng rng(1);
  ExpectIntactAfterCut(rng);
}

// The kernel still shows what a failed sync has lost. A start that built on it
// would lose all that follows with the next power cut.
TEST_F(BadDiskTest, WhatAFailedSyncLeftIsWrittenAgainByTheNextStart) {
  limits_.pages_per_checkpoint = 1000;
  for (std::int64_t n = 1; n <= 20 && !HasFailure(); ++n) {
    Rng rng(static_cast<std::uint64_t>(n));
    Begin(9);
    disk().Follow({.failing = Call::kSync, .fail_at = n});
    RunWorkflow();
    ASSERT_EQ(disk().failures(), 1);
    Close();
    ExpectIntactForGood(rng);
  }
}

TEST_F(BadDiskTest, ADiskThatBecomesReadOnlyEndsTheStore) {
  Begin(1);
  ASSERT_OK(Open());
  ASSERT_OK(Run(5));
  disk().Follow({.failing = Call::kWrite, .fail_at = 1, .fail_for_ever = true});
  EXPECT_THAT(workload_->Step(*store_), FailsWith(ErrorId::kStoreIo));
  EXPECT_THAT(store_->Begin(1), FailsWith(ErrorId::kStoreIo));
  EXPECT_OK(store_->FindTrial(1, 0));
  Rng rng(1);
  ExpectIntactAfterCut(rng);
}

TEST_F(BadDiskTest, AFullDiskAtEveryPointLosesNothingAndIsNoReasonToRestart) {
  Begin(7);
  RunWorkflow();
  const std::int64_t most = disk().Size();
  int refused = 0;
  for (std::int64_t bytes = 0; bytes < most; bytes += kFillStep) {
    SCOPED_TRACE(testing::Message() << "full at " << bytes);
    ++record_["full_disks"];
    Rng rng(static_cast<std::uint64_t>(bytes));
    Begin(7);
    disk().Follow({.capacity = bytes});
    const absl::Status opened = Open();
    EXPECT_TRUE(opened.ok() || HasErrorId(opened, ErrorId::kStoreFull));
    absl::Status status = opened;
    for (int i = 0; i < kSteps && opened.ok(); ++i) {
      status = workload_->Step(*store_);
      if (status.ok()) continue;
      EXPECT_THAT(status, FailsWith(ErrorId::kStoreFull));
      ++record_["refused"];
      ++refused;
    }
    disk().Follow({});  // room again
    ASSERT_OK(opened.ok() ? opened : Open());
    ASSERT_TRUE(IsIntact());
    ASSERT_OK(Run(5));
    ExpectIntactAfterCut(rng);
  }
  EXPECT_GT(refused, 20);
}

// A byte of the database changes while nobody looks: in every page's header, in
// the file's header, and anywhere. Whatever is read afterwards is what was
// written, or an error that says what is damaged.

constexpr std::size_t kPage = 4096;
constexpr std::size_t kFileHeader = 100;
constexpr std::size_t kPageHeader = 12;
constexpr int kFlipsElsewhere = 500;

absl::StatusOr<std::vector<std::string>> ReadEverything(
    const storage::TrialStore& store) {
  std::vector<std::string> texts;
  const auto add = [&](const std::vector<std::string>& more) {
    texts.insert(texts.end(), more.begin(), more.end());
  };
  ASSIGN_OR_RETURN(const auto studies, store.ListStudies({}));
  add(Texts(studies));
  ASSIGN_OR_RETURN(const auto study, store.FindStudy("imdb"));
  texts.push_back(Text(study));
  for (const auto order : {storage::TrialQuery::Order::kNumber,
                           storage::TrialQuery::Order::kRevision}) {
    storage::TrialQuery query = TrialsOf(1, 1000);
    query.order = order;
    ASSIGN_OR_RETURN(const auto trials, store.ListTrials(query));
    add(Texts(trials));
    query.states = {TrialState::kRunning};
    ASSIGN_OR_RETURN(const auto running, store.ListTrials(query));
    add(Texts(running));
  }
  ASSIGN_OR_RETURN(const auto attempts, store.ListAttempts(1, 0));
  add(Texts(attempts));
  ASSIGN_OR_RETURN(const auto measurements,
                   store.ListMeasurements({.study = 1, .attempt = 1}));
  add(Texts(measurements));
  ASSIGN_OR_RETURN(const auto outcome, store.FindOutcome(1, 0));
  texts.push_back(outcome.has_value() ? Text(*outcome) : "none");
  ASSIGN_OR_RETURN(const auto log, store.FindLog(1, 0, 1));
  texts.push_back(log.has_value() ? Text(*log) : "none");
  ASSIGN_OR_RETURN(const auto workers, store.ListWorkers("", 100));
  add(Texts(workers));
  ASSIGN_OR_RETURN(const auto reply, store.FindReply("r"));
  texts.push_back(reply.has_value() ? Text(*reply) : "none");
  return texts;
}

class FlipTest : private MemoryFolderIsPreferred,
                 public storage::SqliteFixture {
 protected:
  FlipTest() { SetLogLevel(static_cast<LogLevel>(4)); }
  ~FlipTest() override { SetLogLevel(LogLevel::kInfo); }

  void SetUp() override {
    limits_.ballast_bytes = 4096;
    Open();
    FillAllTables(60);
    ASSERT_OK_AND_ASSIGN(truth_, ReadEverything(*store_));
    Close();
    std::ostringstream all;
    all << std::ifstream(DatabaseFile(), std::ios::binary).rdbuf();
    good_ = all.str();
  }

  // Whether anybody noticed.
  bool IsFound(std::size_t offset, char flipped) {
    ++record_["flips"];
    SCOPED_TRACE(testing::Message()
                 << "offset " << offset << " of " << good_.size() << " ^ "
                 << static_cast<int>(flipped));
    std::string bad = good_;
    bad[offset] = static_cast<char>(bad[offset] ^ flipped);
    std::ofstream(DatabaseFile(), std::ios::binary) << bad;
    std::filesystem::remove(DatabaseFile() + "-wal");
    std::filesystem::remove(DatabaseFile() + "-shm");
    const auto store = storage::SqliteStore::Open(Folder(), limits_);
    const auto rows = store.ok() ? ReadEverything(**store) : store.status();
    if (rows.ok()) {
      const auto [is, was] = std::mismatch(rows->begin(), rows->end(),
                                           truth_.begin(), truth_.end());
      EXPECT_TRUE(was == truth_.end() && is == rows->end())
          << rows->size() << " rows, not " << truth_.size() << ": "
          << (is == rows->end() ? "" : *is);
      return false;
    }
    EXPECT_TRUE(DetailOf(rows.status()).has_value()) << rows.status();
    EXPECT_FALSE(HasErrorId(rows.status(), ErrorId::kInternal))
        << rows.status();
    ++record_["detected"];
    return true;
  }

  std::vector<std::string> truth_;
  std::string good_;
  Record record_;
};

TEST_F(FlipTest, InTheHeadersOfFileAndPages) {
  Rng rng(1);
  int found = 0;
  for (std::size_t page = 0; page < good_.size(); page += kPage) {
    const std::size_t end =
        page == 0 ? kFileHeader + kPageHeader : page + kPageHeader;
    for (std::size_t at = page; at < end && !HasFailure(); ++at) {
      const auto flipped = static_cast<char>(1 + rng.Below(255));
      if (IsFound(at, flipped)) ++found;
    }
  }
  EXPECT_GT(found, 100);
}

TEST_F(FlipTest, Anywhere) {
  Rng rng(2);
  int found = 0;
  const int flips = FaultCount(kFlipsElsewhere);
  for (int i = 0; i < flips && !HasFailure(); ++i) {
    const std::size_t at = rng.Below(good_.size());
    if (IsFound(at, static_cast<char>(1 << rng.Below(8)))) ++found;
  }
  EXPECT_GT(found, flips / 10);
}

}  // namespace
}  // namespace frostline::test
