// SPDX-License-Identifier: Apache-2.0
//
// File: row_source.h
//
// One row after the other, whatever the file's format: the wanted columns in
// the wanted order.
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

// A text, or a list of them: the words of a sentence.
struct Cell {
  std::string_view text;
  std::span<const std::string_view> items;
  bool is_list = false;
  bool present = true;  // false: the row has no such column, or null in it
};

struct Row {
  std::vector<Cell> cells;
};

class RowSource {
 public:
  virtual ~RowSource() = default;

  // False at the end. The cells are valid until the next call; none may follow
  // a fault.
  virtual Expected<bool> Next(Row& row) = 0;
  // Names the file and the line where the last row begins.
  virtual Fault Here(FaultKind kind, const std::string& what,
                     const std::string& fix) const = 0;
};

struct FileFormat {
  enum class Kind { kTsv, kCsv, kJsonl, kConllu };
  Kind kind = Kind::kTsv;
  // Of TSV and CSV. Without a header columns go by `names`; in any case by
  // their numbers from 1.
  bool header = true;
  std::vector<std::string> names = {};
  char delimiter = ',';  // of CSV
};

// kInconsistent, naming the columns there are, when one is not there.
Expected<std::unique_ptr<RowSource>> OpenRows(
    InputFile file, const FileFormat& format,
    const std::vector<std::string>& columns);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_ROW_SOURCE_H_
