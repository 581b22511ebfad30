// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/dataset.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "base/plain/sums.h"
#include "base/plain/text.h"
#include "worker/trainer/data/limits.h"

namespace frostline::trainer {

TextShaper::TextShaper(const TextForm& form)
    : shapes_(form.any()),
      normalizer_({.clean_text = false,
                   .handle_chinese_chars = false,
                   .strip_accents = form.strip_accents,
                   .lowercase = form.lowercase}) {}

std::string_view TextShaper::Shape(std::string_view text) {
  if (!shapes_) return text;
  repaired_ = RepairUtf8(text);
  normalizer_.Run(repaired_, 0, shaped_);
  return shaped_.bytes();
}

Expected<LabelSet> LabelSet::FromList(const std::vector<std::string>& names) {
  LabelSet set;
  if (names.size() > kMaxLabels) {
    return Fault{FaultKind::kTooLarge, "there are more than 10,000 labels",
                 "name fewer"};
  }
  for (const std::string& name : names) {
    if (set.Find(name)) {
      return Fault{FaultKind::kInconsistent,
                   "label " + Shown(name) + " is there twice",
                   "name each label once"};
    }
    set.FindOrAdd(name);
  }
  return set;
}

std::optional<std::int32_t> LabelSet::Find(std::string_view name) const {
  const auto found = ids_.find(name);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

std::int32_t LabelSet::FindOrAdd(std::string_view name) {
  const auto found = ids_.find(name);
  if (found != ids_.end()) return found->second;
  const auto id = static_cast<std::int32_t>(names_.size());
  names_.emplace_back(name);
  ids_.emplace(names_.back(), id);
  return id;
}

std::vector<std::int32_t> LabelSet::Sort() {
  std::vector<std::optional<double>> numbers;
  numbers.reserve(names_.size());
  for (const std::string& name : names_) numbers.push_back(ParseNumber(name));
  const bool numeric =
      std::all_of(numbers.begin(), numbers.end(),
                  [](const auto& number) { return number.has_value(); });
  std::vector<std::size_t> order(names_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (numeric && *numbers[a] != *numbers[b]) return *numbers[a] < *numbers[b];
    return names_[a] < names_[b];
  });
  std::vector<std::int32_t> new_ids(names_.size());
  std::vector<std::string> sorted;
  for (const std::size_t old : order) {
    const auto id = static_cast<std::int32_t>(sorted.size());
    new_ids[old] = id;
    ids_[names_[old]] = id;
    sorted.push_back(names_[old]);
  }
  names_ = std::move(sorted);
  return new_ids;
}

std::string ListOfLabels(const LabelSet& labels) {
  constexpr std::size_t kShown = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(labels.size(), kShown); ++i) {
    list += (i > 0 ? ", " : "") + Shown(labels.names()[i]);
  }
  if (labels.size() > kShown) {
    list += " and " + std::to_string(labels.size() - kShown) + " more";
  }
  return list;
}

namespace {

void AddLabel(const Dataset& data, std::int32_t label, Sha256Sum& sum) {
  sum.AddField(
      label == kNoLabel
          ? std::string_view()
          : std::string_view(
                data.labels().names()[static_cast<std::size_t>(label)]));
}

}  // namespace

std::vector<std::uint32_t> Dataset::AllRows() const {
  std::vector<std::uint32_t> rows(size());
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  return rows;
}

// Classes stay, so that later rows are numbered with them.
void Dataset::ForgetRows() {
  examples_.clear();
  words_.clear();
  word_labels_.clear();
  pool_ = TextPool();
}

std::string Fingerprint(const Dataset& data,
                        std::span<const std::uint32_t> rows) {
  return Fingerprint(data, rows, StopSign()).value();
}

