// SPDX-License-Identifier: Apache-2.0
//
// A study is what its store says: from each trial's row, with the revision up
// to which its proposal had seen trials end, every proposal comes out again.
#include <memory>
#include <vector>

#include "sampler/factory.h"
#include "server/search/proposer.h"
#include "server/wire/convert.h"
#include "server/wire/spec.h"
#include "storage/factory.h"
#include "storage/trial_store.h"
#include "tests/server/driver.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace frostline::server {
namespace {

constexpr int kTrials = 40;

struct How {
  std::string sampler;
  bool repeats = false;  // the leaders, with paired seeds
  v1::Purpose purpose = v1::PURPOSE_UNSPECIFIED;  // the coordinator decides
  bool bounded = false;  // accuracy, which is drawn, at most .7
};

class ReplayTest : public ::testing::TestWithParam<How> {
 protected:
  ReplayTest()
      : store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})) {
    Restart();
  }

  void Restart() {
    driver_ = nullptr;
    driver_ = std::make_unique<Driver>(*store_, clock_);
    ASSERT_OK(driver_->started());
    v1::RegisterRequest worker;
    worker.set_worker_id("w");
    worker.mutable_worker()->set_boot_id(boot_ = "boot-" + RandomHexId());
    worker.mutable_worker()->set_slots(5);
    ASSERT_OK(driver_->Call<v1::RegisterReply>(worker));
  }

  v1::StudySpec Spec() const {
    v1::StudySpec spec = ExampleSpec();
    spec.mutable_model()->set_layers(5);
    spec.mutable_sampler()->set_name(GetParam().sampler);
    spec.set_purpose(GetParam().purpose);
    if (GetParam().bounded) {
      v1::MetricConstraint& constraint = *spec.add_constraints();
      constraint.set_metric("accuracy");
      constraint.set_upper_bound(0.7);
    }
    if (GetParam().repeats) {
      spec.set_seeds(v1::SEED_MODE_PAIRED);
      spec.mutable_repeat()->set_times(3);
      spec.mutable_repeat()->set_after(15);
    }
    return spec;
  }

  // Up to five at once; which of them ends next, and how, is drawn.
  void RunTrials(int from, int until, Rng& chance) {
    std::vector<v1::Lease> running;
    for (int started = from; started < until || !running.empty();) {
      if (started < until && running.size() < 5 && chance.Uniform() < 0.7) {
        running.push_back(driver_->AcquireOne("w", boot_));
        ASSERT_NE(running.back().trial(), "");
        ++started;
      } else if (!running.empty()) {
        const auto which =
            static_cast<std::ptrdiff_t>(chance.Below(running.size()));
        ASSERT_OK(driver_->Finish(running[static_cast<std::size_t>(which)],
                                  chance.Uniform()));
        running.erase(running.begin() + which);
      }
    }
  }

  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
  std::string boot_;
};

// What the proposal of trial `number` had seen.
History SeenBy(const std::vector<storage::TrialRow>& rows,
               const v1::StudySpec& spec, std::size_t number) {
  History history;
  for (std::size_t i = 0; i < number; ++i) {
    const storage::TrialRow& row = rows[i];
    const bool ended = row.ended_revision > 0 &&
                       row.ended_revision <= rows[number].seen_revision;
    Observation seen = ObservationOf(row);
    seen.constraints = ConstraintsOf(row, spec);
    if (!ended) {
      seen.state = TrialState::kRunning;
      seen.values.clear();
      seen.constraints.clear();
      seen.cost_s = 0.0;
      seen.use = {};
    }
    history.Put(std::move(seen));
  }
  return history;
}

TEST_P(ReplayTest, EveryProposalComesOutOfTheStoreAgain) {
  v1::CreateStudyRequest request = ExampleStudy("a", kTrials);
  *request.mutable_spec() = Spec();
  ASSERT_OK(driver_->Call<v1::CreateStudyReply>(request));
  Rng chance(11);
  RunTrials(0, 23, chance);
  Restart();  // what is remembered then is what was stored
  RunTrials(23, kTrials, chance);
  const auto rows = *store_->ListTrials({.study = 1, .limit = 2 * kTrials});
  ASSERT_GE(rows.size(), static_cast<std::size_t>(kTrials));
  const auto study = CheckStudy((*driver_->GetStudy("a")).spec(),
                                request.settings(), ExampleLease());
  ASSERT_OK(study);
  int learnt = 0, repeats = 0;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const auto sampler =
        *sampler::MakeSampler(study->sampler, study->space, study->objectives);
    const auto again =
        MakeProposal(*study, *sampler, SeenBy(rows, study->spec, n),
                     static_cast<std::int64_t>(n));
    ASSERT_OK(again);
    EXPECT_TRUE(SamePoint(again->point, rows[n].point)) << "trial " << n;
    EXPECT_EQ(again->seed.seed, NotedSeedOf(rows[n]).seed) << "trial " << n;
    EXPECT_EQ(again->seed.repeat, NotedSeedOf(rows[n]).repeat);
    learnt += rows[n].seen_revision > 0;
    repeats += again->seed.repeat > 0;
  }
  EXPECT_GT(learnt, kTrials / 2);
  EXPECT_GE(repeats, GetParam().repeats ? 6 : 0);
}

INSTANTIATE_TEST_SUITE_P(
    Samplers, ReplayTest,
    testing::Values(How{"auto"}, How{"brute"}, How{"qmc"}, How{"tpe"},
                    How{"tpe", true}, How{"random", true},
                    How{"tpe", false, v1::PURPOSE_BEST},
                    How{"tpe", false, v1::PURPOSE_UNDERSTAND},
                    How{"tpe", false, v1::PURPOSE_BEST, true},
                    How{"levels-gp", false, v1::PURPOSE_BEST, true}),
    [](const auto& how) {
      return (how.param.sampler == "levels-gp" ? "levels" : how.param.sampler) +
             (how.param.repeats ? "_repeats" : "") +
             (how.param.bounded ? "_bounded" : "") +
             (how.param.purpose == v1::PURPOSE_UNSPECIFIED
                  ? ""
                  : v1::Purpose_Name(how.param.purpose));
    });

}  // namespace
}  // namespace frostline::server
