// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/identity.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/agent/join_rig.h"
#include "tls/authority.h"
#include "tls/credentials.h"
#include "tls/private_file.h"
#include "worker/agent/options.h"

namespace frostline::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr Duration kDay = std::chrono::hours(24);

int ModeOf(const std::string& path) {
  struct stat found{};
  stat(path.c_str(), &found);
  return static_cast<int>(found.st_mode & 07777U);
}

class JoinTest : public ::testing::Test {
 protected:
  JoinTest() {
    options_.run_dir = rig_.File("runs");
    options_.host_id = "w";
    options_.id = "w-4711";
  }

  // As a program that starts anew would; it gives up after `tries` pauses.
  absl::Status Settle(const std::string& line, int tries = 3) {
    settled_ = options_;
    std::optional<tls::JoinLine> parsed;
    if (!line.empty()) parsed = tls::ParseJoinLine(line).value();
    return SettleIdentity(
        parsed, *now_, [&tries](Duration) { return --tries >= 0; }, &settled_);
  }

  std::size_t Joins() { return rig_.coordinator().heard().joins.size(); }
  std::string InIdentity(const std::string& name) const {
    return options_.run_dir + "/agents/w/identity/" + name;
  }

  JoinRig rig_;
  const SystemClock clock_;
  const Clock* now_ = &clock_;
  AgentOptions options_;
  AgentOptions settled_;
};

TEST_F(JoinTest, TradesTheTokenForACertificateOfItsOwnKey) {
  ASSERT_OK(Settle(rig_.Line()));
  EXPECT_EQ(settled_.id, "w");
  EXPECT_EQ(settled_.connect, rig_.coordinator().address());
  EXPECT_TRUE(settled_.has_joined);
  const Heard heard = rig_.coordinator().heard();
  EXPECT_THAT(heard.tokens, ElementsAre("Bearer " + kJoinToken));
  ASSERT_THAT(heard.joins, SizeIs(1));
  EXPECT_EQ(heard.joins[0].worker_id(), "w");
  EXPECT_OK(tls::CheckTlsFiles(settled_.access.tls, clock_));
  EXPECT_EQ(ModeOf(settled_.access.tls.key), 0600);
  EXPECT_EQ(ModeOf(InIdentity("")), 0700);
}

TEST_F(JoinTest, JoinsOnce) {
  ASSERT_OK(Settle(rig_.Line()));
  const tls::TlsFiles files = settled_.access.tls;
  ASSERT_OK(Settle(rig_.Line()));
  EXPECT_EQ(settled_.access.tls.key, files.key);
  ASSERT_OK(Settle(""));
  EXPECT_EQ(settled_.access.tls.key, files.key);
  EXPECT_EQ(settled_.id, "w");
  EXPECT_EQ(Joins(), 1U);
}

TEST_F(JoinTest, IsFoundUnlessTheCommandLineSaysAnotherWay) {
  options_.id = "other";
  options_.host_id = "node";
  options_.id_is_given = true;
  EXPECT_OK(Settle(""));
  EXPECT_FALSE(settled_.has_joined);
  options_.id = "w";
  ASSERT_OK(Settle(rig_.Line()));
  options_.id_is_given = false;  // by the only one that is there
  ASSERT_OK(Settle(""));
  EXPECT_EQ(settled_.id, "w");
  options_.connect_is_given = true;
  options_.connect = "127.0.0.1:1";
  ASSERT_OK(Settle(""));
  EXPECT_FALSE(settled_.has_joined);
  options_.connect = rig_.coordinator().address();
  ASSERT_OK(Settle(""));
  EXPECT_TRUE(settled_.has_joined);
}

TEST_F(JoinTest, OfSeveralAsksWhich) {
  ASSERT_OK(Settle(rig_.Line()));
  std::filesystem::copy(options_.run_dir + "/agents/w",
                        options_.run_dir + "/agents/v",
                        std::filesystem::copy_options::recursive);
  options_.host_id = "node";
  EXPECT_THAT(Settle(""), FailsAt(ErrorId::kRequestInvalid, "--id"));
}

// The bytes after the handshake are counted: a client that goes on sends the
// preface of HTTP/2 and its first frames, hundreds of bytes.
TEST_F(JoinTest, OfAWrongFingerprintNothingIsSent) {
  Relay relay(Relay::Kind::kPlain, rig_.port());
  ASSERT_OK(Settle(rig_.Line("127.0.0.1", relay.port())));
  const std::size_t all = relay.sent().size();
  std::filesystem::remove_all(options_.run_dir);

  Relay wrong(Relay::Kind::kPlain, rig_.port());
  std::string line = rig_.Line("127.0.0.1", wrong.port());
  line.back() = line.back() == '0' ? '1' : '0';
  const absl::Status status = Settle(line);
  EXPECT_THAT(status, FailsWith(ErrorId::kFingerprintWrong));
  EXPECT_THAT(DescribeError(status), Not(HasSubstr(kJoinSecret)));
  EXPECT_EQ(Joins(), 1U);
  EXPECT_FALSE(wrong.sent().empty());
  EXPECT_LT(wrong.sent().size() + 300, all);
  EXPECT_EQ(wrong.sent().find(kJoinSecret), std::string::npos);
}

