// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/scores.h"

#include <ATen/ops/amax.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/logsumexp.h>

#include <cmath>
#include <limits>
#include <utility>

#include "statistics/scores/classification_metrics.h"
#include "statistics/scores/correlation.h"
#include "statistics/scores/span_f1.h"
#include "worker/trainer/model/loss.h"

namespace frostline::trainer {
namespace {

constexpr std::int32_t kUnread = -1;  // no class was predicted

bool OfNumbers(const HeadSpec& head) { return head.task == Task::kRegression; }

bool OfSpans(const HeadSpec& head, const LabelSet& labels) {
  return head.task == Task::kTokens && statistics::MarkSpans(labels.names());
}

}  // namespace

std::vector<std::string> MetricNames(const HeadSpec& head,
                                     const LabelSet& labels) {
  if (OfNumbers(head)) return {"loss", "mse", "pearson", "rmse", "spearman"};
  std::vector<std::string> names = {"accuracy", "f1",   "f1_macro",
                                    "f1_micro", "loss", "mcc"};
  if (OfSpans(head, labels)) {
    names.insert(names.end(), {"precision", "recall"});
  }
  if (head.task == Task::kTokens) names.emplace_back("words_cut");
  return names;
}

std::string FirstMetric(const HeadSpec& head, const LabelSet& labels) {
  if (OfNumbers(head)) return "pearson";
  return OfSpans(head, labels) ? "f1" : "accuracy";
}

bool Scores::of_numbers() const { return OfNumbers(head_); }

Scores::Scores(const HeadSpec& head, const LabelSet& labels, std::size_t rows)
    : head_(head), labels_(labels) {
  if (OfNumbers(head)) {
    truth_.resize(rows);
    prediction_.resize(rows);
  } else {
    guesses_.resize(rows);
  }
}

void Scores::Add(std::span<const std::uint32_t> rows, const Batch& batch,
                 const Prediction& prediction) {
  if (prediction.labels > 0) {
    loss_ += prediction.loss * static_cast<double>(prediction.labels);
    counted_ += prediction.labels;
  }
  if (OfNumbers(head_)) {
    AddNumbers(rows, batch.labels, prediction.logits.flatten());
  } else {
    AddClasses(rows, batch.labels, prediction.logits);
  }
}

void Scores::AddClasses(std::span<const std::uint32_t> rows,
                        const at::Tensor& truth, const at::Tensor& logits) {
  const at::Tensor guess = at::argmax(logits, -1).contiguous();
  // The largest logit's probability, 1 / sum exp(logit - largest).
  const at::Tensor sure =
      at::exp(at::amax(logits, -1) - at::logsumexp(logits, -1))
          .to(at::kFloat)
          .contiguous();
  const at::Tensor label = truth.contiguous();  // [B] or [B, N], as guess
  const std::int64_t* t = label.const_data_ptr<std::int64_t>();
  const std::int64_t* p = guess.const_data_ptr<std::int64_t>();
  const float* c = sure.const_data_ptr<float>();
  const bool words = label.dim() == 2;
  const std::int64_t width = words ? label.size(1) : 1;
  for (const std::uint32_t row : rows) {
    for (std::int64_t i = 0; i < width; ++i, ++t, ++p, ++c) {
      // Of words it is padding or a later piece, of a text a truth not known.
      if (words && *t == kIgnoredLabel) continue;
      guesses_[row].truth.push_back(*t < 0 ? -1
                                           : static_cast<std::int32_t>(*t));
      guesses_[row].prediction.push_back(static_cast<std::int32_t>(*p));
      guesses_[row].confidence.push_back(*c);
    }
  }
}

void Scores::AddNumbers(std::span<const std::uint32_t> rows,
                        const at::Tensor& truth, const at::Tensor& prediction) {
  const at::Tensor t = truth.to(at::kDouble).contiguous();       // [B]
  const at::Tensor p = prediction.to(at::kDouble).contiguous();  // [B]
  for (std::size_t i = 0; i < rows.size(); ++i) {
    truth_[rows[i]] = t.const_data_ptr<double>()[i];
    prediction_[rows[i]] = p.const_data_ptr<double>()[i];
  }
}

void Scores::AddUnread(std::size_t row, std::span<const UnreadWord> words) {
  Guess& guess = guesses_[row];
  for (const UnreadWord& word : words) {
    const auto place = static_cast<std::ptrdiff_t>(word.place);
    guess.truth.insert(guess.truth.begin() + place, word.label);
    guess.prediction.insert(guess.prediction.begin() + place, kUnread);
    guess.confidence.insert(guess.confidence.begin() + place, 0.0F);
  }
  words_cut_ += words.size();
}

Metrics Scores::Classes() const {
  statistics::Confusion confusion(labels_.size());
  statistics::SpanF1 spans(labels_.names());
  for (const Guess& guess : guesses_) {
    confusion.Add(guess.truth, guess.prediction);
    if (OfSpans(head_, labels_)) spans.Add(guess.truth, guess.prediction);
  }
  Metrics metrics = {{"accuracy", confusion.Accuracy()},
                     {"f1", confusion.F1()},
                     {"f1_macro", confusion.MacroF1()},
                     {"f1_micro", confusion.MicroF1()},
                     {"mcc", confusion.Matthews()}};
  const std::size_t unseen = confusion.CountUnseen(labels_.size());
  if (unseen > 0) metrics["labels_missing"] = static_cast<double>(unseen);
  if (head_.task == Task::kTokens) {
    metrics["words_cut"] = static_cast<double>(words_cut_);
  }
  if (!OfSpans(head_, labels_)) return metrics;
  metrics["f1"] = spans.F1();
  metrics["precision"] = spans.Precision();
  metrics["recall"] = spans.Recall();
  return metrics;
}

Metrics Scores::Numbers() const {
  const double error =
      statistics::MeanSquaredError(truth_, prediction_).value_or(0.0);
  return {
      {"mse", error},
      {"rmse", std::sqrt(error)},
      {"pearson", statistics::Pearson(truth_, prediction_).value_or(0.0)},
      {"spearman", statistics::Spearman(truth_, prediction_).value_or(0.0)}};
}

Metrics Scores::Compute() const {
  Metrics metrics = OfNumbers(head_) ? Numbers() : Classes();
  metrics["loss"] = counted_ == 0 ? std::numeric_limits<double>::quiet_NaN()
                                  : loss_ / static_cast<double>(counted_);
  return metrics;
}

}  // namespace frostline::trainer
