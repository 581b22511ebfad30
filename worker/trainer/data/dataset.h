// SPDX-License-Identifier: Apache-2.0
//
// File: dataset.h
//
// Holds a split in memory, in the file's order.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_DATASET_H_
#define FROSTLINE_WORKER_TRAINER_DATA_DATASET_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "base/plain/text.h"
#include "worker/trainer/data/limits.h"
#include "worker/trainer/data/row_source.h"
#include "worker/trainer/text/normalizer.h"

namespace frostline::trainer {

// Keeps texts, many in one allocation, for as long as it lives.
//
// Moving the pool leaves the texts where they are.
class TextPool {
 public:
  std::string_view Add(std::string_view text) {
    if (text.empty()) return {};
    if (text.size() > room_) {
      room_ = std::max(text.size(), kBlockBytes);
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(room_));
      next_ = blocks_.back().get();
    }
    char* const at = next_;
    std::copy(text.begin(), text.end(), at);
    next_ += text.size();
    room_ -= text.size();
    return {at, text.size()};
  }

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t room_ = 0;
};

// Makes capitals small and takes accents away, as BERT's normalizer does: for a
// cased model whose study is of uncased text.

struct TextForm {
  bool lowercase = false;
  bool strip_accents = false;
  // Prompts are a user's questions, written as the model's chats are
  // (text/chat_template.h). That is done when they become tokens.
  bool chat = false;

  bool any() const { return lowercase || strip_accents; }

  friend bool operator==(const TextForm&, const TextForm&) = default;
};

// Brings texts into a TextForm. One thread uses it.
class TextShaper {
 public:
  explicit TextShaper(const TextForm& form);

  // The answer lives until the next call. Text that is no UTF-8 is repaired.
  std::string_view Shape(std::string_view text);

 private:
  const bool shapes_;
  BertNormalizer normalizer_;
  NormalizedText shaped_;
  std::string repaired_;
};

// Holds the classes of a task, in the order of the model's outputs.
class LabelSet {
 public:
  // Returns kInconsistent when one is there twice, kTooLarge for too many.
  static Expected<LabelSet> FromList(const std::vector<std::string>& names);

  std::optional<std::int32_t> Find(std::string_view name) const;
  const std::vector<std::string>& names() const { return names_; }
  std::size_t size() const { return names_.size(); }

  // A new name becomes the last one.
  std::int32_t FindOrAdd(std::string_view name);
  // Sorts as numbers where all names are, else byte by byte, and returns the
  // new id of each old one.
  std::vector<std::int32_t> Sort();

  friend bool operator==(const LabelSet& a, const LabelSet& b) {
    return a.names_ == b.names_;
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::int32_t, std::less<>> ids_;
};

// Names the first 20, then says "and 9980 more".
std::string ListOfLabels(const LabelSet& labels);

enum class TaskKind {
  kClassification,  // a text, or two, and one label
  kRegression,      // a text, or two, and one number
  kTagging,         // words, each with a label
  kAnswers,         // a prompt, and the text that answers it
  kChoices,         // a prompt, and texts of which one answers it
};

inline constexpr std::int32_t kNoLabel = -1;

// One example. The views belong to the dataset. A tagging example has words,
// one of choices a text and words, which are the choices; the others have
// texts.
struct Example {
  std::string_view text;    // of answers and choices the prompt
  std::string_view second;  // of a pair, of answers the answer
  std::uint64_t first_word = 0;
  std::uint32_t word_count = 0;
  std::int32_t label = kNoLabel;
  double target = 0.0;  // of regression
  double weight = 1.0;
  std::uint32_t right = 0;  // which of the choices
};

// The examples of one split, in memory. It moves and never copies; a move
// leaves every view valid.
class Dataset {
 public:
  explicit Dataset(TaskKind task) : task_(task) {}
  Dataset(Dataset&&) = default;
  Dataset& operator=(Dataset&&) = default;

