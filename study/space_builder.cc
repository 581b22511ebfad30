// SPDX-License-Identifier: Apache-2.0
#include "study/space_builder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline {
namespace {

constexpr char kPrefixDepth[] = "prefix_depth";
constexpr std::size_t kMaxNameLength = 128;

absl::Status CheckParameterName(const std::string& name,
                                const std::string& field) {
  const bool printable = std::all_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  });
  if (!name.empty() && name.size() <= kMaxNameLength && printable) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorId::kNameInvalid,
      "a parameter name is empty, longer than 128 bytes or unprintable",
      "give a short printable name", field + ".name");
}

// The encoded value of a parent that a person wrote as `text`.
std::optional<double> EncodeValue(const Domain& domain,
                                  const std::string& text) {
  if (const auto* categorical = std::get_if<Categorical>(&domain)) {
    for (std::size_t i = 0; i < categorical->choices.size(); ++i) {
      const std::string& choice = categorical->choices[i];
      if (choice == text || choice == absl::StrCat("\"", text, "\"")) {
        return static_cast<double>(i);
      }
    }
    return std::nullopt;
  }
  double number = 0.0;
  if (text != "frozen" && text != "none" && !absl::SimpleAtod(text, &number)) {
    return std::nullopt;
  }
  if (const auto* levels = std::get_if<Levels>(&domain)) {
    const auto at =
        std::find(levels->rates.begin(), levels->rates.end(), number);
    if (at == levels->rates.end()) return std::nullopt;
    return static_cast<double>(at - levels->rates.begin());
  }
  return Contains(domain, number) ? std::optional<double>(number)
                                  : std::nullopt;
}

absl::StatusOr<Condition> Resolve(const ConditionSpec& spec,
                                  const std::vector<Parameter>& earlier,
                                  const std::string& field) {
  const auto bad = [&](const std::string& cause, const std::string& fix) {
    return MakeError(ErrorId::kConditionInvalid, cause, fix, field + ".when");
  };
  Condition condition;
  const auto parent =
      std::find_if(earlier.begin(), earlier.end(),
                   [&](const Parameter& p) { return p.name == spec.parent; });
  if (parent == earlier.end()) {
    return bad(absl::StrCat("the parent '", spec.parent,
                            "' is no parameter listed before this one"),
               "name a parameter that stands above this one");
  }
  condition.parent = static_cast<int>(parent - earlier.begin());
  for (const std::string& text : spec.values) {
    const auto value = EncodeValue(parent->domain, text);
    if (!value.has_value()) {
      return bad(absl::StrCat("'", text, "' is no value of ", spec.parent),
                 "list values the parent can take");
    }
    condition.values.push_back(*value);
  }
  if (spec.values.empty()) {
    if (std::holds_alternative<Categorical>(parent->domain) ||
        (!spec.min.has_value() && !spec.max.has_value())) {
      return bad("the condition has neither values nor an interval",
                 "list values, or min and max for a numeric parent");
    }
    condition.min = spec.min.value_or(-INFINITY);
    condition.max = spec.max.value_or(INFINITY);
    if (!(condition.min <= condition.max)) {
      return bad("min is above max", "put the lower number in min");
    }
  }
  return condition;
}

int DepthOf(const std::vector<Parameter>& parameters, const Condition& last) {
  int depth = 1;
  for (auto at = &parameters[static_cast<std::size_t>(last.parent)];
       at->condition.has_value();
       at = &parameters[static_cast<std::size_t>(at->condition->parent)]) {
    ++depth;
  }
  return depth;
}

}  // namespace

SpaceBuilder::SpaceBuilder(const ModelShape& shape) : shape_(shape) {
  if (shape.num_layers < 0 || shape.num_layers > kMaxLayers ||
      shape.heads_per_layer < 0 || shape.heads_per_layer > kMaxHeads) {
    Fail(MakeError(ErrorId::kRangeInvalid,
                   absl::StrCat("a model of ", shape.num_layers, " layers and ",
                                shape.heads_per_layer, " heads per layer"),
                   absl::StrCat("give 0 to ", kMaxLayers, " layers and 0 to ",
                                kMaxHeads, " heads"),
                   "model"));
    shape_ = ModelShape{};
  }
}

