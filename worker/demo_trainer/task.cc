// SPDX-License-Identifier: Apache-2.0
#include "worker/demo_trainer/task.h"

#include "worker/demo_trainer/fine_tuning.h"

namespace frostline::demo_trainer {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr std::size_t kSourceSize = 1'000;
constexpr std::size_t kTrainSize = 400;
constexpr std::size_t kValidationSize = 1'000;
constexpr double kGain = 0.8;
constexpr double kPlaceNoise = 0.02;
constexpr double kWrongLabels = 0.2;
constexpr double kPretrainRate = 1e-3;
constexpr int kPretrainEpochs = 6;
constexpr int kBalanceRounds = 20;
constexpr std::size_t kBalanceSize = 400;
constexpr double kBalanceRate = 4.0;
constexpr double kShiftedGain = 3.0;
constexpr double kLayerShift = 1.0;
constexpr double kHeadShift = 0.3;
constexpr std::size_t kShiftedModule = 4;  // layer.3
constexpr std::size_t kTaskHead = kModules - 1;

std::vector<Example> Label(const Network& teacher, std::size_t size,
                           double wrong, Rng& rng) {
  std::vector<Example> examples(size);
  for (Example& example : examples) {
    for (std::size_t i = 0; i < kInputs; ++i) {
      example.input.push_back(rng.Normal());
    }
    example.label = teacher.Predict(example.input);
    if (rng.Uniform() < wrong) {
      example.label = (example.label + 1 + rng.Below(kClasses - 1)) % kClasses;
    }
  }
  return examples;
}

// `part` of `other` into `dense`.
void Mix(const Dense& other, double part, Dense* dense) {
  for (std::size_t i = 0; i < dense->weights.size(); ++i) {
    dense->weights[i] += part * (other.weights[i] - dense->weights[i]);
  }
}

void Scale(double factor, Dense* dense) {
  for (double& weight : dense->weights) weight *= factor;
}

// Sets the head's bias so that no class is rare.
void Balance(Network* teacher, Rng& rng) {
  for (int round = 0; round < kBalanceRounds; ++round) {
    std::vector<double> share(kClasses);
    for (const Example& example : Label(*teacher, kBalanceSize, 0.0, rng)) {
      share[example.label] += 1.0 / static_cast<double>(kBalanceSize);
    }
    for (std::size_t c = 0; c < kClasses; ++c) {
      teacher->module(kTaskHead).bias[c] -=
          kBalanceRate * (share[c] - 1.0 / static_cast<double>(kClasses));
    }
  }
}

Network Pretrain(const Network& teacher, Rng& rng) {
  const auto examples = Label(teacher, kSourceSize, 0.0, rng);
  Network student = teacher;
  const Network noise(kGain, rng);
  for (std::size_t m = 0; m < kModules; ++m) {
    Mix(noise.module(m), kPlaceNoise, &student.module(m));
  }
  Settings settings;
  settings.rates.assign(kModules, kPretrainRate);
  FineTuning training(student, examples, settings);
  for (int i = 0; i < kPretrainEpochs; ++i) training.Epoch();
  return training.network();
}

}  // namespace

Task MakeTask() {
  Rng rng(kSeed);
  Network source(kGain, rng);
  Network other(kGain, rng);
  Scale(kShiftedGain, &source.module(kShiftedModule));
  Scale(kShiftedGain, &other.module(kShiftedModule));
  Network target = source;
  Mix(other.module(kShiftedModule), kLayerShift,
      &target.module(kShiftedModule));
  Mix(other.module(kTaskHead), kHeadShift, &target.module(kTaskHead));
  Balance(&source, rng);
  Balance(&target, rng);
  Network pretrained = Pretrain(source, rng);
  auto train = Label(target, kTrainSize, kWrongLabels, rng);
  auto validation = Label(target, kValidationSize, 0.0, rng);
  return {std::move(pretrained), std::move(train), std::move(validation)};
}

double Accuracy(const Network& network, const std::vector<Example>& examples) {
  std::size_t right = 0;
  for (const Example& example : examples) {
    if (network.Predict(example.input) == example.label) ++right;
  }
  return static_cast<double>(right) / static_cast<double>(examples.size());
}

}  // namespace frostline::demo_trainer
