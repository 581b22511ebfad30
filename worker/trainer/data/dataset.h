// SPDX-License-Identifier: Apache-2.0
//
// File: dataset.h
//
// Holds a split in memory, in the file's order.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_DATASET_H_
#define FROSTLINE_WORKER_TRAINER_DATA_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/data/label_set.h"
#include "worker/trainer/data/text_form.h"
#include "worker/trainer/data/text_pool.h"

namespace frostline::trainer {

enum class TaskKind {
  kClassification,  // a text, or two, and one label
  kRegression,      // a text, or two, and one number
  kTagging,         // words, each with a label
};

inline constexpr std::int32_t kNoLabel = -1;

// The views belong to the dataset. A tagging example has words, the others
// texts.
struct Example {
  std::string_view text;
  std::string_view second;  // of a pair
  std::uint64_t first_word = 0;
  std::uint32_t word_count = 0;
  std::int32_t label = kNoLabel;
  double target = 0.0;  // of regression
  double weight = 1.0;
};

// It moves and never copies; a move leaves every view valid.
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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_DATASET_H_