void SpaceBuilder::Fail(const absl::Status& status) {
  if (first_error_.ok()) first_error_ = status;
}

void SpaceBuilder::SetDefault(const Strategy& strategy,
                              const std::string& field) {
  auto rates = ApplyStrategy(strategy, shape_, field);
  if (!rates.ok()) return Fail(rates.status());
  defaults_ = *std::move(rates);
}

bool SpaceBuilder::Claim(const std::vector<std::string>& modules,
                         const std::string& field) {
  for (const std::string& module : modules) {
    for (const auto& [claimed, claimed_field] : field_of_module_) {
      if (!Overlap(module, claimed)) continue;
      Fail(MakeError(ErrorId::kModuleDuplicate,
                     absl::StrCat(module, " already gets its rate from ",
                                  claimed_field, " (", claimed, ")"),
                     "give every module one entry; selectors may not overlap",
                     field));
      return false;
    }
    for (const auto& [ranked, ranked_field] : field_of_ranks_) {
      if (module == ranked || !Overlap(module, ranked)) continue;
      Fail(
          MakeError(ErrorId::kModuleDuplicate,
                    absl::StrCat(module, " overlaps ", ranked,
                                 ", which has an adapter (", ranked_field, ")"),
                    "give rates and ranks to the same modules", field));
      return false;
    }
    field_of_module_[module] = field;
  }
  return true;
}

bool SpaceBuilder::ClaimRanks(const std::vector<std::string>& modules,
                              const std::string& field) {
  const auto refuse = [&](ErrorId id, const std::string& cause,
                          const std::string& fix) {
    Fail(MakeError(id, cause, fix, field + ".rank"));
    return false;
  };
  for (const std::string& module : modules) {
    if (LayerOf(module) < 0 || module.find(".head.") != std::string::npos) {
      return refuse(ErrorId::kLevelsInvalid,
                    absl::StrCat(module,
                                 " has no linear maps of its own that an "
                                 "adapter could stand beside"),
                    "give ranks to layers, or to layer.N.attention and "
                    "layer.N.ffn; rates to the rest");
    }
    for (const auto& [claimed, claimed_field] : field_of_ranks_) {
      if (!Overlap(module, claimed)) continue;
      return refuse(ErrorId::kModuleDuplicate,
                    absl::StrCat(module, " already gets its rank from ",
                                 claimed_field, " (", claimed, ")"),
                    "give every module one list of ranks");
    }
    for (const auto& [claimed, claimed_field] : field_of_module_) {
      if (module == claimed || !Overlap(module, claimed)) continue;
      return refuse(ErrorId::kModuleDuplicate,
                    absl::StrCat(module, " overlaps ", claimed,
                                 ", which has a rate (", claimed_field, ")"),
                    "give rates and ranks to the same modules");
    }
    field_of_ranks_[module] = field;
  }
  return true;
}

void SpaceBuilder::AddEntry(Entry entry) {
  if (auto status = CheckParameterName(entry.parameter.name, entry.field);
      !status.ok()) {
    return Fail(status);
  }
  if (auto status = CheckDomain(entry.parameter.domain, entry.field);
      !status.ok()) {
    return Fail(status);
  }
  for (const Entry& other : entries_) {
    if (other.parameter.name != entry.parameter.name) continue;
    return Fail(MakeError(ErrorId::kParameterDuplicate,
                          absl::StrCat("parameter ", entry.parameter.name,
                                       " stands at ", other.field, " too"),
                          "give every parameter a name of its own",
                          entry.field));
  }
  entries_.push_back(std::move(entry));
  if (entries_.size() > static_cast<std::size_t>(kMaxParameters)) {
    Fail(MakeError(ErrorId::kSpaceTooLarge,
                   absl::StrCat("more than ", kMaxParameters, " parameters"),
                   "tie modules together, or search fewer",
                   entries_.back().field));
  }
}

void SpaceBuilder::AddModules(const std::string& selector, const Domain& domain,
                              const std::string& field) {
  auto modules = SelectModules(shape_, selector, field);
  if (!modules.ok()) return Fail(modules.status());
  if (!Claim(*modules, field)) return;
  for (const std::string& module : *modules) {
    parameter_of_module_[module] = module;
    AddEntry({{module, domain, std::nullopt}, std::nullopt, field});
  }
}

