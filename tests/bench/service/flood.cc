// SPDX-License-Identifier: Apache-2.0
//
// What workers notice of one caller who asks for ten times his share. His own
// calls cost the two cores something wherever they go, so they are sent to a
// second coordinator as well.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "tests/bench/service/service_bench.h"

namespace frostline::bench {
namespace {

constexpr int kFloodedWorkers = 100;
constexpr int kShare = 200;  // calls a second of one identity
constexpr double kWanted = 2'000;
constexpr int kCallers = 8;

CoordinatorProgram Started(ServiceBench& bench) {
  CoordinatorProgram coordinator(
      {.data = bench.NewFolder(),
       .options = {"--calls-per-caller", absl::StrCat(kShare)}});
  if (!coordinator.Start()) {
    std::cerr << coordinator.program().Log();
    std::exit(1);
  }
  return coordinator;
}

std::string ViewersToken(const std::string& address) {
  AdminClient admin(address);
  v1::CreateTokenRequest request;
  request.set_request_id(RandomHexId());
  request.set_role(v1::ROLE_VIEWER);
  request.set_subject("greedy");
  const auto made =
      admin.Call(admin.admin(), &v1::AdminService::Stub::CreateToken, request);
  Demand(made.status(), "a token");
  return made->secret();
}

// One identity that asks kWanted times a second and never waits as it is told.
class Greedy {
 public:
  Greedy(const std::string& address, const std::string& token,
         const Clock& clock)
      : begun_(clock.Steady()) {
    for (int i = 0; i < kCallers; ++i) {
      threads_.emplace_back([this, address, token, &clock] {
        const auto stub = v1::AdminService::NewStub(
            grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
        while (!over_) {
          const double due =
              std::chrono::duration<double>(clock.Steady() - begun_).count() *
              kWanted;
          while (asked_ < due && !over_) Ask(*stub, token);
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      });
    }
  }
  ~Greedy() { Stop(); }
  Greedy(const Greedy&) = delete;
  Greedy& operator=(const Greedy&) = delete;

  void Stop() {
    over_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  double asked() const { return asked_; }
  double refused() const { return refused_; }
  double told_when() const { return told_when_; }

 private:
  void Ask(v1::AdminService::Stub& stub, const std::string& token) {
    ++asked_;
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + token);
    v1::ServerInfo reply;
    const grpc::Status status =
        stub.GetInfo(&context, v1::GetInfoRequest(), &reply);
    if (!HasErrorId(proto::FromGrpcStatus(status), ErrorId::kCallerTooFast)) {
      return;
    }
    ++refused_;
    if (absl::StrContains(status.error_details(), proto::kRetryInfoUrl)) {
      ++told_when_;
    }
  }

  const SteadyTime begun_;
  std::atomic<int> asked_ = 0;
  std::atomic<int> refused_ = 0;
  std::atomic<int> told_when_ = 0;
  std::atomic<bool> over_ = false;
  std::vector<std::thread> threads_;
};

double FloodedCyclesPerSecond(const ServiceBench& bench,
                              const std::string& address) {
  static int studies = 0;
  AdminClient admin(address);
  LoadOptions options;
  options.connect = address;
  options.study =
      CreateStudy(admin, absl::StrCat("flood-", ++studies), kEndless);
  options.workers = kFloodedWorkers;
  options.warm_up = std::chrono::milliseconds(500);
  options.time = std::chrono::seconds(3);
  const auto run = bench.Run(options);
  return ServiceBench::PerSecond(run->figures().cycles(), *run);
}

double FloodMedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return Percentile(values, 0.5);
}

}  // namespace

void MeasureFlood(ServiceBench& bench) {
  const CoordinatorProgram coordinator = Started(bench);
  const CoordinatorProgram other = Started(bench);
  const std::string token = ViewersToken(coordinator.address());
  const std::string others = ViewersToken(other.address());
  std::vector<double> alone, elsewhere, flooded;
  double asked = 0, refused = 0, told_when = 0, took = 0;
  for (int i = 0; i < (bench.quick() ? 3 : 7); ++i) {
    alone.push_back(FloodedCyclesPerSecond(bench, coordinator.address()));
    {
      const Greedy greedy(other.address(), others, bench.clock());
      elsewhere.push_back(FloodedCyclesPerSecond(bench, coordinator.address()));
    }
    const SteadyTime from = bench.clock().Steady();
    Greedy greedy(coordinator.address(), token, bench.clock());
    flooded.push_back(FloodedCyclesPerSecond(bench, coordinator.address()));
    greedy.Stop();
    took +=
        std::chrono::duration<double>(bench.clock().Steady() - from).count();
    asked += greedy.asked();
    refused += greedy.refused();
    told_when += greedy.told_when();
  }
  bench.Figure("flood.cycles_per_s.alone", FloodMedianOf(alone));
  bench.Figure("flood.cycles_per_s.elsewhere", FloodMedianOf(elsewhere));
  bench.Figure("flood.cycles_per_s.flooded", FloodMedianOf(flooded));
  bench.Figure("flood.goodput_ratio.to_alone",
               FloodMedianOf(flooded) / FloodMedianOf(alone));
  bench.Figure("flood.goodput_ratio.to_elsewhere",
               FloodMedianOf(flooded) / FloodMedianOf(elsewhere));
  bench.Figure("flood.asked_per_s", asked / took);
  bench.Figure("flood.refused_share", refused / asked);
  bench.Figure("flood.told_when_share",
               refused > 0 ? told_when / refused : 0.0);
}

}  // namespace frostline::bench
