// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/descriptor.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "frostline/v1/study_service.grpc.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "gmock/gmock.h"
#include "server/auth/access.h"
#include "server/coordinator.h"
#include "storage/factory.h"
#include "tests/server/example_study.h"
#include "tests/server/rpc/auth_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/record.h"
#include "tests/support/status_matchers.h"
#include "tls/authority.h"
#include "tls/credentials.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

class AuthTest : public AuthFixture {
 protected:
  absl::StatusOr<v1::RotateTokenReply> Rotate(const std::string& id,
                                              const std::string& request_id) {
    v1::RotateTokenRequest request;
    request.set_request_id(request_id);
    request.set_id(id);
    return Call<v1::RotateTokenReply>(local_, "AdminService/RotateToken",
                                      request);
  }
  v1::Token Listed(const std::string& id) {
    const auto list = Call<v1::ListTokensReply>(
        local_, "AdminService/ListTokens", v1::ListTokensRequest());
    for (const v1::Token& token : list->tokens()) {
      if (token.id() == id) return token;
    }
    return {};
  }
  absl::StatusOr<v1::RegisterReply> Register(const Caller& caller,
                                             const std::string& id) {
    v1::RegisterRequest request;
    request.set_request_id(RandomHexId());
    request.set_worker_id(id);
    request.mutable_worker()->set_boot_id("boot-" + id);
    request.mutable_worker()->set_slots(1);
    return Call<v1::RegisterReply>(caller, "WorkerService/Register", request);
  }
  absl::StatusOr<v1::AcquireReply> Acquire(const Caller& caller,
                                           const std::string& id) {
    v1::AcquireRequest request;
    request.set_request_id(RandomHexId());
    request.set_worker("workers/" + id);
    request.set_boot_id("boot-" + id);
    request.set_max_leases(1);
    request.mutable_wait()->set_seconds(5);
    return Call<v1::AcquireReply>(caller, "WorkerService/Acquire", request);
  }
};

TEST_F(AuthTest, KnowsWhoCallsAndByWhatProof) {
  ASSERT_OK_AND_ASSIGN(const v1::Identity local, WhoIs(local_));
  EXPECT_EQ(local.proof(), "loopback");
  EXPECT_EQ(local.role(), v1::ROLE_ADMIN);
  const auto made = Create(v1::ROLE_VIEWER, "ana");
  ASSERT_OK_AND_ASSIGN(const v1::Identity ana, WhoIs(WithToken(made.secret())));
  EXPECT_EQ(ana.subject(), "ana");
  EXPECT_EQ(ana.role(), v1::ROLE_VIEWER);
  EXPECT_EQ(ana.proof(), "token");
  EXPECT_EQ(ana.token_id(), made.token().id());
  ASSERT_OK_AND_ASSIGN(
      const v1::Identity worker,
      WhoIs(WithCertificate("g", authority_,
                            "spiffe://lan/frostline/worker/gpu03")));
  EXPECT_EQ(worker.subject(), "workers/gpu03");
  EXPECT_EQ(worker.proof(), "certificate");
  EXPECT_EQ(worker.certificate_sha256().size(), 64u);
}

TEST_F(AuthTest, ATokenIsLessThanBeingLocal) {
  Caller caller = local_;
  caller.token = Create(v1::ROLE_VIEWER, "ana").secret();
  EXPECT_EQ(WhoIs(caller)->role(), v1::ROLE_VIEWER);
}

TEST_F(AuthTest, AsksLocalCallersWhereTokensAreRequired) {
  const std::string secret = Create(v1::ROLE_ADMIN, "root").secret();
  Listen(/*require_tokens=*/true);
  EXPECT_THAT(WhoIs(local_), FailsWith(ErrorId::kCredentialsMissing));
  Caller caller = local_;
  caller.token = secret;
  EXPECT_OK(WhoIs(caller));
}

