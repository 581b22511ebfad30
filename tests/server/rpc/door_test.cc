// SPDX-License-Identifier: Apache-2.0
//
// The front door of a real server, with raw sockets.
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <deque>
#include <filesystem>
#include <fstream>
#include <thread>

#include "frostline/v1/admin_service.grpc.pb.h"
#include "gmock/gmock.h"
#include "server/rpc/connection_acceptor.h"
#include "server/rpc/transport_guard.h"
#include "tests/server/rpc/auth_fixture.h"
#include "tests/server/rpc/raw_socket.h"
#include "tests/server/rpc/rpc_fixture.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::MatchesRegex;

class DoorTest : public RpcFixture {
 protected:
  void Listen(const DoorLimits& limits,
              const std::vector<std::string>& at = {"127.0.0.1:0"}) {
    server_.reset();
    RpcOptions options;
    options.listen = at;
    options.door = limits;
    ASSERT_OK_AND_ASSIGN(server_,
                         RpcServer::Listen(options, coordinator_->verbs()));
  }

  // Over a connection of its own.
  absl::StatusOr<v1::Identity> WhoAmI(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto stub = v1::AdminService::NewStub(grpc::CreateCustomChannel(
        address, grpc::InsecureChannelCredentials(), arguments));
    return Call(*stub, &v1::AdminService::Stub::WhoAmI, v1::WhoAmIRequest());
  }

  // Whether a new connection is served.
  static bool IsServed(const RawSocket& socket) {
    socket.Send(HttpPreface());
    return socket.IsSpokenTo(seconds(10));
  }
  bool IsServed() const { return IsServed(RawSocket(server_->address())); }

  bool IsServedWithin(seconds longest) const {
    const auto until = steady_clock::now() + longest;
    while (steady_clock::now() < until) {
      if (IsServed()) return true;
      std::this_thread::sleep_for(milliseconds(20));
    }
    return false;
  }
};

TEST_F(DoorTest, TurnsAwayWhoIsTooManyUntilSomebodyGoes) {
  Listen({.connections = 5, .local = 5});
  std::deque<RawSocket> in;
  for (int i = 0; i < 5; ++i) {
    in.emplace_back(server_->address());
    EXPECT_TRUE(IsServed(in.back())) << i;
  }
  for (int i = 0; i < 20; ++i) {
    RawSocket too_many(server_->address());
    EXPECT_TRUE(too_many.IsEndedWithin(seconds(10)));
    EXPECT_FALSE(too_many.IsSpokenTo(milliseconds(0)));
  }
  in.pop_front();
  EXPECT_TRUE(IsServedWithin(seconds(10)));
  in.clear();
  EXPECT_TRUE(IsServedWithin(seconds(10)));
}

TEST_F(DoorTest, CountsAllAddressesOfItTogether) {
  Listen({.connections = 4, .local = 2}, {"127.0.0.1:0", "127.0.0.1:0"});
  RawSocket first(server_->addresses()[0]), second(server_->addresses()[1]);
  EXPECT_TRUE(IsServed(first));
  EXPECT_TRUE(IsServed(second));
  RawSocket third(server_->addresses()[0]);
  EXPECT_TRUE(third.IsEndedWithin(seconds(10)));
}

TEST_F(DoorTest, LetsNoMoreInASecondThanItSays) {
  Listen({.connections = 1000, .local_rate = {.per_second = 1, .at_once = 10}});
  const auto begin = steady_clock::now();
  int served = 0;
  for (int i = 0; i < 100; ++i) served += IsServed() ? 1 : 0;
  const auto spent =
      std::chrono::duration<double>(steady_clock::now() - begin).count();
  EXPECT_GE(served, 10);
  EXPECT_LE(served, 11 + spent);
  EXPECT_TRUE(IsServedWithin(seconds(10)));
}

TEST_F(DoorTest, KeepsNoPlaceOfWhoHasGone) {
  Listen({.connections = 50, .local = 50});
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(RawSocket(server_->address()).connected());
  }
  EXPECT_TRUE(IsServedWithin(seconds(10)));
}

