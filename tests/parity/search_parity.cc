// SPDX-License-Identifier: Apache-2.0
//
// The objectives that samplers are measured on, and the baseline they are
// measured against, against what another implementation recorded.
#include <cstdlib>
#include <string>

#include "base/plain/statistics.h"
#include "tests/parity/parity.h"
#include "tests/search/truths.h"

namespace frostline::test {
namespace {

using nlohmann::json;

// Values are recorded as hexadecimal floats: equal to the bit.
void CheckObjectives(const std::string& path, ParityResult& result) {
  const json recorded = ReadJson(path);
  for (const SearchObjective& objective : LayerwiseObjectives()) {
    for (const json& check : recorded.at(objective.name)) {
      const Point point = check.at("levels").get<Point>();
      const std::string hex = check.at("value_hex");
      result.Near(objective.name, std::strtod(hex.c_str(), nullptr),
                  objective.loss(point), 0.0);
    }
  }
}

// The quantiles of the single runs are those recorded beside them.
void CheckConvergence(const std::string& path, ParityResult& result) {
  const json recorded = ReadJson(path);
  for (const json& row : recorded.at("table")) {
    const std::string key = row.at("sampler").get<std::string>() + "|" +
                            row.at("objective").get<std::string>();
    for (const char* trials : {"50", "100", "200"}) {
      std::vector<double> best;
      if (!recorded.at("per_seed").contains(key)) continue;
      for (const json& run : recorded.at("per_seed").at(key)) {
        best.push_back(run.at("best").at(trials));
      }
      const json& expected = row.at(std::string("best@") + trials);
      result.Near(key, expected.at("median"), Quantile(best, 0.5), 1e-12);
      result.Near(key, expected.at("q25"), Quantile(best, 0.25), 1e-12);
      result.Near(key, expected.at("q75"), Quantile(best, 0.75), 1e-12);
    }
  }
}

// A term's share is the variance of its table, and the shares sum to one.
void CheckTruths(const std::string& path, ParityResult& result) {
  for (const Truth& truth : ReadTruths(path)) {
    double shares = 0.0;
    for (const TruthTerm& term : truth.terms) {
      double squares = 0.0;
      for (const double cell : term.table) squares += cell * cell;
      result.Near(truth.name + ".share", term.share,
                  squares / static_cast<double>(term.table.size()), 1e-12);
      shares += term.share;
    }
    result.Near(truth.name + ".shares", 1.0, shares, 1e-12);
  }
}

const bool kSearchRegistered =
    RegisterParity("objectives", R"(objectives_checks.*\.json)",
                   CheckObjectives) &&
    RegisterParity("convergence", R"(convergence.*\.json)", CheckConvergence) &&
    RegisterParity("truths", R"(truths.*\.json)", CheckTruths);

}  // namespace
}  // namespace frostline::test
