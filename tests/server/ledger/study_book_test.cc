// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/study_book.h"

#include <algorithm>

#include "base/ids.h"
#include "base/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/ledger/worker_book.h"
#include "tests/server/example_study.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<Objective> Some(std::size_t count) {
  std::vector<Objective> objectives = {
      {"loss", Direction::kMinimize},
      {"accuracy", Direction::kMaximize},
      {"seconds", Direction::kMinimize},
      {"bytes", Direction::kMinimize},
  };
  objectives.resize(count);
  return objectives;
}

// All that were offered, each against each.
std::vector<std::int64_t> BestOfAll(
    const std::vector<Objective>& objectives,
    const std::vector<std::vector<double>>& offered) {
  std::vector<std::pair<std::vector<double>, std::int64_t>> trials;
  for (const auto& values : offered) {
    std::vector<double> losses;
    for (std::size_t i = 0; i < values.size(); ++i) {
      losses.push_back(AsLoss(objectives[i], values[i]));
    }
    trials.emplace_back(losses, static_cast<std::int64_t>(trials.size()));
  }
  std::sort(trials.begin(), trials.end());
  std::vector<std::int64_t> best;
  for (const auto& [losses, number] : trials) {
    const bool beaten = std::any_of(trials.begin(), trials.end(),
                                    [&, &mine = losses](const auto& other) {
                                      return Dominates(other.first, mine);
                                    });
    if (!beaten) best.push_back(number);
  }
  if (objectives.size() == 1)
    best.resize(std::min<std::size_t>(best.size(), 1));
  return best;
}

TEST(BestTrials, AreThoseThatNoOtherDominatesTwinsIncluded) {
  for (std::size_t count = 1; count <= 4; ++count) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      Rng rng(seed, count);
      const std::vector<Objective> objectives = Some(count);
      BestTrials best(objectives);
      std::vector<std::vector<double>> offered;
      for (int n = 0; n < 60; ++n) {
        std::vector<double> values;
        for (std::size_t i = 0; i < count; ++i) {
          values.push_back(static_cast<double>(rng.Below(9)) - 4.0);
        }
        best.Offer(n, values);
        offered.push_back(values);
        ASSERT_EQ(best.Numbers(), BestOfAll(objectives, offered))
            << count << " objectives, seed " << seed << ", trial " << n;
        const auto first = best.First();
        ASSERT_EQ(first->number, best.Numbers(1)[0]);
        ASSERT_EQ(first->values,
                  offered[static_cast<std::size_t>(first->number)]);
      }
    }
  }
}

// The worst case: nobody dominates anybody. And one who beats them all.
TEST(BestTrials, OfTwoObjectivesAnOfferComparesWithItsNeighbours) {
  constexpr int kTrials = 20'000;
  BestTrials best(Some(2));
  for (int n = 0; n < kTrials; ++n) {
    const double place = n * 7919 % kTrials;
    best.Offer(n, {place, place});
  }
  EXPECT_EQ(best.Numbers().size(), static_cast<std::size_t>(kTrials));
  EXPECT_LE(best.comparisons(), 2 * kTrials);
  best.Offer(kTrials, {-1.0, kTrials});
  EXPECT_THAT(best.Numbers(), testing::ElementsAre(kTrials));
  EXPECT_LE(best.comparisons(), 3 * kTrials + 1);
}

using ::testing::ElementsAre;

StudyBook BookOf(std::int64_t budget) {
  v1::StudySettings settings;
  settings.mutable_budget()->set_trials(budget);
  storage::StudyRow row;
  row.key = 1;
  row.id = "a";
  return StudyBook(row, std::make_shared<const CheckedStudy>(*CheckStudy(
                            ExampleSpec(), settings, ExampleLease())));
}

storage::TrialRow Row(
    std::int64_t number, TrialState state,
    storage::TrialOrigin origin = storage::TrialOrigin::kSampled) {
  storage::TrialRow row;
  row.study = 1;
  row.number = number;
  row.state = state;
  row.origin = origin;
  row.revision = number + 1;
  if (state == TrialState::kSucceeded) row.values = {0.1 * double(number)};
  return row;
}

