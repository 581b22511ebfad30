// SPDX-License-Identifier: Apache-2.0
#include "cli/view/space_names.h"

#include <set>

#include "study/freezing.h"

namespace frostline::cli {
namespace {

ModelShape ShapeOf(const v1::StudySpec& spec) {
  ModelShape shape{.num_layers = spec.model().layers(),
                   .heads_per_layer = spec.model().heads(),
                   .has_pooler = !spec.model().no_pooler()};
  for (const v1::TaskSpec& task : spec.tasks()) {
    shape.tasks.push_back(task.name());
  }
  return shape;
}

// A coordinator has taken the space, so that a selector without modules is of
// a later version, and names none here.
void AddSelected(const ModelShape& shape, const std::string& selector,
                 std::vector<std::string>& names) {
  const auto modules = SelectModules(shape, selector, "");
  if (!modules.ok()) return;
  names.insert(names.end(), modules->begin(), modules->end());
}

bool IsSearched(const v1::NumberSpace& number) {
  return number.has_levels() || number.has_float_();
}

}  // namespace

std::vector<std::string> ParameterNames(const v1::StudySpec& spec) {
  const v1::SearchSpace& space = spec.space();
  std::vector<std::string> names;
  if (space.has_prefix_depth()) names.emplace_back("prefix_depth");
  if (IsSearched(space.layerwise_decay().base_rate())) {
    names.emplace_back("base_rate");
  }
  if (IsSearched(space.layerwise_decay().decay())) names.emplace_back("decay");
  const ModelShape shape = ShapeOf(spec);
  for (const v1::ModuleSpace& one : space.modules()) {
    if (one.domain_case() == v1::ModuleSpace::kFixed) continue;
    AddSelected(shape, one.select(), names);
  }
  for (const v1::Tie& tie : space.ties()) names.push_back(tie.name());
  for (const v1::ParameterSpace& one : space.parameters()) {
    names.push_back(one.name());
  }
  return names;
}

std::vector<std::string> ModuleNames(const v1::StudySpec& spec) {
  const ModelShape shape = ShapeOf(spec);
  std::vector<std::string> named;
  for (const v1::ModuleSpace& one : spec.space().modules()) {
    AddSelected(shape, one.select(), named);
  }
  for (const v1::Tie& tie : spec.space().ties()) {
    for (const std::string& one : tie.modules()) AddSelected(shape, one, named);
  }
  std::vector<std::string> names;
  for (const std::string& top : TopModules(shape)) {
    names.push_back(top);
    // As the trials have them: the parts of a layer by the alphabet.
    for (const std::string& part :
         std::set<std::string>(named.begin(), named.end())) {
      if (part != top && Overlap(part, top)) names.push_back(part);
    }
  }
  return names;
}

}  // namespace frostline::cli