void SpaceBuilder::FixModules(const std::string& selector, double rate,
                              const std::string& field) {
  auto modules = SelectModules(shape_, selector, field);
  if (!modules.ok()) return Fail(modules.status());
  if (!std::isfinite(rate) || rate < 0.0) {
    return Fail(MakeError(
        ErrorId::kRangeInvalid, absl::StrCat("fixed rate ", rate),
        "a rate is a finite number, 0 (frozen) or more", field + ".fixed"));
  }
  if (!Claim(*modules, field)) return;
  for (const std::string& module : *modules) fixed_rate_[module] = rate;
}

bool SpaceBuilder::TieTo(const std::string& name,
                         const std::vector<std::string>& selectors,
                         const std::string& field, ClaimFunction claim,
                         std::map<std::string, std::string>& parameters) {
  if (selectors.empty()) {
    Fail(MakeError(ErrorId::kStudyFieldMissing, "a tie names no modules",
                   "list its modules", field + ".modules"));
    return false;
  }
  for (const std::string& selector : selectors) {
    const auto modules = SelectModules(shape_, selector, field);
    if (!modules.ok()) {
      Fail(modules.status());
      return false;
    }
    if (!(this->*claim)(*modules, field)) return false;
    for (const std::string& module : *modules) parameters[module] = name;
  }
  return true;
}

void SpaceBuilder::TieModules(const std::string& name,
                              const std::vector<std::string>& selectors,
                              const Domain& domain, const std::string& field) {
  if (!TieTo(name, selectors, field, &SpaceBuilder::Claim,
             parameter_of_module_)) {
    return;
  }
  AddEntry({{name, domain, std::nullopt}, std::nullopt, field});
}

void SpaceBuilder::AddRanks(const std::string& selector, const Levels& ranks,
                            const std::string& field) {
  auto modules = SelectModules(shape_, selector, field);
  if (!modules.ok()) return Fail(modules.status());
  if (!ClaimRanks(*modules, field)) return;
  for (const std::string& module : *modules) {
    rank_of_module_[module] = absl::StrCat("rank.", module);
    AddEntry({{rank_of_module_[module], ranks, std::nullopt},
              std::nullopt,
              field + ".rank"});
  }
}

void SpaceBuilder::TieRanks(const std::string& name,
                            const std::vector<std::string>& selectors,
                            const Levels& ranks, const std::string& field) {
  if (!TieTo(name, selectors, field, &SpaceBuilder::ClaimRanks,
             rank_of_module_)) {
    return;
  }
  AddEntry({{name, ranks, std::nullopt}, std::nullopt, field + ".rank"});
}

void SpaceBuilder::SetPrefixDepth(int lo, int hi, const std::string& field) {
  if (lo < 0 || lo > hi || hi > shape_.num_layers) {
    return Fail(MakeError(
        ErrorId::kRangeInvalid,
        absl::StrCat("prefix_depth [", lo, ", ", hi, "] of a model with ",
                     shape_.num_layers, " layers"),
        absl::StrCat("give a range within [0, ", shape_.num_layers, "]"),
        field));
  }
  depth_ = IntRange{lo, hi, 1, false};
  depth_field_ = field;
}

void SpaceBuilder::AddParameter(const std::string& name, const Domain& domain,
                                const std::string& field,
                                const std::optional<ConditionSpec>& condition) {
  AddEntry({{name, domain, std::nullopt}, condition, field});
}

SpaceBuilder::Entry* SpaceBuilder::Find(const std::string& parameter) {
  const auto at = std::find_if(
      entries_.begin(), entries_.end(),
      [&](const Entry& each) { return each.parameter.name == parameter; });
  return at == entries_.end() ? nullptr : &*at;
}

bool SpaceBuilder::IsTied(const std::string& parameter) const {
  int modules = 0;
  for (const auto* names : {&parameter_of_module_, &rank_of_module_}) {
    for (const auto& [module, name] : *names) modules += name == parameter;
  }
  return modules > 1;
}

absl::Status SpaceBuilder::PlaceRanks() {
  for (const auto& [module, rank] : rank_of_module_) {
    if (parameter_of_module_.count(module) == 0) continue;
    RETURN_IF_ERROR(PairWithRate(module, rank));
  }
  return absl::OkStatus();
}

