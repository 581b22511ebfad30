// SPDX-License-Identifier: Apache-2.0
#include "worker/demo_trainer/fine_tuning.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace frostline::demo_trainer {
namespace {

constexpr std::size_t kHead = kModules - 1;

Dense MakeDense(std::size_t inputs, std::size_t outputs, double gain,
                Rng& rng) {
  Dense dense{inputs, outputs, Vector(inputs * outputs), Vector(outputs)};
  const double spread = gain / std::sqrt(static_cast<double>(inputs));
  for (double& weight : dense.weights) weight = spread * rng.Normal();
  return dense;
}

Vector Apply(const Dense& dense, const Vector& input) {
  Vector output = dense.bias;
  for (std::size_t i = 0; i < dense.inputs; ++i) {
    const double* const row = &dense.weights[i * dense.outputs];
    for (std::size_t o = 0; o < dense.outputs; ++o) {
      output[o] += input[i] * row[o];
    }
  }
  return output;
}

Vector Softmax(const Vector& logits) {
  const double highest = *std::max_element(logits.begin(), logits.end());
  Vector shares = logits;
  double sum = 0.0;
  for (double& share : shares) {
    share = std::exp(share - highest);
    sum += share;
  }
  for (double& share : shares) share /= sum;
  return shares;
}

// Returns d Loss / d input, from the slope at the outputs.
Vector PassBack(const Dense& dense, const Vector& slope) {
  Vector back(dense.inputs);
  for (std::size_t i = 0; i < dense.inputs; ++i) {
    const double* const row = &dense.weights[i * dense.outputs];
    for (std::size_t o = 0; o < dense.outputs; ++o)
      back[i] += row[o] * slope[o];
  }
  return back;
}

void AddOuter(const Vector& input, const Vector& slope, Dense* gradient) {
  for (std::size_t i = 0; i < gradient->inputs; ++i) {
    double* const row = &gradient->weights[i * gradient->outputs];
    for (std::size_t o = 0; o < gradient->outputs; ++o) {
      row[o] += input[i] * slope[o];
    }
  }
  for (std::size_t o = 0; o < gradient->outputs; ++o) {
    gradient->bias[o] += slope[o];
  }
}

}  // namespace

const std::vector<std::string>& ModuleNames() {
  static const auto* names = new std::vector<std::string>{
      "embeddings", "layer.0", "layer.1", "layer.2",
      "layer.3",    "layer.4", "layer.5", "head"};
  return *names;
}

Network::Network(double gain, Rng& rng) {
  modules_.push_back(MakeDense(kInputs, kWidth, gain, rng));
  for (std::size_t l = 0; l < kLayers; ++l) {
    modules_.push_back(MakeDense(kWidth, kWidth, gain, rng));
  }
  modules_.push_back(MakeDense(kWidth, kClasses, gain, rng));
}

void Network::SetZero() {
  for (Dense& dense : modules_) {
    std::fill(dense.weights.begin(), dense.weights.end(), 0.0);
    std::fill(dense.bias.begin(), dense.bias.end(), 0.0);
  }
}

std::vector<Vector> Network::Forward(const Vector& input) const {
  std::vector<Vector> states = {input};
  for (std::size_t m = 0; m < kModules; ++m) {
    Vector next = Apply(modules_[m], states[m]);
    if (m == 0) {
      for (double& value : next) value = std::tanh(value);
    } else if (m < kHead) {
      for (std::size_t i = 0; i < kWidth; ++i) {
        next[i] = states[m][i] + std::max(next[i], 0.0);
      }
    }
    states.push_back(std::move(next));
  }
  return states;
}

std::size_t Network::Predict(const Vector& input) const {
  const Vector logits = Forward(input).back();
  return static_cast<std::size_t>(
      std::max_element(logits.begin(), logits.end()) - logits.begin());
}

double Network::Loss(const Example& example) const {
  return -std::log(Softmax(Forward(example.input).back())[example.label]);
}

double Network::AddGradient(const Example& example,
                            const std::vector<bool>& trains,
                            Network* gradient) const {
  const std::vector<Vector> states = Forward(example.input);
  const auto lowest = static_cast<std::size_t>(
      std::find(trains.begin(), trains.end(), true) - trains.begin());
  Vector slope = Softmax(states.back());  // d Loss / d output of module m
  const double loss = -std::log(slope[example.label]);
  slope[example.label] -= 1.0;
  for (std::size_t m = kModules; m-- > lowest;) {
    Vector inner = slope;  // before the nonlinearity
    for (std::size_t i = 0; i < inner.size() && m < kHead; ++i) {
      const double output = states[m + 1][i];
      if (m == 0) inner[i] *= 1.0 - output * output;
      if (m > 0 && output <= states[m][i]) inner[i] = 0.0;  // relu was shut
    }
    if (trains[m]) AddOuter(states[m], inner, &gradient->modules_[m]);
    if (m == lowest) break;
    Vector below = PassBack(modules_[m], inner);
    for (std::size_t i = 0; i < below.size() && m < kHead; ++i) {
      below[i] += slope[i];  // the residual path
    }
    slope = std::move(below);
  }
  return loss;
}

