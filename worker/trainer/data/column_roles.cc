// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "worker/trainer/data/dataset_reader.h"

namespace frostline::trainer {
namespace {

struct RoleRule {
  std::string_view role;
  bool tagging;  // else: of the other tasks
};

constexpr std::array<RoleRule, 7> kRoles = {{{"text", false},
                                             {"second", false},
                                             {"label", false},
                                             {"weight", false},
                                             {"words", true},
                                             {"tags", true},
                                             {"weight", true}}};

}  // namespace

ColumnMap DefaultColumns(TaskKind task, FileFormat::Kind kind) {
  if (task != TaskKind::kTagging) return {{"text", "text"}, {"label", "label"}};
  if (kind == FileFormat::Kind::kConllu) {
    return {{"words", "form"}, {"tags", "upos"}};
  }
  return {{"words", "words"}, {"tags", "tags"}};
}

Expected<Done> CheckRoles(TaskKind task, const ColumnMap& columns) {
  const bool tagging = task == TaskKind::kTagging;
  for (const auto& [role, column] : columns) {
    bool known = false;
    std::string roles;
    for (const RoleRule& rule : kRoles) {
      if (rule.tagging != tagging) continue;
      known = known || rule.role == role;
      roles += (roles.empty() ? "" : ", ") + std::string(rule.role);
    }
    if (!known) {
      return Fault{FaultKind::kMisuse,
                   "columns: this task has no role '" + role + "'",
                   "its roles are " + roles};
    }
  }
  return Done{};
}

}  // namespace frostline::trainer
