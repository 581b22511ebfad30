// SPDX-License-Identifier: Apache-2.0
#include "tests/search/truths.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_format.h"

namespace frostline::test {
namespace {

using nlohmann::json;

void Flatten(const json& table, std::vector<double>& flat) {
  if (table.is_number()) {
    flat.push_back(table.get<double>());
    return;
  }
  for (const json& row : table) Flatten(row, flat);
}

Truth TruthOf(const std::string& name, const json& recorded) {
  Truth truth;
  truth.name = name;
  truth.modules = recorded.at("modules");
  truth.levels = recorded.at("levels");
  for (const json& term : recorded.at("terms")) {
    TruthTerm read;
    read.axes = term.at("axes").get<std::vector<std::size_t>>();
    read.share = term.at("share");
    Flatten(term.at("table"), read.table);
    double cells = 1.0;
    for (const std::size_t axis : read.axes) {
      if (axis >= static_cast<std::size_t>(truth.modules)) cells = -1.0;
      cells *= truth.levels;
    }
    if (cells != static_cast<double>(read.table.size())) {
      throw std::runtime_error("case " + name +
                               ": a table does not fit its axes");
    }
    truth.terms.push_back(std::move(read));
  }
  return truth;
}

}  // namespace

double Truth::Target(const Point& point) const {
  double sum = 0.0;
  for (const TruthTerm& term : terms) {
    std::size_t cell = 0;
    for (const std::size_t axis : term.axes) {
      cell = cell * static_cast<std::size_t>(levels) +
             static_cast<std::size_t>(point[axis]);
    }
    sum += term.table[cell];
  }
  return sum;
}

Space Truth::MakeSpace() const {
  Levels domain{{0.0}};
  for (int level = 1; level < levels; ++level) {
    domain.rates.push_back(2e-5 * std::pow(10.0, level + 1 - levels));
  }
  std::vector<Parameter> parameters;
  for (int m = 0; m < modules; ++m) {
    parameters.push_back({absl::StrFormat("p%02d", m), domain, std::nullopt});
  }
  return Space(std::move(parameters), {}, std::nullopt);
}

std::vector<Truth> ReadTruths(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<Truth> truths;
  try {
    const json document = json::parse(file);
    for (const auto& [name, recorded] : document.at("cases").items()) {
      truths.push_back(TruthOf(name, recorded));
    }
  } catch (const std::exception& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
  return truths;
}

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
