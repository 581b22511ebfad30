// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/scores.h"

#include <ATen/ops/amax.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/logsumexp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string_view>
#include <utility>

#include "base/plain/file.h"
#include "base/plain/predictions_file.h"
#include "statistics/scores/scores.h"
#include "worker/trainer/data/limits.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/tasks/outcomes.h"

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
  if (head.task == Task::kAnswers && head.chooses) {
    return {"accuracy", "accuracy_per_byte", "answers_cut", "loss",
            "perplexity"};
  }
  if (head.task == Task::kAnswers) {
    return {"answers_cut", "exact_match", "loss", "perplexity"};
  }
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
  if (head.task == Task::kAnswers && !head.chooses) return "exact_match";
  return OfSpans(head, labels) ? "f1" : "accuracy";
}

bool Scores::of_numbers() const { return OfNumbers(head_); }

Scores::Scores(const HeadSpec& head, const LabelSet& labels, std::size_t rows)
    : head_(head), labels_(labels) {
  if (OfNumbers(head)) {
    truth_.resize(rows);
    prediction_.resize(rows);
  } else if (head.task == Task::kAnswers) {
    said_.resize(rows);
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
  } else if (of_answers()) {
    AddAnswers(rows, batch.labels, prediction.logits);
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
      // In tagging this label marks padding and later pieces of a word. For a
      // whole text it says that its truth is not known.
      if (words && *t == kIgnoredLabel) continue;
      guesses_[row].truth.push_back(*t < 0 ? -1
                                           : static_cast<std::int32_t>(*t));
      guesses_[row].prediction.push_back(static_cast<std::int32_t>(*p));
      guesses_[row].confidence.push_back(*c);
    }
  }
}

void Scores::AddAnswers(std::span<const std::uint32_t> rows,
                        const at::Tensor& labels, const at::Tensor& said) {
  const at::Tensor label = labels.contiguous();                    // [B, N]
  const at::Tensor of_tokens = said.to(at::kDouble).contiguous();  // [P, 2]
  const std::int64_t* t = label.const_data_ptr<std::int64_t>();
  const double* p = of_tokens.const_data_ptr<double>();
  for (const std::uint32_t row : rows) {
    for (std::int64_t i = 0; i < label.size(1); ++i, ++t) {
      if (*t == kIgnoredLabel) continue;
      said_[row].likelihood += p[0];
      said_[row].exact = said_[row].exact && p[1] >= 0.0;
      ++said_[row].tokens;
      p += 2;
    }
  }
}

void Scores::NoteAnswers(const TokenStore& tokens) {
  if (!of_answers()) return;
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    cut_.push_back(tokens.is_cut(row));
    bytes_of_choices_.push_back(tokens.answer_bytes(row));
  }
  choices_.assign(tokens.choices().begin(), tokens.choices().end());
}

bool Scores::IsExact(std::size_t row) const {
  return said_[row].tokens > 0 && said_[row].exact && !cut_[row];
}

Metrics Scores::Answers() const {
  double likelihood = 0.0;
  std::int64_t tokens = 0;
  std::size_t exact = 0;
  for (std::size_t row = 0; row < said_.size(); ++row) {
    likelihood += said_[row].likelihood;
    tokens += said_[row].tokens;
    exact += IsExact(row) ? 1 : 0;
  }
  const double loss = -likelihood / static_cast<double>(tokens);
  return {{"answers_cut", static_cast<double>(std::ranges::count(cut_, true))},
          {"exact_match",
           static_cast<double>(exact) / static_cast<double>(said_.size())},
          {"loss", loss},
          {"perplexity", std::exp(loss)}};
}

std::uint32_t Scores::FirstOf(std::size_t example) const {
  return example == 0 ? 0 : choices_[example - 1].end;
}

template <typename Score>
std::uint32_t Scores::BestOf(std::size_t example, Score score) const {
  std::uint32_t best = FirstOf(example);
  for (std::uint32_t row = best + 1; row < choices_[example].end; ++row) {
    if (score(row) > score(best)) best = row;
  }
  return best;
}