TEST_F(AuthTest, BothSecretsHoldWhileATokenIsRotated) {
  const auto made = Create(v1::ROLE_VIEWER, "ana");
  ASSERT_OK_AND_ASSIGN(const auto rotated,
                       Rotate(made.token().id(), RandomHexId()));
  EXPECT_NE(made.secret(), rotated.secret());
  EXPECT_OK(WhoIs(WithToken(made.secret())));
  EXPECT_OK(WhoIs(WithToken(rotated.secret())));
  ASSERT_OK_AND_ASSIGN(const auto third,
                       Rotate(made.token().id(), RandomHexId()));
  EXPECT_THAT(WhoIs(WithToken(made.secret())),
              FailsWith(ErrorId::kTokenInvalid));
  EXPECT_OK(WhoIs(WithToken(rotated.secret())));
  EXPECT_OK(WhoIs(WithToken(third.secret())));
}

TEST_F(AuthTest, ARepeatedRequestGetsTheSameSecretOrNone) {
  v1::CreateTokenRequest request = TokenRequest(v1::ROLE_VIEWER, "ana");
  request.mutable_lifetime()->set_seconds(3'600);
  const auto ask = [&](const Caller& caller) {
    return Call<v1::CreateTokenReply>(caller, "AdminService/CreateToken",
                                      request);
  };
  ASSERT_OK_AND_ASSIGN(const auto lost, ask(local_));
  ASSERT_OK_AND_ASSIGN(const auto again, ask(local_));
  EXPECT_EQ(lost.DebugString(), again.DebugString());
  EXPECT_OK(WhoIs(WithToken(lost.secret())));
  EXPECT_EQ(ask(local_)->secret(), lost.secret());
  // Another admin, who has read the request id in the audit.
  EXPECT_THAT(ask(WithToken(Create(v1::ROLE_ADMIN, "eve").secret())),
              FailsAt(ErrorId::kRequestIdReused, "request_id"));
  request.mutable_lifetime()->set_seconds(7'200);
  EXPECT_THAT(ask(local_), FailsAt(ErrorId::kRequestIdReused, "request_id"));
  request.mutable_lifetime()->set_seconds(3'600);

  const std::string id = lost.token().id();
  const std::string request_id = RandomHexId();
  ASSERT_OK_AND_ASSIGN(const auto first, Rotate(id, request_id));
  ASSERT_OK_AND_ASSIGN(const auto second, Rotate(id, request_id));
  EXPECT_EQ(first.DebugString(), second.DebugString());
  EXPECT_OK(WhoIs(WithToken(first.secret())));
  EXPECT_OK(WhoIs(WithToken(lost.secret())));  // the old one
  // Their secrets are no longer the newest.
  ASSERT_OK_AND_ASSIGN(const auto third, Rotate(id, RandomHexId()));
  EXPECT_THAT(ask(local_), FailsWith(ErrorId::kRequestIdReused));
  EXPECT_THAT(Rotate(id, request_id), FailsWith(ErrorId::kRequestIdReused));
  EXPECT_OK(WhoIs(WithToken(third.secret())));
  EXPECT_OK(WhoIs(WithToken(first.secret())));
}

// What is in memory is gone; the store has no secret.
TEST_F(AuthTest, ASecretIsNotShownAgainAfterARestart) {
  const v1::CreateTokenRequest request = TokenRequest(v1::ROLE_VIEWER, "ana");
  const auto ask = [&] {
    return Call<v1::CreateTokenReply>(local_, "AdminService/CreateToken",
                                      request);
  };
  ASSERT_OK_AND_ASSIGN(const auto made, ask());
  Restart();
  EXPECT_THAT(ask(), FailsAt(ErrorId::kRequestIdReused, "request_id"));
  EXPECT_OK(WhoIs(WithToken(made.secret())));
}

TEST_F(AuthTest, AClientReadsItsTokenAgainWhenTheFileChanges) {
  const std::string path = folder_.File("ana.token");
  const auto made = Create(v1::ROLE_VIEWER, "ana");
  ASSERT_OK(tls::WritePrivateFile(path, SecretString(made.secret()), ""));
  ASSERT_OK_AND_ASSIGN(const tls::Access access,
                       tls::Access::Open({{}, path}, "127.0.0.1:1", clock_));
  RawClient client(server_->addresses()[0]);
  const auto subject = [&] {
    grpc::ClientContext context;
    access.ShowToken(&context);
    v1::Identity who;
    who.ParseFromString(
        client.Call("/frostline.v1.AdminService/WhoAmI", "", &context)
            .value_or(""));
    return who.subject();
  };
  EXPECT_EQ(subject(), "ana");
  const auto next = Create(v1::ROLE_VIEWER, "next");
  ASSERT_OK(tls::WritePrivateFile(path, SecretString(next.secret()), ""));
  EXPECT_EQ(subject(), "next");
  std::filesystem::remove(path);
  EXPECT_EQ(subject(), "next");  // the one before
}

TEST_F(AuthTest, ATokenExpires) {
  v1::CreateTokenRequest request = TokenRequest(v1::ROLE_VIEWER, "ana");
  request.mutable_lifetime()->set_nanos(300'000'000);
  const auto made =
      *Call<v1::CreateTokenReply>(local_, "AdminService/CreateToken", request);
  std::this_thread::sleep_for(milliseconds(400));
  EXPECT_THAT(WhoIs(WithToken(made.secret())),
              FailsWith(ErrorId::kTokenExpired));
}

TEST_F(AuthTest, ARevokedTokenEndsAtOnceOnOpenStreamsToo) {
  const auto made = Create(v1::ROLE_VIEWER, "ana");
  ASSERT_OK(Call<v1::CreateStudyReply>(local_, "StudyService/CreateStudy",
                                       ExampleStudy("imdb", 3)));
  const Caller caller = WithToken(made.secret());
  const auto stub = v1::StudyService::NewStub(
      grpc::CreateChannel(server_->addresses()[1], caller.credentials));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + seconds(10));
  context.AddMetadata("authorization", "bearer " + caller.token);
  v1::WatchStudyRequest request;
  request.set_name("studies/imdb");
  const auto reader = stub->WatchStudy(&context, request);
  v1::StudyEvent event;
  ASSERT_TRUE(reader->Read(&event));
  Revoke(made.token().id());
  v1::PauseStudyRequest pause;
  pause.set_request_id(RandomHexId());
  pause.set_name("studies/imdb");
  ASSERT_OK(Call<v1::Study>(local_, "StudyService/PauseStudy", pause));
  EXPECT_FALSE(reader->Read(&event)) << event.DebugString();
  EXPECT_THAT(proto::FromGrpcStatus(reader->Finish()),
              FailsWith(ErrorId::kTokenInvalid));
  EXPECT_THAT(WhoIs(caller), FailsWith(ErrorId::kTokenInvalid));
  EXPECT_TRUE(Listed(made.token().id()).has_revoke_time());
}

TEST_F(AuthTest, TokensAndTheirLastUseOutliveARestart) {
  const auto made = Create(v1::ROLE_VIEWER, "ana");
  EXPECT_FALSE(Listed(made.token().id()).has_last_used_time());
  ASSERT_OK(WhoIs(WithToken(made.secret())));
  EXPECT_TRUE(Listed(made.token().id()).has_last_used_time());
  coordinator_->Drain();
  server_.reset();
  coordinator_ =
      std::make_unique<Coordinator>(CoordinatorOptions(), *store_, clock_);
  ASSERT_OK(coordinator_->Start());
  Listen(/*require_tokens=*/false);
  EXPECT_TRUE(Listed(made.token().id()).has_last_used_time());
  EXPECT_OK(WhoIs(WithToken(made.secret())));
}

TEST_F(AuthTest, AWorkerIsWhomItsCredentialsName) {
  const Caller a = WithToken(Create(v1::ROLE_WORKER, "workers/a").secret());
  const Caller b =
      WithCertificate("b", authority_, tls::FormatOwnerName({"worker", "b"}));
  const Caller any = WithToken(Create(v1::ROLE_WORKER, "").secret());
  ASSERT_OK(Register(a, "a"));
  ASSERT_OK(Register(b, "b"));
  ASSERT_OK(Register(any, "c"));
  EXPECT_THAT(Register(a, "b"), FailsWith(ErrorId::kWorkerDenied));
  EXPECT_THAT(Register(b, "a"), FailsWith(ErrorId::kWorkerDenied));
  EXPECT_THAT(Register(any, "a"), FailsWith(ErrorId::kWorkerDenied));
  EXPECT_THAT(Acquire(b, "a"), FailsWith(ErrorId::kWorkerDenied));
}

TEST_F(AuthTest, AStolenLeaseSecretIsOfNoUseToAnotherWorker) {
  const Caller a = WithToken(Create(v1::ROLE_WORKER, "workers/a").secret());
  const Caller b = WithToken(Create(v1::ROLE_WORKER, "workers/b").secret());
  ASSERT_OK(Call<v1::CreateStudyReply>(local_, "StudyService/CreateStudy",
                                       ExampleStudy("imdb", 3)));
  ASSERT_OK(Register(a, "a"));
  ASSERT_OK(Register(b, "b"));
  ASSERT_OK_AND_ASSIGN(const auto acquired, Acquire(a, "a"));
  ASSERT_EQ(acquired.leases_size(), 1);
  v1::LeaseRef stolen;
  stolen.set_trial(acquired.leases(0).trial());
  stolen.set_attempt(acquired.leases(0).attempt());
  stolen.set_secret(acquired.leases(0).secret());

  v1::FinishRequest finish;
  *finish.mutable_lease() = stolen;
  finish.mutable_outcome()->set_kind(v1::Outcome::FAILED);
  finish.mutable_outcome()->set_failure(v1::FAILURE_CLASS_TRIAL);
  finish.mutable_outcome()->set_cause("sabotage");
  EXPECT_THAT(Call<v1::FinishReply>(b, "WorkerService/Finish", finish),
              FailsWith(ErrorId::kWorkerDenied));
  v1::ReleaseRequest release;
  *release.mutable_lease() = stolen;
  release.set_reason(v1::ReleaseRequest::PREEMPTED);
  EXPECT_THAT(Call<v1::ReleaseReply>(b, "WorkerService/Release", release),
              FailsWith(ErrorId::kWorkerDenied));
  v1::ReportRequest report;
  *report.mutable_lease() = stolen;
  report.set_sequence(1);
  EXPECT_THAT(Call<v1::ReportReply>(b, "WorkerService/Report", report),
              FailsWith(ErrorId::kWorkerDenied));
  v1::ListenRequest listen;  // to whom others want to see
  listen.set_worker("workers/a");
  listen.set_boot_id("boot-a");
  EXPECT_THAT(Call<v1::ListenReply>(b, "WorkerService/Listen", listen),
              FailsWith(ErrorId::kWorkerDenied));
  v1::HeartbeatRequest beat;
  beat.set_worker("workers/b");
  beat.set_boot_id("boot-b");
  *beat.add_leases()->mutable_lease() = stolen;
  const auto answer =
      Call<v1::HeartbeatReply>(b, "WorkerService/Heartbeat", beat);
  ASSERT_OK(answer);
  EXPECT_EQ(answer->directives(0).action(), v1::Directive::LEASE_LOST);
  EXPECT_OK(Call<v1::ReleaseReply>(a, "WorkerService/Release", release));
}

TEST_F(AuthTest, SecretsAreInNoFileNoListAndNoError) {
  const auto made = Create(v1::ROLE_ADMIN, "root");
  ASSERT_OK_AND_ASSIGN(const auto rotated,
                       Rotate(made.token().id(), RandomHexId()));
  ASSERT_OK(WhoIs(WithToken(rotated.secret())));
  std::string changed = rotated.secret();
  changed[30] = changed[30] == '0' ? '1' : '0';
  std::string seen = WhoIs(WithToken(changed)).status().ToString();
  seen += Listed(made.token().id()).DebugString();
  ASSERT_OK(store_->Backup(folder_.File("backup.sqlite")));
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder_.path())) {
    if (!entry.is_regular_file()) continue;
    std::ostringstream bytes;
    bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    seen += bytes.str();
  }
  EXPECT_THAT(seen, HasSubstr(made.token().id()));  // it was looked at
  for (const std::string& secret : {made.secret(), rotated.secret(), changed}) {
    const std::string hidden = secret.substr(secret.rfind('_') + 1);
    ASSERT_EQ(hidden.size(), 64u);
    EXPECT_EQ(seen.find(hidden), std::string::npos);
  }
}