absl::Status SpaceBuilder::PairWithRate(const std::string& module,
                                        const std::string& rank) {
  const std::string& rate = parameter_of_module_.at(module);
  const bool by_rank = FreezesByValue(Find(rank)->parameter.domain);
  const bool by_rate = FreezesByValue(Find(rate)->parameter.domain);
  if (by_rank && by_rate) {
    return MakeError(ErrorId::kLevelsInvalid,
                     absl::StrCat(module,
                                  " is frozen both at rank 0 and at "
                                  "rate 0"),
                     "take the 0 out of its rates, or out of its ranks",
                     Find(rank)->field);
  }
  if (!by_rank && !by_rate) return absl::OkStatus();
  const std::string& first = by_rank ? rank : rate;
  const std::string& second = by_rank ? rate : rank;
  if (IsTied(second)) return absl::OkStatus();
  // Levels are numbered, and frozen is the first.
  const Domain& domain = Find(first)->parameter.domain;
  const auto* const range = std::get_if<LogUniform>(&domain);
  Entry waits = *Find(second);
  waits.condition = ConditionSpec{
      first, {}, range == nullptr ? 1.0 : range->lo, std::nullopt};
  entries_.erase(entries_.begin() + (Find(second) - entries_.data()));
  entries_.insert(entries_.begin() + (Find(first) - entries_.data()) + 1,
                  std::move(waits));
  return absl::OkStatus();
}

// Puts the depth first and drops or conditions the layers it may freeze.
absl::Status SpaceBuilder::PlacePrefixDepth() {
  if (!depth_.has_value()) return absl::OkStatus();
  const auto embeddings = field_of_module_.find("embeddings");
  if (embeddings != field_of_module_.end()) {
    return MakeError(ErrorId::kConditionInvalid,
                     "prefix_depth freezes the embeddings at every depth, so "
                     "their entry would never count",
                     "drop the entry for embeddings, or prefix_depth",
                     embeddings->second);
  }
  std::vector<Entry> kept;
  kept.push_back(
      {{kPrefixDepth, *depth_, std::nullopt}, std::nullopt, depth_field_});
  for (Entry& entry : entries_) {
    if (entry.parameter.name == kPrefixDepth) {
      return MakeError(ErrorId::kParameterDuplicate,
                       "prefix_depth is a parameter of its own here",
                       "rename the parameter", entry.field);
    }
    // A tie is active as long as its deepest layer can train.
    int deepest = -1;
    bool outside_layers = false;
    for (const auto* names : {&parameter_of_module_, &rank_of_module_}) {
      for (const auto& [module, name] : *names) {
        if (name != entry.parameter.name) continue;
        outside_layers |= LayerOf(module) < 0;
        deepest = std::max(deepest, LayerOf(module));
      }
    }
    const std::optional<int> decayed = DeepestDecayed(entry);
    if (decayed.has_value()) {
      if (*decayed < 0) continue;  // frozen at every depth
      deepest = *decayed;
    }
    if (deepest >= 0 && !outside_layers) {
      if (deepest < depth_->lo) continue;  // frozen at every depth
      // One of a rank and a rate waits for the other, and so for the depth.
      if (deepest < depth_->hi && !entry.condition.has_value()) {
        entry.condition = ConditionSpec{
            kPrefixDepth, {}, std::nullopt, static_cast<double>(deepest)};
      }
    }
    kept.push_back(std::move(entry));
  }
  entries_ = std::move(kept);
  return absl::OkStatus();
}

absl::Status SpaceBuilder::ResolveConditions() {
  std::vector<Parameter> earlier;
  for (Entry& entry : entries_) {
    if (entry.condition.has_value()) {
      ASSIGN_OR_RETURN(entry.parameter.condition,
                       Resolve(*entry.condition, earlier, entry.field));
      if (DepthOf(earlier, *entry.parameter.condition) > kMaxConditionDepth) {
        return MakeError(
            ErrorId::kConditionInvalid, "conditions are nested too deeply",
            absl::StrCat("nest at most ", kMaxConditionDepth), entry.field);
      }
    }
    earlier.push_back(entry.parameter);
  }
  return absl::OkStatus();
}