TEST_F(JoinTest, OfTheRightCaWithTheWrongHostNothingIsSent) {
  const absl::Status status = Settle(rig_.Line("localhost"));
  EXPECT_THAT(status, FailsWith(ErrorId::kFingerprintWrong));
  EXPECT_THAT(DescribeError(status), HasSubstr("has not the host localhost"));
  EXPECT_EQ(Joins(), 0U);
}

TEST_F(JoinTest, NeedsTheCaInTheChain) {
  JoinRig bare(/*chain=*/false);
  EXPECT_THAT(Settle(bare.Line()), FailsWith(ErrorId::kFingerprintWrong));
  EXPECT_THAT(bare.coordinator().heard().joins, IsEmpty());
}

TEST_F(JoinTest, SaysThatNobodyServesTlsThere) {
  ScriptedCoordinator plain;
  const std::string port =
      plain.address().substr(plain.address().rfind(':') + 1);
  const absl::Status status =
      Settle(rig_.Line("127.0.0.1", std::stoi(port)), /*tries=*/0);
  EXPECT_THAT(status, FailsWith(ErrorId::kTlsRefused));
  EXPECT_THAT(plain.heard().tokens, IsEmpty());
}

TEST_F(JoinTest, EndsWithWhatTheCoordinatorRefuses) {
  rig_.coordinator().Refuse("Join", ErrorId::kTokenUsed);
  EXPECT_THAT(Settle(rig_.Line()), FailsWith(ErrorId::kTokenUsed));
  EXPECT_EQ(Joins(), 1U);
  EXPECT_OK(Settle(""));
  EXPECT_FALSE(settled_.has_joined);
}

TEST_F(JoinTest, AnAnswerThatIsLostIsAskedForAgain) {
  rig_.coordinator().LoseAnswers("Join", 2);
  EXPECT_TRUE(absl::IsCancelled(Settle(rig_.Line(), /*tries=*/1)));
  ASSERT_OK(Settle(rig_.Line()));  // in another life
  const Heard heard = rig_.coordinator().heard();
  ASSERT_THAT(heard.joins, SizeIs(3));
  for (const v1::JoinRequest& join : heard.joins) {
    EXPECT_EQ(join.request_id(), heard.joins[0].request_id());
    EXPECT_EQ(join.certificate_request(), heard.joins[0].certificate_request());
  }
}

TEST_F(JoinTest, KeepsItsCoordinatorButTakesANewAddressOfIt) {
  ASSERT_OK(Settle(rig_.Line()));
  JoinRig other;
  const absl::Status status = Settle(other.Line());
  EXPECT_THAT(status, FailsAt(ErrorId::kFingerprintWrong, "--join"));
  EXPECT_THAT(DescribeError(status), HasSubstr("remove "));
  ASSERT_OK(Settle(rig_.Line("head.test", 7443)));
  EXPECT_EQ(settled_.connect, "head.test:7443");
  ASSERT_OK(Settle(""));
  EXPECT_EQ(settled_.connect, "head.test:7443");
  EXPECT_EQ(Joins(), 1U);
}

TEST_F(JoinTest, AnExpiredOneIsInvitedAgain) {
  ASSERT_OK(Settle(rig_.Line()));
  FakeClock later;
  later.JumpWall(clock_.Wall() - later.Wall());
  later.Advance(2 * kDay);
  now_ = &later;
  const absl::Status status = Settle("");
  EXPECT_THAT(status, FailsWith(ErrorId::kCertificateExpired));
  EXPECT_THAT(DescribeError(status), HasSubstr("frostline worker invite"));
  rig_.SetLifetime(9 * kDay);
  ASSERT_OK(Settle(rig_.Line()));
  const Heard heard = rig_.coordinator().heard();
  ASSERT_THAT(heard.joins, SizeIs(2));
  EXPECT_NE(heard.joins[0].request_id(), heard.joins[1].request_id());
}

