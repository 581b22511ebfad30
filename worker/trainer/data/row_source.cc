// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/row_source.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/plain/json.h"
#include "base/plain/text.h"
#include "worker/trainer/data/limits.h"

namespace frostline::trainer {

Expected<std::unique_ptr<RowSource>> OpenRows(
    InputFile file, const FileFormat& format,
    const std::vector<std::string>& columns) {
  LineReader lines(std::move(file));
  switch (format.kind) {
    case FileFormat::Kind::kJsonl:
      return OpenJsonl(std::move(lines), columns);
    case FileFormat::Kind::kConllu:
      return OpenConllu(std::move(lines), columns);
    case FileFormat::Kind::kTsv:
    case FileFormat::Kind::kCsv:
      break;
  }
  return OpenDelimited(std::move(lines), format, columns);
}

namespace {

constexpr std::size_t kNamesShown = 20;

}  // namespace

std::optional<std::size_t> FindColumn(const std::vector<std::string>& names,
                                      std::size_t width,
                                      std::string_view column) {
  const auto found = std::find(names.begin(), names.end(), column);
  if (found != names.end()) {
    if (std::find(found + 1, names.end(), column) != names.end()) return {};
    return static_cast<std::size_t>(found - names.begin());
  }
  std::size_t number = 0;
  const char* const begin = column.data();
  const char* const end = begin + column.size();
  const auto parsed = std::from_chars(begin, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return {};
  if (number < 1 || number > width) return {};
  return number - 1;
}

Fault MissingColumn(const std::string& file, std::string_view column,
                    const std::vector<std::string>& names, std::size_t width) {
  const auto count = std::count(names.begin(), names.end(), column);
  std::string cause = file + ": has " + (count > 1 ? "two columns " : "no ") +
                      (count > 1 ? "" : "column ") + Shown(column);
  std::string fix = "name a column in `columns`, or give its number, 1 to " +
                    std::to_string(width);
  if (!names.empty()) fix += "; there are ";
  for (std::size_t i = 0; i < std::min(names.size(), kNamesShown); ++i) {
    fix += (i > 0 ? ", " : "") + Shown(names[i]);
  }
  if (names.size() > kNamesShown) fix += ", …";
  return Fault{FaultKind::kInconsistent, std::move(cause), std::move(fix)};
}

Expected<bool> FieldSplitter::Next(LineReader& lines,
                                   std::vector<std::string_view>& fields) {
  std::string_view line;
  do {
    Expected<bool> more = lines.Next(line);
    if (!more.ok() || !more.value()) return more;
  } while (line.empty());
  line_ = lines.number();
  if (quotes_ && line.find('"') != std::string_view::npos) {
    return SplitQuoted(lines, line, fields);
  }
  SplitPlain(line, fields);
  return true;
}

void FieldSplitter::SplitPlain(std::string_view line,
                               std::vector<std::string_view>& fields) {
  fields.clear();
  while (true) {
    const std::size_t end = line.find(delimiter_);
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

Expected<bool> FieldSplitter::SplitQuoted(
    LineReader& lines, std::string_view line,
    std::vector<std::string_view>& fields) {
  unquoted_.clear();
  ends_.clear();
  while (true) {
    if (line.starts_with('"')) {
      Expected<bool> taken = TakeQuoted(lines, line);
      if (!taken.ok()) return taken;
    } else {
      const std::size_t size = line.substr(0, line.find(delimiter_)).size();
      unquoted_ += line.substr(0, size);
      line.remove_prefix(size);
    }
    ends_.push_back(unquoted_.size());
    if (line.empty()) break;
    line.remove_prefix(1);  // the delimiter
  }
  fields.clear();
  std::size_t begin = 0;
  for (const std::size_t end : ends_) {
    fields.push_back(std::string_view(unquoted_).substr(begin, end - begin));
    begin = end;
  }
  return true;
}

// Takes a quoted field from the front of `rest`, which may become a later
// line. What is left is empty or begins with a delimiter.
Expected<bool> FieldSplitter::TakeQuoted(LineReader& lines,
                                         std::string_view& rest) {
  const std::size_t opened = lines.number();
  rest.remove_prefix(1);
  while (true) {
    const std::size_t quote = rest.find('"');
    unquoted_ += rest.substr(0, quote);
    if (unquoted_.size() > kMaxDataLineBytes) {
      return lines.At(opened, FaultKind::kTooLarge,
                      "opens a quote that runs on for more than 1 MiB",
                      "close it; where quotes are text, the format is tsv");
    }
    if (quote == std::string_view::npos) {
      Expected<bool> more = lines.Next(rest);
      if (!more.ok()) return more;
      if (!more.value()) {
        return lines.At(opened, FaultKind::kSyntax,
                        "opens a quote that is never closed",
                        "close it; where quotes are text, the format is tsv");
      }
      unquoted_ += '\n';
      continue;
    }
    rest.remove_prefix(quote + 1);
    if (rest.starts_with('"')) {
      unquoted_ += '"';
      rest.remove_prefix(1);
      continue;
    }
    if (rest.empty() || rest.front() == delimiter_) return true;
    return lines.Here(FaultKind::kSyntax, "goes on behind a closing quote",
                      "double a quote that belongs to the text: \"\"; where "
                      "quotes are text, the format is tsv");
  }
}

namespace {

class Delimited : public RowSource {
 public:
  Delimited(LineReader lines, const FileFormat& format)
      : lines_(std::move(lines)),
        splitter_(
            format.kind == FileFormat::Kind::kTsv ? '\t' : format.delimiter,
            format.kind == FileFormat::Kind::kCsv) {}

  // Reads the header, or looks at the first row, and finds the columns.
  Expected<Done> Bind(const FileFormat& format,
                      const std::vector<std::string>& columns) {
    ASSIGN_OR_FAULT(bool more, splitter_.Next(lines_, fields_));
    std::vector<std::string> names = format.names;
    if (!more) return Empty();
    width_ = fields_.size();
    if (width_ > kMaxColumns) {
      return Here(FaultKind::kTooLarge, "has more than 1,000 columns",
                  "is the delimiter right?");
    }
    if (format.header) {
      names.assign(fields_.begin(), fields_.end());
    } else {
      pending_ = true;
      if (!names.empty() && names.size() != width_) return WrongNames(names);
    }
    for (const std::string& column : columns) {
      const std::optional<std::size_t> index =
          FindColumn(names, width_, column);
      if (!index) {
        return MissingColumn(lines_.name(), column, names, width_);
      }
      wanted_.push_back(*index);
    }
    return Done{};
  }

  Expected<bool> Next(Row& row) override {
    if (!pending_) {
      Expected<bool> more = splitter_.Next(lines_, fields_);
      if (!more.ok() || !more.value()) return more;
    }
    pending_ = false;
    if (fields_.size() != width_) {
      return Here(FaultKind::kSyntax,
                  "has " + std::to_string(fields_.size()) +
                      " columns, the first line " + std::to_string(width_),
                  "correct the line; where a field holds delimiters or line "
                  "ends, quote it and use the format csv (--format csv)");
    }
    row.cells.resize(wanted_.size());
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      row.cells[i] = Cell{.text = fields_[wanted_[i]], .items = {}};
    }
    return true;
  }

  Fault Here(FaultKind kind, const std::string& what,
             const std::string& fix) const override {
    return lines_.At(splitter_.line(), kind, what, fix);
  }

 private:
  Fault Empty() const {
    return Fault{FaultKind::kInconsistent, lines_.name() + ": has no rows",
                 "give a file with at least one row"};
  }
  Fault WrongNames(const std::vector<std::string>& names) const {
    return Here(FaultKind::kInconsistent,
                "has " + std::to_string(width_) + " columns, the registry " +
                    "names " + std::to_string(names.size()),
                "correct `names` in the registry");
  }

  LineReader lines_;
  FieldSplitter splitter_;
  std::vector<std::string_view> fields_;
  std::vector<std::size_t> wanted_;
  std::size_t width_ = 0;
  bool pending_ = false;  // fields_ hold a row that was not given out yet
};

}  // namespace

Expected<std::unique_ptr<RowSource>> OpenDelimited(
    LineReader lines, const FileFormat& format,
    const std::vector<std::string>& columns) {
  auto source = std::make_unique<Delimited>(std::move(lines), format);
  RETURN_IF_FAULT(source->Bind(format, columns));
  return std::unique_ptr<RowSource>(std::move(source));
}

namespace {

// 3 for 3.0: a label is the same whether it was written 3 or 3.0.
std::string NumberText(double number) {
  std::array<char, 32> text;
  constexpr double kExact = 9007199254740992.0;  // 2^53
  const bool whole = std::trunc(number) == number && std::abs(number) < kExact;
  const auto end =
      whole ? std::to_chars(text.data(), text.data() + text.size(),
                            static_cast<long long>(number))
            : std::to_chars(text.data(), text.data() + text.size(), number);
  return std::string(text.data(), end.ptr);
}

class Jsonl : public RowSource {
 public:
  Jsonl(LineReader lines, const std::vector<std::string>& columns)
      : lines_(std::move(lines)), columns_(columns) {
    numbers_.resize(columns_.size());
    items_.resize(columns_.size());
  }

  Expected<bool> Next(Row& row) override {
    std::string_view line;
    do {
      Expected<bool> more = lines_.Next(line);
      if (!more.ok() || !more.value()) return more;
    } while (line.find_first_not_of(" \t") == std::string_view::npos);
    Expected<Json> parsed = Json::Parse(line);
    if (!parsed.ok()) {
      return Here(parsed.fault().kind, parsed.fault().cause,
                  parsed.fault().fix);
    }
    json_.emplace(std::move(parsed).value());
    if (!json_->root().is(JsonKind::kObject)) {
      return Here(FaultKind::kSyntax, "is not a JSON object",
                  "write one object a line: {\"text\": …, \"label\": …}");
    }
    row.cells.resize(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      Expected<bool> taken = Take(i, row.cells[i]);
      if (!taken.ok()) return taken;
    }
    return true;
  }

  Fault Here(FaultKind kind, const std::string& what,
             const std::string& fix) const override {
    return lines_.Here(kind, what, fix);
  }

 private:
  Expected<bool> Take(std::size_t index, Cell& cell) {
    cell = Cell{};
    const JsonValue* value = json_->root().Find(columns_[index]);
    if (value == nullptr || value->is(JsonKind::kNull)) {
      cell.present = false;
      return true;
    }
    switch (value->kind) {
      case JsonKind::kString:
        cell.text = value->text;
        return true;
      case JsonKind::kBool:
        cell.text = value->truth ? "true" : "false";
        return true;
      case JsonKind::kNumber:
        numbers_[index] = NumberText(value->number);
        cell.text = numbers_[index];
        return true;
      case JsonKind::kArray:
        return TakeList(index, *value, cell);
      default:
        return WrongKind(index);
    }
  }

  Expected<bool> TakeList(std::size_t index, const JsonValue& array,
                          Cell& cell) {
    std::vector<std::string_view>& items = items_[index];
    items.clear();
    for (const JsonValue* item = array.first; item; item = item->next) {
      if (!item->is(JsonKind::kString)) return WrongKind(index);
      items.push_back(item->text);
    }
    cell.is_list = true;
    cell.items = items;
    return true;
  }

  Fault WrongKind(std::size_t index) const {
    return Here(FaultKind::kSyntax,
                "'" + columns_[index] +
                    "' is neither a text, a number, a "
                    "boolean nor a list of texts",
                "write it as one of these");
  }

  LineReader lines_;
  std::vector<std::string> columns_;
  std::optional<Json> json_;  // what the cells point into
  std::vector<std::string> numbers_;
  std::vector<std::vector<std::string_view>> items_;
};

}  // namespace

Expected<std::unique_ptr<RowSource>> OpenJsonl(
    LineReader lines, const std::vector<std::string>& columns) {
  return std::unique_ptr<RowSource>(
      std::make_unique<Jsonl>(std::move(lines), columns));
}

namespace {

std::optional<std::uint32_t> WholeNumber(std::string_view text) {
  std::uint32_t number = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto parsed = std::from_chars(begin, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

ConlluLine ConlluLineOf(std::string_view id, std::uint32_t words) {
  const std::size_t mark = id.find_first_of("-.");
  const std::optional<std::uint32_t> first = WholeNumber(id.substr(0, mark));
  if (!first) return ConlluLine::kBroken;
  if (mark == std::string_view::npos) {
    return *first == words + 1 ? ConlluLine::kWord : ConlluLine::kBroken;
  }
  const std::optional<std::uint32_t> last = WholeNumber(id.substr(mark + 1));
  if (!last) return ConlluLine::kBroken;
  if (id[mark] == '-') {
    const bool next = *first == words + 1 && *last > *first;
    return next ? ConlluLine::kRange : ConlluLine::kBroken;
  }
  return *first == words && *last > 0 ? ConlluLine::kEmptyNode
                                      : ConlluLine::kBroken;
}

namespace {

constexpr std::size_t kColumns = 10;
constexpr std::size_t kForm = 1;
constexpr std::array<const char*, kColumns> kNames = {
    "id",    "form", "lemma",  "upos", "xpos",
    "feats", "head", "deprel", "deps", "misc"};

class Conllu : public RowSource {
 public:
  explicit Conllu(LineReader lines) : lines_(std::move(lines)) {}

  Expected<Done> Bind(const std::vector<std::string>& columns) {
    const std::vector<std::string> names(kNames.begin(), kNames.end());
    for (const std::string& column : columns) {
      const std::optional<std::size_t> index =
          FindColumn(names, kColumns, column);
      if (!index) return MissingColumn(lines_.name(), column, names, kColumns);
      wanted_.push_back(*index);
    }
    ends_.resize(wanted_.size());
    bytes_.resize(wanted_.size());
    items_.resize(wanted_.size());
    return Done{};
  }

  Expected<bool> Next(Row& row) override {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      ends_[i].clear();
      bytes_[i].clear();
    }
    words_ = 0;
    std::string_view line;
    while (true) {
      Expected<bool> more = lines_.Next(line);
      if (!more.ok()) return more;
      if (!more.value() || line.empty()) {
        if (words_ > 0) return Give(row);
        if (!more.value()) return false;
        continue;  // several empty lines, or comments alone
      }
      if (line.front() == '#') continue;
      RETURN_IF_FAULT(Take(line));
    }
  }

  Fault Here(FaultKind kind, const std::string& what,
             const std::string& fix) const override {
    return lines_.At(first_line_, kind, what, fix);
  }

 private:
  Expected<Done> Take(std::string_view line) {
    std::array<std::string_view, kColumns> fields;
    std::size_t count = 0;
    for (std::string_view rest = line;; ++count) {
      const std::size_t tab = rest.find('\t');
      if (count < kColumns) fields[count] = rest.substr(0, tab);
      if (tab == std::string_view::npos) break;
      rest.remove_prefix(tab + 1);
    }
    if (++count != kColumns) {
      return Broken("has " + std::to_string(count) + " columns, not 10");
    }
    const ConlluLine kind = ConlluLineOf(fields[0], words_);
    if (kind == ConlluLine::kBroken) {
      return Broken("its id " + Shown(fields[0]) + " does not follow word " +
                    std::to_string(words_));
    }
    if (kind != ConlluLine::kWord) return Done{};
    if (fields[kForm].empty()) return Broken("has an empty form");
    if (words_++ == 0) first_line_ = lines_.number();
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      bytes_[i] += fields[wanted_[i]];
      ends_[i].push_back(bytes_[i].size());
      if (bytes_[i].size() > kMaxDataLineBytes) {
        return lines_.Here(FaultKind::kTooLarge,
                           "the sentence is longer than 1 MiB",
                           "is an empty line missing between sentences?");
      }
    }
    return Done{};
  }

  // The lines of a sentence are gone, so the cells point into copies.
  Expected<bool> Give(Row& row) {
    row.cells.resize(wanted_.size());
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const std::string_view all = bytes_[i];
      std::size_t begin = 0;
      items_[i].clear();
      for (const std::size_t end : ends_[i]) {
        items_[i].push_back(all.substr(begin, end - begin));
        begin = end;
      }
      row.cells[i] = Cell{.text = {}, .items = items_[i], .is_list = true};
    }
    return true;
  }

  Fault Broken(const std::string& what) const {
    return lines_.Here(FaultKind::kSyntax, what,
                       "correct the line; CoNLL-U has ten columns with tabs "
                       "between them and an empty line after each sentence");
  }

  LineReader lines_;
  std::vector<std::size_t> wanted_;
  std::uint32_t words_ = 0;
  std::size_t first_line_ = 0;
  std::vector<std::string> bytes_;              // of each wanted column
  std::vector<std::vector<std::size_t>> ends_;  // of its items
  std::vector<std::vector<std::string_view>> items_;
};

}  // namespace

Expected<std::unique_ptr<RowSource>> OpenConllu(
    LineReader lines, const std::vector<std::string>& columns) {
  auto source = std::make_unique<Conllu>(std::move(lines));
  RETURN_IF_FAULT(source->Bind(columns));
  return std::unique_ptr<RowSource>(std::move(source));
}

}  // namespace frostline::trainer