std::optional<int> SpaceBuilder::PlaceOf(
    const std::map<std::string, std::string>& names,
    const std::string& module) const {
  const auto named = names.find(module);
  if (named == names.end()) return std::nullopt;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].parameter.name == named->second) return static_cast<int>(i);
  }
  return std::nullopt;  // frozen at every depth
}

void SpaceBuilder::BindAdapter(ModuleBinding& binding) const {
  const std::optional<int> rank = PlaceOf(rank_of_module_, binding.module);
  if (!rank.has_value()) return;
  const std::optional<int> rate = binding.parameter;
  binding.adapter = AdapterBinding{*rank, rate};
  const bool rate_freezes =
      rate.has_value() &&
      FreezesByValue(
          entries_[static_cast<std::size_t>(*rate)].parameter.domain);
  if (!rate_freezes) binding.parameter = rank;
}

absl::Status SpaceBuilder::CheckAdapters(
    const std::vector<ModuleBinding>& modules) const {
  for (const ModuleBinding& binding : modules) {
    const bool has_rate = !binding.adapter.has_value() ||
                          binding.adapter->rate_parameter.has_value() ||
                          binding.decay_steps.has_value() ||
                          binding.fixed_rate > 0.0;
    if (has_rate) continue;
    return MakeError(ErrorId::kStudyFieldMissing,
                     absl::StrCat("nothing gives the adapter of ",
                                  binding.module, " a rate above 0"),
                     "write one beside its ranks, e.g. {rank: [0, 8, 16], "
                     "fixed: 1e-3}, or tie the rates of all",
                     field_of_ranks_.at(binding.module));
  }
  return absl::OkStatus();
}

std::vector<ModuleBinding> SpaceBuilder::BindModules() const {
  std::map<std::string, double> default_rate;
  for (const ModuleRate& rate : defaults_) {
    default_rate[rate.module] = rate.rate;
  }
  std::vector<ModuleBinding> bindings;
  const auto bind = [&](const std::string& module, double fallback) {
    ModuleBinding binding;
    binding.module = module;
    const auto fixed = fixed_rate_.find(module);
    binding.fixed_rate = fixed == fixed_rate_.end() ? fallback : fixed->second;
    binding.parameter = PlaceOf(parameter_of_module_, module);
    BindAdapter(binding);
    BindDecay(binding);
    if (depth_.has_value()) {
      if (module == "embeddings") binding.fixed_rate = 0.0;
      if (LayerOf(module) >= 0) binding.frozen_above_depth = LayerOf(module);
    }
    bindings.push_back(binding);
  };
  for (const std::string& top : TopModules(shape_)) {
    std::set<std::string> parts;  // the finer modules a study cut `top` into
    for (const auto* fields : {&field_of_module_, &field_of_ranks_}) {
      for (const auto& [module, field] : *fields) {
        if (module != top && Overlap(module, top)) parts.insert(module);
      }
    }
    // What is left of a layer that is cut keeps the layer's name and its
    // default rate; the finer modules override it, but for adapters without
    // a rate of their own.
    const double rate = default_rate.count(top) ? default_rate.at(top) : 0.0;
    bind(top, rate);
    for (const std::string& part : parts) {
      bind(part, field_of_ranks_.count(part) ? rate : 0.0);
    }
  }
  return bindings;
}

absl::StatusOr<Space> SpaceBuilder::Build() {
  RETURN_IF_ERROR(first_error_);
  RETURN_IF_ERROR(CheckDecay());
  RETURN_IF_ERROR(PlaceRanks());
  RETURN_IF_ERROR(PlacePrefixDepth());
  RETURN_IF_ERROR(ResolveConditions());
  std::vector<Parameter> parameters;
  parameters.reserve(entries_.size());
  for (const Entry& entry : entries_) parameters.push_back(entry.parameter);
  std::vector<ModuleBinding> modules = BindModules();
  RETURN_IF_ERROR(CheckAdapters(modules));
  return Space(std::move(parameters), std::move(modules),
               depth_.has_value() ? std::optional<int>(0) : std::nullopt,
               PlacedDecay());
}

// The part of a space whose rates fall from the head down.

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
