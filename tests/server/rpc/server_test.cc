// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/server.h"

#include <google/protobuf/descriptor.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <future>
#include <set>
#include <thread>

#include "gtest/gtest.h"
#include "tests/server/rpc/raw_client.h"
#include "tests/server/rpc/rpc_fixture.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"

namespace frostline::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using StudyStub = v1::StudyService::Stub;

constexpr const char* kFiles[] = {
    "frostline/v1/study_service.proto", "frostline/v1/worker_service.proto",
    "frostline/v1/importance_service.proto", "frostline/v1/admin_service.proto",
    "grpc/externalscaler/externalscaler.proto"};

// What this version promises to serve; the rest must say that it is not built.
const std::set<std::string>& Promised() {
  static const auto* promised =
      new std::set<std::string>{"StudyService.CreateStudy",
                                "StudyService.GetStudy",
                                "StudyService.ListStudies",
                                "StudyService.PauseStudy",
                                "StudyService.ResumeStudy",
                                "StudyService.StopStudy",
                                "StudyService.WatchStudy",
                                "StudyService.GetTrial",
                                "StudyService.ListTrials",
                                "StudyService.ListMeasurements",
                                "WorkerService.Register",
                                "WorkerService.Acquire",
                                "WorkerService.Heartbeat",
                                "WorkerService.Listen",
                                "WorkerService.Report",
                                "WorkerService.Finish",
                                "WorkerService.Release",
                                "WorkerService.ListWorkers",
                                "ImportanceService.GetReport",
                                "StudyService.UpdateStudy",
                                "StudyService.DeleteStudy",
                                "StudyService.ExplainStudy",
                                "StudyService.EnqueueTrials",
                                "StudyService.ImportTrials",
                                "StudyService.UpdateTrial",
                                "StudyService.CancelTrial",
                                "StudyService.RetryTrial",
                                "StudyService.ListBestTrials",
                                "StudyService.GetExampleOutcomes",
                                "StudyService.GetTrialLog",
                                "StudyService.GetTrialTable",
                                "StudyService.GetStudyDelta",
                                "StudyService.ReadPredictions",
                                "StudyService.Suggest",
                                "ImportanceService.Explain",
                                "WorkerService.SendPredictions",
                                "StudyService.ExportTrials",
                                "WorkerService.DrainWorker",
                                "AdminService.Backup",
                                "AdminService.GetInfo",
                                "AdminService.CreateToken",
                                "AdminService.RotateToken",
                                "AdminService.RevokeToken",
                                "AdminService.ListTokens",
                                "AdminService.WhoAmI",
                                "AdminService.ListCertificates",
                                "AdminService.RevokeCertificates",
                                "AdminService.ListAuditEntries",
                                "WorkerService.Join",
                                "WorkerService.RenewCertificate",
                                "ImportanceService.ListPairs",
                                "ImportanceService.GetMarginals",
                                "ImportanceService.GetPairMarginal",
                                "ImportanceService.GetStability",
                                "ImportanceService.CompareStudies",
                                "ImportanceService.CompareTrials",
                                "ImportanceService.GetPlan",
                                "ImportanceService.GetFrontier",
                                "ImportanceService.AskPlan",
                                "ImportanceService.GetPlanRivals",
                                "ImportanceService.ExplainDifference",
                                "ImportanceService.GetPlanVerification",
                                "ExternalScaler.IsActive",
                                "ExternalScaler.StreamIsActive",
                                "ExternalScaler.GetMetricSpec",
                                "ExternalScaler.GetMetrics"};
  return *promised;
}

// "StudyService.GetStudy" as paths have it.
std::string Slashed(std::string method) {
  method[method.find('.')] = '/';
  return method;
}

class RpcServerTest : public RpcFixture {
 protected:
  // An empty request to every method of the contract, and of KEDA's.
  template <typename See>
  void ForEveryMethod(See see) {
    RawClient client(server_->address());
    for (const char* name : kFiles) {
      const auto* file =
          google::protobuf::DescriptorPool::generated_pool()->FindFileByName(
              name);
      const auto& service = *file->service(0);
      for (int i = 0; i < service.method_count(); ++i) {
        const std::string method = service.method(i)->name();
        see(service.name() + "." + method,
            client.Call("/" + service.full_name() + "/" + method, ""));
      }
    }
  }

