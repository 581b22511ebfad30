// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/conllu.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/plain/text.h"
#include "worker/trainer/data/column_names.h"
#include "worker/trainer/data/conllu_id.h"
#include "worker/trainer/data/limits.h"

namespace frostline::trainer {
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
      Expected<Done> taken = Take(line);
      if (!taken.ok()) return taken.fault();
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
  Expected<Done> bound = source->Bind(columns);
  if (!bound.ok()) return bound.fault();
  return std::unique_ptr<RowSource>(std::move(source));
}

}  // namespace frostline::trainer