TEST_F(DoorTest, SaysWhereACallComesFrom) {
  TempFolder folder;
  const std::string path = "unix:" + folder.File("frostline.sock");
  Listen({}, {"127.0.0.1:0", "[::1]:0", path});
  ASSERT_OK_AND_ASSIGN(const auto four, WhoAmI(server_->addresses()[0]));
  EXPECT_THAT(four.address(), MatchesRegex("ipv4:127\\.0\\.0\\.1:[0-9]+"));
  ASSERT_OK_AND_ASSIGN(const auto six, WhoAmI(server_->addresses()[1]));
  EXPECT_THAT(six.address(), MatchesRegex("ipv6:%5B::1%5D:[0-9]+"));
  ASSERT_OK_AND_ASSIGN(const auto local, WhoAmI(path));
  EXPECT_EQ(local.address(), "unix:");
  EXPECT_EQ(local.role(), v1::ROLE_ADMIN);
}

TEST_F(DoorTest, LeavesASocketToItsOwnerAndNoFileBehind) {
  TempFolder folder;
  const std::string file = folder.File("frostline.sock");
  Listen({}, {"unix:" + file});
  EXPECT_EQ(std::filesystem::status(file).permissions() &
                (std::filesystem::perms::group_all |
                 std::filesystem::perms::others_all),
            std::filesystem::perms::none);
  server_->Shutdown(seconds(1));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(DoorTest, LetsNobodyInOnceItEnds) {
  Listen({});
  const std::string address = server_->address();
  server_->Shutdown(seconds(1));
  EXPECT_FALSE(RawSocket(address).connected());
}

TEST_F(DoorTest, HasFewerPlacesAtTheHealthPort) {
  server_.reset();
  RpcOptions options;
  options.listen = {"127.0.0.1:0"};
  options.health_listen = "127.0.0.1:0";
  ASSERT_OK_AND_ASSIGN(server_,
                       RpcServer::Listen(options, coordinator_->verbs()));
  std::deque<RawSocket> probes;
  int served = 0;
  for (int i = 0; i < 200; ++i) {
    probes.emplace_back(server_->health_address());
    served += IsServed(probes.back()) ? 1 : 0;
  }
  EXPECT_EQ(served, 128);
  EXPECT_TRUE(IsServed());
}

TEST_F(DoorTest, CutsWhoCancelsCallsWithoutEnd) {
  const RawSocket flood(server_->address());
  flood.Send(HttpPreface() + AcknowledgeSettings());
  std::uint32_t stream = 1;
  bool goes_on = true;
  while (goes_on && stream < 400'000) {
    std::string many;
    for (int i = 0; i < 50; ++i, stream += 2) {
      many += BeginCall(stream) + CancelCall(stream);
    }
    goes_on = flood.Send(many);
    flood.Drain();
  }
  EXPECT_TRUE(flood.IsEndedWithin(seconds(10)));
  EXPECT_LT(stream / 2, 100'000U);
  EXPECT_OK(WhoAmI(server_->address()));
}

TEST_F(DoorTest, KeepsWhoCancelsAsAnybodyMight) {
  const RawSocket peer(server_->address());
  peer.Send(HttpPreface() + AcknowledgeSettings());
  std::uint32_t stream = 1;
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 20; ++j, stream += 2) {
      ASSERT_TRUE(peer.Send(BeginCall(stream) + CancelCall(stream)));
    }
    peer.Drain();
    std::this_thread::sleep_for(milliseconds(100));
  }
  EXPECT_FALSE(peer.IsEndedWithin(milliseconds(600)));
}

// Many workers share a connection: they all wait, and then all hang up.
TEST_F(DoorTest, KeepsAFullConnectionWhoseCallsAllEndAtOnce) {
  const RawSocket peer(server_->address());
  peer.Send(HttpPreface() + AcknowledgeSettings());
  for (std::uint32_t i = 0; i < 200; ++i) peer.Send(BeginCall(2 * i + 1));
  std::this_thread::sleep_for(milliseconds(600));
  for (std::uint32_t i = 0; i < 200; ++i) peer.Send(CancelCall(2 * i + 1));
  EXPECT_FALSE(peer.IsEndedWithin(milliseconds(600)));
}

// Or frames are not looked at, and nothing else would say so.
TEST(TransportGuardTest, IsInPlaceWhereGrpcNeedsIt) {
  if (!TransportGuard::IsNeeded()) GTEST_SKIP() << grpc::Version();
  EXPECT_TRUE(TransportGuard::InPlace());
}

