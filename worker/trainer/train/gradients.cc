// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <utility>

#include "worker/trainer/train/gradient_surgery.h"

namespace frostline::trainer {
namespace {

// splitmix64 (Steele et al., 2014, figure 17).
std::uint64_t Mixed(std::uint64_t seed, std::uint64_t with) {
  std::uint64_t z = seed + (with + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

bool AnyConflict(const InnerProducts& products) {
  for (std::size_t i = 0; i < products.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (products[i][j] < 0.0) return true;
    }
  }
  return false;
}

void GiveWayToLongest(const InnerProducts& products,
                      std::vector<double>& weights) {
  std::size_t longest = 0;
  for (std::size_t i = 1; i < products.size(); ++i) {
    if (products[i][i] > products[longest][longest]) longest = i;
  }
  for (std::size_t i = 0; i < products.size(); ++i) {
    if (i == longest || !(products[i][longest] < 0.0)) continue;
    weights[longest] -= products[i][longest] / products[longest][longest];
  }
}

// `mine` says of what one task's gradient consists by now.
void GiveWayToEach(std::size_t task, const InnerProducts& products,
                   const SurgeryChance& chance, std::vector<double>& weights) {
  std::vector<double> mine(products.size(), 0.0);
  mine[task] = 1.0;
  for (const std::size_t other : OthersInTurn(task, products.size(), chance)) {
    double product = 0.0;
    for (std::size_t k = 0; k < mine.size(); ++k) {
      product += mine[k] * products[k][other];
    }
    if (product < 0.0) mine[other] -= product / products[other][other];
  }
  for (std::size_t k = 0; k < mine.size(); ++k) weights[k] += mine[k];
}

}  // namespace

std::vector<std::size_t> OthersInTurn(std::size_t task, std::size_t tasks,
                                      const SurgeryChance& chance) {
  const std::uint64_t mine = Mixed(Mixed(chance.seed, chance.step), task);
  std::vector<std::pair<std::uint64_t, std::size_t>> drawn;
  for (std::size_t other = 0; other < tasks; ++other) {
    if (other != task) drawn.emplace_back(Mixed(mine, other), other);
  }
  std::sort(drawn.begin(), drawn.end());
  std::vector<std::size_t> order;
  for (const auto& [draw, other] : drawn) order.push_back(other);
  return order;
}

Mixture MixGradients(Surgery surgery, const InnerProducts& products,
                     const SurgeryChance& chance) {
  const std::size_t tasks = products.size();
  Mixture mixture = {std::vector<double>(tasks, 1.0), AnyConflict(products)};
  if (!mixture.conflict || surgery == Surgery::kNone) return mixture;
  if (surgery == Surgery::kDominant) {
    GiveWayToLongest(products, mixture.weights);
    return mixture;
  }
  mixture.weights.assign(tasks, 0.0);
  for (std::size_t task = 0; task < tasks; ++task) {
    GiveWayToEach(task, products, chance, mixture.weights);
  }
  return mixture;
}

}  // namespace frostline::trainer