Expected<std::string> Fingerprint(const Dataset& data,
                                  std::span<const std::uint32_t> rows,
                                  const StopSign& stop) {
  Sha256Sum sum;
  sum.AddField("frostline data 1");  // a change of what follows changes this
  // Once the words that a model did not read were not scored.
  if (data.task() == TaskKind::kTagging) sum.AddField("all words");
  sum.AddNumber(static_cast<std::uint64_t>(data.task()));
  sum.AddNumber(data.labelled() ? 1 : 0);
  sum.AddNumber(data.is_pair() ? 1 : 0);
  sum.AddNumber(rows.size());
  for (const std::uint32_t row : rows) {
    RETURN_IF_FAULT(stop.Check());
    const Example& example = data[row];
    sum.AddNumber(std::bit_cast<std::uint64_t>(example.weight));
    if (data.task() == TaskKind::kTagging) {
      sum.AddNumber(example.word_count);
      for (std::size_t i = 0; i < example.word_count; ++i) {
        sum.AddField(data.words(row)[i]);
        AddLabel(data, data.word_labels(row)[i], sum);
      }
      continue;
    }
    sum.AddField(example.text);
    sum.AddField(example.second);
    if (data.task() == TaskKind::kChoices) {
      sum.AddNumber(example.word_count);
      for (const std::string_view choice : data.words(row)) {
        sum.AddField(choice);
      }
      sum.AddNumber(example.right);
    } else if (data.task() == TaskKind::kRegression) {
      sum.AddNumber(std::bit_cast<std::uint64_t>(example.target));
    } else {
      AddLabel(data, example.label, sum);
    }
  }
  return sum.Finish();
}

std::optional<std::string_view> LabelRules::Apply(
    std::string_view label) const {
  if (dropped.contains(label)) return std::nullopt;
  const auto found = names.find(label);
  return found == names.end() ? label : std::string_view(found->second);
}

std::optional<std::string_view> Apply(const LabelChain& chain,
                                      std::string_view label) {
  std::optional<std::string_view> name = label;
  for (const LabelRules& rules : chain) {
    if (name) name = rules.Apply(*name);
  }
  return name;
}

std::vector<std::string> Apply(const LabelChain& chain,
                               const std::vector<std::string>& labels) {
  std::vector<std::string> names;
  for (const std::string& label : labels) {
    const std::optional<std::string_view> name = Apply(chain, label);
    if (!name || std::ranges::find(names, *name) != names.end()) continue;
    names.emplace_back(*name);
  }
  return names;
}

Expected<Done> Check(const LabelRules& rules, const std::string& where) {
  for (const std::string& label : rules.dropped) {
    if (!rules.names.contains(label)) continue;
    std::string cause = where;
    cause += "drop_labels drops " + Shown(label);
    cause += ", which " + where;
    cause += "label_map renames";
    return Fault{FaultKind::kMisuse, std::move(cause), "do one of the two"};
  }
  for (const auto& [label, name] : rules.names) {
    if (!name.empty()) continue;
    return Fault{FaultKind::kMisuse,
                 where + "label_map gives " + Shown(label) + " no name",
                 "drop it: drop_labels: [" + label + "]"};
  }
  return Done{};
}

namespace {

constexpr std::size_t kScanned = 1'024;  // rows that a scan holds at a time

}  // namespace

DatasetReader& DatasetReader::WithLabels(const LabelSet& labels) {
  labels_ = labels;
  return *this;
}

DatasetReader& DatasetReader::SkipUnlabelled() {
  skip_unlabelled_ = true;
  return *this;
}

DatasetReader& DatasetReader::WithForm(const TextForm& form) {
  form_ = form;
  return *this;
}

DatasetReader& DatasetReader::WithLabelRules(LabelChain rules) {
  rules_ = std::move(rules);
  return *this;
}

DatasetReader& DatasetReader::WithMostRows(std::size_t rows) {
  most_rows_ = std::min(rows, kMaxRows);
  return *this;
}

DatasetReader& DatasetReader::WithStop(const StopSign& stop) {
  stop_ = stop;
  return *this;
}

