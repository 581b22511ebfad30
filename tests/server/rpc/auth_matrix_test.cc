// SPDX-License-Identifier: Apache-2.0
//
// Every identity against every method of the contract, streams too.
#include <google/protobuf/descriptor.h>

#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "frostline/v1/worker_service.pb.h"
#include "tests/server/rpc/auth_fixture.h"
#include "tls/authority.h"

namespace frostline::server {
namespace {

constexpr const char* kServices[] = {
    "frostline.v1.StudyService", "frostline.v1.WorkerService",
    "frostline.v1.ImportanceService", "frostline.v1.AdminService",
    "externalscaler.ExternalScaler"};

// Who may call a method, written down here a second time: a row with another
// role than its name promises is found.
std::set<std::string> MayCall(const std::string& service,
                              const std::string& method) {
  if (method == "WhoAmI")
    return {"admin", "researcher", "worker", "viewer", "invited"};
  const bool of_admins = method == "ListTokens" || method == "DrainWorker" ||
                         (service == "AdminService" && method != "GetInfo");
  if (of_admins) return {"admin"};
  if (method == "Listen") return {"admin", "worker"};  // no list
  if (method == "Join") return {"invited"};
  if (method == "RenewCertificate") return {"certified"};
  if (service == "ExternalScaler") return {"admin", "researcher", "viewer"};
  for (const char* reads :
       {"Get", "List", "Watch", "Export", "Explain", "Compare", "Ask"}) {
    if (absl::StartsWith(method, reads))
      return {"admin", "researcher", "viewer"};
  }
  if (service == "WorkerService") return {"admin", "worker"};
  return {"admin", "researcher"};
}

// The role a caller has; empty: it is nobody.
struct Known {
  Caller caller;
  std::string role;
};

class AuthMatrixTest : public AuthFixture {
 protected:
  Known Token(v1::Role role, const std::string& name,
              const std::string& subject) {
    return {WithToken(Create(role, subject).secret()), name};
  }

  std::map<std::string, Known> Identities() {
    const std::string revoked = RevokedToken();
    std::string changed = Create(v1::ROLE_ADMIN, "eve").secret();
    changed.back() = changed.back() == '0' ? '1' : '0';
    const auto owner = [](const char* role, const char* name) {
      return tls::FormatOwnerName({role, name});
    };
    return {
        {"local", {local_, "admin"}},
        {"nobody", {WithToken(""), ""}},
        {"admin token", Token(v1::ROLE_ADMIN, "admin", "root")},
        {"researcher token", Token(v1::ROLE_RESEARCHER, "researcher", "ana")},
        {"worker token", Token(v1::ROLE_WORKER, "worker", "")},
        {"viewer token", Token(v1::ROLE_VIEWER, "viewer", "vic")},
        {"invitation", {WithToken(Invite().secret()), "invited"}},
        {"spent invitation", {WithToken(SpentInvitation()), "spent"}},
        {"revoked token", {WithToken(revoked), ""}},
        {"token with a byte changed", {WithToken(changed), ""}},
        {"bad token on loopback",
         {Caller{grpc::InsecureChannelCredentials(), false, changed}, ""}},
        {"worker certificate",
         {WithCertificate("w", authority_, owner("worker", "w")), "worker"}},
        {"admin certificate",
         {WithCertificate("a", authority_, owner("admin", "root")), "admin"}},
        {"certificate without a role",
         {WithCertificate("x", authority_, "spiffe://x/other/admin/root"), ""}},
        {"foreign certificate",
         {WithCertificate("f", foreign_, owner("admin", "root")), ""}}};
  }

  std::string SpentInvitation() {
    const std::string secret = Invite().secret();
    v1::JoinRequest request;
    request.set_request_id(RandomHexId());
    request.set_worker_id("spent");
    request.set_certificate_request(tls::MakeRequest("spent")->request_pem);
    EXPECT_OK(
        Call<v1::JoinReply>(WithToken(secret), "WorkerService/Join", request));
    return secret;
  }

  std::string RevokedToken() {
    const v1::CreateTokenReply made = Create(v1::ROLE_ADMIN, "gone");
    Revoke(made.token().id());
    return made.secret();
  }
};

TEST_F(AuthMatrixTest, DeniesWhateverNoRuleAllows) {
  const auto* const pool = google::protobuf::DescriptorPool::generated_pool();
  std::size_t asked = 0;
  for (const auto& [name, known] : Identities()) {
    for (const char* full_name : kServices) {
      const auto& methods = *pool->FindServiceByName(full_name);
      const std::string& service = methods.name();
      for (int i = 0; i < methods.method_count(); ++i) {
        const std::string method = methods.method(i)->name();
        SCOPED_TRACE(name + ": " + service + "." + method);
        const absl::Status status =
            Send(known.caller, service + "/" + method).status();
        const auto who = MayCall(service, method);
        const bool may =
            who.contains(known.role) ||
            (who.contains("certified") && name == "worker certificate");
        const bool served = !absl::IsUnimplemented(status);
        if (name == "foreign certificate") {
          EXPECT_FALSE(status.ok());  // the handshake fails
          EXPECT_TRUE(absl::IsUnauthenticated(status) ||
                      absl::IsUnavailable(status))
              << status;
        } else if (known.role.empty() ||
                   (known.role == "spent" && method != "Join")) {
          EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
        } else if (known.role == "spent") {
          EXPECT_FALSE(status.ok());  // the request is empty
        } else if (served) {
          EXPECT_EQ(absl::IsPermissionDenied(status), !may) << status;
          EXPECT_FALSE(absl::IsUnauthenticated(status)) << status;
        }
        ++asked;
        if (status.ok()) continue;
        ASSERT_TRUE(DetailOf(status).has_value()) << status;
        EXPECT_FALSE(DetailOf(status)->fix.empty());
      }
    }
  }
  EXPECT_GE(asked, 15u * 50u);
}

}  // namespace
}  // namespace frostline::server
