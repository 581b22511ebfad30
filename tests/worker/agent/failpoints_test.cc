// SPDX-License-Identifier: Apache-2.0
//
// The real agent beside the real coordinator, killed at each of its failpoints
// in turn and started again: every trial ends once, and its result is the one
// that was trained.
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/failpoint.h"
#include "frostline/v1/study_service.grpc.pb.h"
#include "gmock/gmock.h"
#include "proto/wire_error.h"
#include "tests/server/example_study.h"
#include "tests/support/record.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/agent/rig.h"
#include "worker/agent/file.h"

namespace frostline::agent {
namespace {

using ::testing::SizeIs;

constexpr int kTrials = 2;

// Reports, writes a checkpoint and goes on from it; obeys a stop.
constexpr char kTrainer[] = R"(report(1, 0.25)
if t["resume_from"] is None:
    open(t["folder"] + "/epoch-2", "w").write("state")
    say(type="checkpoint", id="epoch-2", step=2)
    if os.path.exists(os.path.dirname(sys.argv[0]) + "/waits"):
        note("up", 1)
        next_message()
        finish("stopped")
        return
report(3, 0.5)
finish("succeeded", 0.75)
)";

class Program {
 public:
  Program(const std::vector<std::string>& command, const std::string& log,
          const std::string& failpoint) {
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (freopen(log.c_str(), "a", stderr) == nullptr ||
        freopen(log.c_str(), "a", stdout) == nullptr) {
      _exit(98);
    }
    if (!failpoint.empty()) {
      setenv("FROSTLINE_FAILPOINT", failpoint.c_str(), 1);
    }
    std::vector<char*> pointers;
    for (const std::string& word : command) {
      pointers.push_back(const_cast<char*>(word.c_str()));
    }
    pointers.push_back(nullptr);
    execv(pointers[0], pointers.data());
    _exit(99);
  }
  ~Program() {
    if (pid_ > 0) Signal(SIGKILL), Wait();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void Signal(int number) const { kill(pid_, number); }
  // As wait(2) says.
  int Wait() {
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }

 private:
  pid_t pid_ = -1;
};

std::string Binary(const std::string& name) {
  return std::string(std::getenv("FROSTLINE_BIN_DIR")) + "/" + name;
}

class AgentFailpoints : public ::testing::TestWithParam<FailpointInfo> {
 protected:
  void SetUp() override {
#ifndef FROSTLINE_FAILPOINTS
    GTEST_SKIP() << "built without failpoints";
#endif
    coordinator_ = std::make_unique<Program>(
        std::vector<std::string>{Binary("frostline-coordinator"), "--data",
                                 folder_.File("data"), "--listen",
                                 "127.0.0.1:0"},
        folder_.File("coordinator.log"), "");
    constexpr char kListening[] = "listening on ";
    for (int i = 0; i < 2000 && address_.empty(); ++i) {
      std::ifstream log(folder_.File("coordinator.log"));
      for (std::string line; std::getline(log, line);) {
        if (line.rfind(kListening, 0) == 0) {
          address_ = line.substr(sizeof(kListening) - 1);
        }
      }
      usleep(5000);
    }
    ASSERT_FALSE(address_.empty());
    stub_ = v1::StudyService::NewStub(
        grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()));
    exec_ = WriteTrainer(folder_.File("trainer.py"), kTrainer);
  }

  static void SetDeadline(grpc::ClientContext& context) {
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(30));
  }

  void CreateStudy() {
    v1::CreateStudyRequest request = server::ExampleStudy("s", kTrials);
    request.mutable_spec()->mutable_objectives(0)->set_metric("score");
    v1::CreateStudyReply reply;
    grpc::ClientContext context;
    SetDeadline(context);
    ASSERT_OK(
        proto::FromGrpcStatus(stub_->CreateStudy(&context, request, &reply)));
  }

  std::unique_ptr<Program> StartAgent(const std::string& failpoint) {
    return std::make_unique<Program>(
        std::vector<std::string>{Binary("frostline-worker"), "--connect",
                                 address_, "--id", "w", "--study", "s",
                                 "--exit-when-done", "--run-dir",
                                 folder_.File("runs"), "--exec", exec_},
        folder_.File("agent.log"), failpoint);
  }

  std::vector<v1::Trial> Trials() {
    v1::ListTrialsRequest request;
    request.set_parent("studies/s");
    v1::ListTrialsReply reply;
    grpc::ClientContext context;
    SetDeadline(context);
    EXPECT_OK(
        proto::FromGrpcStatus(stub_->ListTrials(&context, request, &reply)));
    return {reply.trials().begin(), reply.trials().end()};
  }

  TempFolder folder_;
  std::string address_;
  std::string exec_;
  std::unique_ptr<Program> coordinator_;
  std::unique_ptr<v1::StudyService::Stub> stub_;
};

TEST_P(AgentFailpoints, KilledThereNothingIsLostAndNothingCountsTwice) {
  const std::string name(GetParam().name);
  const bool releases = name.find("release") != std::string::npos;
  if (releases) std::ofstream(folder_.File("waits")) << "";
  CreateStudy();
  auto agent = StartAgent(name + ":kill");
  if (releases) {
    for (int i = 0; i < 4000; ++i) {
      if (std::filesystem::exists(folder_.File("up"))) break;
      usleep(5000);
    }
    std::filesystem::remove(folder_.File("waits"));
    agent->Signal(SIGTERM);
  }
  const int status = agent->Wait();
  Record record;
  record["points"] = 1;
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  record["kills"] = 1;
  agent = StartAgent("");
  ASSERT_EQ(agent->Wait(), 0) << *ReadFile(folder_.File("agent.log"));
  const std::vector<v1::Trial> trials = Trials();
  ASSERT_THAT(trials, SizeIs(kTrials));
  for (const v1::Trial& trial : trials) {
    EXPECT_EQ(trial.state(), v1::TRIAL_STATE_SUCCEEDED) << trial.name();
    EXPECT_EQ(trial.metrics().at("score"), 0.75) << trial.name();
    ++record["trials"];
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.File("runs/agents/w/spool")));
}

std::vector<FailpointInfo> OfTheAgent() {
  std::vector<FailpointInfo> points;
  for (const FailpointInfo& point : kFailpoints) {
    if (point.name.rfind("agent.", 0) == 0) points.push_back(point);
  }
  return points;
}

INSTANTIATE_TEST_SUITE_P(All, AgentFailpoints,
                         ::testing::ValuesIn(OfTheAgent()),
                         [](const auto& point) {
                           std::string name;
                           for (const char c : point.param.name) {
                             name += c == '.' ? '_' : c;
                           }
                           return name;
                         });

}  // namespace
}  // namespace frostline::agent
