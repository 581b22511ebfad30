// SPDX-License-Identifier: Apache-2.0
#include "cli/view/space_view.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

// Names in the order in which the space has them, by what they may be.
using Kinds = std::vector<std::pair<std::string, std::vector<std::string>>>;

void Add(const std::string& name, const std::string& values, Kinds& kinds) {
  const auto found = std::find_if(
      kinds.begin(), kinds.end(),
      [&values](const auto& kind) { return kind.first == values; });
  if (found != kinds.end()) return found->second.push_back(name);
  kinds.push_back({values, {name}});
}

std::string TextOf(const v1::Levels& levels) {
  return absl::StrJoin(levels.rates(), ", ");
}
std::string TextOf(const v1::LogUniform& range) {
  return absl::StrCat(range.freeze() ? "0, or " : "", range.lo(), " to ",
                      range.hi(), ", log-uniform");
}
std::string TextOf(const v1::FloatRange& range) {
  return absl::StrCat(
      range.lo(), " to ", range.hi(),
      range.step() > 0 ? absl::StrCat(" in steps of ", range.step()) : "",
      range.log() ? ", log-uniform" : "");
}
std::string TextOf(const v1::IntRange& range) {
  return absl::StrCat(range.lo(), " to ", range.hi(),
                      range.step() > 1
                          ? absl::StrCat(" in steps of ", range.step())
                          : ", whole numbers",
                      range.log() ? ", log-uniform" : "");
}
std::string TextOf(const google::protobuf::ListValue& choices) {
  return absl::StrJoin(choices.values(), ", ",
                       [](std::string* out, const auto& value) {
                         absl::StrAppend(out, FormatValue(value));
                       });
}
std::string Always(double value) { return absl::StrCat("always ", value); }

std::string TextOf(const v1::NumberSpace& number) {
  if (number.has_levels()) return TextOf(number.levels());
  return number.has_float_() ? TextOf(number.float_()) : Always(number.fixed());
}

// "layer.0-5" of "layer.*", where the model's layers are known.
std::string ModuleNameOf(const std::string& selector, int layers) {
  if (selector != "layer.*" || layers < 2) return selector;
  return absl::StrCat("layer.0-", layers - 1);
}

void AddModules(const v1::StudySpec& spec, Kinds& kinds) {
  for (const v1::ModuleSpace& module : spec.space().modules()) {
    const std::string values = module.has_levels() ? TextOf(module.levels())
                               : module.has_log_uniform()
                                   ? TextOf(module.log_uniform())
                                   : Always(module.fixed());
    Add(ModuleNameOf(module.select(), spec.model().layers()), values, kinds);
  }
  for (const v1::Tie& tie : spec.space().ties()) {
    Add(absl::StrCat(tie.name(), " (", absl::StrJoin(tie.modules(), " "),
                     " together)"),
        tie.has_levels() ? TextOf(tie.levels()) : TextOf(tie.log_uniform()),
        kinds);
  }
}

std::string TextOf(const v1::ParameterSpace& parameter) {
  switch (parameter.domain_case()) {
    case v1::ParameterSpace::kFloat:
      return TextOf(parameter.float_());
    case v1::ParameterSpace::kInt:
      return TextOf(parameter.int_());
    case v1::ParameterSpace::kChoices:
      return TextOf(parameter.choices());
    case v1::ParameterSpace::kLevels:
      return TextOf(parameter.levels());
    case v1::ParameterSpace::kLogUniform:
      return TextOf(parameter.log_uniform());
    case v1::ParameterSpace::DOMAIN_NOT_SET:
      break;
  }
  return "";
}

std::string ConditionText(const v1::Condition& when) {
  if (when.values_size() > 0) {
    return absl::StrCat(", while ", when.parent(), " is ",
                        absl::StrJoin(when.values(), " or "));
  }
  return absl::StrCat(
      ", while ", when.parent(), " is",
      when.has_min() ? absl::StrCat(" from ", when.min()) : "",
      when.has_max() ? absl::StrCat(" up to ", when.max()) : "");
}

}  // namespace

std::vector<std::string> SpaceLines(const v1::StudySpec& spec) {
  const v1::SearchSpace& space = spec.space();
  Kinds kinds;
  AddModules(spec, kinds);
  if (space.has_prefix_depth()) {
    Add("prefix_depth",
        absl::StrCat(space.prefix_depth().lo(), " to ",
                     space.prefix_depth().hi(), ", whole numbers"),
        kinds);
  }
  if (space.has_layerwise_decay()) {
    Add("base_rate", TextOf(space.layerwise_decay().base_rate()), kinds);
    Add("decay", TextOf(space.layerwise_decay().decay()), kinds);
  }
  for (const v1::ParameterSpace& parameter : space.parameters()) {
    Add(parameter.name(),
        absl::StrCat(TextOf(parameter), parameter.has_when()
                                            ? ConditionText(parameter.when())
                                            : ""),
        kinds);
  }
  std::vector<std::string> lines;
  for (const auto& [values, names] : kinds) {
    lines.push_back(absl::StrCat(absl::StrJoin(names, ", "), ": ", values));
  }
  return lines;
}

}  // namespace frostline::cli