DatasetReader& DatasetReader::WithoutLabels() {
  labelled_ = false;
  return *this;
}

Expected<Dataset> DatasetReader::Read(InputFile file, const FileFormat& format,
                                      const ColumnMap& columns) const {
  return Run(std::move(file), format, columns, nullptr);
}

Expected<Done> DatasetReader::Scan(InputFile file, const FileFormat& format,
                                   const ColumnMap& columns,
                                   const Look& look) const {
  ASSIGN_OR_FAULT(Dataset rest, Run(std::move(file), format, columns, look));
  if (rest.size() > 0) look(rest);
  return Done{};
}

// With `look` what it returns are the last rows alone.
Expected<Dataset> DatasetReader::Run(InputFile file, const FileFormat& format,
                                     const ColumnMap& columns,
                                     const Look& look) const {
  RETURN_IF_FAULT(CheckRoles(task_, columns));
  ColumnMap all = columns;
  all.merge(DefaultColumns(task_, format.kind));
  if (!labelled_) all.erase(task_ == TaskKind::kTagging ? "tags" : "label");
  RowRoles roles;
  for (const auto& [role, column] : all) {
    roles.index[role] = roles.columns.size();
    roles.columns.push_back(column);
  }
  const std::string name = file.name();
  ASSIGN_OR_FAULT(auto source,
                  OpenRows(std::move(file), format, roles.columns));

  Dataset data(task_);
  data.labelled_ = labelled_;
  data.form_ = form_;
  data.is_pair_ = all.contains("second");
  if (labels_) data.labels_ = *labels_;
  Row row;
  TextShaper shaper(form_);
  std::size_t looked_at = 0;
  while (true) {
    if (look && data.size() == kScanned) {
      look(data);
      looked_at += data.size();
      data.ForgetRows();
    }
    RETURN_IF_FAULT(stop_.Check());
    ASSIGN_OR_FAULT(bool more, source->Next(row));
    if (!more) break;
    if (looked_at + data.size() == most_rows_ ||
        data.words_.size() > kMaxWords) {
      return source->Here(FaultKind::kTooLarge,
                          "is beyond the " +
                              std::to_string(looked_at + data.size()) +
                              " rows that a split may have",
                          "split the file, or take a part of it");
    }
    RETURN_IF_FAULT(AddRow(*source, row, roles, shaper, data));
  }
  if (looked_at + data.size() == 0 && data.dropped_ > 0) {
    return Fault{FaultKind::kMisuse,
                 name + ": all of its " + std::to_string(data.dropped_) +
                     " rows have labels that data.drop_labels drops",
                 "drop fewer labels"};
  }
  if (looked_at + data.size() == 0) {
    return Fault{FaultKind::kInconsistent, name + ": has no rows",
                 "give a file with at least one row"};
  }
  if (!look) SortLabels(data);
  return data;
}

bool DatasetReader::LacksLabel(const Row& row, const RowRoles& roles) const {
  const bool tagging = task_ == TaskKind::kTagging;
  const Cell* cell = roles.Find(row, tagging ? "tags" : "label");
  if (cell == nullptr) return false;
  if (!cell->present) return true;
  if (!tagging) return Trimmed(cell->text).empty();
  std::vector<std::string_view> tags;
  ItemsOf(*cell, tags);
  return std::any_of(tags.begin(), tags.end(), IsNoTag);
}

namespace {

Fault NoLabel(const RowSource& source, const RowRoles& roles) {
  return source.Here(FaultKind::kInconsistent,
                     "has no label in " + roles.ColumnOf("label"),
                     "label the row, or leave out all such rows: "
                     "--skip-unlabelled (skip_unlabelled: true)");
}

}  // namespace