// So does one whose certificate was revoked.
TEST_F(JoinTest, ANewInvitationIsTakenAndOneThatIsRefusedChangesNothing) {
  ASSERT_OK(Settle(rig_.Line()));
  const std::string first = settled_.access.tls.key;
  std::string line = rig_.Line();
  line[sizeof("frost_") - 1] = 'f';  // of the token's id
  rig_.coordinator().Refuse("Join", ErrorId::kWorkerNameTaken);
  ASSERT_OK(Settle(line));
  EXPECT_EQ(settled_.access.tls.key, first);
  ASSERT_OK(Settle(line));
  const std::string second = settled_.access.tls.key;
  EXPECT_NE(second, first);
  ASSERT_OK(Settle(line));
  EXPECT_EQ(settled_.access.tls.key, second);
  EXPECT_EQ(Joins(), 3U);
}

TEST_F(JoinTest, RefusesWhatOthersMayReadOrWrite) {
  ASSERT_OK(Settle(rig_.Line()));
  const std::string key = settled_.access.tls.key;
  ASSERT_EQ(chmod(key.c_str(), 0644), 0);
  EXPECT_THAT(Settle(""), FailsAt(ErrorId::kTlsFile, "--run-dir"));
  EXPECT_THAT(Settle(rig_.Line()), FailsAt(ErrorId::kTlsFile, "--run-dir"));
  ASSERT_EQ(chmod(key.c_str(), 0600), 0);
  ASSERT_OK(Settle(""));
  for (const char* const folder : {"", "1"}) {
    ASSERT_EQ(chmod(InIdentity(folder).c_str(), 0777), 0);
    const absl::Status status = Settle("");
    EXPECT_THAT(status, FailsAt(ErrorId::kTlsFile, "--run-dir")) << folder;
    EXPECT_THAT(DescribeError(status), HasSubstr("mode 0777"));
    ASSERT_EQ(chmod(InIdentity(folder).c_str(), 0700), 0);
  }
}

