// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "storage/factory.h"
#include "tests/flow/world.h"
#include "tests/server/driver.h"
#include "tests/server/example_study.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::test {
namespace {

using std::chrono::milliseconds;

// The coordinator on a real SQLite folder; workers are threads that speak its
// methods.
class InProcessWorld final : public World {
 public:
  InProcessWorld() { Open(); }
  ~InProcessWorld() override {
    for (auto& [id, worker] : workers_) worker.stop = true;
    for (auto& [id, worker] : workers_) worker.thread.join();
  }

  absl::Status CreateStudy(const v1::CreateStudyRequest& request) override {
    return With([&](server::Driver& driver) {
      return driver.Call<v1::CreateStudyReply>(request).status();
    });
  }
  absl::StatusOr<v1::Study> GetStudy(const std::string& name) override {
    v1::GetStudyRequest request;
    request.set_name(name);
    return With([&](server::Driver& driver) {
      return driver.Call<v1::Study>(request);
    });
  }
  absl::StatusOr<std::vector<v1::Trial>> ListTrials(
      const std::string& study) override {
    v1::ListTrialsRequest request;
    request.set_parent(study);
    return With(
        [&](server::Driver& driver) -> absl::StatusOr<std::vector<v1::Trial>> {
          const auto reply = driver.Call<v1::ListTrialsReply>(request);
          if (!reply.ok()) return reply.status();
          return std::vector<v1::Trial>(reply->trials().begin(),
                                        reply->trials().end());
        });
  }

  void StartWorker(const std::string& id, Temper temper) override {
    Worker& worker = workers_[id];
    worker.thread = std::thread([this, id, temper, &worker] {
      const std::string boot_id = RandomHexId();
      (void)With(
          [&](server::Driver& d) { return d.Register(id, boot_id).status(); });
      while (!worker.stop) Work(id, boot_id, temper, worker);
    });
  }
  void KillWorker(const std::string& id) override {
    workers_.at(id).stop = true;
  }

  void RestartCoordinator() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    driver_.reset();
    store_.reset();
    Open();
  }

 private:
  struct Worker {
    std::thread thread;
    std::atomic<bool> stop{false};
  };

  void Open() {
    store_ = std::move(*storage::OpenStore(
        {.data_folder = folder_.File("data"), .ephemeral = false}));
    driver_ = std::make_unique<server::Driver>(*store_, clock_);
  }

  // Every call holds the lock, so that a restart happens between two calls.
  template <typename Body>
  auto With(Body body) -> decltype(body(std::declval<server::Driver&>())) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return body(*driver_);
  }

  void Work(const std::string& id, const std::string& boot_id, Temper temper,
            Worker& worker) {
    v1::AcquireRequest request = server::Driver::AcquireOf(id, boot_id);
    request.clear_wait();
    const auto reply =
        With([&](server::Driver& d) { return d.StartAcquire(request).get(); });
    if (!reply.ok() || reply->leases_size() == 0) {
      std::this_thread::sleep_for(milliseconds(20));
      return;
    }
    const v1::Lease& lease = reply->leases(0);
    do {
      std::this_thread::sleep_for(milliseconds(50));
      if (worker.stop) return;
      (void)With([&](server::Driver& d) {
        return d.Heartbeat(id, boot_id, lease).status();
      });
    } while (temper == Temper::kStuck);
    (void)With([&](server::Driver& d) {
      return d.Finish(lease, 0.01 * double(lease.attempt())).status();
    });
  }

  const TempFolder folder_;
  const SystemClock clock_;
  std::mutex mutex_;
  std::unique_ptr<storage::TrialStore> store_;  // guarded by mutex_
  std::unique_ptr<server::Driver> driver_;      // guarded by mutex_
  std::map<std::string, Worker> workers_;
};

}  // namespace

std::unique_ptr<World> MakeInProcessWorld() {
  return std::make_unique<InProcessWorld>();
}

namespace {

constexpr char kStudy[] = "studies/a";

class FlowTest : public ::testing::TestWithParam<std::unique_ptr<World> (*)()> {
 protected:
  FlowTest() : world_(GetParam()()) {}

  // Leases of 2 s, so that a dead worker is noticed within the test.
  void Create(std::int64_t budget) {
    v1::CreateStudyRequest request = server::ExampleStudy("a", budget);
    request.mutable_spec()->mutable_lease()->mutable_ttl()->set_seconds(2);
    request.mutable_spec()->mutable_sampler()->set_name("tpe");
    ASSERT_OK(world_->CreateStudy(request));
  }

  // Looks until `seen` holds; false when it never does.
  bool Eventually(const std::function<bool(const v1::Study&)>& seen) {
    for (int i = 0; i < 600; ++i) {
      const auto study = world_->GetStudy(kStudy);
      if (study.ok() && seen(*study)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  static bool Completed(const v1::Study& study) {
    return study.state() == v1::STUDY_STATE_COMPLETED;
  }

  void ExpectEveryTrialOnce(std::int64_t budget) {
    const auto trials = world_->ListTrials(kStudy);
    ASSERT_OK(trials);
    ASSERT_EQ(static_cast<std::int64_t>(trials->size()), budget);
    std::set<std::int64_t> numbers;
    for (const v1::Trial& trial : *trials) {
      EXPECT_EQ(trial.state(), v1::TRIAL_STATE_SUCCEEDED) << trial.name();
      EXPECT_TRUE(numbers.insert(trial.number()).second);
    }
  }

  std::unique_ptr<World> world_;
};

TEST_P(FlowTest, TheTrialOfAKilledWorkerIsDoneByTheOther) {
  Create(6);
  world_->StartWorker("stuck", Temper::kStuck);
  ASSERT_TRUE(Eventually(
      [](const v1::Study& study) { return study.counts().running() == 1; }));
  world_->KillWorker("stuck");
  world_->StartWorker("diligent", Temper::kDiligent);
  ASSERT_TRUE(Eventually(Completed));
  ExpectEveryTrialOnce(6);
  int second_attempts = 0;
  const auto trials = world_->ListTrials(kStudy);
  for (const v1::Trial& trial : *trials) {
    EXPECT_EQ(trial.worker(), "workers/diligent");
    if (trial.attempt() == 2) ++second_attempts;
  }
  EXPECT_EQ(second_attempts, 1);
}

TEST_P(FlowTest, ARestartOfTheCoordinatorLosesNothing) {
  Create(8);
  world_->StartWorker("diligent", Temper::kDiligent);
  ASSERT_TRUE(Eventually(
      [](const v1::Study& study) { return study.counts().succeeded() >= 3; }));
  const auto before = world_->ListTrials(kStudy);
  ASSERT_OK(before);
  world_->RestartCoordinator();
  ASSERT_TRUE(Eventually(Completed));
  ExpectEveryTrialOnce(8);
  // What had ended before is as it was.
  const auto after = world_->ListTrials(kStudy);
  for (const v1::Trial& trial : *before) {
    if (trial.state() != v1::TRIAL_STATE_SUCCEEDED) continue;
    const auto number = static_cast<std::size_t>(trial.number());
    EXPECT_EQ((*after)[number].values(0), trial.values(0));
    EXPECT_EQ((*after)[number].attempt(), trial.attempt());
  }
}

INSTANTIATE_TEST_SUITE_P(InProcess, FlowTest,
                         ::testing::Values(&MakeInProcessWorld));
INSTANTIATE_TEST_SUITE_P(RealBinaries, FlowTest,
                         ::testing::Values(&MakeRealWorld));

}  // namespace
}  // namespace frostline::test
