// SPDX-License-Identifier: Apache-2.0
//
// Metrics against what scikit-learn and scipy gave for the same arrays.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "statistics/scores/scores.h"
#include "tests/parity/parity.h"

namespace frostline::test {
namespace {

using nlohmann::json;

constexpr double kWithin = 1e-11;

void CheckClasses(const std::string& path, ParityResult& result) {
  for (const json& recorded : ReadJson(path)) {
    const std::vector<std::int32_t> truth = recorded.at("y");
    const std::vector<std::int32_t> prediction = recorded.at("p");
    const std::int32_t highest =
        std::max(*std::max_element(truth.begin(), truth.end()),
                 *std::max_element(prediction.begin(), prediction.end()));
    statistics::Confusion confusion(
        static_cast<std::size_t>(std::max(highest, 1)) + 1);
    confusion.Add(truth, prediction);
    result.Near("accuracy", recorded.at("accuracy"), confusion.Accuracy(),
                kWithin);
    result.Near("macro F1", recorded.at("f1_macro"), confusion.MacroF1(),
                kWithin);
    result.Near("micro F1", recorded.at("f1_micro"), confusion.MicroF1(),
                kWithin);
    result.Near("Matthews", recorded.at("matthews"), confusion.Matthews(),
                kWithin);
    if (!recorded.at("f1_binary").is_null()) {
      result.Near("binary F1", recorded.at("f1_binary"), confusion.BinaryF1(),
                  kWithin);
    }
  }
}

// null: not defined.
void Compare(const std::string& what, const json& theirs,
             std::optional<double> ours, ParityResult& result) {
  result.True(what + " is defined where theirs is",
              ours.has_value() != theirs.is_null());
  if (ours && !theirs.is_null()) result.Near(what, theirs, *ours, kWithin);
}

void CheckNumbers(const std::string& path, ParityResult& result) {
  for (const json& recorded : ReadJson(path)) {
    const std::vector<double> truth = recorded.at("y");
    const std::vector<double> prediction = recorded.at("p");
    Compare("mean squared error", recorded.at("mse"),
            statistics::MeanSquaredError(truth, prediction), result);
    Compare("Pearson", recorded.at("pearson"),
            statistics::Pearson(truth, prediction), result);
    Compare("Spearman", recorded.at("spearman"),
            statistics::Spearman(truth, prediction), result);
  }
}

const bool kMetricsRegistered =
    RegisterParity("metrics", R"((.*/)?metrics/classification\.json)",
                   CheckClasses) &&
    RegisterParity("metrics", R"((.*/)?metrics/regression\.json)",
                   CheckNumbers);

}  // namespace
}  // namespace frostline::test
