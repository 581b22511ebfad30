// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/study/side.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace frostline::bench {
namespace {

using nlohmann::json;

[[noreturn]] void Become(const std::vector<std::string>& command, int in,
                         int out) {
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  for (int fd = 3; fd < 64; ++fd) close(fd);
  for (const char* const name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS"}) {
    setenv(name, "1", 1);
  }
  for (const char* const name :
       {"FROSTLINE_PREFIX_DIR", "FROSTLINE_REGISTRY"}) {
    unsetenv(name);
  }
  std::vector<char*> words;
  for (const std::string& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(127);
}

}  // namespace

Side::Side(Spec spec) : spec_(std::move(spec)) {
  std::signal(SIGPIPE, SIG_IGN);  // a side that ended is told of when read
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (pipe(in.data()) != 0 || pipe(out.data()) != 0) {
    throw std::runtime_error("bench study: no pipe");
  }
  pid_ = fork();
  if (pid_ == 0) Become(spec_.command, in[0], out[1]);
  close(in[0]);
  close(out[1]);
  to_ = fdopen(in[1], "w");
  from_ = fdopen(out[0], "r");
  while (json::parse(ReadLine()).value("type", "") != "hello") {
  }
}

Side::~Side() {
  std::fputs("{\"type\": \"exit\"}\n", to_);
  std::fclose(to_);
  std::fclose(from_);
  waitpid(pid_, nullptr, 0);
}

SideResult Side::Train(const SweepTrial& trial) {
  const double before = ProcessorSeconds();
  Send(MessageOf(trial));
  while (true) {
    const json message = json::parse(ReadLine());
    if (message.value("type", "") != "finish") continue;
    if (message.value("state", "") != "succeeded") {
      throw std::runtime_error("bench study: " + name() +
                               " failed: " + message.dump());
    }
    return {.seconds = ProcessorSeconds() - before,
            .accuracy = message.at("metrics").at("accuracy")};
  }
}

void Side::Send(const std::string& line) {
  std::fputs((line + "\n").c_str(), to_);
  std::fflush(to_);
}

// Passes over what is no message.
std::string Side::ReadLine() {
  std::string line;
  for (int c = std::fgetc(from_); c != EOF; c = std::fgetc(from_)) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    if (line.starts_with("{") && line.find("\"type\"") != std::string::npos) {
      return line;
    }
    line.clear();
  }
  throw std::runtime_error("bench study: " + name() + " ended");
}

// Fields 14 and 15 of its stat, behind the name, which may have blanks.
double Side::ProcessorSeconds() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream rest(text.substr(text.rfind(')') + 1));
  std::string passed;
  for (int field = 3; field < 14; ++field) rest >> passed;
  double user = 0.0;
  double system = 0.0;
  rest >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::string Side::MessageOf(const SweepTrial& trial) {
  const std::string number = std::to_string(++trials_);
  const std::string folder = spec_.folder + "/" + spec_.name + "/" + number;
  std::filesystem::create_directories(folder);
  json rates;
  for (const auto& [module, rate] : trial.rates) rates[module] = rate;
  json freeze = {{"mode", "hard"}};
  if (spec_.lr0) freeze = {{"mode", "lr0"}, {"prefix_dropout", "hf"}};
  const json message = {
      {"type", "trial"},
      {"protocol", 1},
      {"trial", "studies/bench/trials/" + number},
      {"attempt", 1},
      {"seed", trial.seed},
      {"prefix_depth", trial.depth},
      {"parameters", json::object()},
      {"rates", rates},
      {"objectives", {{{"metric", "accuracy"}, {"direction", "maximize"}}}},
      {"model", {{"id", "minilm"}, {"layers", 6}}},
      {"data", {{"id", "sample"}, {"task", "classification"}}},
      {"training",
       {{"epochs", 3},
        {"batch_size", 16},
        {"max_length", 64},
        {"warmup_share", 0.1},
        {"precision", "fp32"}}},
      {"freeze", freeze},
      {"labels", json::object()},
      {"folder", folder},
      {"resume_from", nullptr}};
  return message.dump();
}

}  // namespace frostline::bench