  absl::StatusOr<v1::Study> GetStudy(const std::string& name) {
    v1::GetStudyRequest request;
    request.set_name(name);
    return Call(*studies_, &StudyStub::GetStudy, request);
  }
};

TEST_F(RpcServerTest, ServesThePromisedMethodsAndNamesTheOthers) {
  std::size_t served = 0;
  ForEveryMethod([&](const std::string& method, const auto& result) {
    const bool built = !HasErrorId(result.status(), ErrorId::kMethodNotBuilt);
    EXPECT_EQ(built, Promised().count(method) == 1) << method;
    served += built ? 1 : 0;
    if (!built) {
      EXPECT_THAT(std::string(result.status().message()), HasSubstr(method));
    }
  });
  EXPECT_EQ(served, Promised().size());
}

TEST_F(RpcServerTest, GivesEveryErrorAnIdACauseAndAFix) {
  ForEveryMethod([&](const std::string& method, const auto& result) {
    if (result.ok()) return;
    const auto detail = DetailOf(result.status());
    ASSERT_TRUE(detail.has_value()) << method << ": " << result.status();
    EXPECT_NE(detail->id, ErrorId::kInternal) << method;
    EXPECT_FALSE(result.status().message().empty()) << method;
    EXPECT_FALSE(detail->fix.empty()) << method;
  });
}

TEST_F(RpcServerTest, CreatesGetsAndListsOverTheWire) {
  ASSERT_OK_AND_ASSIGN(const auto created, Create("imdb"));
  EXPECT_EQ(created.study().name(), "studies/imdb");
  ASSERT_OK_AND_ASSIGN(const auto study, GetStudy("studies/imdb"));
  EXPECT_EQ(study.state(), v1::STUDY_STATE_ACTIVE);
  EXPECT_EQ(study.settings().budget().trials(), 3);
  ASSERT_OK_AND_ASSIGN(const auto list, Call(*studies_, &StudyStub::ListStudies,
                                             v1::ListStudiesRequest()));
  ASSERT_EQ(list.studies_size(), 1);
  EXPECT_EQ(list.studies(0).name(), "studies/imdb");
}

TEST_F(RpcServerTest, SaysWhichStudyIsMissing) {
  const auto missing = GetStudy("studies/none");
  EXPECT_THAT(missing, FailsWith(ErrorId::kStudyNotFound));
  EXPECT_THAT(GetStudy("none"), FailsAt(ErrorId::kNameInvalid, "name"));
}

TEST_F(RpcServerTest, NamesTheFieldOfABadRequestId) {
  v1::StopStudyRequest request;
  request.set_name("studies/imdb");
  request.set_request_id("again");
  EXPECT_THAT(Call(*studies_, &StudyStub::StopStudy, request),
              FailsAt(ErrorId::kRequestInvalid, "request_id"));
}

TEST_F(RpcServerTest, HandsATrialToAWorkerThatWaits) {
  ASSERT_OK(Register("w"));
  auto waiting = std::async(std::launch::async,
                            [this] { return Acquire("w", seconds(15)); });
  ASSERT_OK(Create("imdb"));
  ASSERT_OK_AND_ASSIGN(const auto reply, waiting.get());
  ASSERT_EQ(reply.leases_size(), 1);
  EXPECT_EQ(reply.leases(0).trial(), "studies/imdb/trials/0");
}

// As clients are that were generated and not told anything.
TEST_F(RpcServerTest, ServesAClientThatSetsNoDeadline) {
  grpc::ClientContext creating, waiting;
  v1::CreateStudyReply created;
  ASSERT_OK(proto::FromGrpcStatus(
      studies_->CreateStudy(&creating, ExampleStudy("imdb", 1), &created)));
  ASSERT_OK(Register("w"));
  ASSERT_OK(Acquire("w", seconds(5)));
  v1::AcquireReply nothing;
  ASSERT_OK(proto::FromGrpcStatus(workers_->Acquire(
      &waiting, AcquireRequestOf("w", seconds(1)), &nothing)));
  EXPECT_EQ(nothing.leases_size(), 0);
  EXPECT_EQ(nothing.none_reason(), v1::BUDGET_REACHED);
}