// Every identity against every method of the contract, streams too.

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
  for (const char* reads : {"Get", "List", "Watch", "Export", "Explain",
                            "Compare", "Ask", "Suggest"}) {
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
  Record record;
  for (const auto& [name, known] : Identities()) {
    ++record["identities"];
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
        record["calls"] = static_cast<std::int64_t>(asked);
        if (!status.ok()) ++record["refused"];
        if (status.ok()) continue;
        ASSERT_TRUE(DetailOf(status).has_value()) << status;
        EXPECT_FALSE(DetailOf(status)->fix.empty());
      }
    }
  }
  EXPECT_GE(asked, 15u * 50u);
}

// server/verbs/roles.txt says who may call what, for the reference of the API.
// It is written from the table of verbs with
//   FROSTLINE_UPDATE_ROLES=1 ctest -R server_rpc_auth

constexpr char kHead[] =
    "# Who may call what. Written by the test server_rpc_auth from the table "
    "of\n"
    "# verbs, with FROSTLINE_UPDATE_ROLES=1; scripts/api_reference.py reads "
    "it.\n";

struct Asking {
  const char* name;
  CallerRole role;
  CallerProof proof = CallerProof::kToken;
};
constexpr Asking kAsking[] = {
    {"invitation", CallerRole::kInvited},
    {"viewer", CallerRole::kViewer},
    {"worker", CallerRole::kWorker},
    {"certified-worker", CallerRole::kWorker, CallerProof::kCertificate},
    {"researcher", CallerRole::kResearcher},
    {"admin", CallerRole::kAdmin}};

