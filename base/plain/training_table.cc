// SPDX-License-Identifier: Apache-2.0
#include "base/plain/training_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace frostline {
namespace {

using enum SettingKind;

std::string Shortest(double number) {
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

std::string DefaultOf(const SettingRow& row) {
  if (!row.default_text.empty()) return std::string(row.default_text);
  if (!row.words.empty()) return std::string(WordsOf(row).front());
  if (row.kind == kSwitch) return "false";
  return Shortest(row.unless_given);
}

}  // namespace

std::string_view SettingRow::block() const {
  return key.substr(0, key.find('.') + 1);  // npos + 1 is 0
}

std::string_view SettingRow::name() const {
  return key.substr(key.find('.') + 1);
}

const SettingRow* FindSetting(std::string_view key) {
  const std::span<const SettingRow> rows = TrainingTable();
  const auto found = std::ranges::find(rows, key, &SettingRow::key);
  return found == rows.end() ? nullptr : &*found;
}

const SettingRow* FindSearchedSetting(std::string_view parameter) {
  if (parameter.empty()) return nullptr;
  const std::span<const SettingRow> rows = TrainingTable();
  const auto found =
      std::ranges::find(rows, parameter, &SettingRow::searched_as);
  return found == rows.end() ? nullptr : &*found;
}

const SettingRow& SettingOf(std::string_view key) { return *FindSetting(key); }

std::vector<std::string_view> NamesOfBlock(std::string_view block) {
  std::vector<std::string_view> names;
  for (const SettingRow& row : TrainingTable()) {
    if (row.block() == block) names.push_back(row.name());
  }
  return names;
}

std::vector<std::string_view> WordsOf(const SettingRow& row) {
  std::vector<std::string_view> words;
  std::string_view rest = row.words;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    words.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return words;
}

std::string RangeOf(const SettingRow& row) {
  switch (row.kind) {
    case kWord:
      return std::string(row.words);
    case kWeights:
      return std::string(row.words) + ", list";
    case kText:
      return "text";
    case kTexts:
      return "list";
    case kSwitch:
      return "true, false";
    case kBits:
      return "whole";
    case kWhole:
    case kNumber:
      break;
  }
  const auto end = [&](double number) {
    return row.kind == kWhole
               ? std::to_string(static_cast<std::int64_t>(number))
               : Shortest(number);
  };
  const std::string least =
      (row.kind == kWhole ? "whole, " : "") + end(row.least);
  if (row.most == kAnyCount || row.most == kAnySize) return least + " or more";
  return least + " … " + end(row.most);
}

std::string Listed(const std::vector<std::string_view>& words) {
  std::string all;
  for (const std::string_view word : words) {
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  return all;
}

std::string TrainingTablePage() {
  std::string page =
      "| key | default | may be | searched as | |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const SettingRow& row : TrainingTable()) {
    const std::string searched = row.searched_as.empty()
                                     ? "–"
                                     : "`" + std::string(row.searched_as) + "`";
    page += "| `" + std::string(row.key) + "` | " + DefaultOf(row) + " | " +
            RangeOf(row) + " | " + searched + " | " + std::string(row.doc) +
            " |\n";
  }
  return page;
}

}  // namespace frostline
