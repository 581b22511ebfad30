// SPDX-License-Identifier: Apache-2.0
//
// File: row_source.h
//
// Gives rows of any format, with the wanted columns in the wanted order.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_ROW_SOURCE_H_
#define FROSTLINE_WORKER_TRAINER_DATA_ROW_SOURCE_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/data/input_file.h"

namespace frostline::trainer {

// A cell is a text, or a list of them: a sentence's words.
struct Cell {
  std::string_view text;
  std::span<const std::string_view> items;
  bool is_list = false;
  bool present = true;  // false: no such column, or null
};

struct Row {
  std::vector<Cell> cells;
};

class RowSource {
 public:
  virtual ~RowSource() = default;

  // It is false at the end. The cells are valid until the next call; none may
  // follow a fault.
  virtual Expected<bool> Next(Row& row) = 0;
  // Names the file and the line where the last row begins.
  virtual Fault Here(FaultKind kind, const std::string& what,
                     const std::string& fix) const = 0;
};

struct FileFormat {
  enum class Kind { kTsv, kCsv, kJsonl, kConllu };
  Kind kind = Kind::kTsv;
  // TSV and CSV have these. Without a header columns go by `names`; in any case
  // by numbers from 1.
  bool header = true;
  std::vector<std::string> names = {};
  char delimiter = ',';  // of CSV
};

// Returns kInconsistent, naming the columns there are, when one is missing.
Expected<std::unique_ptr<RowSource>> OpenRows(
    InputFile file, const FileFormat& format,
    const std::vector<std::string>& columns);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_ROW_SOURCE_H_
