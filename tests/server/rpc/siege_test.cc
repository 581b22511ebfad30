// SPDX-License-Identifier: Apache-2.0
//
// Attacks on the program itself, over loopback. In each somebody who behaves
// goes on being answered, memory stays bounded, and afterwards all is as
// before. FROSTLINE_SIEGE_CONNECTS=50000 makes the flood of connects as long.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "frostline/v1/admin_service.grpc.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/bench/load/program.h"
#include "tests/server/rpc/raw_client.h"
#include "tests/server/rpc/raw_socket.h"
#include "tests/support/record.h"
#include "tests/support/temp_folder.h"

namespace frostline::server {
namespace {

using bench::CoordinatorProgram;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kWhoAmI[] = "/frostline.v1.AdminService/WhoAmI";
// A call of somebody who behaves is answered within this.
constexpr seconds kPatience(5);

// Calls without end over one connection, and counts what was not answered.
class Bystander {
 public:
  // Returns once it has been answered.
  explicit Bystander(const std::string& address)
      : stub_(v1::AdminService::NewStub(ChannelTo(address))) {
    Call();
    thread_ = std::thread([this] {
      while (!over_) {
        Call();
        std::this_thread::sleep_for(milliseconds(10));
      }
    });
  }
  ~Bystander() { Stop(); }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;

  void Stop() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  int answered() const { return answered_; }
  int failed() const { return failed_; }

 private:
  // A connection of its own: others at this address do without.
  static std::shared_ptr<grpc::Channel> ChannelTo(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(
        address, grpc::InsecureChannelCredentials(), arguments);
  }

  void Call() {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    v1::Identity identity;
    ++(stub_->WhoAmI(&context, v1::WhoAmIRequest(), &identity).ok() ? answered_
                                                                    : failed_);
  }

  const std::unique_ptr<v1::AdminService::Stub> stub_;
  std::atomic<bool> over_ = false;
  std::atomic<int> answered_ = 0;
  std::atomic<int> failed_ = 0;
  std::thread thread_;
};

class SiegeTest : public ::testing::Test {
 protected:
  void Begin(const std::vector<std::string>& options = {}) {
    coordinator_ = std::make_unique<CoordinatorProgram>(bench::CoordinatorSpec{
        .data = folder_.File("data"), .options = options});
    ASSERT_TRUE(coordinator_->Start());
    ASSERT_TRUE(IsServedWithin(seconds(10)));
    kib_before_ = coordinator_->program().ResidentKib();
    bystander_ = std::make_unique<Bystander>(address());
  }

  // Nobody who behaved noticed, and it grew by no more than this.
  void ExpectUnharmed(double most_mib) {
    bystander_->Stop();
    EXPECT_EQ(bystander_->failed(), 0);
    EXPECT_GT(bystander_->answered(), 0);
    const double grown_mib =
        (coordinator_->program().ResidentKib() - kib_before_) / 1024;
    record_["answered"] += bystander_->answered();
    record_["unanswered"] += bystander_->failed();
    record_["most_grown_mib"] = static_cast<std::int64_t>(std::ceil(grown_mib));
    record_["attacks"] = std::max<std::int64_t>(record_["attacks"], 1);
    std::cout << "grown by " << grown_mib << " MiB, answered "
              << bystander_->answered() << "\n";
    EXPECT_LT(grown_mib, most_mib);
    EXPECT_TRUE(IsServedWithin(seconds(5)));
  }

  bool IsServedWithin(seconds longest) const {
    const auto until = steady_clock::now() + longest;
    while (steady_clock::now() < until) {
      const RawSocket newcomer(address());
      newcomer.Send(HttpPreface());
      if (newcomer.IsSpokenTo(kPatience)) return true;
      std::this_thread::sleep_for(milliseconds(20));
    }
    return false;
  }

  // More than it had at the begin, when it had the most.
  double MostGrownMib() const {
    std::ifstream status("/proc/" + std::to_string(pid()) + "/status");
    std::string word;
    double kib = 0;
    while (status >> word) {
      if (word == "VmHWM:") status >> kib;
    }
    return (kib - kib_before_) / 1024;
  }

  // What was taken is given back, within a while.
  bool IsSmallAgain(double most_mib) const {
    const auto until = steady_clock::now() + seconds(60);
    while (steady_clock::now() < until) {
      const double kib = coordinator_->program().ResidentKib();
      if ((kib - kib_before_) / 1024 < most_mib) return true;
      std::this_thread::sleep_for(milliseconds(100));
    }
    return false;
  }

