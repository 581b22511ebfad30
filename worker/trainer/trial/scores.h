// SPDX-License-Identifier: Apache-2.0
//
// File: scores.h
//
// Turns predictions, batch by batch in any order, into the metrics of a task
// and an outcome for each example in the order of the data set.
//
//   classification  accuracy, f1 (of class 1 where there are two, else macro),
//                   f1_macro, f1_micro, mcc, loss
//   tagging         the same over all words, those that were not read wrong
//                   (words_cut counts them, loss leaves them out); where the
//                   tags mark spans f1, precision and recall are those of spans
//   both            labels_missing where a label is of no example, how many
//   regression      pearson, spearman (0 where undefined), mse, rmse, loss
//   answers         exact_match (greedy decoding would say the answer and end
//                   there: every token of it is the likeliest), perplexity,
//                   loss; answers_cut counts those beyond max_length, which
//                   are wrong
//   choices         accuracy (the right choice is the likeliest),
//                   accuracy_per_byte (for its bytes), of the right choices
//                   perplexity and loss
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_SCORES_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_SCORES_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "worker/trainer/data/dataset.h"
#include "worker/trainer/data/load.h"
#include "worker/trainer/data/token_store.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::trainer {

using Metrics = std::map<std::string, double>;

// The outcomes of the examples of one set, as the contract's message of the
// same name has them.
struct ExampleOutcomes {
  std::string data_fingerprint;
  std::string encoding;  // "PACKED_BITS" right or wrong, "FLOAT16" predictions
  std::int64_t count = 0;
  std::string bytes;
  std::string set;  // "validation", "test", …
  std::string task = {};
  // The details, packed little-endian.
  std::vector<std::string> classes = {};
  std::string predicted_class = {};
  std::string true_class = {};
  std::string predicted_value = {};
  std::string true_value = {};
  std::string confidence = {};
  std::vector<std::uint32_t> sentence_ends = {};
  std::int64_t words_cut = 0;

  std::size_t size() const;  // on the wire, about
  void DropDetails();
};

// Leaves out what is too much for one message, the least useful first. Returns
// what it left out.
std::vector<std::string> FitIntoFinish(std::vector<ExampleOutcomes>& sets);

// Returns the names that Compute() gives, so that a misspelt objective is found
// before training.
std::vector<std::string> MetricNames(const HeadSpec& head,
                                     const LabelSet& labels);

// Returns the metric that the mean over tasks takes: accuracy, f1 of spans, or
// pearson.
std::string FirstMetric(const HeadSpec& head, const LabelSet& labels);

// The predictions for one data set, and the metrics computed from them.
class Scores {
 public:
  // The classes of one example: one class or, for tagging, one for each
  // labelled word. -1 stands for a truth that nobody knows, and for the
  // prediction of a word that was not read.
  struct Guess {
    std::vector<std::int32_t> truth;
    std::vector<std::int32_t> prediction;
    std::vector<float> confidence;  // the predicted class's probability
  };

  // `labels` outlives this; `rows` is the number of examples.
  Scores(const HeadSpec& head, const LabelSet& labels, std::size_t rows);

  // Adds the prediction for `batch`, which held these rows (0 to rows - 1) in
  // this order.
  void Add(std::span<const std::uint32_t> rows, const Batch& batch,
           const Prediction& prediction);

  // Adds the words of `row` that no batch held, at their places. Call it after
  // all batches.
  void AddUnread(std::size_t row, std::span<const UnreadWord> words);

  // Takes over which answers were cut and which rows are choices of one
  // example. Call it after all batches; other tasks have neither.
  void NoteAnswers(const TokenStore& tokens);

  // Takes over what the model said, by row; only predicting lets it.
  void NoteSaid(std::vector<std::string> said) { spoken_ = std::move(said); }
  const std::vector<std::string>& spoken() const { return spoken_; }

  Metrics Compute() const;
  // Returns the outcome of each example. In tagging it is one for each labelled
  // word, in order, including words that were cut. Returns kTooLarge if there
  // are too many for a message.
  Expected<ExampleOutcomes> Outcomes(const std::string& fingerprint) const;

  bool of_numbers() const;
  bool of_answers() const { return head_.task == Task::kAnswers; }
  // Which of an example's choices is the likeliest, and its share among them.
  struct Choice {
    std::uint32_t right = 0;
    std::uint32_t chosen = 0;
    float share = 0.0F;
  };
  Choice choice(std::size_t example) const;
  const std::vector<std::string>& label_names() const {
    return labels_.names();
  }
  const Guess& guess(std::size_t row) const { return guesses_[row]; }
  double true_number(std::size_t row) const { return truth_[row]; }
  double predicted_number(std::size_t row) const { return prediction_[row]; }

 private:
  // What was said of the answer of a row.
  struct Said {
    double likelihood = 0.0;  // the sum of log p over its tokens
    std::int64_t tokens = 0;
    bool exact = true;
  };

  void AddAnswers(std::span<const std::uint32_t> rows, const at::Tensor& labels,
                  const at::Tensor& said);
  // Returns the choice that `score` of a row makes the largest.
  template <typename Score>
  std::uint32_t BestOf(std::size_t example, Score score) const;
  std::uint32_t FirstOf(std::size_t example) const;
  bool IsExact(std::size_t row) const;
  Metrics Answers() const;
  Metrics Choices() const;
  Expected<Done> PackAnswers(ExampleOutcomes& outcomes) const;
  void AddClasses(std::span<const std::uint32_t> rows, const at::Tensor& truth,
                  const at::Tensor& logits);
  Expected<Done> PackNumbers(ExampleOutcomes& outcomes) const;
  Expected<Done> PackClasses(ExampleOutcomes& outcomes) const;
  void AddNumbers(std::span<const std::uint32_t> rows, const at::Tensor& truth,
                  const at::Tensor& prediction);
  Metrics Classes() const;
  Metrics Numbers() const;

  HeadSpec head_;
  const LabelSet& labels_;
  std::vector<Guess> guesses_;      // of classes
  std::vector<double> truth_;       // of numbers
  std::vector<double> prediction_;  // of numbers
  std::vector<Said> said_;          // of answers, by row
  std::vector<bool> cut_;           // of answers, by row
  std::vector<std::string> spoken_;
  std::vector<TokenStore::Choices> choices_;
  std::vector<std::uint32_t> bytes_of_choices_;  // by row
  double loss_ = 0.0;                            // summed over labels
  std::int64_t counted_ = 0;                     // labels
  std::size_t words_cut_ = 0;
};

// Writes the prediction for each example beside its text, in the form of
// base/plain/predictions_file.h.
//
// `scores` holds the part's rows. The file is written whole, or not at all.
Expected<Done> WritePredictions(const std::string& path, const DataPart& part,
                                const Scores& scores);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_SCORES_H_
