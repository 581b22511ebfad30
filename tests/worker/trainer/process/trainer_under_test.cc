// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/process/trainer_under_test.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string_view>

#include "base/plain/sums.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "worker/agent/process/protocol.h"

namespace frostline::trainer {
namespace {

constexpr int kRateModules = 3;

std::string Indented(const std::string& lines) {
  std::istringstream in(lines);
  std::string out;
  for (std::string line; std::getline(in, line);) out += "  " + line + "\n";
  return out;
}

}  // namespace

std::string Sha256Of(const std::string& bytes) {
  Sha256Sum sum;
  sum.Add(bytes);
  return sum.Finish();
}

std::string ReadBytes(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

void WriteBytes(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(
      std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string Reviews(int rows, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  std::string text = "text\tlabel\n";
  for (int i = 0; i < rows; ++i) {
    const bool high = dice() % 2 == 1;
    const std::uint64_t words = 2 + dice() % 9;
    for (std::uint64_t j = 0; j < words; ++j) {
      const std::uint64_t word = dice() % 50 + (high ? 50 : 0);
      text += (j == 0 ? "w" : " w") + std::to_string(word);
    }
    text += high ? "\thigh\n" : "\tlow\n";
  }
  return text;
}

SmallWorld::SmallWorld() {
  AddModel("m", "bert-seq2");
  AddData("d", "format: tsv",
          {{"train", Reviews(48, 1)}, {"validation", Reviews(20, 2)}});
}

void SmallWorld::AddModel(const std::string& id, const std::string& recorded,
                          int tokens) {
  const std::string from = std::string(std::getenv("FROSTLINE_SOURCE_DIR")) +
                           "/tests/parity/data/models/" + recorded + "/";
  for (const char* name : {"config.json", "model.safetensors"}) {
    WriteBytes(ModelFile(id, name), ReadBytes(from + name));
  }
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (int i = 0; i < tokens - 5; ++i) {
    vocabulary += "w" + std::to_string(i) + "\n";
  }
  WriteBytes(ModelFile(id, "vocab.txt"), vocabulary);
  sums_[id] = "model.safetensors";
}

void SmallWorld::AddData(const std::string& id, const std::string& lines,
                         const std::map<std::string, std::string>& splits) {
  data_ += id + ":\n" + Indented(lines) + "  splits:\n";
  for (const auto& [split, bytes] : splits) {
    const std::string path = "data/" + id + "." + split;
    WriteBytes(registry() + "/" + path, bytes);
    data_ += "    " + split + ": {path: " + path +
             ", sha256: " + Sha256Of(bytes) + "}\n";
  }
}

void SmallWorld::Write() const {
  std::string models = models_;
  for (const auto& [id, weights] : sums_) {
    models += id + ":\n  path: " + id +
              "\n  sha256: " + Sha256Of(ReadBytes(ModelFile(id, weights))) +
              "\n";
  }
  WriteBytes(registry() + "/models.yaml", models);
  WriteBytes(registry() + "/datasets.yaml", data_);
}

std::string SmallWorld::NewFolder() {
  const std::string folder = folder_.File(std::to_string(++attempts_));
  std::filesystem::create_directories(folder);
  return folder;
}

nlohmann::json SmallWorld::Trial(const std::string& model,
                                 const std::string& data) {
  nlohmann::json rates = {
      {"embeddings", 1e-3}, {"pooler", 1e-3}, {"head", 1e-3}};
  for (int i = 0; i < kRateModules; ++i) {
    rates["layer." + std::to_string(i)] = 1e-3;
  }
  return {{"type", "trial"},
          {"protocol", 1},
          {"trial", "studies/s/trials/1"},
          {"attempt", 1},
          {"seed", 7},
          {"prefix_depth", -1},
          {"parameters", nlohmann::json::object()},
          {"rates", rates},
          {"objectives", {{{"metric", "loss"}, {"direction", "minimize"}}}},
          {"model", {{"id", model}, {"layers", 3}}},
          {"data", {{"id", data}}},
          {"training",
           {{"epochs", 3},
            {"batch_size", 12},
            {"max_length", 32},
            {"extra", {{"dropout", 0.1}}}}},
          {"freeze", nlohmann::json::object()},
          {"labels", nlohmann::json::object()},
          {"folder", NewFolder()},
          {"resume_from", nullptr}};
}

nlohmann::json Numbers(const nlohmann::json& finish) {
  nlohmann::json metrics = finish.value("metrics", nlohmann::json::object());
  metrics.erase("train_seconds");
  metrics.erase("peak_memory_mib");
  return metrics;
}

namespace {

constexpr int kPatienceMilliseconds = 60'000;

void Limit(decltype(RLIMIT_AS) what, std::uint64_t bytes) {
  if (bytes == 0) return;
  const rlimit limit = {bytes, bytes};
  setrlimit(what, &limit);
}

// Only what the agent takes for a message of its own kind.
void ExpectMessage(const std::string& line) {
  const auto message = agent::ParseTrainerLine(line);
  EXPECT_OK(message) << line;
  if (!message.ok()) return;
  const auto* const log = std::get_if<agent::LogMessage>(&*message);
  EXPECT_TRUE(log == nullptr || log->is_message) << "no message: " << line;
}

// As ours, which agents write: NaN and the infinities have no quotes.
nlohmann::json Parse(std::string line) {
  for (const std::string_view word : {"NaN", "-Infinity", "Infinity"}) {
    const std::string bare = ": " + std::string(word);
    for (std::size_t at = 0; (at = line.find(bare, at)) != std::string::npos;) {
      line.replace(at, bare.size(), ": \"" + std::string(word) + "\"");
    }
  }
  nlohmann::json message = nlohmann::json::parse(line, nullptr, false);
  return message.is_object() ? message : nlohmann::json::object();
}

}  // namespace

std::vector<nlohmann::json> Conversation::Of(const std::string& type) const {
  std::vector<nlohmann::json> some;
  for (const nlohmann::json& each : messages) {
    if (each["type"] == type) some.push_back(each);
  }
  return some;
}

std::vector<nlohmann::json> Conversation::Evaluations() const {
  std::vector<nlohmann::json> evaluations;
  for (const nlohmann::json& report : Of("report")) {
    const auto metrics = report.find("metrics");
    if (metrics == report.end()) continue;
    if (!metrics->empty()) evaluations.push_back(*metrics);
  }
  return evaluations;
}

std::string Conversation::Log() const {
  std::string text;
  for (const nlohmann::json& each : Of("log")) {
    text += each["text"].get<std::string>() + "\n";
  }
  return text;
}

TrainerUnderTest::TrainerUnderTest(const std::string& registry,
                                   const TrainerStart& start) {
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  if (pipe2(input.data(), O_CLOEXEC) != 0 ||
      pipe2(output.data(), O_CLOEXEC) != 0) {
    std::abort();
  }
  std::signal(SIGPIPE, SIG_IGN);  // it may end while we write
  pid_ = fork();
  if (pid_ == 0) Become(registry, start, input.data(), output.data());
  close(input[0]);
  close(output[1]);
  input_ = input[1];
  output_ = output[0];
}

void TrainerUnderTest::Become(const std::string& registry,
                              const TrainerStart& start, const int* input,
                              const int* output) {
  const std::string log = folder_.File("stderr");
  dup2(input[0], STDIN_FILENO);
  dup2(output[1], STDOUT_FILENO);
  dup2(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600),
       STDERR_FILENO);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_IGN);  // write then says that there is no room
  Limit(RLIMIT_AS, start.address_space);
  Limit(RLIMIT_FSIZE, start.file_size);
  for (const std::string& each : start.environment) {
    putenv(const_cast<char*>(each.c_str()));
  }
  const std::string program =
      std::string(std::getenv("FROSTLINE_BIN_DIR")) + "/frostline-trainer";
  std::vector<std::string> words = {program,      "--registry", registry,
                                    "--device",   "cpu",        "--threads",
                                    start.threads};
  words.insert(words.end(), start.arguments.begin(), start.arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(program.c_str(), pointers.data());
  _exit(127);
}

TrainerUnderTest::~TrainerUnderTest() {
  if (pid_ > 0 && exit_code_ < 0) {
    Signal(SIGKILL);
    Wait();
  }
  CloseInput();
  CloseOutput();
}

void TrainerUnderTest::SendBytes(const std::string& bytes) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t n = write(input_, rest.data(), rest.size());
    if (n < 0) return;  // what it said before tells why
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
}

bool TrainerUnderTest::Fill() {
  pollfd waiting = {output_, POLLIN, 0};
  if (poll(&waiting, 1, kPatienceMilliseconds) == 0) {
    ADD_FAILURE() << "the trainer says nothing; its log:\n" << Errors();
    return false;
  }
  std::array<char, 65536> chunk;
  const ssize_t n = read(output_, chunk.data(), chunk.size());
  if (n <= 0) return false;
  buffer_.append(chunk.data(), static_cast<std::size_t>(n));
  return true;
}

std::optional<nlohmann::json> TrainerUnderTest::Read() {
  std::size_t end;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    if (!Fill()) return std::nullopt;
  }
  const std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  ExpectMessage(line);
  const bool first = first_line_.empty();
  if (first) first_line_ = line;
  nlohmann::json message = Parse(line);
  if (first && message.value("type", "") == "hello") return Read();
  return message;
}

Conversation TrainerUnderTest::Train(const nlohmann::json& trial) {
  Send(trial);
  return ReadToFinish();
}

Conversation TrainerUnderTest::ReadToFinish() {
  Conversation heard;
  std::int64_t last = -1;
  while (const std::optional<nlohmann::json> message = Read()) {
    heard.messages.push_back(*message);
    const std::string type = message->value("type", "");
    if (type == "report") {
      const std::int64_t step = (*message)["step"];
      // What tells a phase alone may come with the step that was told last.
      const bool alone =
          message->contains("phase") && !message->contains("metrics");
      EXPECT_GE(step, alone ? last : last + 1) << "steps must rise";
      last = step;
    }
    if (type != "finish") continue;
    heard.finish = *message;
    break;
  }
  return heard;
}

void TrainerUnderTest::CloseInput() {
  if (input_ >= 0) close(input_);
  input_ = -1;
}

void TrainerUnderTest::CloseOutput() {
  if (output_ >= 0) close(output_);
  output_ = -1;
}

void TrainerUnderTest::Signal(int signal) const { kill(pid_, signal); }

int TrainerUnderTest::Wait() {
  if (exit_code_ >= 0) return exit_code_;
  int status = 0;
  waitpid(pid_, &status, 0);
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

std::string TrainerUnderTest::Errors() const {
  std::ostringstream text;
  text << std::ifstream(folder_.File("stderr")).rdbuf();
  return text.str();
}

}  // namespace frostline::trainer
