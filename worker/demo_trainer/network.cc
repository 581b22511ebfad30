// SPDX-License-Identifier: Apache-2.0
#include "worker/demo_trainer/network.h"

#include <algorithm>
#include <cmath>

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

// d Loss / d input, from that of the outputs.
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

}  // namespace frostline::demo_trainer
