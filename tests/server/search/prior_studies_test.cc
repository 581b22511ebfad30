// SPDX-License-Identifier: Apache-2.0
#include "server/search/prior_studies.h"

#include <limits>
#include <memory>

#include "sampler/factory.h"
#include "storage/factory.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

constexpr WallMicros kEver = std::numeric_limits<WallMicros>::max();

// A store in which study "old" has five finished trials.
class PriorStudies : public ::testing::Test {
 protected:
  PriorStudies()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})),
        driver_(std::make_unique<Driver>(*store_, clock_)) {
    EXPECT_OK(driver_->Register("w", "boot-1"));
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(ExampleStudy("old", 5)));
    for (int i = 0; i < 5; ++i) {
      clock_.Advance(std::chrono::seconds(1));
      EXPECT_OK(driver_->Finish(driver_->AcquireOne("w", "boot-1"), 0.1 * i));
    }
  }

  v1::CreateStudyRequest Young(const std::string& prior, double weight) {
    v1::CreateStudyRequest request = ExampleStudy("young", 5);
    v1::WarmStart* const warm = request.mutable_spec()->add_warm_start();
    warm->set_study(prior);
    warm->set_weight(weight);
    return request;
  }
  static CheckedStudy Checked(const v1::StudySpec& spec) {
    return *CheckStudy(spec, ExampleStudy("young", 5).settings(),
                       ExampleLease());
  }
  absl::StatusOr<std::vector<sampler::PriorStudy>> Load(
      const v1::StudySpec& spec, WallMicros created) {
    return LoadPriorStudies(Checked(spec), created, *store_, {});
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
};

TEST_F(PriorStudies, BringTheirFinishedTrialsAsPointsOfTheNewSpace) {
  v1::StudySpec spec = Young("studies/old", 0.5).spec();
  // The same rates at other places in the list.
  auto* const levels =
      spec.mutable_space()->mutable_modules(0)->mutable_levels();
  levels->clear_rates();
  for (const double rate : {0.0, 1e-6, 1e-5, 1e-4}) levels->add_rates(rate);
  ASSERT_OK_AND_ASSIGN(const auto priors, Load(spec, kEver));
  ASSERT_EQ(priors.size(), 1u);
  EXPECT_EQ(priors[0].weight, 0.5);
  ASSERT_EQ(priors[0].trials.size(), 5u);
  const auto stored = *store_->FindTrial(1, 4);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(priors[0].trials[4].point[i],
              stored.point[i] == 0.0 ? 0.0 : stored.point[i] + 1.0);
  }
  EXPECT_EQ(priors[0].trials[4].values, std::vector<double>{0.4});
}

TEST_F(PriorStudies, AreAsTheyWereWhenTheStudyWasCreated) {
  const WallMicros third = store_->FindTrial(1, 2)->ended;
  ASSERT_OK_AND_ASSIGN(const auto priors,
                       Load(Young("studies/old", 0).spec(), third));
  EXPECT_EQ(priors[0].trials.size(), 3u);
}

TEST_F(PriorStudies, ThatAreUnknownOrUselessAreRefusedByField) {
  const auto create = [&](const v1::CreateStudyRequest& request) {
    return driver_->Call<v1::CreateStudyReply>(request).status();
  };
  EXPECT_THAT(create(Young("studies/none", 0)),
              FailsAt(ErrorId::kStudyNotFound, "warm_start[0].study"));
  EXPECT_THAT(create(Young("old", 0)),
              FailsAt(ErrorId::kNameInvalid, "warm_start[0].study"));
  EXPECT_THAT(create(Young("studies/old", 1.5)),
              FailsAt(ErrorId::kRequestInvalid, "warm_start[0].weight"));
  auto twice = Young("studies/old", 0);
  *twice.mutable_spec()->add_warm_start() = twice.spec().warm_start(0);
  EXPECT_THAT(create(twice),
              FailsAt(ErrorId::kRequestInvalid, "warm_start[1].study"));
  auto other = Young("studies/old", 0);
  other.mutable_spec()->mutable_objectives(0)->set_metric("f1");
  EXPECT_THAT(create(other),
              FailsAt(ErrorId::kRequestInvalid, "warm_start[0].study"));
  EXPECT_THAT(driver_->GetStudy("young"), FailsWith(ErrorId::kStudyNotFound));
}

TEST_F(PriorStudies, AreLearntFromAlsoAfterARestart) {
  auto request = Young("studies/old", 1);
  request.mutable_spec()->mutable_sampler()->set_name("tpe");
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(request));
  const storage::StudyRow row = *store_->FindStudy("young");
  driver_ = std::make_unique<Driver>(*store_, clock_);
  ASSERT_OK(driver_->Register("w", "boot-2"));
  driver_->AcquireOne("w", "boot-2");
  ASSERT_OK_AND_ASSIGN(auto priors, Load(request.spec(), row.created));
  const CheckedStudy checked = Checked(request.spec());
  const auto sampler = *sampler::MakeSampler(checked.sampler, checked.space,
                                             checked.objectives, priors);
  Rng rng(request.spec().seed(), 0);
  EXPECT_TRUE(SamePoint(*sampler->Propose(History(), 0, rng),
                        store_->FindTrial(row.key, 0)->point));
}

}  // namespace
}  // namespace frostline::server
