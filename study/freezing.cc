// SPDX-License-Identifier: Apache-2.0
#include "study/freezing.h"

#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"

namespace frostline {
namespace {

struct Range {
  int first = 0;
  int last = -1;
};

// "*", "7" or "0-3" within [0, count).
std::optional<Range> ParseRange(const std::string& text, int count) {
  if (text == "*") return Range{0, count - 1};
  const std::vector<std::string> ends = absl::StrSplit(text, '-');
  Range range;
  if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &range.first) ||
      !absl::SimpleAtoi(ends.back(), &range.last)) {
    return std::nullopt;
  }
  if (range.first < 0 || range.first > range.last || range.last >= count) {
    return std::nullopt;
  }
  return range;
}

std::vector<std::string> SelectLayers(const ModelShape& shape,
                                      const std::vector<std::string>& parts) {
  const auto layers = ParseRange(parts[1], shape.num_layers);
  if (!layers.has_value()) return {};
  std::vector<std::string> modules;
  for (int layer = layers->first; layer <= layers->last; ++layer) {
    const std::string name = absl::StrCat("layer.", layer);
    if (parts.size() == 2) {
      modules.push_back(name);
    } else if (parts.size() == 3 &&
               (parts[2] == "attention" || parts[2] == "ffn")) {
      modules.push_back(absl::StrCat(name, ".", parts[2]));
    } else if (parts.size() == 4 && parts[2] == "head") {
      const auto heads = ParseRange(parts[3], shape.heads_per_layer);
      if (!heads.has_value()) return {};
      for (int head = heads->first; head <= heads->last; ++head) {
        modules.push_back(absl::StrCat(name, ".head.", head));
      }
    }
  }
  return modules;
}

bool IsWithin(const std::string& part, const std::string& whole) {
  return part == whole || part.rfind(whole + ".", 0) == 0;
}

bool IsHeadOfAttention(const std::string& head, const std::string& attention) {
  const std::string suffix = ".attention";
  if (attention.size() <= suffix.size() ||
      attention.substr(attention.size() - suffix.size()) != suffix) {
    return false;
  }
  return head.rfind(
             attention.substr(0, attention.size() - suffix.size()) + ".head.",
             0) == 0;
}

}  // namespace

std::vector<std::string> TopModules(const ModelShape& shape) {
  if (shape.num_layers == 0) return {};
  std::vector<std::string> modules = {"embeddings"};
  for (int layer = 0; layer < shape.num_layers; ++layer) {
    modules.push_back(absl::StrCat("layer.", layer));
  }
  if (shape.has_pooler) modules.push_back("pooler");
  for (const std::string& task : shape.tasks) {
    modules.push_back(absl::StrCat("head.", task));
  }
  if (shape.tasks.empty()) modules.push_back("head");
  return modules;
}

absl::StatusOr<std::vector<std::string>> SelectModules(
    const ModelShape& shape, const std::string& selector,
    const std::string& field) {
  const std::vector<std::string> parts = absl::StrSplit(selector, '.');
  std::vector<std::string> selected;
  if (parts.size() >= 2 && parts[0] == "layer") {
    selected = SelectLayers(shape, parts);
  } else {
    for (const std::string& module : TopModules(shape)) {
      const bool all_heads = selector == "head" && IsWithin(module, "head");
      if (module == selector || all_heads) selected.push_back(module);
    }
  }
  if (!selected.empty()) return selected;
  const std::string known = absl::StrJoin(TopModules(shape), ", ");
  return MakeError(
      ErrorId::kModuleUnknown,
      absl::StrCat("'", absl::Utf8SafeCEscape(selector.substr(0, 100)),
                   "' names no module"),
      known.empty() ? "set model.layers, or use space.parameters instead"
                    : absl::StrCat("the modules are ", known,
                                   "; or a range such as layer.0-2"),
      field);
}

int LayerOf(const std::string& module) {
  absl::string_view rest = module;
  int layer = -1;
  if (!absl::ConsumePrefix(&rest, "layer.") ||
      !absl::SimpleAtoi(rest.substr(0, rest.find('.')), &layer)) {
    return -1;
  }
  return layer;
}

bool Overlap(const std::string& a, const std::string& b) {
  return IsWithin(a, b) || IsWithin(b, a) || IsHeadOfAttention(a, b) ||
         IsHeadOfAttention(b, a);
}

}  // namespace frostline
