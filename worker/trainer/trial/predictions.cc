// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/predictions.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "base/plain/file.h"
#include "base/plain/predictions_file.h"

namespace frostline::trainer {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

std::string Number(double value, const char* form) {
  std::array<char, 40> text = {};
  std::snprintf(text.data(), text.size(), form, value);
  return text.data();
}

// Label, prediction and confidence of one example, each behind a tab but the
// first; what there is none of is empty.
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
           (scores_.of_numbers() ? "" : "confidence\t") + "text" +
           (part_.data->is_pair() ? "\tsecond" : "") + "\n";
  }

  std::string Row(std::size_t row) const {
    return part_.data->task() == TaskKind::kTagging ? Sentence(row) : Text(row);
  }

 private:
  std::string Text(std::size_t row) const {
    const Example& example = (*part_.data)[part_.rows[row]];
    std::string line;
    if (scores_.of_numbers()) {
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

  // Words without a label among labelled ones have nothing but themselves.
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
  Expected<AtomicFile> file = AtomicFile::Create(path);
  if (!file.ok()) return file.fault();
  const Writer writer(part, scores);
  std::string text = writer.Header();
  for (std::size_t row = 0; row < part.size(); ++row) {
    text += writer.Row(row);
    if (text.size() < kChunk) continue;
    Expected<Done> written = file.value().Append(text.data(), text.size());
    if (!written.ok()) return written;
    text.clear();
  }
  Expected<Done> written = file.value().Append(text.data(), text.size());
  return written.ok() ? file.value().Commit() : written;
}

}  // namespace frostline::trainer