  bool IsLogged(const std::string& text) const {
    const auto until = steady_clock::now() + seconds(60);
    while (steady_clock::now() < until) {
      if (Log().find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(milliseconds(50));
    }
    return false;
  }

  const std::string& address() const { return coordinator_->address(); }
  pid_t pid() const { return coordinator_->program().pid(); }
  std::string Log() const { return coordinator_->program().Log(); }

  int Descriptors() const {
    const std::filesystem::directory_iterator open(
        "/proc/" + std::to_string(pid()) + "/fd");
    return static_cast<int>(
        std::distance(open, std::filesystem::directory_iterator()));
  }

  // What all its threads have computed so far.
  double CpuSeconds() const {
    std::ostringstream text;
    text << std::ifstream("/proc/" + std::to_string(pid()) + "/stat").rdbuf();
    std::istringstream behind(text.str().substr(text.str().rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i < 11; ++i) behind >> skipped;
    double user = 0, system = 0;
    behind >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }

  TempFolder folder_;
  std::unique_ptr<CoordinatorProgram> coordinator_;
  std::unique_ptr<Bystander> bystander_;
  Record record_;
  double kib_before_ = 0;
};

TEST_F(SiegeTest, EndsWhoNeverFinishesItsHandshake) {
  Begin();
  std::deque<RawSocket> slow;
  record_["attacks"] = 200;
  for (int i = 0; i < 200; ++i) {
    slow.emplace_back(address());
    ASSERT_TRUE(slow.back().Send("P"));
  }
  for (const RawSocket& peer : slow)
    EXPECT_TRUE(peer.IsEndedWithin(seconds(60)));
  ExpectUnharmed(64);
}

TEST_F(SiegeTest, RefusesHeadersOfSixtyFourKib) {
  Begin();
  std::atomic<int> refused = 0;
  std::vector<std::thread> giants;
  for (int i = 0; i < 4; ++i) {
    giants.emplace_back([&] {
      RawClient giant(address());
      for (int j = 0; j < 100; ++j) {
        grpc::ClientContext context;
        context.set_deadline(std::chrono::system_clock::now() + seconds(20));
        context.AddMetadata("giant", std::string(64 * 1024, 'x'));
        if (!giant.Call(kWhoAmI, "", &context).ok()) ++refused;
      }
    });
  }
  for (std::thread& giant : giants) giant.join();
  EXPECT_EQ(refused, 400);
  record_["attacks"] = refused;
  ExpectUnharmed(64);
}

TEST_F(SiegeTest, ServesOthersWhileAHeaderDoesNotEnd) {
  Begin();
  const RawSocket giant(address());
  giant.Send(HttpPreface());
  // A value of 8 MiB is announced (RFC 7541, 5.1): 0x7f, then 8 MiB - 127.
  const std::string value_begins =
      std::string("\0\1x\x7f", 4) + std::string("\x81\xff\xff\x03", 4);
  giant.Send(FrameOf(1, 0, 1, value_begins));
  const std::string part(16'384, 'x');
  for (int i = 0; i < 255 && giant.Send(FrameOf(9, 0, 1, part)); ++i) {
  }
  ExpectUnharmed(64);
}

TEST_F(SiegeTest, ForgetsThoseWhoConnectAndGo) {
  Begin();
  const char* const wanted = std::getenv("FROSTLINE_SIEGE_CONNECTS");
  const int connects = wanted == nullptr ? 5'000 : std::atoi(wanted);
  const int before = Descriptors();
  record_["attacks"] = connects;
  for (int i = 0; i < connects; ++i) {
    const RawSocket passer_by(address());
    ASSERT_TRUE(passer_by.connected());
    if (i % 2 == 0) passer_by.Send(HttpPreface());
  }
  const auto until = steady_clock::now() + seconds(20);
  while (Descriptors() > before + 10 && steady_clock::now() < until) {
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_LE(Descriptors(), before + 10);
  ExpectUnharmed(128);
}

// Cancels calls over one connection; whether that was ended within `longest`.
bool IsCutForResets(const std::string& address, seconds longest) {
  const RawSocket flood(address);
  flood.Send(HttpPreface() + AcknowledgeSettings());
  const auto until = steady_clock::now() + longest;
  for (std::uint32_t stream = 1; steady_clock::now() < until;) {
    std::string many;
    for (int i = 0; i < 50; ++i, stream += 2) {
      many += BeginCall(stream) + CancelCall(stream);
    }
    if (!flood.Send(many)) return true;
    flood.Drain();
  }
  return false;
}

TEST_F(SiegeTest, CutsWhoCancelsWithoutEnd) {
  Begin();
  for (int i = 0; i < 10; ++i) {
    ++record_["attacks"];
    ASSERT_TRUE(IsCutForResets(address(), seconds(10))) << i;
  }
  EXPECT_TRUE(IsLogged("cut_for_resets="));
  EXPECT_THAT(Log(), Not(HasSubstr("cut_for_resets=0")));
  EXPECT_LT(MostGrownMib(), 64);
  EXPECT_TRUE(IsSmallAgain(32));
  ExpectUnharmed(64);
}

// Bytes that went into the connection before it was over; at most 256 MiB.
std::size_t SendUntilCut(const RawSocket& peer, const std::string& again) {
  std::string many;
  while (many.size() < 100'000) many += again;
  std::size_t sent = 0;
  while (sent < (std::size_t{256} << 20) && peer.Send(many)) {
    sent += many.size();
    peer.Drain();
  }
  return sent;
}
// The kernel takes some before anybody reads it.
constexpr std::size_t kCutSoon = std::size_t{32} << 20;

TEST_F(SiegeTest, CutsAHeaderThatGoesOnForEver) {
  Begin();
  const RawSocket bomb(address());
  bomb.Send(HttpPreface() + AcknowledgeSettings() + BeginHeaderBomb());
  EXPECT_LT(SendUntilCut(bomb, GoOnWithHeaderBomb()), kCutSoon);
  EXPECT_TRUE(IsLogged("cut_for_frames=1 last_frames=header"));
  EXPECT_LT(MostGrownMib(), 64);
  ExpectUnharmed(32);
}

TEST_F(SiegeTest, CutsAHundredHeadersThatGoOnForEver) {
  Begin();
  std::atomic<int> cut = 0;
  std::vector<std::thread> bombers;
  for (int i = 0; i < 10; ++i) {
    bombers.emplace_back([&] {
      for (int j = 0; j < 10; ++j) {
        const RawSocket bomb(address());
        bomb.Send(HttpPreface() + AcknowledgeSettings() + BeginHeaderBomb());
        if (SendUntilCut(bomb, GoOnWithHeaderBomb()) < kCutSoon) ++cut;
      }
    });
  }
  for (std::thread& bomber : bombers) bomber.join();
  EXPECT_EQ(cut, 100);
  record_["attacks"] = 100;
  EXPECT_LT(MostGrownMib(), 256);
  EXPECT_TRUE(IsSmallAgain(64));
  ExpectUnharmed(64);
}

// Each after its begin, over and over.
struct FrameFlood {
  const char* name;
  std::string begin;
  std::string again;
};

std::vector<FrameFlood> FrameFloods() {
  const auto many_calls = [](bool cancel) {
    std::string calls;
    for (std::uint32_t i = 0; i < 2'000; ++i) {
      calls += BeginCall(2 * i + 1);
      if (cancel) calls += CancelCall(2 * i + 1);
    }
    return calls;
  };
  const std::string ready = HttpPreface() + AcknowledgeSettings();
  return {
      {"a header of empty frames", ready + FrameOf(1, 0, 1, "\x83\x86"),
       FrameOf(9, 0, 1, "")},
      {"a number that does not end", ready + FrameOf(1, 0, 1, "\x7f"),
       FrameOf(9, 0, 1, std::string(16'000, '\x80'))},
      {"a text that does not end",
       ready + FrameOf(1, 0, 1, std::string("\0\1x\x7f\x81\xff\xff\x0f", 8)),
       FrameOf(9, 0, 1, std::string(16'000, 'x'))},
      {"cancelled calls", ready, many_calls(true)},
      {"calls without acknowledgement", HttpPreface(), many_calls(false)},
      {"calls beyond the limit", ready, many_calls(false)},
      {"headers of calls that are over", ready + BeginCall(5), BeginCall(3)},
      {"PING", ready, FrameOf(6, 0, 0, "12345678")},
      {"SETTINGS", ready, FrameOf(4, 0, 0, "")},
      {"the table's size over and over", ready,
       FrameOf(4, 0, 0, std::string("\0\1\0\0\0\0\0\1\0\0\x10\0", 12))},
      {"WINDOW_UPDATE", ready, FrameOf(8, 0, 0, std::string("\0\0\0\1", 4))},
      {"PRIORITY", ready, FrameOf(2, 0, 1, std::string("\0\0\0\0\x10", 5))},
      {"empty DATA", ready + BeginCall(1), FrameOf(0, 0, 1, "")},
      {"frames that nobody knows", ready, FrameOf(0xbe, 0, 0, "")},
  };
}

TEST_F(SiegeTest, CutsEachFloodOfFrames) {
  Begin();
  for (const FrameFlood& flood : FrameFloods()) {
    const RawSocket peer(address());
    ++record_["attacks"];
    peer.Send(flood.begin);
    EXPECT_LT(SendUntilCut(peer, flood.again), kCutSoon) << flood.name;
    EXPECT_LT(MostGrownMib(), 64) << flood.name;
  }
  EXPECT_TRUE(IsSmallAgain(32));
  ExpectUnharmed(32);
}

TEST_F(SiegeTest, BoundsMessagesThatDoNotEnd) {
  Begin();
  const RawSocket peer(address());
  std::string calls = HttpPreface() + AcknowledgeSettings();
  std::string more;
  for (std::uint32_t i = 0; i < 250; ++i) {
    const std::uint32_t stream = 2 * i + 1;
    calls += BeginCall(stream);
    // A message of 2,000,000 bytes begins.
    calls += FrameOf(0, 0, stream, std::string("\0\0\x1e\x84\x80", 5));
    more += FrameOf(0, 0, stream, std::string(16'000, 'x'));
  }
  peer.Send(calls);
  peer.ReadAll(seconds(1));  // until it may send more
  EXPECT_LT(SendUntilCut(peer, more), std::size_t{64} << 20);
  EXPECT_TRUE(IsLogged("last_frames=messages"));
  EXPECT_LT(MostGrownMib(), 64);
  EXPECT_TRUE(IsSmallAgain(32));
  ExpectUnharmed(32);
}

TEST_F(SiegeTest, KeepsToItsCapAndServesThoseWhoAreIn) {
  Begin({"--max-connections", "50"});
  std::deque<RawSocket> crowd;
  for (int i = 0; i < 300; ++i) {
    crowd.emplace_back(address());
    crowd.back().Send(HttpPreface());
  }
  int turned_away = 0;
  for (const RawSocket& one : crowd) {
    turned_away += one.IsEndedWithin(milliseconds(20)) ? 1 : 0;
  }
  EXPECT_GE(turned_away, 250);
  record_["attacks"] = 300;
  crowd.clear();
  ExpectUnharmed(64);
}

TEST_F(SiegeTest, GivesThePlaceOfWhoNeverCallsToWhoComes) {
  Begin({"--max-connections", "20"});
  std::deque<RawSocket> idle;
  for (int i = 0; i < 30; ++i) {
    idle.emplace_back(address());
    idle.back().Send(HttpPreface());
  }
  EXPECT_FALSE(IsServedWithin(seconds(1)));
  EXPECT_TRUE(IsServedWithin(seconds(60)));
  EXPECT_THAT(Log(), HasSubstr("full="));
  ExpectUnharmed(64);
}

TEST_F(SiegeTest, ServesAgainAfterDescriptorsRanOut) {
  Begin();
  const int open = Descriptors();
  const auto most = static_cast<rlim_t>(open + 30);
  const rlimit few{.rlim_cur = most, .rlim_max = most};
  ASSERT_EQ(prlimit(pid(), RLIMIT_NOFILE, &few, nullptr), 0);
  std::deque<RawSocket> crowd;
  for (int i = 0; i < 300; ++i) {
    crowd.emplace_back(address());
    crowd.back().Send(HttpPreface());
  }
  record_["attacks"] = 300;
  const double cpu_before = CpuSeconds();
  std::this_thread::sleep_for(seconds(2));
  EXPECT_LT(CpuSeconds() - cpu_before, 1.0);  // it does not spin
  EXPECT_THAT(Log(), HasSubstr("no_descriptor="));
  int served = 0;
  for (const RawSocket& one : crowd) {
    served += one.IsSpokenTo(milliseconds(0)) ? 1 : 0;
  }
  EXPECT_GT(served, 0);
  EXPECT_LT(served, 100);
  crowd.clear();
  ExpectUnharmed(64);
}

}  // namespace
}  // namespace frostline::server