Expected<Done> DatasetReader::AddRow(const RowSource& source, const Row& row,
                                     const RowRoles& roles, TextShaper& shaper,
                                     Dataset& data) const {
  if (skip_unlabelled_ && LacksLabel(row, roles)) {
    ++data.skipped_;
    return Done{};
  }
  for (const auto& [role, index] : roles.index) {
    if (row.cells[index].present) continue;
    if (role == "label") return NoLabel(source, roles);
    return source.Here(
        FaultKind::kInconsistent, "has nothing in " + roles.ColumnOf(role),
        "give every row a value, or name another column for " + role);
  }
  if (IsDropped(row, roles, data)) {
    ++data.dropped_;
    return Done{};
  }
  data.examples_.emplace_back();
  Expected<Done> added = task_ == TaskKind::kTagging
                             ? AddWords(source, row, roles, shaper, data)
                             : AddText(source, row, roles, shaper, data);
  if (!added.ok()) return added;
  if (const Cell* weight = roles.Find(row, "weight")) {
    const auto number = ParseNumber(Trimmed(weight->text));
    if (!number || *number < 0.0) {
      return source.Here(FaultKind::kInconsistent,
                         roles.ColumnOf("weight") + " is no weight",
                         "write a number that is 0 or more");
    }
    data.examples_.back().weight = *number;
  }
  return Done{};
}

namespace {

using Roles = std::vector<std::string_view>;

Roles RolesOf(TaskKind task) {
  switch (task) {
    case TaskKind::kTagging:
      return {"words", "tags", "weight"};
    case TaskKind::kAnswers:
      return {"text", "label", "weight"};
    case TaskKind::kChoices:
      return {"text", "choices", "label", "weight"};
    case TaskKind::kClassification:
    case TaskKind::kRegression:
      break;
  }
  return {"text", "second", "label", "weight"};
}

}  // namespace

ColumnMap DefaultColumns(TaskKind task, FileFormat::Kind kind) {
  if (task == TaskKind::kAnswers) {
    return {{"text", "prompt"}, {"label", "answer"}};
  }
  if (task == TaskKind::kChoices) {
    return {{"text", "prompt"}, {"choices", "choices"}, {"label", "answer"}};
  }
  if (task != TaskKind::kTagging) return {{"text", "text"}, {"label", "label"}};
  if (kind == FileFormat::Kind::kConllu) {
    return {{"words", "form"}, {"tags", "upos"}};
  }
  return {{"words", "words"}, {"tags", "tags"}};
}

Expected<Done> CheckRoles(TaskKind task, const ColumnMap& columns) {
  const Roles known = RolesOf(task);
  std::string roles;
  for (const std::string_view role : known) {
    roles += (roles.empty() ? "" : ", ") + std::string(role);
  }
  for (const auto& [role, column] : columns) {
    if (std::ranges::find(known, role) != known.end()) continue;
    return Fault{FaultKind::kMisuse,
                 "columns: this task has no role '" + role + "'",
                 "its roles are " + roles};
  }
  return Done{};
}

std::optional<std::string_view> DatasetReader::Named(std::string_view label,
                                                     Dataset& data) const {
  std::optional<std::string_view> name = label;
  for (const LabelRules& rules : rules_) {
    if (!name) break;
    if (rules.Has(*name)) data.ruled_.emplace(*name);
    name = rules.Apply(*name);
  }
  return name;
}

// In tagging words lose their label, and the row stays.
bool DatasetReader::IsDropped(const Row& row, const RowRoles& roles,
                              Dataset& data) const {
  if (!labelled_ || rules_.empty() || task_ != TaskKind::kClassification) {
    return false;
  }
  const Cell* const cell = roles.Find(row, "label");
  return cell != nullptr && !Named(Trimmed(cell->text), data).has_value();
}

