// SPDX-License-Identifier: Apache-2.0
//
// File: row_codec.h
//
// Columns are in the order of sql_text.h. Readers answer STORE_CORRUPT, naming
// table and key, when a seal is broken.
#ifndef FROSTLINE_STORAGE_SQLITE_ROW_CODEC_H_
#define FROSTLINE_STORAGE_SQLITE_ROW_CODEC_H_

#include "absl/status/statusor.h"
#include "storage/rows.h"
#include "storage/sqlite/statement.h"

namespace frostline::storage {

// Binds all that an insertion gives.
template <typename Row>
void BindRow(const Row& row, Statement& statement);
// Binds the columns that may change.
template <typename Row>
void BindChanging(const Row& row, Statement& statement);

template <typename Row>
absl::StatusOr<Row> ReadRow(const Statement& statement);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_ROW_CODEC_H_
