// SPDX-License-Identifier: Apache-2.0
#include "server/wire/stored_study.h"

#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

v1::CreateStudyRequest TwoObjectives() {
  v1::CreateStudyRequest request = ExampleStudy("a", 4);
  v1::Objective& second = *request.mutable_spec()->add_objectives();
  second.set_metric("seconds");
  second.set_direction(v1::DIRECTION_MINIMIZE);
  return request;
}

v1::StudySettings WithPruner(v1::StudySettings settings) {
  settings.mutable_pruner()->set_name("median");
  return settings;
}

// Early versions took a pruner beside several objectives.
TEST(StoredStudy, APrunerThatIsRefusedTodayIsIgnoredInAStoredStudy) {
  const v1::CreateStudyRequest request = TwoObjectives();
  const v1::StudySettings settings = WithPruner(request.settings());
  EXPECT_THAT(CheckStudy(request.spec(), settings, ExampleLease()),
              FailsAt(ErrorId::kPrunerInvalid, "pruner.name"));
  storage::StudyRow row;
  row.id = "a";
  row.spec = request.spec().SerializeAsString();
  row.settings = settings.SerializeAsString();
  ASSERT_OK_AND_ASSIGN(const CheckedStudy checked,
                       CheckStored(row, ExampleLease()));
  EXPECT_EQ(checked.pruner.name, "none");
  // So its settings can be changed.
  EXPECT_OK(CheckStudy(checked.spec, checked.settings, ExampleLease()));
  // A pruner that judges one objective is kept.
  v1::StudySpec one = request.spec();
  one.mutable_objectives()->RemoveLast();
  row.spec = one.SerializeAsString();
  ASSERT_OK_AND_ASSIGN(const CheckedStudy kept,
                       CheckStored(row, ExampleLease()));
  EXPECT_EQ(kept.pruner.name, "median");
}

TEST(StoredStudy, OneWithSeveralObjectivesAndAPrunerGoesOn) {
  FakeClock clock;
  const auto store =
      *storage::OpenStore({.data_folder = "", .ephemeral = true});
  {
    Driver driver(*store, clock);
    ASSERT_OK(driver.Call<v1::CreateStudyReply>(TwoObjectives()));
  }
  storage::StudyRow row = (*store->ListStudies({})).front();
  const std::int64_t etag = row.etag++;
  row.settings = WithPruner(TwoObjectives().settings()).SerializeAsString();
  {
    ASSERT_OK_AND_ASSIGN(const storage::Epoch epoch, store->TakeLead());
    ASSERT_OK_AND_ASSIGN(const auto transaction, store->Begin(epoch));
    ASSERT_OK(transaction->Operation(
        [&] { return transaction->UpdateStudy(row, etag); }));
    ASSERT_OK(transaction->Commit());
  }
  Driver driver(*store, clock);
  ASSERT_OK(driver.Register("w", "boot-1"));
  const v1::Lease lease = driver.AcquireOne("w", "boot-1");
  ASSERT_OK_AND_ASSIGN(const auto reply, driver.Report(lease, 1, 0.5));
  EXPECT_EQ(reply.directive().action(), v1::Directive::CONTINUE);
  v1::UpdateStudyRequest raise;
  raise.set_request_id(RandomHexId());
  raise.set_name("studies/a");
  raise.mutable_settings()->mutable_budget()->set_trials(7);
  raise.mutable_update_mask()->add_paths("budget.trials");
  EXPECT_OK(driver.Call<v1::Study>(raise));
}

}  // namespace
}  // namespace frostline::server
