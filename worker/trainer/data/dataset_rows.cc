// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "base/plain/text.h"
#include "worker/trainer/data/dataset_reader.h"
#include "worker/trainer/data/row_roles.h"

namespace frostline::trainer {

void ItemsOf(const Cell& cell, std::vector<std::string_view>& items) {
  items.assign(cell.items.begin(), cell.items.end());
  if (cell.is_list) return;
  std::string_view rest = cell.text;
  while (true) {
    const std::size_t begin = rest.find_first_not_of(' ');
    if (begin == std::string_view::npos) return;
    rest.remove_prefix(begin);
    const std::size_t size = rest.substr(0, rest.find(' ')).size();
    items.push_back(rest.substr(0, size));
    rest.remove_prefix(size);
  }
}

Expected<Done> DatasetReader::AddText(const RowSource& source, const Row& row,
                                      const RowRoles& roles, TextShaper& shaper,
                                      Dataset& data) const {
  Example& example = data.examples_.back();
  for (const std::string_view role : {"text", "second"}) {
    const Cell* cell = roles.Find(row, role);
    if (cell == nullptr) continue;
    if (cell->is_list) {
      return source.Here(FaultKind::kInconsistent,
                         roles.ColumnOf(role) + " is a list, not a text",
                         "use the task 'tagging' for words with labels");
    }
    (role == "text" ? example.text : example.second) =
        data.pool_.Add(shaper.Shape(cell->text));
  }
  if (!labelled_) return Done{};
  const Cell& cell = *roles.Find(row, "label");
  const std::string_view written = Trimmed(cell.text);
  if (written.empty()) {
    return source.Here(FaultKind::kInconsistent,
                       "has no label in " + roles.ColumnOf("label"),
                       "label the row, or leave it out");
  }
  if (task_ == TaskKind::kRegression) {
    const auto number = ParseNumber(written);
    if (!number) {
      return source.Here(FaultKind::kInconsistent,
                         roles.ColumnOf("label") + " is no finite number",
                         "correct the line, or use the task 'classification'");
    }
    example.target = *number;
    return Done{};
  }
  Expected<std::int32_t> label =
      LabelOf(source, Named(written, data).value_or(written), data);
  if (!label.ok()) return label.fault();
  example.label = label.value();
  return Done{};
}

Expected<Done> DatasetReader::AddWords(const RowSource& source, const Row& row,
                                       const RowRoles& roles,
                                       TextShaper& shaper,
                                       Dataset& data) const {
  std::vector<std::string_view> items;
  ItemsOf(*roles.Find(row, "words"), items);
  Example& example = data.examples_.back();
  example.first_word = data.words_.size();
  example.word_count = static_cast<std::uint32_t>(items.size());
  if (items.empty()) {
    return source.Here(FaultKind::kInconsistent, "has no words",
                       "leave the row out");
  }
  for (const std::string_view word : items) {
    data.words_.push_back(data.pool_.Add(shaper.Shape(word)));
  }
  data.word_labels_.resize(data.words_.size(), kNoLabel);
  if (!labelled_) return Done{};
  ItemsOf(*roles.Find(row, "tags"), items);
  if (items.size() != example.word_count) {
    return source.Here(FaultKind::kInconsistent,
                       "has " + std::to_string(example.word_count) +
                           " words and " + std::to_string(items.size()) +
                           " tags",
                       "give every word one tag");
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (IsNoTag(items[i])) {
      return source.Here(FaultKind::kInconsistent,
                         "word " + std::to_string(i + 1) + " has no tag in " +
                             roles.ColumnOf("tags"),
                         "tag the word, or name another column for tags");
    }
    const std::optional<std::string_view> name = Named(items[i], data);
    if (!name) {
      ++data.dropped_;
      continue;
    }
    Expected<std::int32_t> label = LabelOf(source, *name, data);
    if (!label.ok()) return label.fault();
    data.word_labels_[example.first_word + i] = label.value();
  }
  return Done{};
}

}  // namespace frostline::trainer
