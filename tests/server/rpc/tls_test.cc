// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "gmock/gmock.h"
#include "tests/server/rpc/auth_fixture.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

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

TEST_F(TlsTest, ReflectionAndWhatIsNotServedWantAnIdentity) {
  const std::string table = "StudyService/GetTrialTable";
  EXPECT_THAT(Send(WithToken(""), table),
              FailsWith(ErrorId::kCredentialsMissing));
  EXPECT_THAT(Send(local_, table), FailsWith(ErrorId::kMethodNotBuilt));
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
