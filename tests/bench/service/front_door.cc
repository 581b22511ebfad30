// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <grpcpp/security/credentials.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "tests/bench/load/program.h"
#include "tests/bench/service/service_bench.h"
#include "tls/authority.h"
#include "tls/certificate.h"
#include "tls/credentials.h"
#include "tls/private_file.h"

namespace frostline::bench {

// The real coordinator, which asks its clients for certificates of a private CA
// that is made for it.
class TlsCoordinator {
 public:
  // Ends the program when it does not start. `folder` is not there yet.
  TlsCoordinator(const std::string& folder, const Clock& clock);

  CoordinatorProgram& program() { return *program_; }
  const std::string& address() const { return program_->address(); }
  // The credentials of an admin, who may act as any worker.
  const std::shared_ptr<grpc::ChannelCredentials>& credentials() const {
    return credentials_;
  }

 private:
  std::unique_ptr<CoordinatorProgram> program_;
  std::shared_ptr<grpc::ChannelCredentials> credentials_;
};

namespace {

template <typename T>
T Must(absl::StatusOr<T> result) {
  if (result.ok()) return *std::move(result);
  std::cerr << "with TLS: " << DescribeError(result.status()) << "\n";
  std::exit(1);
}

void WriteFile(const std::string& path, const tls::KeyPair& pair) {
  std::ofstream(path + ".crt") << pair.certificate_pem;
  const absl::Status written =
      tls::WritePrivateFile(path + ".key", pair.key_pem, "");
  if (!written.ok()) std::exit(1);
}

}  // namespace

TlsCoordinator::TlsCoordinator(const std::string& folder, const Clock& clock) {
  std::filesystem::create_directories(folder);
  const WallMicros now = clock.Wall();
  const tls::KeyPair ca = Must(tls::MakeAuthority("bench", now));
  WriteFile(folder + "/ca", ca);
  WriteFile(folder + "/coordinator",
            Must(tls::Issue(
                ca, {.name = "coordinator", .hosts = {"127.0.0.1"}, .uri = ""},
                now)));
  WriteFile(folder + "/client",
            Must(tls::Issue(ca,
                            {.name = "bench",
                             .hosts = {},
                             .uri = tls::FormatOwnerName({"admin", "bench"})},
                            now)));
  // One identity plays the whole fleet.
  program_ = std::make_unique<CoordinatorProgram>(CoordinatorSpec{
      .data = folder + "/data",
      .options = {"--tls", folder, "--calls-per-caller", "1000000"},
      .scheme = "tls:"});
  if (!program_->Start()) {
    std::cerr << "with TLS the coordinator does not start:\n"
              << program_->program().Log();
    std::exit(1);
  }
  credentials_ = Must(tls::ChannelCredentialsOf(
      {folder + "/client.crt", folder + "/client.key", folder + "/ca.crt"},
      clock));
}

namespace {

// What workers notice of others who storm the front door. The storm takes its
// share of the two cores wherever it goes, so it is measured at a socket of our
// own as well, which resets everybody like the coordinator does.

constexpr int kWorkers = 100;
constexpr int kMostConnections = 400;
constexpr int kConnects = 50'000;
constexpr double kPerSecond = 3'000;

void ResetAndClose(int fd) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(fd);
}

sockaddr_in LoopbackAt(int port) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return to;
}

int PortOf(const std::string& address) {
  return std::atoi(address.substr(address.rfind(':') + 1).c_str());
}

// -1 when nobody takes it.
int ConnectTo(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in to = LoopbackAt(port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) {
    return fd;
  }
  close(fd);
  return -1;
}

// Resets whoever connects.
class ClosedDoor {
 public:
  ClosedDoor() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at = LoopbackAt(0);
    if (bind(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof(at)) != 0 ||
        listen(fd_, 4096) != 0) {
      std::abort();
    }
    socklen_t size = sizeof(at);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this] {
      pollfd here{.fd = fd_, .events = POLLIN, .revents = 0};
      while (!over_) {
        if (poll(&here, 1, 50) != 1) continue;
        const int peer = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
        if (peer >= 0) ResetAndClose(peer);
      }
    });
  }
  ~ClosedDoor() {
    over_ = true;
    thread_.join();
    close(fd_);
  }
  ClosedDoor(const ClosedDoor&) = delete;
  ClosedDoor& operator=(const ClosedDoor&) = delete;

  int port() const { return port_; }

 private:
  const int fd_;
  int port_ = 0;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

