// SPDX-License-Identifier: Apache-2.0
//
// What programs ask of a table: its columns by name, an order, CSV.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "cli/term/csv.h"
#include "cli/term/table.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxNameBytes = 1000;

std::string NameOfColumn(const Column& column) {
  if (!column.name.empty()) return column.name;
  return absl::StrReplaceAll(
      absl::AsciiStrToLower(absl::StripAsciiWhitespace(column.title)),
      {{" ", "_"}});
}

// Numbers come before text, and what is missing after both.
struct SortKey {
  int kind = 2;
  double number = 0.0;
};

SortKey KeyOf(const std::string& exact) {
  SortKey key;
  if (exact.empty()) return key;
  const bool is_number = absl::SimpleAtod(exact, &key.number);
  if (is_number && std::isnan(key.number)) return SortKey();
  key.kind = is_number ? 0 : 1;
  return key;
}

}  // namespace

std::vector<std::string> Table::Names() const {
  std::vector<std::string> names;
  for (const Column& column : columns_) names.push_back(NameOfColumn(column));
  return names;
}

std::optional<std::size_t> Table::Find(const std::string& column) const {
  const auto place = [this](const auto& is_it) -> std::optional<std::size_t> {
    const auto found = std::find_if(columns_.begin(), columns_.end(), is_it);
    if (found == columns_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns_.begin());
  };
  const auto as_written = place([&column](const Column& one) {
    return NameOfColumn(one) == column || one.title == column;
  });
  if (as_written.has_value()) return as_written;
  return place([&column](const Column& one) {
    return absl::EqualsIgnoreCase(NameOfColumn(one), column) ||
           absl::EqualsIgnoreCase(one.title, column);
  });
}

std::vector<std::size_t> Table::Order(std::size_t column,
                                      bool highest_first) const {
  std::vector<SortKey> keys;
  for (const Row& row : rows_) keys.push_back(KeyOf(row.exact[column]));
  std::vector<std::size_t> order(rows_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto less = [&](std::size_t a, std::size_t b) {
    if (keys[a].kind == 0) return keys[a].number < keys[b].number;
    return rows_[a].exact[column] < rows_[b].exact[column];
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     if (keys[a].kind != keys[b].kind) {
                       return keys[a].kind < keys[b].kind;
                     }
                     if (keys[a].kind == 2) return false;
                     return highest_first ? less(b, a) : less(a, b);
                   });
  return order;
}

Table Table::WithColumns(const std::vector<std::size_t>& places) const {
  Table chosen({}, noun_);
  for (const std::size_t place : places) {
    chosen.columns_.push_back(columns_[place]);
    chosen.columns_.back().on_demand = false;
    chosen.columns_.back().spare = 0;
  }
  for (const Row& row : rows_) {
    Row less;
    for (const std::size_t place : places) {
      less.shown.push_back(row.shown[place]);
      less.exact.push_back(row.exact[place]);
    }
    chosen.rows_.push_back(std::move(less));
  }
  return chosen;
}

Table Table::WithRows(const std::vector<std::size_t>& places) const {
  Table chosen(columns_, noun_);
  for (const std::size_t place : places) {
    chosen.rows_.push_back(rows_[place]);
  }
  return chosen;
}

std::string Table::Csv() const {
  std::vector<std::string> heads;
  for (const std::string& name : Names()) {
    heads.push_back(proto::CleanText(name, kMaxNameBytes));
  }
  std::string text = CsvLine(heads);
  for (const Row& row : rows_) text += CsvLine(row.exact);
  return text;
}

}  // namespace frostline::cli
