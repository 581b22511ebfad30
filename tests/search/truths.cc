// SPDX-License-Identifier: Apache-2.0
#include "tests/search/truths.h"

#include <cmath>
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

}  // namespace frostline::test