Scores::Choice Scores::choice(std::size_t example) const {
  const std::uint32_t first = FirstOf(example);
  const std::uint32_t best =
      BestOf(example, [&](std::uint32_t row) { return said_[row].likelihood; });
  double all = 0.0;
  for (std::uint32_t row = first; row < choices_[example].end; ++row) {
    all += std::exp(said_[row].likelihood - said_[best].likelihood);
  }
  return {choices_[example].right - first, best - first,
          static_cast<float>(1.0 / all)};
}

Metrics Scores::Choices() const {
  double likelihood = 0.0;
  std::int64_t tokens = 0;
  std::size_t right = 0;
  std::size_t right_per_byte = 0;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const Said& said = said_[choices_[i].right];
    likelihood += said.likelihood;
    tokens += said.tokens;
    const Choice chosen = choice(i);
    right += chosen.right == chosen.chosen ? 1 : 0;
    const std::uint32_t best = BestOf(i, [&](std::uint32_t row) {
      return said_[row].likelihood /
             static_cast<double>(bytes_of_choices_[row]);
    });
    right_per_byte += best == choices_[i].right ? 1 : 0;
  }
  const auto examples = static_cast<double>(choices_.size());
  const double loss = -likelihood / static_cast<double>(tokens);
  return {{"accuracy", static_cast<double>(right) / examples},
          {"accuracy_per_byte", static_cast<double>(right_per_byte) / examples},
          {"answers_cut", static_cast<double>(std::ranges::count(cut_, true))},
          {"loss", loss},
          {"perplexity", std::exp(loss)}};
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
  if (of_answers()) return head_.chooses ? Choices() : Answers();
  Metrics metrics = OfNumbers(head_) ? Numbers() : Classes();
  metrics["loss"] = counted_ == 0 ? std::numeric_limits<double>::quiet_NaN()
                                  : loss_ / static_cast<double>(counted_);
  return metrics;
}

// The outcome of each example, in the form that a trial's last message carries.

namespace {

constexpr std::size_t kMostByteClasses = 255;  // 255 itself is no class
constexpr std::size_t kMostClasses = 65'535;

void AppendLittle(std::uint32_t value, int bytes, std::string& out) {
  for (int i = 0; i < bytes; ++i) {
    out += static_cast<char>(value >> (8 * i) & 0xFF);
  }
}

}  // namespace

Expected<ExampleOutcomes> Scores::Outcomes(
    const std::string& fingerprint) const {
  ExampleOutcomes outcomes;
  outcomes.data_fingerprint = fingerprint;
  RETURN_IF_FAULT(of_answers()   ? PackAnswers(outcomes)
                  : of_numbers() ? PackNumbers(outcomes)
                                 : PackClasses(outcomes));
  return outcomes;
}

Expected<Done> Scores::PackAnswers(ExampleOutcomes& outcomes) const {
  std::vector<bool> right;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const Choice chosen = choice(i);
    right.push_back(chosen.right == chosen.chosen);
  }
  for (std::size_t row = 0; row < said_.size() && !head_.chooses; ++row) {
    right.push_back(IsExact(row));
  }
  outcomes.encoding = "PACKED_BITS";
  outcomes.count = static_cast<std::int64_t>(right.size());
  ASSIGN_OR_FAULT(std::string bytes, PackBits(right));
  outcomes.bytes = std::move(bytes);
  return Done{};
}

Expected<Done> Scores::PackNumbers(ExampleOutcomes& outcomes) const {
  const std::vector<float> scores(prediction_.begin(), prediction_.end());
  outcomes.encoding = "FLOAT16";
  outcomes.count = static_cast<std::int64_t>(scores.size());
  ASSIGN_OR_FAULT(std::string bytes, PackFloat16(scores));
  outcomes.bytes = std::move(bytes);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto truth = static_cast<float>(truth_[i]);
    AppendLittle(std::bit_cast<std::uint32_t>(truth), 4, outcomes.true_value);
    AppendLittle(std::bit_cast<std::uint32_t>(scores[i]), 4,
                 outcomes.predicted_value);
  }
  return Done{};
}

