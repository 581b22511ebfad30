// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/ids.h"
#include "server/ledger/worker_book.h"

namespace frostline::server {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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
