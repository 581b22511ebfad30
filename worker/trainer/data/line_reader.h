// SPDX-License-Identifier: Apache-2.0
//
// File: line_reader.h
//
// Reads lines of a file that strangers wrote, ended by LF, CRLF or the file; a
// byte order mark is passed over. A line of more than a mebibyte, a NUL and
// what is not UTF-8 are faults that name file and line.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_LINE_READER_H_
#define FROSTLINE_WORKER_TRAINER_DATA_LINE_READER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/data/input_file.h"

namespace frostline::trainer {

// A file of any size takes little more than a mebibyte of memory.
class LineReader {
 public:
  explicit LineReader(InputFile file);

  // It is false at the end. The line is valid until the next call.
  Expected<bool> Next(std::string_view& line);

  std::size_t number() const { return number_; }  // of the last line, from 1
  const std::string& name() const { return file_.name(); }

  // Says "train.tsv line 12: …", with the fix.
  Fault At(std::size_t number, FaultKind kind, const std::string& what,
           const std::string& fix) const;
  Fault Here(FaultKind kind, const std::string& what,
             const std::string& fix) const {
    return At(number_, kind, what, fix);
  }

 private:
  Expected<bool> Fill();
  Expected<bool> Take(std::size_t size, std::size_t end,
                      std::string_view& line);

  InputFile file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what has not been given out
  std::size_t end_ = 0;    // of what has been read
  std::size_t number_ = 0;
  bool at_end_ = false;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_LINE_READER_H_