// " viewer researcher admin"
std::string WhoMayCall(const std::string& method, CallerRole row) {
  std::string who;
  for (const Asking& asking : kAsking) {
    CallerIdentity caller;
    caller.role = asking.role;
    caller.proof = asking.proof;
    const bool is_said =
        asking.proof == CallerProof::kCertificate && who.ends_with(" worker");
    if (is_said || !CheckRole(caller, row, method).ok()) continue;
    absl::StrAppend(&who, " ", asking.name);
  }
  return who;
}

std::string TableOfRoles(const VerbTable& table) {
  std::set<std::string> lines;
  const auto add = [&lines](const std::string& full_name, CallerRole row) {
    const std::size_t service =
        full_name.rfind('.', full_name.rfind('.') - 1) + 1;
    const std::string method = full_name.substr(service);
    lines.insert(absl::StrCat(method, WhoMayCall(method, row), "\n"));
  };
  for (const auto& [name, verb] : table.unary) add(name, verb.role);
  for (const auto& [name, verb] : table.streams) add(name, verb.role);
  std::string text = kHead;
  for (const std::string& line : lines) text += line;
  return text;
}

TEST(Roles, OfThePageAreThoseOfTheTableOfVerbs) {
  const auto store = storage::OpenStore({.data_folder = "", .ephemeral = true});
  ASSERT_OK(store);
  const FakeClock clock;
  Coordinator coordinator({}, **store, clock);
  ASSERT_OK(coordinator.Start());
  const std::string table = TableOfRoles(coordinator.verbs());
  coordinator.Drain();
  const std::string path = absl::StrCat(std::getenv("FROSTLINE_SOURCE_DIR"),
                                        "/server/verbs/roles.txt");
  if (std::getenv("FROSTLINE_UPDATE_ROLES") != nullptr) {
    std::ofstream(path) << table;
  }
  std::stringstream said;
  said << std::ifstream(path).rdbuf();
  EXPECT_EQ(said.str(), table) << "run with FROSTLINE_UPDATE_ROLES=1";
}

}  // namespace
}  // namespace frostline::server
