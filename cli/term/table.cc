// SPDX-License-Identifier: Apache-2.0
#include "cli/term/table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/plain/text.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// The wide blocks on which terminals agree. A rarer character may be wrong by a
// column.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
    {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE4F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
constexpr Range kZero[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},  {0x064B, 0x065F},
    {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},  {0x20D0, 0x20FF},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}};

template <std::size_t N>
bool IsIn(const Range (&ranges)[N], char32_t code) {
  for (const Range& range : ranges) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

// Returns the character at the start of `text`; an invalid byte counts as one
// character.
CodePoint FirstChar(std::string_view text) {
  const CodePoint first = DecodeAt(text, 0);
  return first.valid ? first : CodePoint{kReplacement, 1, false};
}

}  // namespace

int CharWidth(char32_t code) {
  if (IsIn(kZero, code)) return 0;
  return IsIn(kWide, code) ? 2 : 1;
}

int DisplayWidth(std::string_view text) {
  // Most cells of a long table are plain letters and digits.
  const auto plain = std::find_if(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x80;
  });
  int width = static_cast<int>(plain - text.begin());
  text.remove_prefix(static_cast<std::size_t>(width));
  while (!text.empty()) {
    const CodePoint next = FirstChar(text);
    width += CharWidth(next.value);
    text.remove_prefix(next.bytes);
  }
  return width;
}

std::string FitToWidth(const std::string& text, int width) {
  if (width < 1 || DisplayWidth(text) <= width) return text;
  std::string_view rest = text;
  int used = 1;  // the ellipsis
  std::size_t keep = 0;
  while (!rest.empty()) {
    const CodePoint next = FirstChar(rest);
    used += CharWidth(next.value);
    if (used > width) break;
    keep += next.bytes;
    rest.remove_prefix(next.bytes);
  }
  return text.substr(0, keep) + "…";
}

std::string WrapText(const std::string& text, int width) {
  if (width < 1) return text + "\n";
  std::string wrapped;
  int used = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const int columns = DisplayWidth(word);
    const bool fits = used == 0 || used + 1 + columns <= width;
    if (!wrapped.empty()) wrapped += fits ? ' ' : '\n';
    used = fits && !wrapped.empty() ? used + 1 + columns : columns;
    wrapped += word;
    at = end + 1;
  }
  return wrapped + "\n";
}

namespace {

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

}  // namespace

std::string CsvLine(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    absl::StrAppend(&line, i > 0 ? "," : "", CsvCell(cells[i]));
  }
  return line + "\r\n";
}

std::string CsvNumber(double value) {
  if (std::isnan(value)) return "";
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

namespace {

constexpr std::size_t kMaxCellBytes = 1000;
constexpr std::size_t kNamedRows = 5;
constexpr int kFewestWrapped = 20;

}  // namespace

void Table::AddRow(std::vector<std::string> cells) {
  std::vector<Cell> same;
  same.reserve(cells.size());
  for (std::string& cell : cells) same.push_back({std::move(cell)});
  AddCells(std::move(same));
}

void Table::AddCells(std::vector<Cell> cells) {
  cells.resize(columns_.size());
  Row row;
  row.exact.reserve(cells.size());
  row.shown.reserve(cells.size());
  for (Cell& cell : cells) {
    row.shown.push_back(proto::CleanText(cell.shown, kMaxCellBytes));
    // Letter for letter: CSV is for programs, as JSON is.
    row.exact.push_back(cell.exact.empty() ? std::move(cell.shown)
                                           : std::move(cell.exact));
  }
  rows_.push_back(std::move(row));
}

std::vector<int> Table::Widths() const {
  std::vector<int> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    int width = DisplayWidth(columns_[i].title);
    for (const Row& row : rows_) {
      width = std::max(width, DisplayWidth(row.shown[i]));
    }
    widths.push_back(width);
  }
  return widths;
}

bool Table::IsEmpty(std::size_t column) const {
  return !rows_.empty() &&
         std::all_of(rows_.begin(), rows_.end(), [column](const Row& row) {
           return row.shown[column].empty();
         });
}

bool Table::IsOfNumbers(std::size_t column) const {
  constexpr absl::string_view kBegins = "0123456789-+<>";
  return std::all_of(rows_.begin(), rows_.end(), [&](const Row& row) {
    const std::string& cell = row.shown[column];
    return cell.empty() || absl::StrContains(kBegins, cell.front());
  });
}

int Table::Need(std::size_t column, const std::vector<int>& widths) const {
  return columns_[column].wraps ? std::min(widths[column], kFewestWrapped)
                                : widths[column];
}

