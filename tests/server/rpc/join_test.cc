// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <future>
#include <thread>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "tests/server/example_study.h"
#include "tests/server/rpc/auth_fixture.h"
#include "tls/authority.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Workers join with an invitation, renew, and are shut out.

class JoinTest : public AuthFixture {
 protected:
  v1::JoinRequest RequestOf(const std::string& worker) {
    v1::JoinRequest request;
    request.set_request_id(RandomHexId());
    request.set_worker_id(worker);
    asked_ = *tls::MakeRequest(worker);
    request.set_certificate_request(asked_.request_pem);
    return request;
  }
  absl::StatusOr<v1::JoinReply> Join(const std::string& secret,
                                     const v1::JoinRequest& request) {
    return Call<v1::JoinReply>(WithToken(secret), "WorkerService/Join",
                               request);
  }
  // Over TLS, as the worker that joined last.
  Caller AsJoined(const v1::JoinReply& joined) {
    const std::string name = absl::StrCat("joined", ++joined_);
    std::ofstream(folder_.File(name + ".crt")) << joined.certificate();
    EXPECT_OK(
        tls::WritePrivateFile(folder_.File(name + ".key"), asked_.key_pem, ""));
    return {*tls::ChannelCredentialsOf(FilesOf(name), clock_), true};
  }
  Caller Joined(const std::string& worker) {
    const auto joined = Join(Invite().secret(), RequestOf(worker));
    EXPECT_OK(joined);
    return AsJoined(*joined);
  }
  absl::StatusOr<v1::RegisterReply> Register(const Caller& caller,
                                             const std::string& worker) {
    v1::RegisterRequest request;
    request.set_request_id(RandomHexId());
    request.set_worker_id(worker);
    request.mutable_worker()->set_boot_id("boot");
    request.mutable_worker()->set_slots(1);
    return Call<v1::RegisterReply>(caller, "WorkerService/Register", request);
  }
  std::int64_t RevokeAllOf(const std::string& subject) {
    v1::RevokeCertificatesRequest request;
    request.set_request_id(RandomHexId());
    request.set_subject(subject);
    const auto reply = Call<v1::RevokeCertificatesReply>(
        local_, "AdminService/RevokeCertificates", request);
    EXPECT_OK(reply);
    return reply.ok() ? reply->revoked() : -1;
  }

  tls::KeyRequest asked_;
  int joined_ = 0;
};

