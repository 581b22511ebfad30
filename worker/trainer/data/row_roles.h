// SPDX-License-Identifier: Apache-2.0
//
// File: row_roles.h
#ifndef FROSTLINE_WORKER_TRAINER_DATA_ROW_ROLES_H_
#define FROSTLINE_WORKER_TRAINER_DATA_ROW_ROLES_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/text.h"
#include "worker/trainer/data/row_source.h"

namespace frostline::trainer {

struct RowRoles {
  std::map<std::string, std::size_t, std::less<>> index;
  std::vector<std::string> columns;

  // It is null when no column has the role.
  const Cell* Find(const Row& row, std::string_view role) const {
    const auto found = index.find(role);
    return found == index.end() ? nullptr : &row.cells[found->second];
  }
  // REQUIRES: a column has the role.
  std::string ColumnOf(std::string_view role) const {
    return "column " + Shown(columns[index.find(role)->second]);
  }
};

// Returns the items of a list, or the words between the blanks of a text.
void ItemsOf(const Cell& cell, std::vector<std::string_view>& items);

// CoNLL-U writes "_" for "nothing here".
inline bool IsNoTag(std::string_view tag) { return tag.empty() || tag == "_"; }

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_ROW_ROLES_H_
