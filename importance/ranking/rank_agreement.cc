// SPDX-License-Identifier: Apache-2.0
#include "importance/ranking/rank_agreement.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace frostline::importance {
namespace {

constexpr double kRounding = 1e-12;  // of shares

std::vector<std::size_t> Falling(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return order;
}

// Against the least of those before it: no other is exceeded by more.
template <typename Value>
bool IsChanged(const std::vector<std::size_t>& order, const Value& value) {
  if (order.empty()) return false;
  double least = value(order.front());
  for (const std::size_t i : order) {
    const double share = value(i);
    const double alike = std::max(kAlikeRatio * share, kAlikeShare);
    if (share - least > alike + kRounding) return true;
    least = std::min(least, share);
  }
  return false;
}

}  // namespace

double KendallTau(const std::vector<double>& a, const std::vector<double>& b) {
  std::int64_t balance = 0, untied_a = 0, untied_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int in_a = (a[i] > a[j]) - (a[i] < a[j]);
      const int in_b = (b[i] > b[j]) - (b[i] < b[j]);
      balance += in_a * in_b;
      untied_a += in_a != 0;
      untied_b += in_b != 0;
    }
  }
  if (untied_a == 0 || untied_b == 0) return untied_a == untied_b ? 1.0 : 0.0;
  return static_cast<double>(balance) /
         std::sqrt(static_cast<double>(untied_a) *
                   static_cast<double>(untied_b));
}

bool IsOrderChanged(const std::vector<double>& values,
                    const std::vector<double>& other) {
  return IsChanged(Falling(values), [&](std::size_t i) { return other[i]; });
}

double ChanceOfChange(const std::vector<double>& values,
                      const std::vector<std::vector<double>>& draws,
                      double narrower) {
  if (draws.empty()) return 0.0;
  const std::vector<std::size_t> order = Falling(values);
  std::size_t changed = 0;
  for (const std::vector<double>& draw : draws) {
    changed += IsChanged(order, [&](std::size_t i) {
      return values[i] + narrower * (draw[i] - values[i]);
    });
  }
  return static_cast<double>(changed) / static_cast<double>(draws.size());
}

}  // namespace frostline::importance
