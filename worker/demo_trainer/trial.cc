// SPDX-License-Identifier: Apache-2.0
#include "worker/demo_trainer/trial.h"

#include <algorithm>
#include <cmath>

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

}  // namespace frostline::demo_trainer