TEST_F(RpcServerTest, GrantsNothingToAWorkerThatHungUp) {
  ASSERT_OK(Register("gone"));
  ASSERT_OK(Register("here"));
  grpc::ClientContext context;
  SetTimeout(&context, seconds(20));
  auto hung_up = std::async(std::launch::async, [&] {
    v1::AcquireReply reply;
    return workers_->Acquire(&context, AcquireRequestOf("gone", seconds(10)),
                             &reply);
  });
  std::this_thread::sleep_for(milliseconds(200));  // let it park
  context.TryCancel();
  EXPECT_EQ(hung_up.get().error_code(), grpc::StatusCode::CANCELLED);
  std::this_thread::sleep_for(milliseconds(200));  // let the server hear it
  ASSERT_OK(Create("imdb", 1));
  ASSERT_OK_AND_ASSIGN(const auto reply, Acquire("here", seconds(5)));
  EXPECT_EQ(reply.leases_size(), 1);
}

TEST_F(RpcServerTest, StreamsWhatHappensInOrder) {
  ASSERT_OK(Create("imdb"));
  ASSERT_OK(Register("w"));
  grpc::ClientContext context;
  v1::WatchStudyRequest request;
  request.set_name("studies/imdb");
  const auto reader = studies_->WatchStudy(&context, request);
  v1::StudyEvent event;
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_TRUE(event.has_study());
  std::int64_t last = event.revision();
  ASSERT_OK(Acquire("w", seconds(5)));
  do {
    ASSERT_TRUE(reader->Read(&event));
    if (event.has_alive()) {
      EXPECT_EQ(event.revision(), last);
    } else {
      EXPECT_GT(event.revision(), last);
    }
    last = event.revision();
  } while (!event.has_trial());
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_OK(GetStudy("studies/imdb"));
}

TEST_F(RpcServerTest, AnswersParkedCallsAtOnceWhenItEnds) {
  ASSERT_OK(Create("imdb"));
  ASSERT_OK(Register("w"));
  ASSERT_OK(Create("other", 1));
  auto watch = std::async(std::launch::async, [this] {
    grpc::ClientContext context;
    v1::WatchStudyRequest request;
    request.set_name("studies/imdb");
    const auto reader = studies_->WatchStudy(&context, request);
    v1::StudyEvent event;
    while (reader->Read(&event)) continue;
    return proto::FromGrpcStatus(reader->Finish());
  });
  v1::AcquireRequest nothing = AcquireRequestOf("w", seconds(15));
  nothing.set_study("studies/imdb");
  v1::PauseStudyRequest pause;
  pause.set_request_id(RandomHexId());
  pause.set_name("studies/imdb");
  ASSERT_OK(Call(*studies_, &StudyStub::PauseStudy, pause));
  auto parked = std::async(std::launch::async, [&] {
    return Call(*workers_, &v1::WorkerService::Stub::Acquire, nothing);
  });
  std::this_thread::sleep_for(milliseconds(300));  // let both park
  const auto start = steady_clock::now();
  server_->StopServing();
  coordinator_->Drain();
  const auto answer = parked.get();
  EXPECT_THAT(watch.get(), FailsWith(ErrorId::kCoordinatorDraining));
  server_->Shutdown(seconds(5));
  EXPECT_LT(steady_clock::now() - start, seconds(3));
  if (answer.ok()) {
    EXPECT_EQ(answer->none_reason(), v1::DRAINING);
  } else {
    EXPECT_THAT(answer, FailsWith(ErrorId::kCoordinatorDraining));
  }
}

TEST_F(RpcServerTest, RefusesAPortThatIsTaken) {
  RpcOptions same;
  same.listen = {server_->address()};
  const auto second = RpcServer::Listen(same, coordinator_->verbs());
  EXPECT_THAT(second, FailsAt(ErrorId::kPortBusy, "listen"));
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr(server_->address()));
  EXPECT_OK(Create("imdb"));  // the first is unharmed
}

TEST_F(RpcServerTest, RefusesAnAddressThatOthersCanReach) {
  RpcOptions open;
  open.listen = {"0.0.0.0:0"};
  EXPECT_THAT(RpcServer::Listen(open, coordinator_->verbs()),
              FailsAt(ErrorId::kAddressNotLoopback, "listen"));
}

