// SPDX-License-Identifier: Apache-2.0
#include "tests/search/layerwise.h"

#include <array>
#include <cstdint>
#include <utility>

#include "absl/strings/str_format.h"

namespace frostline::test {
namespace {

template <std::size_t kModules>
using Table = std::array<int, kModules>;

int LevelOf(const Point& point, std::size_t module) {
  return static_cast<int>(point[module]);
}

double Additive(const Point& point) {
  constexpr Table<7> kBest = {4, 2, 5, 3, 6, 1, 4};
  constexpr Table<7> kLeft = {16, 40, 8, 24, 12, 48, 20};
  constexpr Table<7> kRight = {36, 12, 64, 20, 0, 10, 44};
  struct Pair {
    std::size_t a, b;
    int weight;
  };
  constexpr std::array<Pair, 6> kPairs = {
      {{0, 1, 3}, {1, 4, -2}, {2, 3, 4}, {3, 6, -3}, {4, 5, 2}, {0, 6, -4}}};
  int sum = 0;
  for (std::size_t m = 0; m < kBest.size(); ++m) {
    const int off = LevelOf(point, m) - kBest[m];
    sum += (off < 0 ? kLeft[m] : kRight[m]) * off * off;
  }
  for (const Pair& pair : kPairs) {
    sum += pair.weight * (LevelOf(point, pair.a) - 3) *
           (LevelOf(point, pair.b) - 3);
  }
  return sum / 64.0;
}

// Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators",
// OOPSLA 2014, Fig. 16.
std::uint64_t Mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// Twelve uniform numbers less six: mean 0, deviation 1.
double NoiseOf(const Point& point) {
  std::uint64_t hash = 0x243F6A8885A308D3u;
  for (std::size_t m = 0; m < point.size(); ++m) {
    hash = Mix(hash ^ static_cast<std::uint64_t>(LevelOf(point, m) + 1));
  }
  std::uint64_t sum = 0;
  for (int i = 0; i < 12; ++i) {
    hash = Mix(hash);
    sum += hash >> 32;
  }
  return static_cast<double>(sum) / 4294967296.0 - 6.0;
}

double ThreeMatter(const Point& point) {
  constexpr Table<7> kSecond = {96, 80, 56, 24, 0, 16, 72};
  constexpr Table<7> kSeventh = {40, 24, 8, 0, 20, 64, 120};
  constexpr Table<7> kEleventh = {128, 120, 100, 64, 28, 0, 12};
  const auto of = [&](const Table<7>& table, std::size_t module) {
    return table[static_cast<std::size_t>(LevelOf(point, module))];
  };
  const int signal = of(kSecond, 2) + of(kSeventh, 7) + of(kEleventh, 11);
  return signal / 64.0 + 21.0 / 64.0 * NoiseOf(point);
}

double Cliff(const Point& point) {
  constexpr Table<13> kBest = {5, 4, 5, 3, 5, 4, 5, 4, 3, 5, 4, 5, 2};
  constexpr Table<13> kWeight = {4, 6, 12, 5, 3, 8, 2, 6, 4, 12, 5, 3, 7};
  int sum = 0;
  for (std::size_t m = 0; m < kBest.size(); ++m) {
    const int off = LevelOf(point, m) - kBest[m];
    sum += kWeight[m] * off * off;
  }
  if (LevelOf(point, 2) == 6 || LevelOf(point, 9) == 6) sum += 1280;
  return sum / 64.0;
}

}  // namespace

Space SevenLevels(int modules) {
  const Levels levels{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}};
  std::vector<Parameter> parameters;
  for (int m = 0; m < modules; ++m) {
    parameters.push_back({absl::StrFormat("p%02d", m), levels, std::nullopt});
  }
  return Space(std::move(parameters), {}, std::nullopt);
}

std::vector<SearchObjective> LayerwiseObjectives() {
  return {{"i", SevenLevels(7), Additive},
          {"ii", SevenLevels(13), ThreeMatter},
          {"iii", SevenLevels(13), Cliff}};
}

SearchObjective SecondsAreBounded() {
  SearchObjective objective = LayerwiseObjectives()[0];
  objective.name = "i.seconds";
  objective.constraint = [](const Point& point) {
    constexpr double kMostLevels = 16.0;
    double levels = 0.0;
    for (const double level : point) levels += level;
    return levels - kMostLevels;
  };
  return objective;
}

std::vector<SearchObjective> FrozenIsDifferent() {
  std::vector<SearchObjective> objectives = LayerwiseObjectives();
  for (SearchObjective& objective : objectives) {
    objective.name += ".frozen";
    objective.loss = [plain = std::move(objective.loss)](Point point) {
      for (std::size_t m = 0; m < point.size(); ++m) {
        if (point[m] == 0.0) point[m] = static_cast<double>((3 * m + 4) % 7);
      }
      return plain(point);
    };
  }
  return objectives;
}

}  // namespace frostline::test
