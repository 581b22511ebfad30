// SPDX-License-Identifier: Apache-2.0
#include "tests/flow/real_world.h"

#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>
#include <utility>

#include "proto/wire_error.h"

namespace frostline::test {
namespace {

using std::chrono::milliseconds;

// Ends with this process; its output goes to a file.
pid_t Spawn(const std::vector<std::string>& command, const std::string& log) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int file = open(log.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  dup2(file, 1);
  dup2(file, 2);
  std::vector<char*> argv;
  for (const std::string& word : command) {
    argv.push_back(const_cast<char*>(word.c_str()));
  }
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  _exit(127);
}

void Kill(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

// A trainer in the shell: what any program can be.
constexpr char kTrainer[] = R"(#!/bin/sh
while read -r line; do
  case "$line" in
    *'"trial"'*) sleep SECONDS
      echo '{"type":"report","step":0,"metrics":{"accuracy":0.4}}'
      echo '{"type":"finish","state":"succeeded","metrics":{"accuracy":0.5}}';;
    *'"exit"'*) exit 0;;
  esac
done
)";

void SetDeadline(grpc::ClientContext& context) {
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(10));
}

}  // namespace

std::string RealWorld::Binary(const std::string& name) {
  return std::string(std::getenv("FROSTLINE_BIN_DIR")) + "/" + name;
}

RealWorld::~RealWorld() {
  for (const auto& [id, pid] : workers_) Kill(pid);
  Kill(coordinator_);
}

absl::Status RealWorld::CreateStudy(const v1::CreateStudyRequest& request) {
  v1::CreateStudyReply reply;
  grpc::ClientContext context;
  SetDeadline(context);
  return proto::FromGrpcStatus(stub_->CreateStudy(&context, request, &reply));
}
absl::StatusOr<v1::Study> RealWorld::GetStudy(const std::string& name) {
  v1::GetStudyRequest request;
  request.set_name(name);
  v1::Study study;
  grpc::ClientContext context;
  SetDeadline(context);
  const grpc::Status status = stub_->GetStudy(&context, request, &study);
  if (!status.ok()) return proto::FromGrpcStatus(status);
  return study;
}
absl::StatusOr<std::vector<std::string>> RealWorld::Explain(
    const std::string& study) {
  v1::ExplainStudyRequest request;
  request.set_name(study);
  v1::ExplainStudyReply reply;
  grpc::ClientContext context;
  SetDeadline(context);
  const grpc::Status status = stub_->ExplainStudy(&context, request, &reply);
  if (!status.ok()) return proto::FromGrpcStatus(status);
  std::vector<std::string> codes;
  for (const auto& reason : reply.reasons()) codes.push_back(reason.code());
  return codes;
}
absl::StatusOr<std::vector<v1::Trial>> RealWorld::ListTrials(
    const std::string& study) {
  v1::ListTrialsRequest request;
  request.set_parent(study);
  v1::ListTrialsReply reply;
  grpc::ClientContext context;
  SetDeadline(context);
  const grpc::Status status = stub_->ListTrials(&context, request, &reply);
  if (!status.ok()) return proto::FromGrpcStatus(status);
  return std::vector<v1::Trial>(reply.trials().begin(), reply.trials().end());
}

absl::StatusOr<v1::GetTrialLogReply> RealWorld::GetTrialLog(
    const v1::GetTrialLogRequest& request) {
  v1::GetTrialLogReply reply;
  grpc::ClientContext context;
  SetDeadline(context);
  const grpc::Status status = stub_->GetTrialLog(&context, request, &reply);
  if (!status.ok()) return proto::FromGrpcStatus(status);
  return reply;
}

void RealWorld::StartWorker(const std::string& id, Temper temper) {
  const std::string trainer = folder_.File(id + ".sh");
  std::string script = kTrainer;
  script.replace(script.find("SECONDS"), 7,
                 temper == Temper::kStuck ? "1000" : "0.1");
  std::ofstream(trainer) << script;
  StartWorkerWith(id, {"--exec", "sh " + trainer, "--label",
                       "trainer=", "--run-dir", folder_.File(id)});
}

void RealWorld::StartWorkerWith(const std::string& id,
                                const std::vector<std::string>& options) {
  std::vector<std::string> command = {Binary("frostline-worker"), "--connect",
                                      address_, "--id", id};
  command.insert(command.end(), options.begin(), options.end());
  workers_[id] = Spawn(command, folder_.File("worker.log"));
}

int RealWorld::DrainWorker(const std::string& id) {
  const pid_t pid = workers_.at(id);
  workers_.erase(id);
  kill(pid, SIGTERM);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void RealWorld::KillWorker(const std::string& id) {
  Kill(workers_.at(id));
  workers_.erase(id);
}
void RealWorld::RestartCoordinator() {
  Kill(coordinator_);
  StartCoordinator(address_);
}

void RealWorld::StartCoordinator(const std::string& listen) {
  const std::string log = folder_.File("coordinator.log");
  std::ofstream(log, std::ios::trunc).close();
  coordinator_ = Spawn({Binary("frostline-coordinator"), "--data",
                        folder_.File("data"), "--listen", listen},
                       log);
  for (int i = 0; i < 400 && !ReadAddress(log); ++i) {
    std::this_thread::sleep_for(milliseconds(25));
  }
  stub_ = v1::StudyService::NewStub(
      grpc::CreateChannel(address_, grpc::InsecureChannelCredentials()));
}

// "listening on HOST:PORT"
bool RealWorld::ReadAddress(const std::string& log) {
  std::ifstream file(log);
  const std::string words = "listening on ";
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find(words);
    if (at == std::string::npos) continue;
    address_ = line.substr(at + words.size());
    return true;
  }
  return false;
}

std::unique_ptr<World> MakeRealWorld() { return std::make_unique<RealWorld>(); }

}  // namespace frostline::test
