// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/trainer/trial/trial_world.h"

#include <utility>

#include "gtest/gtest.h"
#include "tests/worker/trainer/tiny_registry.h"

namespace frostline::trainer {
TrialWorld::TrialWorld(Registry registry)
    : device_(Device::Open("cpu").value()) {
  at::set_num_threads(1);
  if (registry == Registry::kTiny) {
    WriteTinyRegistry(folder());
  } else {
    WriteDecoderRegistry(folder());
  }
  preparer_.emplace(TrialPreparer::Open(folder(), device_).value());
}

std::string TrialWorld::Message(const std::string& training,
                                const std::string& rates) const {
  const std::string all_rates =
      rates.empty() ? R"("embeddings": 0, "layer.0": 1e-3, "layer.1": 1e-3,
                        "layer.2": 2e-3, "pooler": 1e-3, "head": 1e-2)"
                    : rates;
  return R"({"type": "trial", "protocol": 1, "trial": "studies/s/trials/1",
             "attempt": 1, "seed": 7, "rates": {)" +
         all_rates + R"(}, "model": {"id": "tiny", "layers": 3},
             "objectives": [{"metric": "accuracy", "direction": "maximize"}],
             "data": {"id": "words"}, "folder": ")" +
         folder() + R"(", "resume_from": null, "training": {)" + training +
         R"("batch_size": 8, "max_length": 16, "precision": "fp32"}})";
}

TrialMessage TrialWorld::Trial(const std::string& training,
                               const std::string& rates) const {
  const std::string line = Message(training, rates);
  const Expected<Json> json = Json::Parse(line);
  Expected<TrialMessage> trial = ReadTrialMessage(json.value().root());
  EXPECT_TRUE(trial.ok()) << trial.fault().cause;
  return std::move(trial).value();
}

TrialMessage TrialWorld::AnswersTrial(const std::string& data,
                                      const std::string& training) const {
  TrialMessage trial =
      Trial(training, R"("embeddings": 1e-2, "layer.0": 1e-2, "layer.1": 1e-2,
                         "head": 1e-2)");
  trial.model.id = "bytes";
  trial.model.layers = 2;
  trial.tasks.front().data.id = data;
  trial.objectives = {{.metric = "loss", .maximize = false}};
  return trial;
}

TrialEnd TrialWorld::Run(const TrialMessage& trial, Witness& listener) {
  std::vector<std::string> log;
  Expected<TrialSetup> setup = trial_preparer().Prepare(trial, {}, log);
  EXPECT_TRUE(setup.ok()) << setup.fault().cause;
  if (!setup.ok()) return {};
  double now = 0.0;  // each look at the clock takes a millisecond
  const TrialEnvironment environment{device_,
                                     [&now] { return now += 0.001; },
                                     checkpoint_seconds,
                                     prefixes ? &*prefixes : nullptr,
                                     "these kernels",
                                     &size_book,
                                     resident ? &*resident : nullptr};
  return FineTuning(trial, std::move(setup).value(), environment, listener)
      .Run();
}

}  // namespace frostline::trainer