Expected<std::int32_t> DatasetReader::LabelOf(const RowSource& source,
                                              std::string_view name,
                                              Dataset& data) const {
  if (const auto id = data.labels_.Find(name)) return *id;
  if (labels_) {
    return source.Here(
        FaultKind::kInconsistent,
        "label " + Shown(name) + " is unknown: training has " +
            ListOfLabels(*labels_),
        "correct the row, or train on a split that has this label");
  }
  if (name.size() > kMaxLabelBytes) {
    return source.Here(FaultKind::kTooLarge,
                       "its label has more than 256 bytes",
                       "is this the label's column? see `columns`");
  }
  if (data.labels_.size() == kMaxLabels) {
    return source.Here(FaultKind::kTooLarge, "brings label number 10,001",
                       "is this the label's column? numbers are learnt by the "
                       "task 'regression'");
  }
  return data.labels_.FindOrAdd(name);
}

// Ids must not depend on the order of the rows.
void DatasetReader::SortLabels(Dataset& data) const {
  if (labels_ || !labelled_ || !HasClasses(task_)) return;
  const std::vector<std::int32_t> ids = data.labels_.Sort();
  for (Example& example : data.examples_) {
    if (example.label == kNoLabel) continue;
    example.label = ids[static_cast<std::size_t>(example.label)];
  }
  for (std::int32_t& label : data.word_labels_) {
    if (label != kNoLabel) label = ids[static_cast<std::size_t>(label)];
  }
}

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
  if (task_ == TaskKind::kChoices) {
    RETURN_IF_FAULT(AddChoices(source, row, roles, shaper, data));
  }
  if (!labelled_ || task_ == TaskKind::kChoices) return Done{};
  const Cell& cell = *roles.Find(row, "label");
  const std::string_view written = Trimmed(cell.text);
  if (written.empty()) return NoLabel(source, roles);
  if (task_ == TaskKind::kAnswers) {
    example.second = data.pool_.Add(shaper.Shape(cell.text));
    return Done{};
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
  ASSIGN_OR_FAULT(
      std::int32_t label,
      LabelOf(source, Named(written, data).value_or(written), data));
  example.label = label;
  return Done{};
}

// The right one is told by its text, or by its number from 0 on.
Expected<Done> DatasetReader::AddChoices(const RowSource& source,
                                         const Row& row, const RowRoles& roles,
                                         TextShaper& shaper,
                                         Dataset& data) const {
  const Cell& choices = *roles.Find(row, "choices");
  if (!choices.is_list || choices.items.size() < 2) {
    return source.Here(FaultKind::kInconsistent,
                       roles.ColumnOf("choices") + " is no list of two or more",
                       "write JSON Lines, with a list of texts there");
  }
  Example& example = data.examples_.back();
  example.first_word = data.words_.size();
  example.word_count = static_cast<std::uint32_t>(choices.items.size());
  for (const auto& choice : choices.items) {
    if (Trimmed(choice).empty()) {
      return source.Here(FaultKind::kInconsistent,
                         roles.ColumnOf("choices") + " has an empty choice",
                         "leave the choice out, or the row");
    }
    data.words_.push_back(data.pool_.Add(shaper.Shape(choice)));
  }
  data.word_labels_.resize(data.words_.size(), kNoLabel);
  if (!labelled_) return Done{};
  const std::string_view right = roles.Find(row, "label")->text;
  const auto named = std::ranges::find(choices.items, right);
  const auto number = ParseNumber(Trimmed(right));
  if (named != choices.items.end()) {
    example.right = static_cast<std::uint32_t>(named - choices.items.begin());
    return Done{};
  }
  if (!number || *number < 0.0 || *number >= example.word_count ||
      *number != static_cast<double>(static_cast<std::uint32_t>(*number))) {
    return source.Here(
        FaultKind::kInconsistent,
        roles.ColumnOf("label") + " names none of the choices",
        "write the text of the right choice, or its number from 0 on");
  }
  example.right = static_cast<std::uint32_t>(*number);
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
    ASSIGN_OR_FAULT(std::int32_t label, LabelOf(source, *name, data));
    data.word_labels_[example.first_word + i] = label;
  }
  return Done{};
}

}  // namespace frostline::trainer
