// SPDX-License-Identifier: Apache-2.0
//
// How long a worker's heartbeat takes while many people list all studies.
#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "tests/bench/service/service_bench.h"

namespace frostline::bench {
namespace {

constexpr int kBusyStudies = 300;
constexpr int kListing = 16;
constexpr auto kPause = std::chrono::milliseconds(2);

// A worker with one trial.
class BeatingWorker {
 public:
  BeatingWorker(AdminClient& client, const Clock& clock)
      : client_(client), clock_(clock) {
    v1::RegisterRequest request;
    request.set_request_id(RandomHexId());
    request.set_worker_id("beating");
    request.mutable_worker()->set_boot_id("boot-1");
    request.mutable_worker()->set_slots(1);
    Demand(client_
               .Call(client_.workers(), &v1::WorkerService::Stub::Register,
                     request)
               .status(),
           "registering");
    v1::AcquireRequest acquire;
    acquire.set_request_id(RandomHexId());
    acquire.set_worker(WorkerNameOf("beating"));
    acquire.set_boot_id("boot-1");
    acquire.set_max_leases(1);
    acquire.mutable_wait()->set_seconds(20);
    const auto leased = client_.Call(
        client_.workers(), &v1::WorkerService::Stub::Acquire, acquire);
    Demand(leased.status(), "acquiring");
    beat_.set_worker(WorkerNameOf("beating"));
    beat_.set_boot_id("boot-1");
    if (leased->leases_size() != 1) return;
    v1::LeaseRef& held = *beat_.add_leases()->mutable_lease();
    held.set_trial(leased->leases(0).trial());
    held.set_attempt(leased->leases(0).attempt());
    held.set_secret(leased->leases(0).secret());
  }

  double BeatMs() {
    const SteadyTime begin = clock_.Steady();
    Demand(
        client_
            .Call(client_.workers(), &v1::WorkerService::Stub::Heartbeat, beat_)
            .status(),
        "a heartbeat");
    return std::chrono::duration<double, std::milli>(clock_.Steady() - begin)
        .count();
  }

  // Sorted, as Percentile() takes them.
  std::vector<double> Beats(int count) {
    std::vector<double> took;
    for (int i = 0; i < count; ++i) {
      took.push_back(BeatMs());
      std::this_thread::sleep_for(kPause);
    }
    std::sort(took.begin(), took.end());
    return took;
  }

 private:
  AdminClient& client_;
  const Clock& clock_;
  v1::HeartbeatRequest beat_;
};

}  // namespace

void MeasureBusy(ServiceBench& bench) {
  const auto coordinator = bench.StartCoordinator();
  AdminClient admin(coordinator->address());
  for (int i = 0; i < kBusyStudies; ++i) {
    CreateStudy(admin, absl::StrCat("listed-", i), 2);
  }
  BeatingWorker worker(admin, bench.clock());
  const int beats = bench.quick() ? 500 : 2'000;
  bench.Figure("heartbeat_p99_ms.idle", Percentile(worker.Beats(beats), 0.99));
  std::atomic<bool> over = false;
  std::atomic<int> lists = 0;
  std::vector<std::thread> people;
  for (int i = 0; i < kListing; ++i) {
    people.emplace_back([&] {
      AdminClient person(coordinator->address());
      v1::ListStudiesRequest request;
      request.set_page_size(1'000);
      while (!over) {
        const auto page = person.Call(
            person.studies(), &v1::StudyService::Stub::ListStudies, request);
        Demand(page.status(), "listing studies");
        ++lists;
      }
    });
  }
  const SteadyTime begin = bench.clock().Steady();
  const std::vector<double> took = worker.Beats(beats);
  const std::chrono::duration<double> spent = bench.clock().Steady() - begin;
  over = true;
  for (std::thread& person : people) person.join();
  bench.Figure("heartbeat_p50_ms.busy", Percentile(took, 0.5));
  bench.Figure("heartbeat_p99_ms.busy", Percentile(took, 0.99));
  bench.Figure("lists_per_s.busy", lists / spent.count());
}

}  // namespace frostline::bench
