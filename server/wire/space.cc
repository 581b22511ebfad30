// SPDX-License-Identifier: Apache-2.0
#include "server/wire/space.h"

#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/nearest.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "study/space_builder.h"

namespace frostline::server {
namespace {

constexpr std::size_t kMostNamed = 20;

absl::Status OutOfSpace(const std::string& cause, const std::string& fix,
                        const std::string& field) {
  return MakeError(ErrorId::kValueOutOfSpace, cause, fix, field);
}

// Returns "one of 0, 3e-05, 0.0003", "a number from 1 to 9 in steps of 2": the
// fix can be typed as it stands.
std::string AllowedIn(const Domain& domain) {
  if (const auto* levels = std::get_if<Levels>(&domain)) {
    return absl::StrCat("one of ", absl::StrJoin(levels->rates, ", "));
  }
  if (const auto* range = std::get_if<LogUniform>(&domain)) {
    return absl::StrCat("a rate from ", range->lo, " to ", range->hi,
                        range->freeze ? ", or 0" : "");
  }
  if (const auto* range = std::get_if<IntRange>(&domain)) {
    return absl::StrCat(
        "a whole number from ", range->lo, " to ", range->hi,
        range->step > 1 ? absl::StrCat(" in steps of ", range->step) : "");
  }
  const auto& range = std::get<FloatRange>(domain);
  return absl::StrCat(
      "a number from ", range.lo, " to ", range.hi,
      range.step > 0.0 ? absl::StrCat(" in steps of ", range.step) : "");
}

absl::Status NoParameter(const Space& space, const std::string& name,
                         const std::string& field) {
  std::vector<std::string> names;
  for (const Parameter& parameter : space.parameters()) {
    names.push_back(parameter.name);
  }
  if (Nearest(name, names).empty() && names.size() > kMostNamed) {
    names.resize(kMostNamed);
    names.emplace_back("…");
  }
  return OutOfSpace(absl::StrCat("the space has no parameter ", name),
                    Suggest(name, names), field);
}

// Returns the encoded value of this rate, if the domain has it.
std::optional<double> EncodeRate(const Domain& domain, double rate) {
  if (const auto* levels = std::get_if<Levels>(&domain)) {
    for (std::size_t i = 0; i < levels->rates.size(); ++i) {
      if (levels->rates[i] == rate) return static_cast<double>(i);
    }
    return std::nullopt;
  }
  if (!Contains(domain, rate)) return std::nullopt;
  return rate;
}

// Returns a point whose module parameters have these rates; the others are
// absent.
absl::StatusOr<Point> PointFromRates(const Space& space,
                                     const std::vector<ModuleRate>& rates,
                                     const std::string& field) {
  Point point(static_cast<std::size_t>(space.size()), kAbsent);
  for (const ModuleBinding& binding : space.modules()) {
    if (!binding.parameter.has_value()) continue;
    const auto i = static_cast<std::size_t>(*binding.parameter);
    for (const ModuleRate& rate : rates) {
      // A finer module (layer.3.ffn) takes the rate of its layer.
      if (!Overlap(rate.module, binding.module)) continue;
      const std::optional<double> encoded =
          EncodeRate(space.parameters()[i].domain, rate.rate);
      const bool tied_apart =
          encoded.has_value() && !IsAbsent(point[i]) && point[i] != *encoded;
      if (!encoded.has_value() || tied_apart) {
        return OutOfSpace(
            absl::StrCat("the strategy gives ", binding.module, " the rate ",
                         rate.rate, ", which its parameter cannot take"),
            binding.adapter.has_value()
                ? "enqueue values instead: the study searches its rank"
                : "choose a rate that is in the space",
            field);
      }
      point[i] = *encoded;
    }
  }
  return point;
}

// Sets the two numbers of layerwise_decay that make such a strategy.
absl::Status PutDecay(const Space& space, const Strategy& strategy,
                      const std::string& field, Point& point) {
  if (!space.decay().has_value()) return absl::OkStatus();
  const auto put = [&](std::optional<int> parameter, double value) {
    if (!parameter.has_value()) return true;
    const auto i = static_cast<std::size_t>(*parameter);
    const auto encoded = EncodeRate(space.parameters()[i].domain, value);
    if (encoded.has_value()) point[i] = *encoded;
    return encoded.has_value();
  };
  const bool decays = strategy.kind == StrategyKind::kDecay;
  if (put(space.decay()->base_parameter, strategy.rate) &&
      put(space.decay()->decay_parameter, decays ? strategy.factor : 1.0)) {
    return absl::OkStatus();
  }
  return OutOfSpace("base_rate and decay cannot take the strategy's numbers",
                    "choose a rate and a factor that are in the space", field);
}

bool GivesRates(const Space& space, const Point& point,
                const std::vector<ModuleRate>& rates) {
  const std::vector<ModuleRate> got = space.Rates(point);
  for (const ModuleRate& want : rates) {
    for (const ModuleRate& have : got) {
      if (Overlap(want.module, have.module) && want.rate != have.rate) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

std::string ChoiceText(const google::protobuf::Value& value) {
  std::string json;
  // Cannot fail: a Value has six plain kinds, and non-finite numbers become
  // strings.
  (void)google::protobuf::util::MessageToJsonString(value, &json);
  return json;
}

google::protobuf::Value ValueToProto(const Domain& domain, double value) {
  google::protobuf::Value proto;
  if (const auto* levels = std::get_if<Levels>(&domain)) {
    proto.set_number_value(levels->rates[static_cast<std::size_t>(value)]);
  } else if (const auto* choices = std::get_if<Categorical>(&domain)) {
    // This cannot fail: ChoiceText made the choice from a Value.
    (void)google::protobuf::util::JsonStringToMessage(
        choices->choices[static_cast<std::size_t>(value)], &proto);
  } else {
    proto.set_number_value(value);
  }
  return proto;
}

absl::StatusOr<double> ValueFromProto(const Domain& domain,
                                      const google::protobuf::Value& value,
                                      const std::string& field) {
  if (const auto* choices = std::get_if<Categorical>(&domain)) {
    const std::string json = ChoiceText(value);
    for (std::size_t i = 0; i < choices->choices.size(); ++i) {
      if (choices->choices[i] == json) return static_cast<double>(i);
    }
    return OutOfSpace(
        absl::StrCat(json, " is not among the choices"),
        absl::StrCat("take one of ", absl::StrJoin(choices->choices, ", ")),
        field);
  }
  if (value.kind_case() != google::protobuf::Value::kNumberValue) {
    return OutOfSpace(absl::StrCat(ChoiceText(value), " is not a number"),
                      absl::StrCat("give ", AllowedIn(domain)), field);
  }
  const std::optional<double> encoded =
      EncodeRate(domain, value.number_value());
  if (!encoded.has_value()) {
    return OutOfSpace(
        absl::StrCat(value.number_value(), " is not in the parameter's domain"),
        absl::StrCat("give ", AllowedIn(domain)), field);
  }
  return *encoded;
}

absl::StatusOr<Point> PointFromValues(
    const Space& space,
    const google::protobuf::Map<std::string, google::protobuf::Value>& values,
    const std::string& field) {
  Point point(static_cast<std::size_t>(space.size()), kAbsent);
  for (const auto& [name, value] : values) {
    const std::optional<int> index = space.IndexOf(name);
    const std::string at = absl::StrCat(field, ".", name);
    if (!index.has_value()) return NoParameter(space, name, at);
    const auto i = static_cast<std::size_t>(*index);
    ASSIGN_OR_RETURN(point[i],
                     ValueFromProto(space.parameters()[i].domain, value, at));
  }
  return point;
}

absl::StatusOr<Point> PointFromStrategy(const Space& space,
                                        const ModelShape& shape,
                                        const Strategy& strategy,
                                        const std::string& field) {
  ASSIGN_OR_RETURN(const std::vector<ModuleRate> rates,
                   ApplyStrategy(strategy, shape, field));
  if (!space.prefix_depth().has_value()) {
    ASSIGN_OR_RETURN(Point point, PointFromRates(space, rates, field));
    RETURN_IF_ERROR(PutDecay(space, strategy, field, point));
    if (!GivesRates(space, point, rates)) {
      return OutOfSpace("a fixed rate of the space contradicts the strategy",
                        "enqueue values instead", field);
    }
    return point;
  }
  const auto at = static_cast<std::size_t>(*space.prefix_depth());
  const auto& depths = std::get<IntRange>(space.parameters()[at].domain);
  for (std::int64_t depth = depths.lo; depth <= depths.hi; ++depth) {
    // Layers below the depth have no parameter, so their rates need not be
    // equal.
    std::vector<ModuleRate> above;
    for (const ModuleRate& rate : rates) {
      const int layer = LayerOf(rate.module);
      const bool below = layer >= 0 && layer < depth;
      if (!below) above.push_back(rate);
    }
    absl::StatusOr<Point> point = PointFromRates(space, above, field);
    if (!point.ok()) continue;
    RETURN_IF_ERROR(PutDecay(space, strategy, field, *point));
    (*point)[at] = static_cast<double>(depth);
    *point = space.Canonical(*std::move(point));
    if (GivesRates(space, *point, rates)) return point;
  }
  return OutOfSpace("no prefix depth of the space gives this strategy",
                    "widen prefix_depth or enqueue values instead", field);
}

namespace {

Levels LevelsFrom(const v1::Levels& proto) {
  return Levels{{proto.rates().begin(), proto.rates().end()}};
}

Levels RanksFrom(const v1::Ranks& proto) {
  return Levels{.rates = {proto.ranks().begin(), proto.ranks().end()},
                .are_ranks = true};
}

LogUniform LogUniformFrom(const v1::LogUniform& proto) {
  return LogUniform{proto.lo(), proto.hi(), proto.freeze()};
}

bool IsPlain(const google::protobuf::Value& value) {
  switch (value.kind_case()) {
    case google::protobuf::Value::kNumberValue:
      return std::isfinite(value.number_value());
    case google::protobuf::Value::kStringValue:
    case google::protobuf::Value::kBoolValue:
    case google::protobuf::Value::kNullValue:
      return true;
    default:
      return false;
  }
}

absl::Status NoDomain(const std::string& field) {
  return MakeError(ErrorId::kStudyFieldMissing, field + " has no domain",
                   "give it levels, log_uniform, rank, float, int or choices",
                   field);
}

absl::StatusOr<Domain> DomainFrom(const v1::ParameterSpace& proto,
                                  const std::string& field) {
  switch (proto.domain_case()) {
    case v1::ParameterSpace::kFloat:
      return FloatRange{proto.float_().lo(), proto.float_().hi(),
                        proto.float_().step(), proto.float_().log()};
    case v1::ParameterSpace::kInt:
      return IntRange{proto.int_().lo(), proto.int_().hi(),
                      proto.int_().step() == 0 ? 1 : proto.int_().step(),
                      proto.int_().log()};
    case v1::ParameterSpace::kChoices: {
      Categorical categorical;
      for (const google::protobuf::Value& value : proto.choices().values()) {
        if (!IsPlain(value)) {
          return MakeError(ErrorId::kRangeInvalid,
                           "a choice is no string, number, bool or null",
                           "list plain JSON values", field + ".choices");
        }
        categorical.choices.push_back(ChoiceText(value));
      }
      return categorical;
    }
    case v1::ParameterSpace::kLevels:
      return LevelsFrom(proto.levels());
    case v1::ParameterSpace::kLogUniform:
      return LogUniformFrom(proto.log_uniform());
    case v1::ParameterSpace::DOMAIN_NOT_SET:
      break;
  }
  return NoDomain(field);
}

absl::StatusOr<NumberSpec> NumberFrom(const v1::NumberSpace& proto,
                                      const std::string& field) {
  switch (proto.domain_case()) {
    case v1::NumberSpace::kFixed:
      return NumberSpec{std::nullopt, proto.fixed()};
    case v1::NumberSpace::kLevels:
      return NumberSpec{LevelsFrom(proto.levels())};
    case v1::NumberSpace::kFloat:
      return NumberSpec{FloatRange{proto.float_().lo(), proto.float_().hi(),
                                   proto.float_().step(),
                                   proto.float_().log()}};
    case v1::NumberSpace::DOMAIN_NOT_SET:
      break;
  }
  return MakeError(ErrorId::kStudyFieldMissing, field + " is not given",
                   "give a number, a list or a float range", field);
}

absl::Status AddDecay(const v1::SearchSpace& proto, SpaceBuilder& builder) {
  if (!proto.has_layerwise_decay()) return absl::OkStatus();
  const std::string field = "space.layerwise_decay";
  const v1::LayerwiseDecay& decay = proto.layerwise_decay();
  ASSIGN_OR_RETURN(const NumberSpec base_rate,
                   NumberFrom(decay.base_rate(), field + ".base_rate"));
  ASSIGN_OR_RETURN(const NumberSpec factor,
                   NumberFrom(decay.decay(), field + ".decay"));
  builder.SetLayerwiseDecay(base_rate, factor, field);
  return absl::OkStatus();
}

absl::Status AddModules(const v1::SearchSpace& proto, SpaceBuilder& builder) {
  for (int i = 0; i < proto.modules_size(); ++i) {
    const v1::ModuleSpace& entry = proto.modules(i);
    const std::string field = absl::StrCat("space.modules[", i, "]");
    if (entry.has_rank()) {
      builder.AddRanks(entry.select(), RanksFrom(entry.rank()), field);
    }
    switch (entry.domain_case()) {
      case v1::ModuleSpace::kLevels:
        builder.AddModules(entry.select(), LevelsFrom(entry.levels()), field);
        break;
      case v1::ModuleSpace::kLogUniform:
        builder.AddModules(entry.select(), LogUniformFrom(entry.log_uniform()),
                           field);
        break;
      case v1::ModuleSpace::kFixed:
        builder.FixModules(entry.select(), entry.fixed(), field);
        break;
      case v1::ModuleSpace::DOMAIN_NOT_SET:
        if (!entry.has_rank()) return NoDomain(field);
        break;
    }
  }
  return absl::OkStatus();
}

absl::Status AddTies(const v1::SearchSpace& proto, SpaceBuilder& builder) {
  for (int i = 0; i < proto.ties_size(); ++i) {
    const v1::Tie& tie = proto.ties(i);
    const std::string field = absl::StrCat("space.ties[", i, "]");
    const std::vector<std::string> selectors(tie.modules().begin(),
                                             tie.modules().end());
    switch (tie.domain_case()) {
      case v1::Tie::kLevels:
        builder.TieModules(tie.name(), selectors, LevelsFrom(tie.levels()),
                           field);
        break;
      case v1::Tie::kLogUniform:
        builder.TieModules(tie.name(), selectors,
                           LogUniformFrom(tie.log_uniform()), field);
        break;
      case v1::Tie::kRank:
        builder.TieRanks(tie.name(), selectors, RanksFrom(tie.rank()), field);
        break;
      case v1::Tie::DOMAIN_NOT_SET:
        return NoDomain(field);
    }
  }
  return absl::OkStatus();
}

absl::Status ReadParameters(const v1::SearchSpace& proto,
                            SpaceBuilder& builder) {
  for (int i = 0; i < proto.parameters_size(); ++i) {
    const v1::ParameterSpace& entry = proto.parameters(i);
    const std::string field = absl::StrCat("space.parameters[", i, "]");
    ASSIGN_OR_RETURN(const Domain domain, DomainFrom(entry, field));
    std::optional<ConditionSpec> condition;
    if (entry.has_when()) {
      const v1::Condition& when = entry.when();
      condition.emplace();
      condition->parent = when.parent();
      condition->values = {when.values().begin(), when.values().end()};
      if (when.has_min()) condition->min = when.min();
      if (when.has_max()) condition->max = when.max();
    }
    builder.AddParameter(entry.name(), domain, field, condition);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Space> SpaceFromProto(const v1::SearchSpace& proto,
                                     const ModelShape& shape) {
  SpaceBuilder builder(shape);
  if (proto.has_default_()) {
    ASSIGN_OR_RETURN(const Strategy strategy,
                     StrategyFromProto(proto.default_(), "space.default"));
    builder.SetDefault(strategy, "space.default");
  }
  RETURN_IF_ERROR(AddDecay(proto, builder));
  RETURN_IF_ERROR(AddModules(proto, builder));
  RETURN_IF_ERROR(AddTies(proto, builder));
  if (proto.has_prefix_depth()) {
    builder.SetPrefixDepth(proto.prefix_depth().lo(), proto.prefix_depth().hi(),
                           "space.prefix_depth");
  }
  RETURN_IF_ERROR(ReadParameters(proto, builder));
  return builder.Build();
}

absl::StatusOr<Strategy> StrategyFromProto(const v1::Strategy& proto,
                                           const std::string& field) {
  static const auto* const kKinds = new std::map<std::string, StrategyKind>{
      {"full", StrategyKind::kFull},
      {"head_only", StrategyKind::kHeadOnly},
      {"first_k", StrategyKind::kFirstK},
      {"last_k", StrategyKind::kLastK},
      {"alternating", StrategyKind::kAlternating},
      {"decay", StrategyKind::kDecay}};
  const auto kind = kKinds->find(proto.name());
  if (kind == kKinds->end()) {
    return MakeError(
        ErrorId::kStudyFieldUnknown,
        absl::StrCat("there is no strategy \"", proto.name(), "\""),
        "take full, head_only, first_k, last_k, alternating or decay",
        field + ".name");
  }
  if (!proto.embeddings().empty() && proto.embeddings() != "train" &&
      proto.embeddings() != "freeze") {
    return MakeError(ErrorId::kStudyFieldUnknown,
                     absl::StrCat("embeddings: ", proto.embeddings()),
                     "say train or freeze", field + ".embeddings");
  }
  return Strategy{.kind = kind->second,
                  .rate = proto.rate(),
                  .k = proto.k(),
                  .freeze_embeddings = proto.embeddings() != "train",
                  .factor = proto.factor()};
}

}  // namespace frostline::server