TEST_F(JoinTest, AClockBeforeTheCertificateIsSaid) {
  ASSERT_OK(Settle(rig_.Line()));
  FakeClock past;
  past.JumpWall(clock_.Wall() - past.Wall() - WallMicros{7'200} * 1'000'000);
  const auto access =
      tls::Access::Open(settled_.access, settled_.connect, past);
  EXPECT_THAT(access, FailsWith(ErrorId::kTlsFile));
  EXPECT_THAT(DescribeError(access.status()), HasSubstr("set the clock"));
}

class IdentityTest : public JoinTest {
 protected:
  Identity identity_{rig_.File("runs"), "w"};
};

TEST_F(IdentityTest, AsksTheSameUntilItIsAnswered) {
  ASSERT_OK_AND_ASSIGN(const auto first, identity_.Ask("Join a"));
  EXPECT_EQ(ModeOf(InIdentity("next/worker.key")), 0600);
  // The key was written, and then the machine went away.
  std::filesystem::remove(InIdentity("next/request.pem"));
  ASSERT_OK_AND_ASSIGN(const auto second, identity_.Ask("Join a"));
  EXPECT_NE(first.request_pem, second.request_pem);
  Identity later(rig_.File("runs"), "w");
  ASSERT_OK_AND_ASSIGN(const auto third, later.Ask("Join a"));
  EXPECT_EQ(third.request_id, second.request_id);
  EXPECT_EQ(third.request_pem, second.request_pem);
  EXPECT_NE(later.Ask("Join b")->request_id, second.request_id);
  ASSERT_OK(later.Store(rig_.ReplyFor("w", third.request_pem), ""));
  EXPECT_NE(later.Ask("Join a")->request_pem, third.request_pem);
}

TEST_F(IdentityTest, RefusesAnAnswerThatIsNotItsOwn) {
  ASSERT_OK_AND_ASSIGN(const auto question, identity_.Ask("Join a"));
  const v1::JoinReply good = rig_.ReplyFor("w", question.request_pem);
  EXPECT_THAT(identity_.Store(rig_.ReplyFor("v", question.request_pem), ""),
              FailsWith(ErrorId::kTlsFile));
  const std::string foreign = tls::MakeRequest("w")->request_pem;
  EXPECT_THAT(identity_.Store(rig_.ReplyFor("w", foreign), ""),
              FailsWith(ErrorId::kTlsFile));
  EXPECT_THAT(identity_.Store(good, std::string(64, '0')),
              FailsWith(ErrorId::kTlsFile));
  v1::JoinReply swapped = good;
  swapped.set_ca(good.certificate());
  EXPECT_THAT(identity_.Store(swapped, ""), FailsWith(ErrorId::kTlsFile));
  EXPECT_FALSE(identity_.exists());
  EXPECT_OK(identity_.Store(good, rig_.ca_sha256()));
  EXPECT_TRUE(identity_.exists());
}

// Whatever a reader holds open, a pair that it finds is one.
TEST_F(IdentityTest, KeepsEachPairApartAndTheOneBefore) {
  for (int i = 1; i <= 3; ++i) {
    ASSERT_OK_AND_ASSIGN(const auto question, identity_.Ask("Renew"));
    ASSERT_OK(identity_.Store(rig_.ReplyFor("w", question.request_pem), ""));
    EXPECT_EQ(identity_.files().key,
              InIdentity(std::to_string(i) + "/worker.key"));
    EXPECT_OK(tls::CheckTlsFiles(identity_.files(), clock_));
  }
  EXPECT_FALSE(std::filesystem::exists(InIdentity("1")));
  EXPECT_TRUE(std::filesystem::exists(InIdentity("2")));
  EXPECT_FALSE(std::filesystem::exists(InIdentity("next")));
}

TEST(Renewal, IsDueWhenAThirdIsLeft) {
  constexpr WallMicros kSecond = 1'000'000;
  const IdentityFacts facts{"", "", "", 0, 300 * kSecond};
  EXPECT_EQ(RenewalDue(facts), 200 * kSecond);
  EXPECT_EQ(UntilNextLook(facts, 0), std::chrono::minutes(1));
  EXPECT_EQ(UntilNextLook(facts, 190 * kSecond), std::chrono::seconds(10));
  // It is due, and has failed: ten tries more.
  EXPECT_EQ(UntilNextLook(facts, 200 * kSecond), std::chrono::seconds(10));
  EXPECT_EQ(UntilNextLook(facts, 300 * kSecond),
            std::chrono::milliseconds(100));
  // A life of centuries.
  const IdentityFacts long_one{"", "", "", 0, WallMicros{1} << 60};
  EXPECT_EQ(UntilNextLook(long_one, 0), std::chrono::minutes(1));
}

const std::string kToken = "frost_0123456789abcdef_" + std::string(64, 'a');
const std::string kLine = kToken + "@h:1#" + std::string(64, '0');

TEST(JoinSource, IsALineAFileOrStandardInput) {
  TempFolder folder;
  const std::string path = folder.File("line");
  ASSERT_OK(tls::WritePrivateFile(path, SecretString(kLine + "\n"), ""));
  for (const std::string& given : {kLine, path, std::string("-")}) {
    std::istringstream input(kLine + "\nmore\n");
    ASSERT_OK_AND_ASSIGN(const tls::JoinLine line,
                         ReadJoinLine(SecretString(given), input));
    EXPECT_EQ(line.token.Reveal(), kToken) << given;
  }
}

TEST(JoinSource, ReadsNoMoreOfStandardInputThanALine) {
  std::istringstream endless(std::string(1 << 20, 'x'));
  EXPECT_THAT(ReadJoinLine(SecretString("-"), endless),
              FailsAt(ErrorId::kRequestInvalid, "--join"));
  EXPECT_LT(endless.tellg(), 10'000);
}

TEST(JoinSource, SaysOfAFileWhatIsWrong) {
  std::istringstream none;
  EXPECT_THAT(ReadJoinLine(SecretString("/nowhere/line"), none),
              FailsAt(ErrorId::kTlsFile, "--join"));
  const auto typo = ReadJoinLine(SecretString("nowhere"), none);
  EXPECT_THAT(typo, FailsAt(ErrorId::kRequestInvalid, "--join"));
  EXPECT_THAT(DescribeError(typo.status()), Not(HasSubstr("nowhere")));
}

// The words of a command line, after they were wiped.
std::vector<std::string> Wiped(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  HideJoinLine(static_cast<int>(pointers.size()), pointers.data());
  return words;
}

TEST(JoinSource, WipesTheTokenAlone) {
  const std::string stars(kToken.size(), '*');
  const std::string shown = stars + kLine.substr(kToken.size());
  EXPECT_THAT(Wiped({"w", "--join", kLine, "--id", "a@b"}),
              ElementsAre("w", "--join", shown, "--id", "a@b"));
  EXPECT_THAT(Wiped({"w", "--join=" + kLine}),
              ElementsAre("w", "--join=" + shown));
  EXPECT_THAT(Wiped({"w", "--join", kToken}),
              ElementsAre("w", "--join", stars));
  EXPECT_THAT(Wiped({"w", "--join", "-"}), ElementsAre("w", "--join", "-"));
  EXPECT_THAT(Wiped({"w", "--join", "/a@b"}),
              ElementsAre("w", "--join", "/a@b"));
  EXPECT_THAT(Wiped({"w", "--join"}), ElementsAre("w", "--join"));
}

}  // namespace
}  // namespace frostline::agent
