// SPDX-License-Identifier: Apache-2.0
//
// The part of a space whose rates fall from the head down.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "study/space_builder.h"

namespace frostline {
namespace {

constexpr char kBaseRate[] = "base_rate";
constexpr char kDecay[] = "decay";

struct Ends {
  double lo, hi;
};

// Domains of rates and factors alone are asked.
Ends EndsOf(const NumberSpec& number) {
  if (!number.domain.has_value()) return {number.fixed, number.fixed};
  if (const auto* levels = std::get_if<Levels>(&*number.domain)) {
    if (levels->rates.empty()) return {NAN, NAN};
    return {levels->rates.front(), levels->rates.back()};
  }
  const auto* range = std::get_if<FloatRange>(&*number.domain);
  return range == nullptr ? Ends{NAN, NAN} : Ends{range->lo, range->hi};
}

}  // namespace

void SpaceBuilder::SetLayerwiseDecay(const NumberSpec& base_rate,
                                     const NumberSpec& decay,
                                     const std::string& field) {
  const auto bad = [&](const std::string& cause, const std::string& fix,
                       const std::string& name) {
    Fail(MakeError(ErrorId::kRangeInvalid, cause, fix, field + name));
  };
  const Ends rates = EndsOf(base_rate);
  const Ends factors = EndsOf(decay);
  if (shape_.num_layers == 0) {
    return Fail(MakeError(ErrorId::kStudyFieldMissing,
                          "rates that decay need to know the model's layers",
                          "set model.layers", field));
  }
  if (!(rates.lo > 0.0) || !std::isfinite(rates.hi)) {
    return bad(absl::StrCat("base_rate reaches ", rates.lo,
                            ", at which nothing trains"),
               "give rates above 0, e.g. 2e-5", ".base_rate");
  }
  if (!(factors.lo > 0.0 && factors.hi <= 1.0)) {
    return bad(absl::StrCat("decay goes from ", factors.lo, " to ", factors.hi),
               "give factors above 0 and up to 1, e.g. [0.85, 0.9, 0.95, 1]",
               ".decay");
  }
  decay_.emplace(base_rate, decay);
  decay_field_ = field;
  const auto add = [&](const char* name, const NumberSpec& number) {
    if (!number.domain.has_value()) return;
    AddEntry({{name, *number.domain, std::nullopt},
              std::nullopt,
              absl::StrCat(field, ".", name)});
  };
  add(kBaseRate, base_rate);
  add(kDecay, decay);
}

bool SpaceBuilder::Decays(const std::string& module) const {
  return decay_.has_value() && fixed_rate_.count(module) == 0 &&
         parameter_of_module_.count(module) == 0 &&
         !(depth_.has_value() && module == "embeddings");
}

int SpaceBuilder::TopDecayedLayer(int least) const {
  for (int layer = shape_.num_layers - 1 - least; layer >= 0; --layer) {
    if (Decays(absl::StrCat("layer.", layer))) return layer;
  }
  return -1;
}

absl::Status SpaceBuilder::CheckDecay() const {
  if (!decay_.has_value()) return absl::OkStatus();
  if (!defaults_.empty()) {
    return MakeError(ErrorId::kModuleDuplicate,
                     "default and layerwise_decay both give rates to the "
                     "modules that nothing else names",
                     "keep one of them", decay_field_);
  }
  if (Decays("embeddings") || TopDecayedLayer(0) >= 0) return absl::OkStatus();
  return MakeError(ErrorId::kModuleDuplicate,
                   "every layer has an entry of its own, so that "
                   "layerwise_decay gives none a rate",
                   "drop layerwise_decay, or entries", decay_field_);
}

// A layer that the depth always freezes has no use for either.
std::optional<int> SpaceBuilder::DeepestDecayed(const Entry& entry) const {
  const bool of_decay =
      decay_.has_value() && entry.field.rfind(decay_field_ + ".", 0) == 0;
  if (!of_decay) return std::nullopt;
  if (entry.parameter.name == kDecay) return TopDecayedLayer(1);
  if (Decays("pooler") || Decays("head")) return std::nullopt;
  return TopDecayedLayer(0);
}

std::optional<LayerwiseDecay> SpaceBuilder::PlacedDecay() const {
  if (!decay_.has_value()) return std::nullopt;
  const auto place = [&](const char* name,
                         const NumberSpec& number) -> std::optional<int> {
    if (!number.domain.has_value()) return std::nullopt;
    const auto at = std::find_if(
        entries_.begin(), entries_.end(),
        [&](const Entry& each) { return each.parameter.name == name; });
    if (at == entries_.end()) return std::nullopt;  // frozen at every depth
    return static_cast<int>(at - entries_.begin());
  };
  const auto& [base_rate, factor] = *decay_;
  return LayerwiseDecay{place(kBaseRate, base_rate), base_rate.fixed,
                        place(kDecay, factor),
                        factor.domain.has_value() ? 1.0 : factor.fixed};
}

void SpaceBuilder::BindDecay(ModuleBinding& binding) const {
  if (!Decays(binding.module)) return;
  const int layer = LayerOf(binding.module);
  int steps = 0;  // of pooler and head
  if (layer >= 0) steps = shape_.num_layers - 1 - layer;
  if (binding.module == "embeddings") steps = shape_.num_layers;
  const auto& [base_rate, factor] = *decay_;
  if (base_rate.domain.has_value() || factor.domain.has_value()) {
    binding.decay_steps = steps;
  } else {
    binding.fixed_rate = base_rate.fixed * std::pow(factor.fixed, steps);
  }
}

}  // namespace frostline
