// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/jsonl.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/plain/json.h"

namespace frostline::trainer {
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

}  // namespace frostline::trainer
