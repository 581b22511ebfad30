// SPDX-License-Identifier: Apache-2.0
#include "server/wire/space_from_proto.h"

#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "server/wire/space.h"
#include "study/space_builder.h"

namespace frostline::server {
namespace {

Levels LevelsFrom(const v1::Levels& proto) {
  return Levels{{proto.rates().begin(), proto.rates().end()}};
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
                   "give it levels, log_uniform, float, int or choices", field);
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
        return NoDomain(field);
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
