// SPDX-License-Identifier: Apache-2.0
#include "cli/client/client.h"

#include <chrono>

#include "base/error.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRefused[] =
    "failed to connect to all addresses; last error: UNKNOWN: "
    "ipv4:127.0.0.1:21999: Failed to connect to remote host: Connection "
    "refused";

std::string CauseOf(const std::string& address, const std::string& said) {
  return std::string(CoordinatorAway(address, said).message());
}

std::string FixOf(const std::string& address) {
  return DetailOf(CoordinatorAway(address, kRefused))->fix;
}

TEST(CoordinatorAway, SaysInPlainWordsWhatIsKnown) {
  EXPECT_EQ(CauseOf("127.0.0.1:21999", kRefused),
            "nothing listens at 127.0.0.1:21999");
  EXPECT_EQ(
      CauseOf("unix:/tmp/none", "connect failed: No such file or directory"),
      "there is no socket at unix:/tmp/none");
  EXPECT_EQ(CauseOf("lost.example:7070",
                    "DNS resolution failed for lost.example:7070: C-ares "
                    "status is not ARES_SUCCESS: Domain name not found"),
            "lost.example:7070: there is no machine of this name");
  EXPECT_THAT(CauseOf("a:1", "something new"), HasSubstr("something new"));
}

TEST(CoordinatorAway, ItsFixStartsOneAtThisAddress) {
  EXPECT_THAT(FixOf("127.0.0.1:21999"),
              HasSubstr("`frostline serve --data frost --listen "
                        "127.0.0.1:21999`"));
  EXPECT_THAT(FixOf("127.0.0.1:7070"),
              HasSubstr("`frostline serve --data frost`"));
  EXPECT_THAT(FixOf("gpu-head.lan:7443"), Not(HasSubstr("serve")));
}

TEST(CoordinatorAway, OneThatBreaksOffMaySpeakTlsAlone) {
  const absl::Status status =
      CoordinatorAway("127.0.0.1:7443", "Socket closed");
  EXPECT_EQ(status.message(), "127.0.0.1:7443 has broken off the connection");
  EXPECT_THAT(DetailOf(status)->fix, HasSubstr("--tls-ca FILE"));
  EXPECT_THAT(DetailOf(status)->fix, HasSubstr("frostline serve"));
  EXPECT_THAT(FixOf("127.0.0.1:7443"), Not(HasSubstr("--tls-ca")));
  EXPECT_THAT(DetailOf(CoordinatorAway("unix:/tmp/s", "Socket closed"))->fix,
              Not(HasSubstr("--tls-ca")));
}

TEST(Client, ItsOwnLimitHasAnIdToo) {
  ASSERT_OK_AND_ASSIGN(const auto client, Client::Open("127.0.0.1:1"));
  client->LimitCalls(std::chrono::milliseconds(1500));
  const absl::Status status = client->Explain(
      {grpc::StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded"});
  EXPECT_TRUE(HasErrorId(status, ErrorId::kDeadlinePassed));
  EXPECT_EQ(status.message(), "127.0.0.1:1 has not answered in 1.5 s");
}

}  // namespace
}  // namespace frostline::cli
