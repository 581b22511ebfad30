// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "storage/factory.h"
#include "tests/flow/world.h"
#include "tests/server/driver.h"
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

}  // namespace frostline::test
