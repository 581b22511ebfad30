// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/run_folder.h"

#include <fstream>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "worker/agent/spool.h"

namespace frostline::agent {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

v1::LeaseRef RefOf(std::int64_t attempt) {
  v1::LeaseRef ref;
  ref.set_trial("studies/a/trials/7");
  ref.set_attempt(attempt);
  return ref;
}

TEST(RunFolder, AnIdHasOneLivingAgent) {
  const TempFolder folder;
  ASSERT_OK_AND_ASSIGN(auto first, RunFolder::Open(folder.File("r"), "w1"));
  EXPECT_THAT(RunFolder::Open(folder.File("r"), "w1"),
              FailsAt(ErrorId::kRequestInvalid, "--id"));
  EXPECT_OK(RunFolder::Open(folder.File("r"), "w2"));
  first.reset();
  EXPECT_OK(RunFolder::Open(folder.File("r"), "w1"));
}

TEST(RunFolder, AdoptsTheDeadButNotTheLiving) {
  const TempFolder folder;
  ASSERT_OK_AND_ASSIGN(auto dead, RunFolder::Open(folder.File("r"), "dead"));
  ASSERT_OK_AND_ASSIGN(auto alive, RunFolder::Open(folder.File("r"), "alive"));
  ASSERT_OK(SpoolFile::Create(dead->SpoolPath(RefOf(1)), RefOf(1)));
  ASSERT_OK(SpoolFile::Create(alive->SpoolPath(RefOf(2)), RefOf(2)));
  const std::string left = dead->SpoolPath(RefOf(1));
  dead.reset();
  ASSERT_OK_AND_ASSIGN(auto heir, RunFolder::Open(folder.File("r"), "heir"));
  const auto orphans = heir->Adopt();
  ASSERT_THAT(orphans, SizeIs(1));
  EXPECT_EQ(orphans[0].path, left);
  EXPECT_FALSE(orphans[0].own);
  // A third one must not deliver the same.
  ASSERT_OK_AND_ASSIGN(auto third, RunFolder::Open(folder.File("r"), "third"));
  EXPECT_THAT(third->Adopt(), IsEmpty());
}

}  // namespace
}  // namespace frostline::agent
