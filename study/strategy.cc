// SPDX-License-Identifier: Apache-2.0
#include "study/strategy.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"

namespace frostline {
namespace {

absl::Status CheckStrategy(const Strategy& strategy, const ModelShape& shape,
                           const std::string& field) {
  if (shape.num_layers == 0) {
    return MakeError(ErrorId::kStudyFieldMissing,
                     "a strategy needs to know the model's layers",
                     "set model.layers", field);
  }
  if (!std::isfinite(strategy.rate) || strategy.rate <= 0.0) {
    return MakeError(ErrorId::kRangeInvalid,
                     absl::StrCat("rate ", strategy.rate, " trains nothing"),
                     "give a rate above 0, e.g. 2e-5", field + ".rate");
  }
  const bool uses_k = strategy.kind == StrategyKind::kFirstK ||
                      strategy.kind == StrategyKind::kLastK;
  if (uses_k && (strategy.k < 0 || strategy.k > shape.num_layers)) {
    return MakeError(ErrorId::kRangeInvalid,
                     absl::StrCat("k = ", strategy.k, " of a model with ",
                                  shape.num_layers, " layers"),
                     absl::StrCat("give a k from 0 to ", shape.num_layers),
                     field + ".k");
  }
  if (strategy.kind == StrategyKind::kDecay &&
      !(strategy.factor > 0.0 && strategy.factor <= 1.0)) {
    return MakeError(
        ErrorId::kRangeInvalid, absl::StrCat("decay factor ", strategy.factor),
        "give a factor above 0 and up to 1, e.g. 0.95", field + ".factor");
  }
  return absl::OkStatus();
}

double RateOfLayer(const Strategy& strategy, int layer, int num_layers) {
  switch (strategy.kind) {
    case StrategyKind::kFull:
      return strategy.rate;
    case StrategyKind::kHeadOnly:
      return 0.0;
    case StrategyKind::kFirstK:
      return layer < strategy.k ? 0.0 : strategy.rate;
    case StrategyKind::kLastK:
      return layer >= num_layers - strategy.k ? strategy.rate : 0.0;
    case StrategyKind::kAlternating:
      return layer % 2 == 0 ? 0.0 : strategy.rate;
    case StrategyKind::kDecay:
      return strategy.rate * std::pow(strategy.factor, num_layers - 1 - layer);
  }
  return strategy.rate;
}

double RateOfEmbeddings(const Strategy& strategy, int num_layers) {
  switch (strategy.kind) {
    case StrategyKind::kHeadOnly:
    case StrategyKind::kLastK:
      return 0.0;
    case StrategyKind::kFirstK:
      return strategy.freeze_embeddings ? 0.0 : strategy.rate;
    case StrategyKind::kDecay:
      return strategy.rate * std::pow(strategy.factor, num_layers);
    case StrategyKind::kFull:
    case StrategyKind::kAlternating:
      return strategy.rate;
  }
  return strategy.rate;
}

}  // namespace

absl::StatusOr<std::vector<ModuleRate>> ApplyStrategy(
    const Strategy& strategy, const ModelShape& shape,
    const std::string& field) {
  RETURN_IF_ERROR(CheckStrategy(strategy, shape, field));
  std::vector<ModuleRate> rates;
  for (const std::string& module : TopModules(shape)) {
    const int layer = LayerOf(module);
    double rate = strategy.rate;  // pooler and head always train
    if (layer >= 0) rate = RateOfLayer(strategy, layer, shape.num_layers);
    if (module == "embeddings") {
      rate = RateOfEmbeddings(strategy, shape.num_layers);
    }
    rates.push_back({module, rate});
  }
  return rates;
}

}  // namespace frostline