TEST(StudyBook, TheBudgetCountsEveryTerminalStateButNotImportsAndRetries) {
  StudyBook book = BookOf(4);
  book.Absorb(Row(0, TrialState::kFailed), {});
  book.Absorb(Row(1, TrialState::kCancelled), {});
  book.Absorb(Row(2, TrialState::kSucceeded, storage::TrialOrigin::kImported),
              {});
  book.Absorb(Row(3, TrialState::kRunning), {});
  EXPECT_EQ(book.Counts().budget_used(), 2);
  EXPECT_EQ(book.SlotsLeft(0), 1);
  EXPECT_EQ(book.Reserve(1), 4);
  EXPECT_EQ(book.SlotsLeft(0), 0);
  EXPECT_EQ(book.ReasonToComplete(0), "");
  book.Arrived();
  book.Absorb(Row(4, TrialState::kPruned), {});
  book.Absorb(Row(3, TrialState::kSucceeded), {});
  EXPECT_EQ(book.ReasonToComplete(0),
            "budget of 4 trials reached; 1 of 5 failed");
}

TEST(StudyBook, AlikeAreThoseOfOnePriorityThatWereNotBegun) {
  StudyBook book = BookOf(9);
  for (const std::int64_t number : {1, 2, 3, 5, 6}) {
    storage::TrialRow row = Row(number, TrialState::kQueued);
    row.priority = number < 4 ? 1 : 0;
    row.attempt = number == 3 ? 1 : 0;
    book.Absorb(row, {});
  }
  EXPECT_THAT(book.QueuedAlike(1, 16), ElementsAre(1, 2));
  EXPECT_THAT(book.QueuedAlike(1, 1), ElementsAre(1));
  EXPECT_THAT(book.QueuedAlike(3, 16), ElementsAre(3));
  EXPECT_THAT(book.QueuedAlike(5, 16), ElementsAre(5, 6));
}

TEST(StudyBook, TheQueueGoesByPriorityThenNumberButAWorkersOwnFirst) {
  StudyBook book = BookOf(9);
  storage::TrialRow urgent = Row(5, TrialState::kQueued);
  urgent.priority = 1;
  storage::TrialRow mine = Row(6, TrialState::kQueued);
  mine.worker = "me";
  book.Absorb(Row(4, TrialState::kQueued), {});
  book.Absorb(urgent, {});
  storage::AttemptRow lost;
  lost.state = AttemptState::kLost;
  book.Absorb(mine, lost);
  EXPECT_EQ(book.NextQueued("other"), 5);
  EXPECT_EQ(book.NextQueued("me"), 6);
}

TEST(StudyBook, AnEndedTrialIsFoundUntilItsGroupIsCommitted) {
  StudyBook book = BookOf(9);
  book.Absorb(Row(0, TrialState::kRunning), {});
  book.Absorb(Row(0, TrialState::kSucceeded), {});
  ASSERT_NE(book.Find(0), nullptr);
  EXPECT_EQ(book.Find(0)->row.state, TrialState::kSucceeded);
  book.Committed();
  EXPECT_EQ(book.Find(0), nullptr);
}

TEST(StudyBook, AnExhaustedSpaceGivesItsNumbersBack) {
  StudyBook book = BookOf(9);
  EXPECT_EQ(book.Reserve(3), 0);
  book.Withdraw(0, 3);
  book.NoteExhausted();
  EXPECT_EQ(book.next_number(), 0);
  EXPECT_EQ(book.SlotsLeft(0), 0);
  EXPECT_THAT(book.ReasonToComplete(0), ::testing::HasSubstr("all points"));
}

TEST(BestTrials, KeepsTheEarlierOfEqualsAndTheParetoSetOfSeveral) {
  BestTrials one({{"accuracy", Direction::kMaximize}});
  one.Offer(0, {0.5});
  one.Offer(1, {0.9});
  one.Offer(2, {0.9});
  EXPECT_THAT(one.Numbers(), ::testing::ElementsAre(1));
  BestTrials two(
      {{"accuracy", Direction::kMaximize}, {"seconds", Direction::kMinimize}});
  two.Offer(0, {0.9, 10});
  two.Offer(1, {0.8, 5});
  two.Offer(2, {0.8, 6});
  EXPECT_THAT(two.Numbers(), ::testing::ElementsAre(0, 1));
}

TEST(BestTrials, PrefersWhatKeepsTheConstraints) {
  BestTrials best({{"accuracy", Direction::kMaximize}});
  best.Offer(0, {0.99, 5.0});
  best.Offer(1, {0.80, 2.0});  // breaks them less
  EXPECT_THAT(best.Numbers(), ::testing::ElementsAre(1));
  best.Offer(2, {0.50, 0.0});
  best.Offer(3, {0.60, 0.0});
  best.Offer(4, {0.95, 0.1});
  EXPECT_THAT(best.Numbers(), ::testing::ElementsAre(3));
}