  TaskKind task() const { return task_; }
  bool is_pair() const { return is_pair_; }
  bool labelled() const { return labelled_; }
  const TextForm& form() const { return form_; }  // its texts have it
  // These rows had no label and were left out.
  std::size_t skipped() const { return skipped_; }
  // These had one that is dropped; in tagging they count words, which stay.
  std::size_t dropped() const { return dropped_; }
  // Labels, as they were before, that a rule was of.
  const std::set<std::string, std::less<>>& ruled() const { return ruled_; }
  std::size_t size() const { return examples_.size(); }
  const Example& operator[](std::size_t row) const { return examples_[row]; }
  const LabelSet& labels() const { return labels_; }

  std::span<const std::string_view> words(std::size_t row) const {
    return {words_.data() + examples_[row].first_word,
            examples_[row].word_count};
  }
  std::span<const std::int32_t> word_labels(std::size_t row) const {
    return {word_labels_.data() + examples_[row].first_word,
            examples_[row].word_count};
  }
  std::size_t word_total() const { return words_.size(); }

  std::vector<std::uint32_t> AllRows() const;

 private:
  friend class DatasetReader;

  void ForgetRows();

  TaskKind task_;
  bool is_pair_ = false;
  bool labelled_ = true;
  TextForm form_;
  std::size_t skipped_ = 0;
  std::size_t dropped_ = 0;
  std::set<std::string, std::less<>> ruled_;
  LabelSet labels_;
  std::vector<Example> examples_;
  std::vector<std::string_view> words_;
  std::vector<std::int32_t> word_labels_;
  TextPool pool_;
};

// Returns the SHA-256 over texts, words, labels by name, targets and weights of
// these rows in this order, so of all that is scored, however little of it a
// model reads. Where it is equal, outcomes may be compared example by example.
std::string Fingerprint(const Dataset& data,
                        std::span<const std::uint32_t> rows);
// The same; it asks `stop` before each row.
Expected<std::string> Fingerprint(const Dataset& data,
                                  std::span<const std::uint32_t> rows,
                                  const StopSign& stop);

struct TaskName {
  TaskKind kind = TaskKind::kClassification;
  bool pair = false;  // a second text must be there

  friend bool operator==(const TaskName&, const TaskName&) = default;
};

// Returns whether the task has classes, which have names.
constexpr bool HasClasses(TaskKind task) {
  return task == TaskKind::kClassification || task == TaskKind::kTagging;
}

// "pair" is the classification of two texts.
inline std::optional<TaskName> ParseTaskName(std::string_view name) {
  if (name == "classification") return TaskName{TaskKind::kClassification};
  if (name == "regression") return TaskName{TaskKind::kRegression};
  if (name == "tagging") return TaskName{TaskKind::kTagging};
  if (name == "answers") return TaskName{TaskKind::kAnswers};
  if (name == "choices") return TaskName{TaskKind::kChoices};
  if (name == "pair") return TaskName{TaskKind::kClassification, true};
  return std::nullopt;
}

// Makes rows examples of a task. The first that does not fit is a fault that
// names file, line and fix.

// Makes the labels of one set those of another: renames, merges and drops them.
//
//   {"0": neg, "1": pos}, drop neutral:  0 -> neg, neutral -> nothing, pos ->
//   pos

struct LabelRules {
  std::map<std::string, std::string, std::less<>> names;
  std::set<std::string, std::less<>> dropped;

  bool any() const { return !names.empty() || !dropped.empty(); }
  // Nothing where the label is dropped.
  std::optional<std::string_view> Apply(std::string_view label) const;
  // Says whether a rule is of this label.
  bool Has(std::string_view label) const {
    return names.contains(label) || dropped.contains(label);
  }

  friend bool operator==(const LabelRules&, const LabelRules&) = default;
};

// One after the other: a set's own, then the study's.
using LabelChain = std::vector<LabelRules>;
std::optional<std::string_view> Apply(const LabelChain& chain,
                                      std::string_view label);

// What becomes of a set's declared labels, each once, in their order.
std::vector<std::string> Apply(const LabelChain& chain,
                               const std::vector<std::string>& labels);

// Returns kMisuse, naming `where`, for a label that is mapped and dropped.
Expected<Done> Check(const LabelRules& rules, const std::string& where);

struct RowRoles {
  std::map<std::string, std::size_t, std::less<>> index;
  std::vector<std::string> columns;