namespace {

constexpr double kDecayOfMoment = 0.9;
constexpr double kDecayOfVariance = 0.999;
constexpr double kEpsilon = 1e-8;

Network Zero(Network shape) {
  shape.SetZero();
  return shape;
}

// Fisher and Yates, with our generator: std::shuffle differs by library.
std::vector<std::size_t> ShuffledOrder(std::size_t size, Rng& rng) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = size; i > 1; --i) {
    std::swap(order[i - 1], order[rng.Below(i)]);
  }
  return order;
}

// Calls `visit` with every block of numbers of `network`.
template <typename AnyNetwork, typename Visit>
void ForEachBlock(AnyNetwork& network, Visit visit) {
  for (std::size_t m = 0; m < kModules; ++m) {
    visit(network.module(m).weights);
    visit(network.module(m).bias);
  }
}

}  // namespace

FineTuning::FineTuning(Network start, const std::vector<Example>& examples,
                       Settings settings)
    : network_(std::move(start)),
      gradient_(Zero(network_)),
      moment_(Zero(network_)),
      variance_(Zero(network_)),
      examples_(examples),
      settings_(std::move(settings)) {
  for (const double rate : settings_.rates) trains_.push_back(rate > 0.0);
}

double FineTuning::Epoch() {
  Rng rng(settings_.seed, static_cast<std::uint64_t>(epochs_));
  double loss = 0.0;
  std::size_t in_batch = 0;
  for (const std::size_t i : ShuffledOrder(examples_.size(), rng)) {
    loss += network_.AddGradient(examples_[i], trains_, &gradient_);
    if (++in_batch == settings_.batch_size) Step(std::exchange(in_batch, 0));
  }
  if (in_batch > 0) Step(in_batch);
  ++epochs_;
  return loss / static_cast<double>(examples_.size());
}

void FineTuning::Step(std::size_t batch) {
  ++steps_;
  const double share = 1.0 / static_cast<double>(batch);
  for (std::size_t m = 0; m < kModules; ++m) {
    if (!trains_[m]) continue;
    Dense& gradient = gradient_.module(m);
    for (double& slope : gradient.weights) slope *= share;
    for (double& slope : gradient.bias) slope *= share;
    const double rate = settings_.rates[m];
    StepModule(gradient.weights, rate, &moment_.module(m).weights,
               &variance_.module(m).weights, &network_.module(m).weights);
    StepModule(gradient.bias, rate, &moment_.module(m).bias,
               &variance_.module(m).bias, &network_.module(m).bias);
  }
  gradient_.SetZero();
}

void FineTuning::StepModule(const Vector& gradient, double rate, Vector* moment,
                            Vector* variance, Vector* weights) const {
  const auto t = static_cast<double>(steps_);
  const double moment_bias = 1.0 - std::pow(kDecayOfMoment, t);
  const double variance_bias = 1.0 - std::pow(kDecayOfVariance, t);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    double& m = (*moment)[i];
    double& v = (*variance)[i];
    double& w = (*weights)[i];
    const double g = gradient[i];
    w -= rate * settings_.weight_decay * w;
    if (settings_.adam) {
      m = kDecayOfMoment * m + (1.0 - kDecayOfMoment) * g;
      v = kDecayOfVariance * v + (1.0 - kDecayOfVariance) * g * g;
      w -= rate * (m / moment_bias) / (std::sqrt(v / variance_bias) + kEpsilon);
    } else {
      w -= rate * g;
    }
  }
}

std::int64_t FineTuning::trained_parameters() const {
  std::size_t count = 0;
  for (std::size_t m = 0; m < kModules; ++m) {
    if (trains_[m]) count += network_.module(m).size();
  }
  return static_cast<std::int64_t>(count);
}

// Forward, a weight's gradient and passing back cost two operations a weight.
double FineTuning::flops_per_example() const {
  double weights = 0.0;
  bool below_trains = false;
  for (std::size_t m = 0; m < kModules; ++m) {
    const auto size = static_cast<double>(network_.module(m).weights.size());
    weights +=
        size * (1.0 + (trains_[m] ? 1.0 : 0.0) + (below_trains ? 1.0 : 0.0));
    below_trains = below_trains || trains_[m];
  }
  return 2.0 * weights;
}

double FineTuning::flops_skipped_per_example() const {
  double weights = 0.0;
  for (std::size_t m = 0; m < kModules; ++m) {
    const auto size = static_cast<double>(network_.module(m).weights.size());
    weights += size * (m == 0 ? 2.0 : 3.0);
  }
  return 2.0 * weights - flops_per_example();
}

std::string FineTuning::Save() const {
  Vector numbers = {static_cast<double>(epochs_), static_cast<double>(steps_)};
  for (const Network* part : {&network_, &moment_, &variance_}) {
    ForEachBlock(*part, [&numbers](const Vector& block) {
      numbers.insert(numbers.end(), block.begin(), block.end());
    });
  }
  std::string bytes(numbers.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

bool FineTuning::Restore(const std::string& bytes) {
  if (bytes.size() != Save().size()) return false;
  Vector numbers(bytes.size() / sizeof(double));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  epochs_ = static_cast<int>(numbers[0]);
  steps_ = static_cast<std::int64_t>(numbers[1]);
  auto next = numbers.begin() + 2;
  for (Network* part : {&network_, &moment_, &variance_}) {
    ForEachBlock(*part, [&next](Vector& block) {
      for (double& number : block) number = *next++;
    });
  }
  return true;
}

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

// Mixes `part` of `other` into `dense`.
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
