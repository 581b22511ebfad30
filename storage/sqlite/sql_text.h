// SPDX-License-Identifier: Apache-2.0
//
// File: sql_text.h
//
// Columns stand in the order of row_codec.cc: the key, those that never change
// and their seal, those that may change and theirs.
//
//   kSelect<LogRow, " WHERE study = ?">
//   "SELECT study, number, …, crc FROM logs WHERE study = ?"
#ifndef FROSTLINE_STORAGE_SQLITE_SQL_TEXT_H_
#define FROSTLINE_STORAGE_SQLITE_SQL_TEXT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>

#include "storage/row_columns.h"

namespace frostline::storage::sql {

// A string becomes a template's argument.
template <std::size_t size>
struct Literal {
  // NOLINTNEXTLINE(google-explicit-constructor): "text" must become one.
  consteval Literal(const char (&literal)[size]) {
    std::copy_n(literal, size, text);
  }
  char text[size]{};
};

struct Draft {
  constexpr Draft& operator+=(std::string_view more) {
    for (const char c : more) characters[size++] = c;
    return *this;
  }
  std::array<char, 1000> characters{};
  std::size_t size = 0;
};

// Adds "a, b, " or, with " = ?" after each, "a = ?, b = ?, ".
template <typename Columns>
constexpr void AddNames(const Columns& columns, std::string_view after,
                        Draft& draft) {
  ForEachColumn(columns, [&](const auto& column) {
    (draft += column.name) += after;
    draft += ", ";
  });
}

template <typename Row>
constexpr void AddInserted(Draft& draft) {
  using Columns = RowColumns<Row>;
  if (!Columns::kKeyIsGiven) AddNames(Columns::kKey, "", draft);
  AddNames(Columns::kFixed, "", draft);
  if (std::tuple_size_v<decltype(Columns::kFixed)> > 0) draft += "fixed_crc, ";
  AddNames(Columns::kChanging, "", draft);
  draft += "crc";
}

// Adds "?, ?, ?", one for each of AddInserted().
template <typename Row>
constexpr void AddParameters(Draft& draft) {
  Draft names;
  AddInserted<Row>(names);
  draft += "?";
  for (std::size_t i = 0; i < names.size; ++i) {
    if (names.characters[i] == ',') draft += ", ?";
  }
}

// Begins "INSERT INTO logs (study, …, crc) ".
template <typename Row>
constexpr Draft BeginInsert(std::string_view verb) {
  Draft draft;
  ((draft += verb) += " INTO ") += RowColumns<Row>::kTable;
  draft += " (";
  AddInserted<Row>(draft);
  draft += ") ";
  return draft;
}

template <typename Row, Literal tail>
struct Select {
  static constexpr Draft Make() {
    using Columns = RowColumns<Row>;
    Draft draft;
    draft += "SELECT ";
    if (Columns::kKeyIsGiven) AddNames(Columns::kKey, "", draft);
    AddInserted<Row>(draft);
    ((draft += " FROM ") += Columns::kTable) += tail.text;
    return draft;
  }
};

template <typename Row, Literal verb>
struct Insert {
  static constexpr Draft Make() {
    Draft draft = BeginInsert<Row>(verb.text);
    draft += "VALUES (";
    AddParameters<Row>(draft);
    draft += ")";
    return draft;
  }
};

// Inserts nothing unless the trial is there, at this attempt or a later one.
// The row's key begins with study, number, attempt.
template <typename Row, Literal verb, Literal tail>
struct InsertOfAttempt {
  static constexpr Draft Make() {
    Draft draft = BeginInsert<Row>(verb.text);
    draft += "SELECT ";
    AddParameters<Row>(draft);
    draft +=
        " WHERE EXISTS (SELECT 1 FROM trials WHERE study = ?1 "
        "AND number = ?2 AND attempt >= ?3)";
    draft += tail.text;
    return draft;
  }
};

template <typename Row, Literal tail>
struct Update {
  static constexpr Draft Make() {
    Draft draft;
    ((draft += "UPDATE ") += RowColumns<Row>::kTable) += " SET ";
    AddNames(RowColumns<Row>::kChanging, " = ?", draft);
    (draft += "crc = ?") += tail.text;
    return draft;
  }
};

// Deletes up to ?2 of those that `which` tells by ?1.
template <typename Row, Literal which>
struct DeleteSome {
  static constexpr Draft Make() {
    using Columns = RowColumns<Row>;
    Draft draft;
    ((draft += "DELETE FROM ") += Columns::kTable) += " WHERE (";
    AddKey(draft);
    draft += ") IN (SELECT ";
    AddKey(draft);
    ((draft += " FROM ") += Columns::kTable) += " WHERE ";
    (draft += which.text) += " LIMIT ?2)";
    return draft;
  }
  static constexpr void AddKey(Draft& draft) {
    AddNames(RowColumns<Row>::kKey, "", draft);
    draft.size -= 2;  // the last ", "
  }
};

// It ends with a zero.
template <typename Statement>
inline constexpr auto kCharactersOf = [] {
  constexpr Draft draft = Statement::Make();
  std::array<char, draft.size + 1> characters{};
  std::copy_n(draft.characters.begin(), draft.size, characters.begin());
  return characters;
}();

template <typename Row, Literal tail>
inline constexpr const char* kSelect = kCharactersOf<Select<Row, tail>>.data();
template <typename Row, Literal verb>
inline constexpr const char* kInsert = kCharactersOf<Insert<Row, verb>>.data();
template <typename Row, Literal verb, Literal tail = "">
inline constexpr const char* kInsertOfAttempt =
    kCharactersOf<InsertOfAttempt<Row, verb, tail>>.data();
template <typename Row, Literal which>
inline constexpr const char* kDeleteSome =
    kCharactersOf<DeleteSome<Row, which>>.data();
template <typename Row, Literal tail>
inline constexpr const char* kUpdate = kCharactersOf<Update<Row, tail>>.data();

}  // namespace frostline::storage::sql

#endif  // FROSTLINE_STORAGE_SQLITE_SQL_TEXT_H_
