// SPDX-License-Identifier: Apache-2.0
#include "worker/demo_trainer/trial.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "absl/strings/numbers.h"
#include "base/plain/file.h"

namespace frostline::demo_trainer {
namespace {

constexpr double kMostEpochs = 10'000;
constexpr char kModel[] = "demo-mlp";

const JsonValue& At(const JsonValue& object, std::string_view key) {
  static const JsonValue nothing;
  const JsonValue* const found = object.Find(key);
  return found == nullptr ? nothing : *found;
}

double NumberAt(const JsonValue& object, std::string_view key,
                double fallback) {
  const JsonValue& found = At(object, key);
  return found.is(JsonKind::kNumber) ? found.number : fallback;
}

std::string ReadRates(const JsonValue& rates, std::vector<double>* result) {
  for (std::size_t m = 0; m < kModules; ++m) {
    const std::string& name = ModuleNames()[m];
    const double rate = NumberAt(rates, name, 0.0);
    if (rate < 0.0) return "bad rate of " + name;
    (*result)[m] = rate;
  }
  return "";
}

}  // namespace

std::string TextAt(const JsonValue& object, std::string_view key) {
  const JsonValue& found = At(object, key);
  return found.is(JsonKind::kString) ? std::string(found.text) : "";
}

std::string ForeignModel(const JsonValue& message) {
  const std::string model = TextAt(At(message, "model"), "id");
  if (model.empty() || model == kModel) return "";
  return std::string("frostline-demo-trainer has the model ") + kModel +
         " alone, and the study trains " + model +
         ": end this worker, and start one with the registry that has it, "
         "frostline worker --registry DIR";
}

std::string ReadTrial(const JsonValue& message, Trial* trial) {
  const JsonValue& training = At(message, "training");
  const double epochs = NumberAt(training, "epochs", 20.0);
  const double batch_size = NumberAt(training, "batch_size", 16.0);
  const std::string optimizer = TextAt(training, "optimizer");
  if (epochs < 1.0 || epochs > kMostEpochs) return "epochs is not 1 to 10000";
  if (batch_size < 1.0) return "batch_size is below 1";
  if (!optimizer.empty() && optimizer != "adam" && optimizer != "adamw" &&
      optimizer != "sgd") {
    return "optimizer is none of adam, adamw, sgd";
  }
  trial->epochs = static_cast<int>(epochs);
  trial->settings.batch_size = static_cast<std::size_t>(batch_size);
  trial->settings.adam = optimizer != "sgd";
  trial->settings.weight_decay = NumberAt(training, "weight_decay", 0.0);
  // The seed is read from its text, since a double does not hold every one.
  std::uint64_t seed = 0;
  if (absl::SimpleAtoi(std::string(At(message, "seed").text), &seed)) {
    trial->settings.seed = seed;
  }
  trial->pause_s = NumberAt(At(training, "extra"), "seconds_per_epoch", 0.0);
  const JsonValue* take = At(message, "takes").first;
  for (; take != nullptr; take = take->next) {
    if (take->text == "progress") trial->takes_progress = true;
  }
  trial->folder = TextAt(message, "folder");
  trial->resume_path = TextAt(At(message, "resume_from"), "path");
  return ReadRates(At(message, "rates"), &trial->settings.rates);
}

bool WriteCheckpoint(const std::string& folder, const std::string& id,
                     const std::string& bytes) {
  return WriteFileAtomically(folder + "/" + id, bytes).ok();
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