TEST_F(DoorTest, CutsAHeaderThatGoesOn) {
  const RawSocket bomb(server_->address());
  bomb.Send(HttpPreface() + AcknowledgeSettings() + BeginHeaderBomb());
  for (int i = 0; i < 4; ++i) bomb.Send(GoOnWithHeaderBomb());
  EXPECT_FALSE(bomb.IsEndedWithin(milliseconds(300)));
  bomb.Send(GoOnWithHeaderBomb());
  EXPECT_TRUE(bomb.IsEndedWithin(seconds(60)));
  EXPECT_OK(WhoAmI(server_->address()));
}

class ConnectionBookTest : public ::testing::Test {
 protected:
  ConnectionBookTest() { Pair(); }
  ~ConnectionBookTest() override {
    close(ends_[0]);
    close(ends_[1]);
  }
  void Pair() {
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0);
  }

  std::array<int, 2> ends_{};
  ConnectionBook book_;
};

TEST_F(ConnectionBookTest, FindsThatANumberIsAnothers) {
  const int other = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_FALSE(book_.Add(ends_[0], {}, seconds(1)).has_value());
  EXPECT_TRUE(book_.Sweep().empty());
  dup2(other, ends_[0]);
  close(other);
  const auto gone = book_.Sweep();
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].fd, ends_[0]);
  EXPECT_EQ(book_.size(), 0U);
}

TEST_F(ConnectionBookTest, AnswersWhoHadANumberBefore) {
  book_.Add(ends_[0], {.house = "a"}, seconds(1));
  const auto before = book_.Add(ends_[0], {.house = "b"}, seconds(2));
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(before->from.house, "a");
  EXPECT_EQ(book_.size(), 1U);
}

TEST_F(ConnectionBookTest, ShutsNobodyWhoHasTheNumberMeanwhile) {
  book_.Add(ends_[0], {}, seconds(1));
  const Connection known = book_.Before(seconds(2)).at(0);
  std::array<int, 2> others{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, others.data()), 0);
  dup2(others[0], ends_[0]);  // the number is another's now
  ConnectionBook::Shut(known);
  EXPECT_EQ(send(others[0], "x", 1, MSG_NOSIGNAL), 1);
  char byte = 0;
  EXPECT_EQ(recv(others[1], &byte, 1, MSG_DONTWAIT), 1);
  close(others[0]);
  close(others[1]);
}

using TlsDoorTest = AuthFixture;

TEST_F(TlsDoorTest, SaysWhereACallOverTlsComesFrom) {
  ASSERT_OK_AND_ASSIGN(
      const auto identity,
      WhoIs(WithToken(Create(v1::ROLE_VIEWER, "ana").secret())));
  EXPECT_THAT(identity.address(), MatchesRegex("ipv4:127\\.0\\.0\\.1:[0-9]+"));
}

// Who says a little too much is told; who says far too much is cut, behind TLS
// as before it.
TEST_F(TlsDoorTest, CutsWhoseHeadersAreHuge) {
  Caller in_plaintext;
  Caller stranger = WithToken("");
  Caller worker = WithCertificate("gpu-1", authority_,
                                  "spiffe://lan/frostline/worker/gpu-1");
  for (Caller* caller : {&in_plaintext, &stranger, &worker}) {
    caller->token = std::string(40'000, 'x');
    EXPECT_TRUE(absl::IsResourceExhausted(WhoIs(*caller).status()));
    caller->token = std::string(100'000, 'x');
    EXPECT_TRUE(absl::IsUnavailable(WhoIs(*caller).status()));
  }
}

// gRPC's books list a server from the first line of its constructor on.
TEST(StreamCounter, ServersAreBuiltWhileOthersAreListed) {
  std::atomic<bool> built = false;
  std::thread lists([&built] {
    while (!built) StreamCounter::Total();
  });
  for (int i = 0; i < 200; ++i) {
    v1::AdminService::Service service;
    grpc::ServerBuilder builder;
    builder.RegisterService(&service);
    EXPECT_NE(BuildServer(builder), nullptr);
  }
  built = true;
  lists.join();
}

}  // namespace
}  // namespace frostline::server
