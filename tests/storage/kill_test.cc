// SPDX-License-Identifier: Apache-2.0
//
// kill -9 at random moments: what was acknowledged is there afterwards, and
// groups are there whole or not at all. FROSTLINE_KILL_ROUNDS=n kills more
// often.
#include <csignal>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/rng.h"
#include "tests/storage/child_process.h"
#include "tests/storage/sqlite_fixture.h"
#include "tests/support/record.h"

namespace frostline::storage {
namespace {

constexpr int kRounds = 25;
constexpr int kLargestGroup = 5;

int RoundCount() {
  int rounds = kRounds;
  const char* const wanted = std::getenv("FROSTLINE_KILL_ROUNDS");
  if (wanted != nullptr && !absl::SimpleAtoi(wanted, &rounds)) return kRounds;
  return rounds;
}

class KillTest : public SqliteFixture {
 protected:
  std::vector<TrialRow> Stored() {
    std::vector<TrialRow> all;
    TrialQuery query = test::TrialsOf(1, 1000);
    while (true) {
      const auto page = store_->ListTrials(query);
      EXPECT_OK(page);
      all.insert(all.end(), page->begin(), page->end());
      if (page->size() < 1000) return all;
      query.after = page->back().number;
    }
  }

  // Inserts trials for ever, in groups; writes how many there are to `pipe`
  // after each commit.
  void InsertForEver(std::uint64_t seed, int pipe) {
    Rng rng(seed);
    Open();
    auto number = static_cast<std::int64_t>(Stored().size());
    while (true) {
      const auto size = static_cast<int>(1 + rng.Below(kLargestGroup));
      ASSERT_OK_AND_ASSIGN(const auto transaction, test::Begin(*store_));
      for (int i = 0; i < size; ++i) {
        TrialRow trial = test::FullTrial(1, number + i);
        trial.attempt = number;  // names the group
        trial.priority = size;
        ASSERT_OK(transaction->InsertTrial(trial));
      }
      ASSERT_OK(transaction->Commit());
      number += size;
      if (write(pipe, &number, sizeof(number)) != sizeof(number)) return;
    }
  }

  // Every number up to the last, and every group whole.
  void CheckGroups(const std::vector<TrialRow>& trials) {
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const TrialRow& trial = trials[i];
      ASSERT_EQ(trial.number, static_cast<std::int64_t>(i));
      const auto end = static_cast<std::size_t>(trial.attempt + trial.priority);
      ASSERT_LE(end, trials.size()) << "half a group at " << trial.attempt;
    }
  }
};

TEST_F(KillTest, WhatWasAcknowledgedOutlivesTheProcess) {
  Open();
  Fill(0);
  Close();
  Rng rng(20261121);
  std::int64_t acknowledged = 0;
  Record record;
  for (int round = 0; round < RoundCount() && !HasFailure(); ++round) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const std::uint64_t seed = rng.Next();
    const pid_t child = StartChild([&] { InsertForEver(seed, pipe_ends[1]); });
    close(pipe_ends[1]);
    // The child dies somewhere in the commits after this many.
    for (std::uint64_t left = rng.Below(30); left > 0; --left) {
      if (read(pipe_ends[0], &acknowledged, sizeof(acknowledged)) <= 0) break;
    }
    for (volatile std::uint64_t spin = rng.Below(3'000'000); spin > 0;) {
      spin = spin - 1;
    }
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child gave up by itself";
    while (read(pipe_ends[0], &acknowledged, sizeof(acknowledged)) > 0) {
    }
    close(pipe_ends[0]);
    Open();
    const std::vector<TrialRow> trials = Stored();
    EXPECT_GE(static_cast<std::int64_t>(trials.size()), acknowledged);
    ++record["kills"];
    record["acknowledged"] = acknowledged;
    CheckGroups(trials);
    Close();
  }
  EXPECT_GT(acknowledged, 10 * RoundCount());
}

}  // namespace
}  // namespace frostline::storage
