// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/scores.h"

#include <ATen/ops/argmax.h>

#include <cmath>
#include <limits>
#include <utility>

#include "statistics/scores/classification_metrics.h"
#include "statistics/scores/correlation.h"
#include "statistics/scores/span_f1.h"
#include "worker/trainer/model/loss.h"
#include "worker/trainer/tasks/outcomes.h"

namespace frostline::trainer {
namespace {

bool OfNumbers(const HeadSpec& head) {
  return head.task == Task::kRegression || head.task == Task::kPairCosine;
}

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
  return names;
}

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
    AddClasses(rows, batch.labels, at::argmax(prediction.logits, -1));
  }
}

void Scores::AddClasses(std::span<const std::uint32_t> rows,
                        const at::Tensor& truth, const at::Tensor& prediction) {
  const at::Tensor guess = prediction.contiguous();  // [B] or [B, N]
  const at::Tensor label = truth.contiguous();       // as guess
  const std::int64_t* t = label.const_data_ptr<std::int64_t>();
  const std::int64_t* p = guess.const_data_ptr<std::int64_t>();
  const std::int64_t width = label.dim() == 2 ? label.size(1) : 1;
  for (const std::uint32_t row : rows) {
    for (std::int64_t i = 0; i < width; ++i, ++t, ++p) {
      if (*t == kIgnoredLabel) continue;
      guesses_[row].truth.push_back(static_cast<std::int32_t>(*t));
      guesses_[row].prediction.push_back(static_cast<std::int32_t>(*p));
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

Metrics Scores::Classes() const {
  statistics::Confusion confusion(labels_.size());
  statistics::SpanF1 spans(labels_.names());
  for (const Guess& guess : guesses_) {
    confusion.Add(guess.truth, guess.prediction);
    if (OfSpans(head_, labels_)) spans.Add(guess.truth, guess.prediction);
  }
  Metrics metrics = {{"accuracy", confusion.Accuracy()},
                     {"f1_macro", confusion.MacroF1()},
                     {"f1_micro", confusion.MicroF1()},
                     {"mcc", confusion.Matthews()}};
  metrics["f1"] =
      labels_.size() == 2 ? confusion.BinaryF1() : confusion.MacroF1();
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

Expected<ExampleOutcomes> Scores::Outcomes(
    const std::string& fingerprint) const {
  ExampleOutcomes outcomes;
  outcomes.data_fingerprint = fingerprint;
  if (OfNumbers(head_)) {
    const std::vector<float> scores(prediction_.begin(), prediction_.end());
    outcomes.encoding = "FLOAT16";
    outcomes.count = static_cast<std::int64_t>(scores.size());
    Expected<std::string> bytes = PackFloat16(scores);
    if (!bytes.ok()) return bytes.fault();
    outcomes.bytes = std::move(bytes).value();
    return outcomes;
  }
  std::vector<bool> right;
  for (const Guess& guess : guesses_) {
    for (std::size_t i = 0; i < guess.truth.size(); ++i) {
      right.push_back(guess.truth[i] == guess.prediction[i]);
    }
  }
  outcomes.encoding = "PACKED_BITS";
  outcomes.count = static_cast<std::int64_t>(right.size());
  Expected<std::string> bytes = PackBits(right);
  if (!bytes.ok()) return bytes.fault();
  outcomes.bytes = std::move(bytes).value();
  return outcomes;
}

}  // namespace frostline::trainer