Expected<Done> Scores::PackClasses(ExampleOutcomes& outcomes) const {
  std::vector<bool> right;
  std::vector<float> confidence;
  const std::size_t classes = labels_.size();
  const int width = classes > kMostByteClasses ? 2 : 1;
  for (const Guess& guess : guesses_) {
    for (std::size_t i = 0; i < guess.truth.size(); ++i) {
      if (guess.truth[i] < 0) continue;  // nobody knows
      const std::int32_t said = guess.prediction[i];
      right.push_back(guess.truth[i] == said);
      confidence.push_back(guess.confidence[i]);
      AppendLittle(static_cast<std::uint32_t>(guess.truth[i]), width,
                   outcomes.true_class);
      AppendLittle(said < 0 ? static_cast<std::uint32_t>(classes)
                            : static_cast<std::uint32_t>(said),
                   width, outcomes.predicted_class);
    }
    if (head_.task == Task::kTokens && !guess.truth.empty()) {
      outcomes.sentence_ends.push_back(
          static_cast<std::uint32_t>(right.size()));
    }
  }
  outcomes.encoding = "PACKED_BITS";
  outcomes.count = static_cast<std::int64_t>(right.size());
  outcomes.words_cut = static_cast<std::int64_t>(words_cut_);
  ASSIGN_OR_FAULT(std::string bytes, PackBits(right));
  outcomes.bytes = std::move(bytes);
  if (classes > kMostClasses) {
    outcomes.DropDetails();
    return Done{};
  }
  outcomes.classes = labels_.names();
  // If there are too many confidences, only they are left out.
  Expected<std::string> halves = PackFloat16(confidence);
  if (halves.ok()) outcomes.confidence = std::move(halves).value();
  return Done{};
}

void ExampleOutcomes::DropDetails() {
  classes.clear();
  predicted_class.clear();
  true_class.clear();
  predicted_value.clear();
  true_value.clear();
  confidence.clear();
}

std::size_t ExampleOutcomes::size() const {
  constexpr std::size_t kNames = 256;  // of fields, sets and the fingerprint
  std::size_t all = kNames + bytes.size() + predicted_class.size() +
                    true_class.size() + predicted_value.size() +
                    true_value.size() + confidence.size() + set.size() +
                    task.size() + 5 * sentence_ends.size();
  for (const std::string& name : classes) all += name.size() + 4;
  return all;
}

// Drops confidences first, then predictions, then whole sets. Each time it
// begins with the last set, because the validation set is the first.
std::vector<std::string> FitIntoFinish(std::vector<ExampleOutcomes>& sets) {
  std::vector<std::string> left_out;
  const auto fits = [&sets] {
    std::size_t bytes = 0;
    for (const ExampleOutcomes& set : sets) bytes += set.size();
    return bytes <= kMaxEvaluationsBytes;
  };
  for (std::size_t i = sets.size(); i-- > 0 && !fits();) {
    if (sets[i].confidence.empty()) continue;
    sets[i].confidence.clear();
    left_out.push_back("confidences of " + sets[i].set);
  }
  for (std::size_t i = sets.size(); i-- > 0 && !fits();) {
    sets[i].DropDetails();
    left_out.push_back("predictions of " + sets[i].set);
  }
  while (!fits()) {
    left_out.push_back("all outcomes of " + sets.back().set);
    sets.pop_back();
  }
  return left_out;
}

namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

std::string Number(double value, const char* form) {
  std::array<char, 40> text = {};
  std::snprintf(text.data(), text.size(), form, value);
  return text.data();
}

