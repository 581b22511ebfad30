// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_plan.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace frostline::cli {
namespace {

constexpr char kSpace[] = "\nspace:";
constexpr char kLevels[] = "&rates ";

// What stands behind "&rates " in the recipe: the levels of its modules.
std::string LevelsOf(const std::string& recipe) {
  const std::size_t found = recipe.find(kLevels);
  if (found == std::string::npos) return "";
  const std::size_t start = found + sizeof(kLevels) - 1;
  return recipe.substr(start, recipe.find('\n', start) - start);
}

std::vector<v1::PlannedModule> Searched(const v1::FreezePlan& plan) {
  std::vector<v1::PlannedModule> modules;
  for (const v1::PlannedModule& module : plan.modules()) {
    if (module.module() == "pooler" || module.module() == "head") continue;
    modules.push_back(module);
  }
  const auto is_advised = [](const v1::PlannedModule& module) {
    return module.advice() == v1::PLAN_ADVICE_FREEZE;
  };
  if (std::any_of(modules.begin(), modules.end(), is_advised)) {
    for (v1::PlannedModule& module : modules) {
      module.set_freeze(is_advised(module));
    }
  }
  const bool all_frozen =
      std::all_of(modules.begin(), modules.end(),
                  [](const v1::PlannedModule& m) { return m.freeze(); });
  if (!all_frozen || modules.empty()) return modules;
  std::max_element(modules.begin(), modules.end(),
                   [](const v1::PlannedModule& a, const v1::PlannedModule& b) {
                     return a.cost_of_freezing().value() <
                            b.cost_of_freezing().value();
                   })
      ->set_freeze(false);
  return modules;
}

}  // namespace

std::string NextStudyFile(const std::string& recipe, const std::string& id,
                          const v1::FreezePlan& plan) {
  const std::string levels = LevelsOf(recipe);
  std::string text = "# Made by `frostline demo` from what it has found.\n";
  const std::string kept = recipe.substr(0, recipe.find(kSpace));
  for (const absl::string_view line : absl::StrSplit(kept, '\n')) {
    if (line.substr(0, 1) == "#") continue;
    const bool is_id = line.substr(0, 3) == "id:";
    absl::StrAppend(&text, is_id ? "id: " + id : std::string(line), "\n");
  }
  absl::StrAppend(&text, "space:\n  modules:\n");
  for (const v1::PlannedModule& module : Searched(plan)) {
    absl::StrAppend(&text, "    ", module.module(), ": ",
                    module.freeze() ? "frozen" : levels, "  # ",
                    module.reason(), "\n");
  }
  return text + "    pooler: 1e-3\n    head: 1e-3\n";
}

}  // namespace frostline::cli
