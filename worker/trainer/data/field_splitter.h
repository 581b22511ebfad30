// SPDX-License-Identifier: Apache-2.0
//
// File: field_splitter.h
#ifndef FROSTLINE_WORKER_TRAINER_DATA_FIELD_SPLITTER_H_
#define FROSTLINE_WORKER_TRAINER_DATA_FIELD_SPLITTER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/data/line_reader.h"

namespace frostline::trainer {

class FieldSplitter {
 public:
  // With `quotes` a field may be quoted, and then go on in the next line.
  FieldSplitter(char delimiter, bool quotes)
      : delimiter_(delimiter), quotes_(quotes) {}

  // Reads the next row, past empty lines; false at the end. `fields` is valid
  // until the next call.
  Expected<bool> Next(LineReader& lines, std::vector<std::string_view>& fields);

  std::size_t line() const { return line_; }  // where the last row began

 private:
  void SplitPlain(std::string_view line, std::vector<std::string_view>& fields);
  Expected<bool> SplitQuoted(LineReader& lines, std::string_view line,
                             std::vector<std::string_view>& fields);
  Expected<bool> TakeQuoted(LineReader& lines, std::string_view& rest);

  char delimiter_;
  bool quotes_;
  std::size_t line_ = 0;
  std::string unquoted_;           // the row's fields, end to end
  std::vector<std::size_t> ends_;  // of each field in it
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_FIELD_SPLITTER_H_