// Returns label, prediction and confidence of one example, with tabs between
// them. A column without a value is empty.
std::string Said(const Scores& scores, std::int32_t truth,
                 std::int32_t prediction, float confidence) {
  const auto name = [&scores](std::int32_t label) {
    return label < 0
               ? std::string()
               : EscapeColumn(
                     scores.label_names()[static_cast<std::size_t>(label)]);
  };
  return name(truth) + "\t" + name(prediction) + "\t" +
         (prediction < 0 ? "" : Number(confidence, "%.6f"));
}

class Writer {
 public:
  Writer(const DataPart& part, const Scores& scores)
      : part_(part), scores_(scores) {}

  std::string Header() const {
    if (part_.data->task() == TaskKind::kTagging) {
      return "word\tlabel\tprediction\tconfidence\n";
    }
    return std::string("label\tprediction\t") +
           (scores_.of_numbers() || !scores_.spoken().empty()
                ? ""
                : "confidence\t") +
           "text" + (part_.data->is_pair() ? "\tsecond" : "") + "\n";
  }

  std::string Row(std::size_t row) const {
    return part_.data->task() == TaskKind::kTagging ? Sentence(row) : Text(row);
  }

 private:
  std::string Text(std::size_t row) const {
    const Example& example = (*part_.data)[part_.rows[row]];
    std::string line;
    if (!scores_.spoken().empty()) {
      line = EscapeColumn(example.second) + "\t" +
             EscapeColumn(scores_.spoken()[row]);
    } else if (scores_.of_answers()) {
      const std::uint32_t at = part_.rows[row];
      const Scores::Choice choice = scores_.choice(row);
      const auto words = part_.data->words(at);
      line = (part_.data->labelled() ? EscapeColumn(words[choice.right]) : "") +
             "\t" + EscapeColumn(words[choice.chosen]) + "\t" +
             Number(choice.share, "%.6f");
    } else if (scores_.of_numbers()) {
      line = (part_.data->labelled() ? Number(scores_.true_number(row), "%.9g")
                                     : "") +
             "\t" + Number(scores_.predicted_number(row), "%.9g");
    } else {
      const Scores::Guess& guess = scores_.guess(row);
      line = Said(scores_, guess.truth[0], guess.prediction[0],
                  guess.confidence[0]);
    }
    line += "\t" + EscapeColumn(example.text);
    if (part_.data->is_pair()) line += "\t" + EscapeColumn(example.second);
    return line + "\n";
  }

  // Returns a line for each word. A word without a label in a labelled set has
  // empty columns.
  std::string Sentence(std::size_t row) const {
    const std::uint32_t at = part_.rows[row];
    const Scores::Guess& guess = scores_.guess(row);
    const bool labelled = part_.data->labelled();
    std::string lines;
    std::size_t next = 0;
    for (std::size_t i = 0; i < part_.data->words(at).size(); ++i) {
      lines += EscapeColumn(part_.data->words(at)[i]) + "\t";
      if (labelled && part_.data->word_labels(at)[i] < 0) {
        lines += "\t\t\n";
        continue;
      }
      lines += Said(scores_, labelled ? guess.truth[next] : -1,
                    guess.prediction[next], guess.confidence[next]) +
               "\n";
      ++next;
    }
    return lines + "\n";
  }

  const DataPart& part_;
  const Scores& scores_;
};

}  // namespace

Expected<Done> WritePredictions(const std::string& path, const DataPart& part,
                                const Scores& scores) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(),
                                      error);
  ASSIGN_OR_FAULT(AtomicFile file, AtomicFile::Create(path));
  const Writer writer(part, scores);
  std::string text = writer.Header();
  for (std::size_t row = 0; row < part.size(); ++row) {
    text += writer.Row(row);
    if (text.size() < kChunk) continue;
    Expected<Done> written = file.Append(text.data(), text.size());
    if (!written.ok()) return written;
    text.clear();
  }
  Expected<Done> written = file.Append(text.data(), text.size());
  return written.ok() ? file.Commit() : written;
}

}  // namespace frostline::trainer
