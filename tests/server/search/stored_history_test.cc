// SPDX-License-Identifier: Apache-2.0
#include "server/search/stored_history.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/rng.h"
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

// A study is judged as if its coordinator had never been away.

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

constexpr int kEvents = 400;

struct Running {
  v1::Lease lease;
  WallMicros started = 0;
  std::int64_t step = 0;
};

class Fleet {
 public:
  Fleet(const std::string& pruner, std::uint64_t seed)
      : chance_(seed, 0),
        store_(*storage::OpenStore({.data_folder = "", .ephemeral = true})) {
    Restart();
    v1::CreateStudyRequest request = ExampleStudy("a", 1000);
    // Nothing is frozen: which frozen prefixes a node holds is forgotten with a
    // coordinator, and chooses among queued trials.
    request.mutable_spec()
        ->mutable_space()
        ->mutable_modules(0)
        ->mutable_levels()
        ->set_rates(0, 1e-6);
    auto& settings = *request.mutable_settings()->mutable_pruner();
    settings.set_name(pruner);
    (*settings.mutable_options())["min_resource"] = "1";
    (*settings.mutable_options())["reduction_factor"] = "2";
    if (pruner == "hyperband") {
      (*settings.mutable_options())["max_resource"] = "auto";
    }
    EXPECT_OK(driver_->Call<v1::CreateStudyReply>(request));
    v1::RegisterRequest worker;
    worker.set_worker_id("w");
    worker.mutable_worker()->set_boot_id("boot-1");
    worker.mutable_worker()->set_slots(6);
    EXPECT_OK(driver_->Call<v1::RegisterReply>(worker));
  }

  void Restart() {
    driver_ = nullptr;
    driver_ = std::make_unique<Driver>(*store_, clock_);
    EXPECT_OK(driver_->started());
  }

  void Happen() {
    clock_.Advance(std::chrono::milliseconds(10));
    if (running_.empty() || (running_.size() < 6 && chance_.Below(4) == 0)) {
      running_.push_back({driver_->AcquireOne("w", "boot-1"), clock_.Wall()});
      return;
    }
    const std::size_t which = chance_.Below(running_.size());
    if (running_[which].step >= 9) return End(which, v1::Outcome::SUCCEEDED);
    Report(which);
  }

  const std::vector<std::string>& said() const { return said_; }

 private:
  void Report(std::size_t which) {
    Running& running = running_[which];
    v1::ReportRequest request;
    *request.mutable_lease() = Driver::RefOf(running.lease);
    v1::Measurement& measured = *request.add_measurements();
    measured.set_step(++running.step);
    measured.set_elapsed_s(
        static_cast<double>(clock_.Wall() - running.started) / 1e6);
    (*measured.mutable_metrics())["accuracy"] = chance_.Uniform();
    const auto reply = driver_->Call<v1::ReportReply>(request);
    ASSERT_OK(reply);
    said_.push_back(absl::StrCat(running.lease.trial(), " step ", running.step,
                                 ": ", reply->directive().reason()));
    const bool stop = reply->directive().action() == v1::Directive::STOP_PRUNED;
    if (stop) End(which, v1::Outcome::PRUNED);
  }

  void End(std::size_t which, v1::Outcome::Kind kind) {
    v1::FinishRequest request;
    *request.mutable_lease() = Driver::RefOf(running_[which].lease);
    request.mutable_outcome()->set_kind(kind);
    (*request.mutable_outcome()->mutable_metrics())["accuracy"] = 0.5;
    ASSERT_OK(driver_->Call<v1::FinishReply>(request));
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(which));
  }

  Rng chance_;
  FakeClock clock_;
  std::unique_ptr<storage::TrialStore> store_;
  std::unique_ptr<Driver> driver_;
  std::vector<Running> running_;
  std::vector<std::string> said_;
};

class StoredHistoryTest : public ::testing::TestWithParam<const char*> {};

TEST_P(StoredHistoryTest, ARestartChangesNoDecision) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Fleet lasting(GetParam(), seed), restarted(GetParam(), seed);
    for (int event = 0; event < kEvents; ++event) {
      if (event % 20 == 15) restarted.Restart();
      lasting.Happen();
      restarted.Happen();
      ASSERT_EQ(lasting.said(), restarted.said()) << seed << " " << event;
    }
    const auto pruned = std::count_if(
        lasting.said().begin(), lasting.said().end(),
        [](const std::string& said) { return said.back() != ' '; });
    EXPECT_GT(pruned, 20);
  }
}

INSTANTIATE_TEST_SUITE_P(Pruners, StoredHistoryTest,
                         testing::Values("asha", "hyperband"));

// A study is what its store says: from each trial's row, with the revision up
// to which its proposal had seen trials end, every proposal comes out again.

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