  // It is null when no column has the role.
  const Cell* Find(const Row& row, std::string_view role) const {
    const auto found = index.find(role);
    return found == index.end() ? nullptr : &row.cells[found->second];
  }
  // REQUIRES: a column has the role.
  std::string ColumnOf(std::string_view role) const {
    return "column " + Shown(columns[index.find(role)->second]);
  }
};

// Returns the items of a list, or the words between the blanks of a text.
void ItemsOf(const Cell& cell, std::vector<std::string_view>& items);

// CoNLL-U writes "_" for "nothing here".
inline bool IsNoTag(std::string_view tag) { return tag.empty() || tag == "_"; }

// It leads from roles (text, second, label, weight; words, tags, weight; of
// choices also `choices`) to columns.
using ColumnMap = std::map<std::string, std::string>;

ColumnMap DefaultColumns(TaskKind task, FileFormat::Kind kind);

// Returns kMisuse when `task` does not know a role.
Expected<Done> CheckRoles(TaskKind task, const ColumnMap& columns);

// Reads a file of rows as a Dataset.
class DatasetReader {
 public:
  explicit DatasetReader(TaskKind task) : task_(task) {}

  // Allows only these, in this order, instead of the file's own, sorted.
  DatasetReader& WithLabels(const LabelSet& labels);
  // Leaves out and counts rows without a label, otherwise a fault.
  DatasetReader& SkipUnlabelled();
  DatasetReader& WithoutLabels();

  // Texts and words are read in this form.
  DatasetReader& WithForm(const TextForm& form);
  // Labels go by these names; rows of a dropped label are left out, words of
  // one have none. WithLabels() are names of afterwards.
  DatasetReader& WithLabelRules(LabelChain rules);

  // A row beyond so many, kMaxRows at most, is a fault.
  DatasetReader& WithMostRows(std::size_t rows);

  // Asked before each row.
  DatasetReader& WithStop(const StopSign& stop);

  // `columns` go before the defaults. An empty file is a fault.
  Expected<Dataset> Read(InputFile file, const FileFormat& format,
                         const ColumnMap& columns) const;

  // Some rows of a file, in its order; they end with the call.
  using Look = std::function<void(const Dataset& some)>;
  // Reads and judges as Read() does and keeps no row, so that a file of any
  // size takes a few mebibytes. Classes are numbered as they are met.
  Expected<Done> Scan(InputFile file, const FileFormat& format,
                      const ColumnMap& columns, const Look& look) const;

 private:
  Expected<Dataset> Run(InputFile file, const FileFormat& format,
                        const ColumnMap& columns, const Look& look) const;
  bool LacksLabel(const Row& row, const RowRoles& roles) const;
  Expected<Done> AddRow(const RowSource& source, const Row& row,
                        const RowRoles& roles, TextShaper& shaper,
                        Dataset& data) const;
  Expected<Done> AddChoices(const RowSource& source, const Row& row,
                            const RowRoles& roles, TextShaper& shaper,
                            Dataset& data) const;
  Expected<Done> AddWords(const RowSource& source, const Row& row,
                          const RowRoles& roles, TextShaper& shaper,
                          Dataset& data) const;
  Expected<Done> AddText(const RowSource& source, const Row& row,
                         const RowRoles& roles, TextShaper& shaper,
                         Dataset& data) const;
  // Says what a label is called here, and notes that a rule was of it.
  std::optional<std::string_view> Named(std::string_view label,
                                        Dataset& data) const;
  bool IsDropped(const Row& row, const RowRoles& roles, Dataset& data) const;
  Expected<std::int32_t> LabelOf(const RowSource& source, std::string_view name,
                                 Dataset& data) const;
  void SortLabels(Dataset& data) const;

  TaskKind task_;
  std::optional<LabelSet> labels_;
  std::size_t most_rows_ = kMaxRows;
  StopSign stop_;
  TextForm form_;
  LabelChain rules_;
  bool labelled_ = true;
  bool skip_unlabelled_ = false;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_DATASET_H_