TEST_F(RpcServerTest, ServesAtSeveralAddresses) {
  const TempFolder folder;
  const std::string socket = "unix:" + folder.File("frostline.sock");
  RpcOptions several;
  several.listen = {"127.0.0.1:0", "[::1]:0", socket};
  ASSERT_OK_AND_ASSIGN(const auto server,
                       RpcServer::Listen(several, coordinator_->verbs()));
  ASSERT_EQ(server->addresses().size(), 3u);
  EXPECT_EQ(server->addresses()[2], socket);
  for (const std::string& address : server->addresses()) {
    RawClient client(address);
    EXPECT_OK(client.Call("/frostline.v1.AdminService/GetInfo", "")) << address;
  }
  struct stat made{};
  ASSERT_EQ(stat(folder.File("frostline.sock").c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777, 0700u);  // nobody else may connect
}

TEST_F(RpcServerTest, TakesASocketThatWasLeftAndNoneThatIsServed) {
  const TempFolder folder;
  const std::string path = folder.File("frostline.sock");
  RpcOptions one;
  one.listen = {"unix:" + path};
  {
    ASSERT_OK_AND_ASSIGN(const auto server,
                         RpcServer::Listen(one, coordinator_->verbs()));
    EXPECT_THAT(RpcServer::Listen(one, coordinator_->verbs()),
                FailsAt(ErrorId::kPortBusy, "listen"));
  }
  const int left = socket(AF_UNIX, SOCK_STREAM, 0);  // as a kill leaves it
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  ASSERT_EQ(bind(left, reinterpret_cast<const sockaddr*>(&name), sizeof(name)),
            0);
  close(left);
  EXPECT_OK(RpcServer::Listen(one, coordinator_->verbs()));
  one.listen = {"unix:" + folder.path().string()};
  EXPECT_THAT(RpcServer::Listen(one, coordinator_->verbs()),
              FailsAt(ErrorId::kRequestInvalid, "listen"));
}

TEST_F(RpcServerTest, HasNothingButHealthOnTheHealthPort) {
  RpcOptions options;
  options.listen = {"127.0.0.1:0"};
  options.health_listen = "127.0.0.1:0";
  ASSERT_OK_AND_ASSIGN(const auto server,
                       RpcServer::Listen(options, coordinator_->verbs()));
  RawClient client(server->health_address());
  const std::string check = "/grpc.health.v1.Health/Check";
  EXPECT_EQ(*client.Call(check, ""), std::string("\x08\x01", 2));
  ForEveryMethod([&](const std::string& method, const auto&) {
    EXPECT_EQ(
        client.Call("/frostline.v1." + Slashed(method), "").status().code(),
        absl::StatusCode::kUnimplemented)
        << method;
  });
  EXPECT_EQ(
      client
          .Call("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "")
          .status()
          .code(),
      absl::StatusCode::kUnimplemented);
  server->StopServing();
  EXPECT_EQ(*client.Call(check, ""), std::string("\x08\x02", 2));
  options.health_listen = server->health_address();
  EXPECT_THAT(RpcServer::Listen(options, coordinator_->verbs()),
              FailsAt(ErrorId::kPortBusy, "health-listen"));
}

TEST_F(RpcServerTest, TellsHealthCheckersHowItIs) {
  RawClient client(server_->address());
  const std::string check = "/grpc.health.v1.Health/Check";
  const std::string serving("\x08\x01", 2), not_serving("\x08\x02", 2);
  EXPECT_EQ(*client.Call(check, ""), serving);
  EXPECT_EQ(*client.Call(check,
                         "\x0a\x1a"
                         "frostline.v1.WorkerService"),
            serving);
  server_->StopServing();
  EXPECT_EQ(*client.Call(check, ""), not_serving);
}

TEST_F(RpcServerTest, ListensAgainOnThePortItLeft) {
  const std::string address = server_->address();
  ASSERT_OK(Create("imdb"));  // so that a connection lingers
  server_->Shutdown(seconds(0));
  RpcOptions again;
  again.listen = {address};
  ASSERT_OK_AND_ASSIGN(const auto second,
                       RpcServer::Listen(again, coordinator_->verbs()));
  EXPECT_EQ(second->address(), address);
}

}  // namespace
}  // namespace frostline::server
