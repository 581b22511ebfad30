// SPDX-License-Identifier: Apache-2.0
#include "worker/demo_trainer/trial.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/plain/descriptor.h"

namespace frostline::demo_trainer {
namespace {

using nlohmann::json;

constexpr double kMostEpochs = 10'000;
constexpr char kModel[] = "demo-mlp";

json ObjectAt(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : json::object();
}

double NumberAt(const json& object, const char* key, double fallback) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>()
                                                     : fallback;
}

std::string TextAt(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>()
                                                     : std::string();
}

std::string ReadRates(const json& rates, std::vector<double>* result) {
  for (std::size_t m = 0; m < kModules; ++m) {
    const std::string& name = ModuleNames()[m];
    const double rate = NumberAt(rates, name.c_str(), 0.0);
    if (!std::isfinite(rate) || rate < 0.0) return "bad rate of " + name;
    (*result)[m] = rate;
  }
  return "";
}

}  // namespace

std::string ForeignModel(const json& message) {
  const std::string model = TextAt(ObjectAt(message, "model"), "id");
  if (model.empty() || model == kModel) return "";
  return std::string("frostline-demo-trainer has the model ") + kModel +
         " alone, and the study trains " + model +
         ": end this worker, and start one with the registry that has it, "
         "frostline worker --registry DIR";
}

std::string ReadTrial(const json& message, Trial* trial) {
  const json training = ObjectAt(message, "training");
  const double epochs = NumberAt(training, "epochs", 20.0);
  const double batch_size = NumberAt(training, "batch_size", 16.0);
  const std::string optimizer = TextAt(training, "optimizer");
  if (epochs < 1.0 || epochs > kMostEpochs) return "epochs is not 1 to 10000";
  if (batch_size < 1.0) return "batch_size is below 1";
  if (optimizer != "" && optimizer != "adam" && optimizer != "adamw" &&
      optimizer != "sgd") {
    return "optimizer is none of adam, adamw, sgd";
  }
  trial->epochs = static_cast<int>(epochs);
  trial->settings.batch_size = static_cast<std::size_t>(batch_size);
  trial->settings.adam = optimizer != "sgd";
  trial->settings.weight_decay = NumberAt(training, "weight_decay", 0.0);
  const auto seed = message.find("seed");
  if (seed != message.end() && seed->is_number_unsigned()) {
    trial->settings.seed = seed->get<std::uint64_t>();
  }
  trial->pause_s =
      NumberAt(ObjectAt(training, "extra"), "seconds_per_epoch", 0.0);
  const auto takes = message.find("takes");
  trial->takes_progress =
      takes != message.end() && takes->is_array() &&
      std::find(takes->begin(), takes->end(), "progress") != takes->end();
  trial->folder = TextAt(message, "folder");
  trial->resume_path = TextAt(ObjectAt(message, "resume_from"), "path");
  return ReadRates(ObjectAt(message, "rates"), &trial->settings.rates);
}

bool WriteCheckpoint(const std::string& folder, const std::string& id,
                     const std::string& bytes) {
  const std::string path = folder + "/" + id;
  const std::string beside = path + ".part";
  Descriptor part(
      open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  const bool written =
      part.ok() && WriteAll(part.number(), bytes) && fsync(part.number()) == 0;
  part.Close();
  return written && std::rename(beside.c_str(), path.c_str()) == 0 &&
         SyncNames(folder);
}

std::optional<std::string> ReadCheckpoint(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  return bytes.str();
}

std::optional<std::string> LineInput::Cut() {
  const std::size_t end = buffer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

std::optional<std::string> LineInput::Next(int millis) {
  while (true) {
    if (auto line = Cut()) return line;
    pollfd entry{fd_, POLLIN, 0};
    if (ended_ || poll(&entry, 1, millis) <= 0) return std::nullopt;
    std::array<char, 65536> chunk{};
    const ssize_t n = read(fd_, chunk.data(), chunk.size());
    if (n > 0) {
      buffer_.append(chunk.data(), static_cast<std::size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      ended_ = true;
    }
  }
}

}  // namespace frostline::demo_trainer
