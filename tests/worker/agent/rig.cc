// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/agent/rig.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_replace.h"
#include "base/error.h"

namespace frostline::agent {
namespace {

constexpr auto kRigPatience = std::chrono::seconds(30);
constexpr auto kLook = std::chrono::milliseconds(5);

constexpr char kProgram[] = R"(
import json, os, sys, time
def say(**m): print(json.dumps(m), flush=True)
def report(step, score): say(type="report", step=step, metrics={"score": score})
def finish(state, score=1.0): say(type="finish", state=state, metrics={"score": score})
def next_message(): return json.loads(sys.stdin.readline())
def note(name, text):
    with open(FOLDER + "/" + name + ".part", "w") as f: f.write(str(text))
    os.rename(FOLDER + "/" + name + ".part", FOLDER + "/" + name)
def wait_for(name):
    while not os.path.exists(FOLDER + "/" + name): time.sleep(0.005)
def train(t):
BODY
while True:
    line = sys.stdin.readline()
    if not line: break
    message = json.loads(line)
    if message["type"] == "exit": break
    if message["type"] == "trial": train(message)
)";

std::string Indented(const std::string& body) {
  std::istringstream lines(body);
  std::string indented;
  for (std::string line; std::getline(lines, line);) {
    indented += "    " + line + "\n";
  }
  return indented + "    pass";
}

template <typename Condition>
bool AwaitTrue(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + kRigPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

}  // namespace

std::string WriteTrainer(const std::string& path, const std::string& body) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  std::ofstream(path) << absl::StrReplaceAll(
      kProgram, {{"BODY", Indented(body)}, {"FOLDER", "\"" + folder + "\""}});
  return "python3 " + path;
}

bool AwaitDeath(int pid) {
  return AwaitTrue([pid] { return !Lives(pid); });
}

Rig::Rig(const std::string& trainer) {
  options_.connect = coordinator_.address();
  options_.id = "w";
  options_.run_dir = File("runs");
  options_.study = "s";
  options_.exit_when_done = true;
  // None, whatever this machine has.
  options_.gpu_folder = File("gpus");
  options_.nvml = File("nvml");
  options_.exec = WriteTrainer(File("trainer.py"), trainer);
}

Rig::~Rig() {
  if (agent_ != nullptr) {
    agent_->Stop(StopLevel::kNow, kExitFailure, "the test is over");
  }
  Join();
}

void Rig::Start() {
  agent_ = std::make_unique<Agent>(options_, clock_);
  thread_ = std::thread([this] {
    const auto code = agent_->Run();
    exit_code_ = code.ok() ? *code : ExitCodeOf(code.status());
  });
}

int Rig::Join() {
  if (thread_.joinable()) thread_.join();
  agent_.reset();
  return exit_code_;
}

std::string Rig::AwaitFile(const std::string& name) const {
  const std::string path = File(name);
  if (!AwaitTrue([&] { return std::filesystem::exists(path); })) return "";
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

int Rig::SpoolFiles() const {
  int count = 0;
  const std::string folder = options_.run_dir + "/agents/w/spool";
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator(folder)) {
    ++count;
  }
  return count;
}

}  // namespace frostline::agent