// Connects kPerSecond times a second, and goes at once.
class Storm {
 public:
  Storm(int port, const Clock& clock)
      : clock_(clock), begun_(clock.Steady()), thread_([this, port] {
          while (!over_) {
            const double due = Seconds() * kPerSecond;
            while (connects_ < due && !over_) {
              const int fd = ConnectTo(port);
              if (fd >= 0) ResetAndClose(fd);
              ++connects_;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }) {}
  ~Storm() { Stop(); }
  Storm(const Storm&) = delete;
  Storm& operator=(const Storm&) = delete;

  void Stop() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  void Await(int connects) const {
    while (connects_ < connects) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  double Seconds() const {
    return std::chrono::duration<double>(clock_.Steady() - begun_).count();
  }

  const Clock& clock_;
  const SteadyTime begun_;
  std::atomic<int> connects_ = 0;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

LoadOptions Fleet(AdminClient& admin, const std::string& address,
                  const std::string& study) {
  LoadOptions options;
  options.connect = address;
  options.study = CreateStudy(admin, study, kEndless);
  options.workers = kWorkers;
  options.warm_up = std::chrono::milliseconds(500);
  options.time = std::chrono::seconds(3);
  return options;
}

// What all rounds came to. They take turns, since a machine's speed changes.
struct Outcomes {
  std::vector<double> cycles_per_s;
  std::vector<double> p99_ms;
};

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return Percentile(values, 0.5);
}

// Cycles as fast as they go, and the wait of a fleet that asks at its leisure.
void MeasureDoor(const ServiceBench& bench, AdminClient& admin,
                 const std::string& address, Outcomes* outcomes) {
  static int studies = 0;
  const auto fast =
      bench.Run(Fleet(admin, address, absl::StrCat("storm-", ++studies)));
  LoadOptions paced = Fleet(admin, address, absl::StrCat("storm-", ++studies));
  paced.think = std::chrono::milliseconds(100);
  const auto slow = bench.Run(paced);
  outcomes->cycles_per_s.push_back(
      ServiceBench::PerSecond(fast->figures().cycles(), *fast));
  outcomes->p99_ms.push_back(slow->figures().Milliseconds("acquire", 0.99));
}

void Say(const ServiceBench& bench, const std::string& name,
         const Outcomes& outcomes) {
  bench.Figure("door.cycles_per_s." + name, MedianOf(outcomes.cycles_per_s));
  bench.Figure("door.acquire_p99_ms." + name, MedianOf(outcomes.p99_ms));
}

void SayRatio(const ServiceBench& bench, const std::string& to,
              const Outcomes& stormed, const Outcomes& other) {
  bench.Figure("door.goodput_ratio." + to,
               MedianOf(stormed.cycles_per_s) / MedianOf(other.cycles_per_s));
  bench.Figure("door.p99_ratio." + to,
               MedianOf(stormed.p99_ms) / MedianOf(other.p99_ms));
}

}  // namespace

void MeasureFrontDoor(ServiceBench& bench) {
  CoordinatorProgram coordinator(
      {.data = bench.NewFolder(),
       .options = {"--max-connections", absl::StrCat(kMostConnections)}});
  if (!coordinator.Start()) {
    std::cerr << coordinator.program().Log();
    std::exit(1);
  }
  const std::string address = coordinator.address();
  AdminClient admin(address);
  const ClosedDoor closed;
  Outcomes alone, elsewhere, stormed;
  for (int i = 0; i < (bench.quick() ? 3 : 7); ++i) {
    MeasureDoor(bench, admin, address, &alone);
    {
      const Storm storm(closed.port(), bench.clock());
      MeasureDoor(bench, admin, address, &elsewhere);
    }
    const Storm storm(PortOf(address), bench.clock());
    MeasureDoor(bench, admin, address, &stormed);
  }
  Say(bench, "alone", alone);
  Say(bench, "storm_elsewhere", elsewhere);
  Say(bench, "storm", stormed);
  SayRatio(bench, "to_alone", stormed, alone);
  SayRatio(bench, "to_elsewhere", stormed, elsewhere);
  // Without workers, whose trials are remembered.
  const double kib = coordinator.program().ResidentKib();
  const Storm storm(PortOf(address), bench.clock());
  storm.Await(bench.quick() ? kConnects / 5 : kConnects);
  bench.Figure("door.grown_mib",
               (coordinator.program().ResidentKib() - kib) / 1024);
}

namespace {

// What workers notice of one caller who asks for ten times his share. His own
// calls cost the two cores something wherever they go, so they are sent to a
// second coordinator as well.

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

namespace {

// What certificates on both sides cost: cycles beside those in plaintext, the
// memory of who waits, and how soon a fleet is back after a restart.

constexpr int kRounds = 3;
constexpr int kReconnecting = 10'000;
constexpr int kMtlsParked = 2'000;
constexpr Duration kMtlsLongest = std::chrono::minutes(4);

double MtlsCyclesPerSecond(
    ServiceBench& bench, AdminClient& admin, const std::string& address,
    const std::string& id,
    std::shared_ptr<grpc::ChannelCredentials> credentials) {
  LoadOptions options;
  options.connect = address;
  options.study = CreateStudy(admin, id, kEndless);
  options.workers = 100;
  options.warm_up = std::chrono::seconds(1);
  options.time = std::chrono::seconds(bench.quick() ? 3 : 8);
  options.credentials = std::move(credentials);
  const auto run = bench.Run(options);
  return ServiceBench::PerSecond(run->figures().cycles(), *run);
}

// Round by round, so that a slow moment of the machine meets both.
void MeasureCyclesBeside(ServiceBench& bench) {
  const auto plain = bench.StartCoordinator();
  TlsCoordinator tls(bench.NewFolder(), bench.clock());
  AdminClient plain_admin(plain->address());
  AdminClient tls_admin(tls.address(), tls.credentials());
  std::vector<double> in_plain, with_tls, ratios;
  for (int round = 0; round < kRounds; ++round) {
    const std::string id = absl::StrCat("round-", round);
    in_plain.push_back(
        MtlsCyclesPerSecond(bench, plain_admin, plain->address(), id, nullptr));
    with_tls.push_back(MtlsCyclesPerSecond(bench, tls_admin, tls.address(), id,
                                           tls.credentials()));
    ratios.push_back(with_tls.back() / in_plain.back());
  }
  for (auto* figures : {&in_plain, &with_tls, &ratios}) {
    std::sort(figures->begin(), figures->end());
  }
  bench.Figure("cycles_per_s.w100.plain", Percentile(in_plain, 0.5));
  bench.Figure("cycles_per_s.w100.mtls", Percentile(with_tls, 0.5));
  bench.Figure("ratio_mtls_to_plain", Percentile(ratios, 0.5));
}

std::int64_t WaitingAt(AdminClient& admin) {
  const auto info = admin.GetInfo();
  return info.ok() ? info->waiting_workers() : 0;
}

// Seconds until all wait; negative when they never do.
double AwaitAll(ServiceBench& bench, AdminClient& admin, int workers) {
  const SteadyTime from = bench.clock().Steady();
  while (WaitingAt(admin) < workers) {
    if (bench.clock().Steady() - from > kMtlsLongest) return -1.0;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return std::chrono::duration<double>(bench.clock().Steady() - from).count();
}

LoadOptions MtlsWaiting(TlsCoordinator& tls, int workers, int per_channel) {
  LoadOptions options;
  options.connect = tls.address();
  options.study = "";
  options.workers = workers;
  options.per_channel = per_channel;
  options.credentials = tls.credentials();
  return options;
}

void MeasureMemory(ServiceBench& bench, int workers, int per_channel,
                   const std::string& key) {
  TlsCoordinator tls(bench.NewFolder(), bench.clock());
  AdminClient admin(tls.address(), tls.credentials());
  Demand(admin.GetInfo().status(), "a first call with TLS");
  const double before = tls.program().program().ResidentKib();
  LoadRun run(MtlsWaiting(tls, workers, per_channel), bench.clock());
  run.Start();
  AwaitAll(bench, admin, workers);
  const auto parked =
      static_cast<double>(std::max<std::int64_t>(1, WaitingAt(admin)));
  bench.Figure(key, (tls.program().program().ResidentKib() - before) / parked);
  run.Stop();
}

// From the kill of the coordinator until all wait again at its successor.
void MeasureReconnect(ServiceBench& bench, int workers) {
  TlsCoordinator tls(bench.NewFolder(), bench.clock());
  AdminClient admin(tls.address(), tls.credentials());
  LoadRun run(MtlsWaiting(tls, workers, 1), bench.clock());
  run.Start();
  bench.Figure(absl::StrCat("connect_s.w", workers, ".mtls"),
               AwaitAll(bench, admin, workers));
  tls.program().Kill();
  const SteadyTime killed = bench.clock().Steady();
  if (!tls.program().Start()) std::exit(1);
  AdminClient again(tls.address(), tls.credentials());
  const double back = AwaitAll(bench, again, workers);
  bench.Figure(
      absl::StrCat("reconnect_s.w", workers, ".mtls"),
      back < 0 ? back
               : std::chrono::duration<double>(bench.clock().Steady() - killed)
                     .count());
  run.Stop();
}

}  // namespace

void MeasureMtls(ServiceBench& bench) {
  MeasureCyclesBeside(bench);
  MeasureMemory(bench, kMtlsParked, 1, "kib_per_parked_worker.mtls");
  MeasureMemory(bench, kMtlsParked, 50, "kib_per_parked_worker.mtls.shared");
  if (RaiseOpenFiles() < kReconnecting + 256) {
    std::cout << "too few open files allowed (ulimit -n) for " << kReconnecting
              << " connections" << std::endl;
  } else {
    MeasureReconnect(bench, bench.quick() ? kMtlsParked : kReconnecting);
  }
}

}  // namespace frostline::bench
