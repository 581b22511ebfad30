// SPDX-License-Identifier: Apache-2.0
//
// What workers notice of others who storm the front door. The storm takes its
// share of the two cores wherever it goes, so it is measured at a socket of our
// own as well, which resets everybody like the coordinator does.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/bench/service/service_bench.h"

namespace frostline::bench {
namespace {

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

}  // namespace frostline::bench