TEST_F(JoinTest, AnInvitationSaysWhereToAndWhomToTrust) {
  const v1::CreateTokenReply made = Invite();
  EXPECT_TRUE(made.token().single_use());
  EXPECT_EQ(made.join_address(), "gpu-head.lan:7443");
  EXPECT_EQ(made.ca_sha256(),
            tls::ReadCertificate(authority_.certificate_pem)->sha256);
  const WallMicros life = (made.token().expire_time().seconds() -
                           made.token().create_time().seconds());
  EXPECT_EQ(life, 3'600);
}

TEST_F(JoinTest, AnInvitationForAWorkerMayHoldForNinetyDays) {
  constexpr std::int64_t kNinetyDays = 90LL * 86'400;
  v1::CreateTokenRequest request =
      TokenRequest(v1::ROLE_WORKER, "workers/gpu03");
  request.set_single_use(true);
  request.mutable_lifetime()->set_seconds(kNinetyDays);
  ASSERT_OK_AND_ASSIGN(
      const v1::CreateTokenReply made,
      Call<v1::CreateTokenReply>(local_, "AdminService/CreateToken", request));
  EXPECT_EQ(made.token().expire_time().seconds() -
                made.token().create_time().seconds(),
            kNinetyDays);
}

TEST_F(JoinTest, WhoJoinedIsThatWorkerAndNoOther) {
  const Caller gpu03 = Joined("gpu03");
  ASSERT_OK_AND_ASSIGN(const v1::Identity who, WhoIs(gpu03));
  EXPECT_EQ(who.subject(), "workers/gpu03");
  EXPECT_EQ(who.role(), v1::ROLE_WORKER);
  EXPECT_EQ(who.proof(), "certificate");
  EXPECT_OK(Register(gpu03, "gpu03"));
  EXPECT_THAT(Register(gpu03, "gpu04"), FailsWith(ErrorId::kWorkerDenied));
}

TEST_F(JoinTest, ATokenIsTradedOnceAndTheSameRequestGetsTheSameAnswer) {
  const std::string secret = Invite().secret();
  const v1::JoinRequest request = RequestOf("gpu03");
  ASSERT_OK_AND_ASSIGN(const v1::JoinReply first, Join(secret, request));
  ASSERT_OK_AND_ASSIGN(const v1::JoinReply again, Join(secret, request));
  EXPECT_EQ(first.certificate(), again.certificate());
  EXPECT_THAT(Join(secret, RequestOf("gpu04")), FailsWith(ErrorId::kTokenUsed));
}

// Whoever has it after the node learns no more than with no token at all.
TEST_F(JoinTest, AnInvitationThatIsSpentAnswersNothing) {
  const std::string secret = Invite("workers/gpu03").secret();
  EXPECT_EQ(WhoIs(WithToken(secret))->subject(), "workers/gpu03");
  ASSERT_OK(Join(secret, RequestOf("gpu03")));
  const absl::Status unknown = WhoIs(WithToken(secret + "0")).status();
  for (const char* const method :
       {"AdminService/WhoAmI", "AdminService/GetInfo", "StudyService/Suggest",
        "StudyService/WatchStudy", "WorkerService/Acquire"}) {
    const absl::Status spent = Send(WithToken(secret), method).status();
    EXPECT_THAT(spent, FailsWith(ErrorId::kTokenInvalid)) << method;
    EXPECT_EQ(spent.message(), unknown.message()) << method;
  }
}

TEST_F(JoinTest, NobodyIsInvitedByANameThatHasCredentials) {
  Joined("gpu03");
  Create(v1::ROLE_WORKER, "workers/gpu04");
  for (const char* const taken : {"workers/gpu03", "workers/gpu04"}) {
    v1::CreateTokenRequest request = TokenRequest(v1::ROLE_WORKER, taken);
    request.set_single_use(true);
    EXPECT_THAT(
        Call<v1::CreateTokenReply>(local_, "AdminService/CreateToken", request),
        FailsAt(ErrorId::kWorkerNameTaken, "subject"));
  }
  RevokeAllOf("workers/gpu03");
  const std::string secret = Invite("workers/gpu03").secret();
  EXPECT_OK(Join(secret, RequestOf("gpu03")));
}

TEST_F(JoinTest, OfManyInvitationsOfOneNameAtOnceOneIsTraded) {
  std::vector<std::pair<std::string, v1::JoinRequest>> asking;
  for (int i = 0; i < 8; ++i) {
    asking.emplace_back(Invite("workers/gpu03").secret(), RequestOf("gpu03"));
  }
  std::vector<std::future<bool>> traded;
  for (const auto& [secret, request] : asking) {
    traded.push_back(std::async(std::launch::async, [this, secret, request] {
      return Join(secret, request).ok();
    }));
  }
  int joined = 0;
  for (auto& one : traded) joined += one.get() ? 1 : 0;
  EXPECT_EQ(joined, 1);
}

TEST_F(JoinTest, OfManyWhoTradeOneTokenAtOnceOneGetsACertificate) {
  const std::string secret = Invite().secret();
  std::vector<std::future<bool>> traded;
  for (int i = 0; i < 8; ++i) {
    const v1::JoinRequest request = RequestOf(absl::StrCat("gpu", i));
    traded.push_back(std::async(std::launch::async, [this, secret, request] {
      return Join(secret, request).ok();
    }));
  }
  int joined = 0;
  for (auto& one : traded) joined += one.get() ? 1 : 0;
  EXPECT_EQ(joined, 1);
}

TEST_F(JoinTest, AnInvitationForAWorkerIsForNoOther) {
  const std::string secret = Invite("workers/gpu03").secret();
  EXPECT_THAT(Join(secret, RequestOf("gpu04")),
              FailsWith(ErrorId::kWorkerDenied));
  EXPECT_OK(Join(secret, RequestOf("gpu03")));
}

TEST_F(JoinTest, ANameThatHasCredentialsIsTaken) {
  Joined("gpu03");
  Create(v1::ROLE_WORKER, "workers/gpu04");
  for (const char* const taken : {"gpu03", "gpu04"}) {
    EXPECT_THAT(Join(Invite().secret(), RequestOf(taken)),
                FailsWith(ErrorId::kWorkerNameTaken));
  }
  const Caller any = WithToken(Create(v1::ROLE_WORKER, "").secret());
  EXPECT_THAT(Register(any, "gpu03"), FailsWith(ErrorId::kWorkerDenied));
}

TEST_F(JoinTest, NobodyJoinsWithAnythingButAnInvitation) {
  for (const v1::Role role : {v1::ROLE_WORKER, v1::ROLE_RESEARCHER}) {
    const std::string secret =
        Create(role, role == v1::ROLE_WORKER ? "" : "ana").secret();
    EXPECT_THAT(Join(secret, RequestOf("gpu03")),
                FailsWith(ErrorId::kRoleDenied));
  }
  EXPECT_THAT(
      Call<v1::JoinReply>(local_, "WorkerService/Join", RequestOf("gpu03")),
      FailsWith(ErrorId::kRoleDenied));
}

TEST_F(JoinTest, WhatIsNoRequestIsRefusedAndTheTokenStays) {
  const std::string secret = Invite().secret();
  v1::JoinRequest request = RequestOf("gpu03");
  request.set_certificate_request("-----BEGIN CERTIFICATE REQUEST-----\nAA");
  EXPECT_THAT(Join(secret, request), FailsWith(ErrorId::kRequestInvalid));
  EXPECT_OK(Join(secret, RequestOf("gpu03")));
}

TEST_F(JoinTest, ACertificateIsRenewedByItsOwnerAlone) {
  const Caller gpu03 = Joined("gpu03");
  v1::RenewCertificateRequest request;
  request.set_request_id(RandomHexId());
  asked_ = *tls::MakeRequest("eve");
  request.set_certificate_request(asked_.request_pem);
  const auto renew = [&](const Caller& caller) {
    return Call<v1::JoinReply>(caller, "WorkerService/RenewCertificate",
                               request);
  };
  ASSERT_OK_AND_ASSIGN(const v1::JoinReply renewed, renew(gpu03));
  EXPECT_EQ(WhoIs(AsJoined(renewed))->subject(), "workers/gpu03");
  request.set_request_id(RandomHexId());
  const std::string token = Create(v1::ROLE_WORKER, "").secret();
  EXPECT_THAT(renew(WithToken(token)), FailsWith(ErrorId::kRoleDenied));
}

TEST_F(JoinTest, WhatIsRevokedEndsOnOpenConnectionsToo) {
  const Caller gpu03 = Joined("gpu03");
  ASSERT_OK(Register(gpu03, "gpu03"));
  EXPECT_EQ(RevokeAllOf("workers/gpu03"), 1);
  EXPECT_THAT(WhoIs(gpu03), FailsWith(ErrorId::kCertificateRevoked));
  // Its name is free again, and what is issued now holds.
  EXPECT_OK(WhoIs(Joined("gpu03")));
}

TEST_F(JoinTest, ACertificateThatWasNeverSeenIsRevokedWithItsSubject) {
  const Caller by_hand = WithCertificate(
      "hand", authority_, tls::FormatOwnerName({"worker", "gpu07"}));
  EXPECT_EQ(RevokeAllOf("workers/gpu07"), 0);
  EXPECT_THAT(WhoIs(by_hand), FailsWith(ErrorId::kCertificateRevoked));
}

class WaitingJoinTest : public JoinTest {
 protected:
  // Returns once the coordinator knows that the worker waits for a trial.
  std::future<absl::StatusOr<v1::AcquireReply>> Wait(const Caller& caller,
                                                     const std::string& name) {
    EXPECT_OK(Register(caller, name));
    v1::AcquireRequest acquire;
    acquire.set_request_id(RandomHexId());
    acquire.set_worker("workers/" + name);
    acquire.set_boot_id("boot");
    acquire.set_max_leases(1);
    acquire.mutable_wait()->set_seconds(3);  // then it would hear of no study
    auto waiting = std::async(std::launch::async, [this, caller, acquire] {
      return Call<v1::AcquireReply>(caller, "WorkerService/Acquire", acquire);
    });
    const auto waits = [this] {
      return Call<v1::ServerInfo>(local_, "AdminService/GetInfo",
                                  v1::GetInfoRequest())
          ->waiting_workers();
    };
    while (waits() == 0) std::this_thread::yield();
    return waiting;
  }
};

TEST_F(WaitingJoinTest, WhoseCertificateIsRevokedIsToldSoAtOnce) {
  auto waiting = Wait(Joined("gpu03"), "gpu03");
  RevokeAllOf("workers/gpu03");
  EXPECT_THAT(waiting.get(), FailsWith(ErrorId::kCertificateRevoked));
}

TEST_F(WaitingJoinTest, WhoseTokenIsRevokedIsToldSoAtOnce) {
  const auto made = Create(v1::ROLE_WORKER, "workers/gpu04");
  auto waiting = Wait(WithToken(made.secret()), "gpu04");
  Revoke(made.token().id());
  EXPECT_THAT(waiting.get(), FailsWith(ErrorId::kTokenInvalid));
}

TEST_F(JoinTest, WhoIsShutOutByAFirstSeenCertificateGetsNoTrialEither) {
  const Caller by_hand = WithCertificate(
      "hand", authority_, tls::FormatOwnerName({"worker", "gpu07"}));
  ASSERT_OK(Register(by_hand, "gpu07"));
  EXPECT_EQ(RevokeAllOf("workers/gpu07"), 1);
  EXPECT_THAT(Register(by_hand, "gpu07"),
              FailsWith(ErrorId::kCertificateRevoked));
}

TEST_F(JoinTest, CertificatesAreListedWithWhatHasBecomeOfThem) {
  Joined("gpu03");
  Joined("gpu04");
  RevokeAllOf("workers/gpu04");
  ASSERT_OK_AND_ASSIGN(
      const auto listed,
      Call<v1::ListCertificatesReply>(local_, "AdminService/ListCertificates",
                                      v1::ListCertificatesRequest()));
  ASSERT_EQ(listed.certificates_size(), 2);
  for (const v1::Certificate& one : listed.certificates()) {
    EXPECT_EQ(one.has_revoke_time(), one.subject() == "workers/gpu04");
    EXPECT_EQ(one.sha256().size(), 64u);
  }
}

class ShortLifeTest : public JoinTest {
 protected:
  Duration CertificateLife() const override { return std::chrono::seconds(2); }
};

TEST_F(ShortLifeTest, AnOpenConnectionEndsWithItsCertificate) {
  const Caller gpu03 = Joined("gpu03");
  RawClient open(server_->addresses()[1], gpu03.credentials);
  const auto who = [&open] {
    grpc::ClientContext context;
    return open.Call("/frostline.v1.AdminService/WhoAmI", "", &context);
  };
  EXPECT_OK(who());
  std::this_thread::sleep_for(std::chrono::milliseconds(2'100));
  EXPECT_THAT(who(), FailsWith(ErrorId::kCertificateExpired));
}

class TlsTest : public AuthFixture {
 protected:
  Caller Trusting(const std::string& ca_pem) {
    std::ofstream(folder_.File("other.crt")) << ca_pem;
    return {
        *tls::ChannelCredentialsOf({"", "", folder_.File("other.crt")}, clock_),
        true, ""};
  }
};

TEST_F(TlsTest, RefusesAClientThatTrustsAnotherAuthority) {
  EXPECT_THAT(WhoIs(Trusting(foreign_.certificate_pem)),
              FailsWith(ErrorId::kTlsRefused));
}

TEST_F(TlsTest, RefusesACertificateOfAnotherHost) {
  Write("coordinator", authority_, {"elsewhere.lan"}, "");
  Listen(/*require_tokens=*/false);
  EXPECT_THAT(WhoIs(WithToken("")), FailsWith(ErrorId::kTlsRefused));
}

TEST_F(TlsTest, TakesANewCertificateWithoutARestart) {
  const Caller old_client = WithToken("");
  EXPECT_THAT(WhoIs(old_client), FailsWith(ErrorId::kCredentialsMissing));
  Write("coordinator", foreign_, {"127.0.0.1"}, "");
  const Caller new_client = Trusting(foreign_.certificate_pem);
  const SteadyTime until = clock_.Steady() + seconds(20);
  absl::Status status;
  do {
    std::this_thread::sleep_for(milliseconds(100));
    status = WhoIs(new_client).status();
  } while (HasErrorId(status, ErrorId::kTlsRefused) && clock_.Steady() < until);
  EXPECT_THAT(status, FailsWith(ErrorId::kCredentialsMissing));
}

TEST_F(TlsTest, ServesNoPlaintextWhereItServesTls) {
  Caller plain = local_;
  plain.over_tls = true;
  EXPECT_FALSE(WhoIs(plain).ok());
}

TEST_F(TlsTest, ServesNobodyElseWithoutTls) {
  for (const char* listen : {"0.0.0.0:0", "[::]:0", "tls:127.0.0.1:0"}) {
    RpcOptions options;
    options.listen = {listen};
    const auto refused = RpcServer::Listen(options, coordinator_->verbs());
    EXPECT_THAT(refused, FailsAt(ErrorId::kAddressNotLoopback, "listen"));
    EXPECT_THAT(DetailOf(refused.status())->fix,
                HasSubstr("frostline tls init --host HOST"));
  }
}

TEST_F(TlsTest, ReflectionWantsAnIdentity) {
  const std::string reflection =
      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
  const std::string list("\x3a\x00", 2);  // list_services: ""
  RawClient plain(server_->addresses()[0]);
  EXPECT_OK(plain.Call(reflection, list));
  RawClient afar(server_->addresses()[1], WithToken("").credentials);
  EXPECT_THAT(afar.Call(reflection, list),
              FailsWith(ErrorId::kCredentialsMissing));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + seconds(10));
  context.AddMetadata("authorization",
                      "Bearer " + Create(v1::ROLE_VIEWER, "ana").secret());
  EXPECT_OK(afar.Call(reflection, list, &context));
}

}  // namespace
}  // namespace frostline::server
