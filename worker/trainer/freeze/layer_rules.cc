// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/freeze/layer_rules.h"

#include <ATen/ops/linalg_svdvals.h>
#include <ATen/ops/linalg_vector_norm.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "worker/trainer/model/torch.h"

namespace frostline::trainer {
namespace {

constexpr double kQuartilesOfNormal = 1.349;  // apart, in deviations

// Returns the quantile of sorted values, with a line between two of them.
double QuantileOf(const std::vector<double>& rising, double share) {
  const double at = share * static_cast<double>(rising.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, rising.size() - 1);
  return rising[below] +
         (at - static_cast<double>(below)) * (rising[above] - rising[below]);
}

std::vector<double> SingularValues(const at::Tensor& matrix) {
  const at::Tensor values =
      at::linalg_svdvals(matrix.detach().to(at::kCPU, at::kFloat))
          .to(at::kDouble)
          .contiguous();  // [min(n, m)]
  const double* const first = values.const_data_ptr<double>();
  std::vector<double> rising(first, first + values.numel());
  std::ranges::sort(rising);
  return rising;
}

// Returns "" for layer.3, "attention" for layer.3.attention.
std::string KindOfLayer(const std::string& module) {
  const std::size_t dot = module.find('.', module.find('.') + 1);
  return dot == std::string::npos ? "" : module.substr(dot + 1);
}

// Returns "layer.3" for both.
std::string WholeLayer(const std::string& module) {
  return module.substr(0, module.find('.', module.find('.') + 1));
}

bool IsMatrixOfLayer(const ParameterSpec& spec) {
  return spec.layer >= 0 && spec.shape.size() == 2 && !spec.adapts();
}

// Returns what is equal for the same matrix of each layer: its name without the
// number of the layer.
std::string KindOfMatrix(const ParameterSpec& spec) {
  const std::string number = "." + std::to_string(spec.layer) + ".";
  const std::size_t at = spec.name.find(number);
  return at == std::string::npos ? spec.name
                                 : spec.name.substr(at + number.size());
}

// Returns a number that looks drawn (splitmix64; Steele et al., 2014).
std::uint64_t DrawFor(std::uint64_t seed, std::uint64_t with) {
  std::uint64_t z = seed + (with + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

}  // namespace

std::vector<std::string> LayersWithRate(const ModelConfig& config,
                                        const ModuleRates& rates) {
  std::vector<std::string> layers;
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string layer = "layer." + std::to_string(i);
    for (const char* part : {".attention", ".ffn"}) {
      // The finest that is named decides.
      const std::string module =
          rates.contains(layer + part) ? layer + part : layer;
      const auto found = rates.find(module);
      const bool is_new = layers.empty() || layers.back() != module;
      if (found != rates.end() && found->second > 0.0 && is_new) {
        layers.push_back(module);
      }
    }
  }
  return layers;
}

double SignalToNoise(const at::Tensor& matrix) {
  const std::vector<double> rising = SingularValues(matrix);
  if (rising.empty() || rising.back() == 0.0) return 0.0;
  const double sigma = (QuantileOf(rising, 0.75) - QuantileOf(rising, 0.25)) /
                       kQuartilesOfNormal;
  const auto n = static_cast<double>(matrix.size(0));
  const auto m = static_cast<double>(matrix.size(1));
  const double most_noise =
      sigma * (1.0 + std::sqrt(std::min(n, m) / std::max(n, m)));
  double signal = 0.0;
  double noise = 0.0;
  for (const double value : rising) {
    (value > most_noise ? signal : noise) += value;
  }
  if (noise == 0.0) noise = 1.0;  // as the authors' program does
  return signal / noise / rising.back();
}

std::map<std::string, double> SignalsOf(const Model& model) {
  std::map<std::string, double> signals;
  for (const Weight& each : model.weights()) {
    if (!IsMatrixOfLayer(each.spec)) continue;
    signals[each.spec.name] = SignalToNoise(each.value);
  }
  return signals;
}

LayerScores PlacesBySignal(const Model& model, const ModuleRates& rates,
                           const std::map<std::string, double>& signals) {
  const std::vector<std::string> layers = LayersWithRate(model.config(), rates);
  struct Ranked {
    double signal;
    std::string module;
  };
  std::map<std::string, std::vector<Ranked>> by_kind;  // in depth order
  for (const Weight& each : model.weights()) {
    if (!IsMatrixOfLayer(each.spec)) continue;
    const std::string module = DecidingModule(each.spec, rates);
    if (std::ranges::find(layers, module) == layers.end()) continue;
    by_kind[KindOfMatrix(each.spec)].push_back(
        {signals.at(each.spec.name), module});
  }
  LayerScores sums;
  std::map<std::string, double> counts;
  for (auto& [kind, matrices] : by_kind) {
    std::ranges::stable_sort(matrices, std::ranges::greater(), &Ranked::signal);
    for (std::size_t i = 0; i < matrices.size(); ++i) {
      sums[matrices[i].module] += static_cast<double>(i + 1);
      counts[matrices[i].module] += 1.0;
    }
  }
  for (auto& [module, sum] : sums) sum /= counts.at(module);
  return sums;
}

LayerScores RelativeGradients(const Model& model, const ModuleRates& rates,
                              const std::vector<at::Tensor>& gradients) {
  const auto squared = [](const at::Tensor& tensor) {
    const double norm =
        at::linalg_vector_norm(tensor.detach().to(at::kDouble)).item<double>();
    return norm * norm;
  };
  LayerScores scores;
  std::map<std::string, double> sizes;
  for (std::size_t i = 0; i < model.weights().size(); ++i) {
    const Weight& each = model.weights()[i];
    if (each.spec.layer < 0) continue;
    const std::string module = DecidingModule(each.spec, rates);
    scores[module] += gradients[i].defined() ? squared(gradients[i]) : 0.0;
    sizes[module] += squared(each.value);
  }
  for (auto& [module, score] : scores) {
    const double size = sizes.at(module);
    score = size > 0.0 ? std::sqrt(score / size) : std::sqrt(score);
  }
  return scores;
}

std::set<std::string> TopShare(const std::vector<std::string>& layers,
                               const LayerScores& scores, bool least_is_best,
                               double share) {
  std::map<std::string, std::vector<std::string>> by_kind;
  for (const std::string& layer : layers) {
    by_kind[KindOfLayer(layer)].push_back(layer);
  }
  constexpr double kRoundingOfShare = 1e-9;  // .29 of 100 is 29
  std::set<std::string> chosen;
  for (auto& [kind, modules] : by_kind) {
    std::ranges::stable_sort(
        modules, [&](const std::string& a, const std::string& b) {
          return least_is_best ? scores.at(a) < scores.at(b)
                               : scores.at(a) > scores.at(b);
        });
    const double exact = share * static_cast<double>(modules.size());
    const auto count = std::clamp<std::size_t>(
        static_cast<std::size_t>(exact + kRoundingOfShare), 1, modules.size());
    chosen.insert(modules.begin(),
                  modules.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return chosen;
}

std::set<std::string> DrawLayers(const std::vector<std::string>& layers,
                                 std::int64_t at_once, std::uint64_t seed,
                                 std::int64_t turn) {
  std::set<std::string> whole;
  for (const std::string& module : layers) whole.insert(WholeLayer(module));
  const std::uint64_t of_turn = DrawFor(seed, static_cast<std::uint64_t>(turn));
  std::vector<std::pair<std::uint64_t, std::string>> drawn;
  for (const std::string& layer : whole) {
    const std::uint64_t number = std::stoull(layer.substr(layer.find('.') + 1));
    drawn.emplace_back(DrawFor(of_turn, number), layer);
  }
  std::ranges::sort(drawn);
  if (std::cmp_less(at_once, drawn.size())) {
    drawn.resize(static_cast<std::size_t>(at_once));
  }
  std::set<std::string> chosen;
  for (const std::string& module : layers) {
    for (const auto& [draw, layer] : drawn) {
      if (WholeLayer(module) == layer) chosen.insert(module);
    }
  }
  return chosen;
}

void AutoFreezeState::Note(const std::vector<std::string>& blocks,
                           const LayerScores& gradients) {
  const auto is_finite = [](const auto& of_module) {
    return std::isfinite(of_module.second);
  };
  if (!std::ranges::all_of(gradients, is_finite)) return;
  for (std::size_t i = frozen; i < blocks.size(); ++i) {
    const auto found = gradients.find(blocks[i]);
    now[blocks[i]] += found == gradients.end() ? 0.0 : found->second;
  }
}

std::size_t AutoFreezeState::EndInterval(const std::vector<std::string>& blocks,
                                         double share) {
  std::vector<double> changes;  // of the blocks that train, the lowest first
  for (std::size_t i = frozen; i < blocks.size(); ++i) {
    const auto old = before.find(blocks[i]);
    if (old == before.end()) break;
    const double change = std::abs(old->second - now[blocks[i]]);
    changes.push_back(old->second > 0.0 ? change / old->second : change);
  }
  before = std::exchange(now, {});
  if (changes.empty()) return 0;
  std::vector<double> rising = changes;
  std::ranges::sort(rising);
  const double most = QuantileOf(rising, share);
  std::size_t still = 0;
  while (still + 1 < changes.size() && changes[still] < most) ++still;
  frozen += still;
  return still;
}

std::vector<std::string> BlocksWithRate(const ModelConfig& config,
                                        const ModuleRates& rates) {
  std::vector<std::string> blocks;
  const auto embeddings = rates.find("embeddings");
  if (embeddings != rates.end() && embeddings->second > 0.0) {
    blocks.emplace_back("embeddings");
  }
  for (const std::string& module : LayersWithRate(config, rates)) {
    const std::string layer = WholeLayer(module);
    if (blocks.empty() || blocks.back() != layer) blocks.push_back(layer);
  }
  return blocks;
}

ModuleRates RatesWithout(const ModuleRates& rates,
                         std::span<const std::string> blocks) {
  ModuleRates result = rates;
  for (auto& [module, rate] : result) {
    const bool is_in = std::ranges::any_of(
        blocks, [&, &name = module](const std::string& block) {
          return name == block || name.starts_with(block + ".");
        });
    if (is_in) rate = 0.0;
  }
  return result;
}

ModuleRates RatesOfChosen(const ModuleRates& rates,
                          const std::vector<std::string>& layers,
                          const std::set<std::string>& chosen) {
  ModuleRates result = rates;
  for (const std::string& layer : layers) {
    if (!chosen.contains(layer)) result[layer] = 0.0;
  }
  return result;
}

}  // namespace frostline::trainer