std::vector<std::size_t> Table::Shown(const std::vector<int>& widths,
                                      int max_width) const {
  std::vector<std::size_t> shown;
  // Two blanks before each but the first; the "…" of what is left out.
  int total = -2;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].on_demand) continue;
    shown.push_back(i);
    total += Need(i, widths) + 2;
  }
  if (max_width > 0 && total > max_width) {
    std::erase_if(shown, [&](std::size_t i) {
      if (i == 0 || !IsEmpty(i)) return false;
      total -= Need(i, widths) + 2;
      return true;
    });
  }
  int limit = max_width;
  while (max_width > 0 && total > limit) {
    auto least = shown.end();
    for (auto place = shown.begin(); place != shown.end(); ++place) {
      const int spare = columns_[*place].spare;
      const bool is_last = least == shown.end()
                               ? spare > 0
                               : spare > 0 && spare >= columns_[*least].spare;
      if (is_last) least = place;
    }
    if (least == shown.end()) break;
    total -= Need(*least, widths) + 2;
    limit = max_width - 2;
    shown.erase(least);
  }
  // If it is still too wide, columns are left out from the right until the last
  // one is a text that may be cut. A cut number would be another number.
  while (max_width > 0 && total > limit && shown.size() > 1) {
    const int without = total - Need(shown.back(), widths) - 2;
    if (!IsOfNumbers(shown.back()) && without + 2 < limit) break;
    total = without;
    limit = max_width - 2;
    shown.pop_back();
  }
  return shown;
}

std::string Table::Line(const std::vector<std::string>& cells,
                        const std::vector<int>& widths,
                        const std::vector<std::size_t>& shown) const {
  std::string line;
  for (const std::size_t i : shown) {
    const auto pad =
        static_cast<std::size_t>(widths[i] - DisplayWidth(cells[i]));
    if (i != shown.front()) line += "  ";
    if (columns_[i].align == Align::kRight) line.append(pad, ' ');
    line += cells[i];
    if (columns_[i].align == Align::kLeft) line.append(pad, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string Table::Render(int max_width) const {
  const std::vector<int> widths = Widths();
  const std::vector<std::size_t> shown = Shown(widths, max_width);
  std::vector<std::string> titles;
  titles.reserve(columns_.size());
  for (const Column& column : columns_) titles.push_back(column.title);
  std::string head = Line(titles, widths, shown);
  if (!LeftOut(max_width).empty()) head += " …";
  std::string text = FitToWidth(head, max_width) + "\n";
  for (const Row& row : rows_) text += Lines(row, widths, shown, max_width);
  return text + Remarks(max_width);
}

std::vector<std::string> Table::LeftOut(int max_width) const {
  const std::vector<std::size_t> shown = Shown(Widths(), max_width);
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const bool is_shown = std::count(shown.begin(), shown.end(), i) > 0;
    if (is_shown || columns_[i].on_demand || IsEmpty(i)) continue;
    titles.push_back(columns_[i].title);
  }
  return titles;
}

std::string Table::Lines(const Row& row, const std::vector<int>& widths,
                         const std::vector<std::size_t>& shown,
                         int max_width) const {
  const std::size_t last = shown.back();
  int room = max_width;
  for (const std::size_t i : shown) room -= i == last ? 0 : widths[i] + 2;
  const bool wraps = columns_[last].wraps && room >= kFewestWrapped &&
                     DisplayWidth(row.shown[last]) > room;
  if (!wraps) {
    return FitToWidth(Line(row.shown, widths, shown), max_width) + "\n";
  }
  std::string text;
  std::vector<std::string> cells = row.shown;
  const std::string wrapped = WrapText(row.shown[last], room);
  for (const auto& line : absl::StrSplit(wrapped, '\n', absl::SkipEmpty())) {
    cells[last] = std::string(line);
    text += FitToWidth(Line(cells, widths, shown), max_width) + "\n";
    for (const std::size_t i : shown) cells[i].clear();
  }
  return text;
}

std::string Table::Remarks(int max_width) const {
  std::map<std::string, std::vector<std::string>> rows_of;
  for (const Row& row : rows_) {
    if (!row.remark.empty()) rows_of[row.remark].push_back(row.shown.front());
  }
  std::string text;
  for (const auto& [remark, rows] : rows_of) {
    const auto named =
        static_cast<std::ptrdiff_t>(std::min(rows.size(), kNamedRows));
    std::string line =
        absl::StrCat(noun_, rows.size() == 1 ? " " : "s ",
                     absl::StrJoin(rows.begin(), rows.begin() + named, ", "));
    if (rows.size() > kNamedRows) {
      absl::StrAppend(&line, " and ", rows.size() - kNamedRows, " more");
    }
    absl::StrAppend(&line, ": ",
                    proto::CleanText(remark, proto::kMaxCauseBytes));
    absl::StrAppend(&text, text.empty() ? "\n" : "", WrapText(line, max_width));
  }
  return text;
}

// A table for programs: its columns by name, an order, CSV.

namespace {

constexpr std::size_t kMaxNameBytes = 1000;

std::string NameOfColumn(const Column& column) {
  if (!column.name.empty()) return column.name;
  return absl::StrReplaceAll(
      absl::AsciiStrToLower(absl::StripAsciiWhitespace(column.title)),
      {{" ", "_"}});
}

// A key for sorting: numbers come before text, and missing cells last.
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
  names.reserve(columns_.size());
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
  keys.reserve(rows_.size());
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
