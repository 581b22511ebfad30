// SPDX-License-Identifier: Apache-2.0
//
// File: first_line.h
//
// Says whether the first line of a table names its columns or is a row. Each
// column is a witness. Names speak: a usual one ("label"), one that a person
// has given, a word above numbers, a word above texts. Rows speak: a number, a
// value that comes again below, a long text. If both speak, or none, it is
// unclear, and somebody has to be asked, because a row would be lost.
//
//   label,review        kNames: both are usual names
//   1,A film to forget  kRow: a number is no name
//   a,b                 kUnclear, above x,y
#ifndef FROSTLINE_WORKER_REGISTRY_FIRST_LINE_H_
#define FROSTLINE_WORKER_REGISTRY_FIRST_LINE_H_

#include <string>
#include <vector>

namespace frostline::registry {

enum class FirstLine { kNames, kRow, kUnclear };

// Judges the first of `lines`, which are split into fields and at least one.
// `named` are columns that a person named.
FirstLine JudgeFirstLine(const std::vector<std::vector<std::string>>& lines,
                         const std::vector<std::string>& named);

// Returns the names that data sets often use for a role's column, in lower
// case.
const std::vector<std::string>& UsualNames(const std::string& role);

}  // namespace frostline::registry

#endif  // FROSTLINE_WORKER_REGISTRY_FIRST_LINE_H_