TEST(LeaseBook, TellsWhichLeasesAreDue) {
  LeaseBook leases;
  leases.Set({1, 0}, SteadyTime(10));
  leases.Set({1, 1}, SteadyTime(20));
  leases.Set({1, 0}, SteadyTime(30));  // renewed
  EXPECT_THAT(leases.Due(SteadyTime(20)),
              ::testing::ElementsAre(TrialKey{1, 1}));
  leases.Remove({1, 1});
  EXPECT_EQ(leases.NextDue(), SteadyTime(30));
}

TEST(StudyBook, AHandleTellsOneSetOfEndedTrialsFromAnother) {
  StudyBook book = BookOf(4);
  book.Absorb(Row(0, TrialState::kSucceeded), {});
  book.Absorb(Row(1, TrialState::kQueued), {});
  const StudyHandle before = HandleOf(book);
  EXPECT_EQ(before.ended, 1);
  storage::TrialRow running = Row(1, TrialState::kRunning);
  running.revision = 7;
  book.Absorb(running, {});
  EXPECT_EQ(HandleOf(book).revision, 7);
  EXPECT_EQ(HandleOf(book).ended, 1);
  EXPECT_EQ(HandleOf(book).ends_stamp, before.ends_stamp);
  book.AbsorbEnded(Row(0, TrialState::kSucceeded));  // other labels
  const StudyHandle relabelled = HandleOf(book);
  EXPECT_EQ(relabelled.ended, 1);
  EXPECT_NE(relabelled.ends_stamp, before.ends_stamp);
  book.Absorb(Row(1, TrialState::kPruned), {});
  EXPECT_EQ(HandleOf(book).ended, 2);
  EXPECT_NE(HandleOf(book).ends_stamp, relabelled.ends_stamp);
  // A book of the same rows, as memory is loaded again.
  StudyBook again = BookOf(4);
  again.Absorb(Row(0, TrialState::kSucceeded), {});
  EXPECT_EQ(HandleOf(again).ended, 1);
  EXPECT_NE(HandleOf(again).ends_stamp, before.ends_stamp);
}

constexpr TrialKey kTrial{3, 17};

TEST(LeaseSecretsTest, WhatIsShownProvesWhatIsStored) {
  const LeaseSecrets secrets{SecretString("key")};
  const SecretString shown = secrets.Draw(kTrial, 2);
  const SecretString stored = AsStored(shown);
  EXPECT_THAT(stored.Reveal(), StartsWith("v1:"));
  EXPECT_THAT(stored.Reveal(), Not(HasSubstr(shown.Reveal())));
  EXPECT_TRUE(secrets.Again(kTrial, 2, stored) == shown);
}

TEST(LeaseSecretsTest, OneAttemptNeverGetsTheSameSecretTwice) {
  // A database that was put back to yesterday grants it once more.
  const LeaseSecrets secrets{SecretString("key")};
  EXPECT_FALSE(secrets.Draw(kTrial, 2) == secrets.Draw(kTrial, 2));
}

TEST(LeaseSecretsTest, WhatIsStoredProvesNothing) {
  const SecretString stored =
      AsStored(LeaseSecrets(SecretString("key")).Draw(kTrial, 1));
  EXPECT_FALSE(AsStored(stored) == stored);
}

TEST(LeaseSecretsTest, AnotherKeyTrialOrAttemptGivesAnother) {
  const LeaseSecrets secrets{SecretString("key")};
  const SecretString shown = secrets.Draw(kTrial, 1);
  const SecretString stored = AsStored(shown);
  const auto proves = [&](const SecretString& other) {
    return AsStored(other) == stored;
  };
  EXPECT_TRUE(proves(secrets.Again(kTrial, 1, stored)));
  EXPECT_FALSE(
      proves(LeaseSecrets(SecretString("other")).Again(kTrial, 1, stored)));
  EXPECT_FALSE(proves(secrets.Again(kTrial, 2, stored)));
  EXPECT_FALSE(proves(secrets.Again({3, 18}, 1, stored)));
  EXPECT_FALSE(proves(secrets.Again({4, 17}, 1, stored)));
}

TEST(LeaseSecretsTest, ALeaseOfBeforeSecretsWereHashedGoesOn) {
  const SecretString of_before(RandomHexId());
  EXPECT_TRUE(AsStored(of_before) == of_before);
  const LeaseSecrets secrets{SecretString("key")};
  EXPECT_TRUE(secrets.Again(kTrial, 1, of_before) == of_before);
}

}  // namespace
}  // namespace frostline::server
