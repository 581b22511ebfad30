// SPDX-License-Identifier: Apache-2.0
//
// File: row_source.h
//
// The rows of a file of examples, whatever its format.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_ROW_SOURCE_H_
#define FROSTLINE_WORKER_TRAINER_DATA_ROW_SOURCE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

// A source of rows of a file, with the wanted columns in the wanted order.
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

inline constexpr std::array<std::pair<std::string_view, FileFormat::Kind>, 4>
    kFormatNames = {{{"tsv", FileFormat::Kind::kTsv},
                     {"csv", FileFormat::Kind::kCsv},
                     {"jsonl", FileFormat::Kind::kJsonl},
                     {"conllu", FileFormat::Kind::kConllu}}};

inline std::optional<FileFormat::Kind> ParseFormatName(std::string_view name) {
  for (const auto& [known, kind] : kFormatNames) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

constexpr std::string_view NameOf(FileFormat::Kind kind) {
  for (const auto& [name, known] : kFormatNames) {
    if (known == kind) return name;
  }
  return "";
}

// Counts from 0. A name goes before a number, which counts from 1. Returns
// nothing where neither is there, or a name is there twice.
std::optional<std::size_t> FindColumn(const std::vector<std::string>& names,
                                      std::size_t width,
                                      std::string_view column);

Fault MissingColumn(const std::string& file, std::string_view column,
                    const std::vector<std::string>& names, std::size_t width);

// A reader of TSV or CSV that splits each row into fields. The source of such a
// file owns one.
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

// In TSV a quote is text. In CSV (RFC 4180) a field that begins with a quote
// ends with one, and may hold delimiters, line ends and "" for a quote. Empty
// lines are passed over; every row has as many fields as the first.
Expected<std::unique_ptr<RowSource>> OpenDelimited(
    LineReader lines, const FileFormat& format,
    const std::vector<std::string>& columns);

// A line is one JSON object, whose keys are columns; a value is a string, a
// number, a boolean, or an array of strings (words, tags). Null and absence are
// the same. Empty lines are passed over.
Expected<std::unique_ptr<RowSource>> OpenJsonl(
    LineReader lines, const std::vector<std::string>& columns);

enum class ConlluLine {
  kWord,       // 3, after two words
  kRange,      // 3-4: one written word for several
  kEmptyNode,  // 2.1: what was left out
  kBroken,
};

// `words` words of the sentence came before.
ConlluLine ConlluLineOf(std::string_view id, std::uint32_t words);

// In CoNLL-U (Universal Dependencies) a row is a sentence, a cell the list of a
// column over its words. The columns are id form lemma upos xpos feats head
// deprel deps misc. Comments, ranges and empty nodes are passed over; other
// columns, words not counted from 1 and an empty form are faults.
Expected<std::unique_ptr<RowSource>> OpenConllu(
    LineReader lines, const std::vector<std::string>& columns);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_ROW_SOURCE_H_
