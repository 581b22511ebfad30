// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/process/predict_options.h"

#include <charconv>

#include "worker/trainer/data/format_name.h"
#include "worker/trainer/model/limits.h"

namespace frostline::trainer {
namespace {

Fault BadPrediction(const std::string& option, const std::string& what,
                    const std::string& fix) {
  return {FaultKind::kMisuse, option + " " + what, fix};
}

Expected<bool> TakeFormat(const std::string& value, FileFormat& format) {
  const auto kind = ParseFormatName(value);
  if (!kind) {
    return BadPrediction("--format", "is " + value,
                         "say tsv, csv, jsonl or conllu");
  }
  format.kind = *kind;
  return true;
}

// "review=text" would name a role that no task has; the reader says so.
Expected<bool> TakeColumn(const std::string& value, ColumnMap& columns) {
  const std::size_t at = value.find('=');
  if (at == 0 || at == std::string::npos || at + 1 == value.size()) {
    return BadPrediction("--column", "is " + value, "say e.g. text=review");
  }
  columns[value.substr(0, at)] = value.substr(at + 1);
  return true;
}

Expected<bool> TakeFlag(const std::string& option, const std::string& value,
                        bool& flag) {
  if (value != "yes" && value != "no") {
    return BadPrediction(option, "is " + value, "say yes or no");
  }
  flag = value == "yes";
  return true;
}

Expected<bool> TakeLength(const std::string& value, std::int64_t& length) {
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, length);
  if (error == std::errc() && stop == end && length >= 3 &&
      length <= kMaxPositions) {
    return true;
  }
  return BadPrediction("--max-length", "is no number of tokens: " + value,
                       "say e.g. 128");
}

}  // namespace

Expected<bool> TakePredictOption(const std::string& option,
                                 const std::string& value,
                                 PredictRequest& request) {
  if (option == "--predict") {
    request.model = value;
  } else if (option == "--rows") {
    request.file = value;
  } else if (option == "--output") {
    request.output = value;
  } else if (option == "--precision") {
    request.precision = value;
  } else if (option == "--format") {
    return TakeFormat(value, request.format);
  } else if (option == "--column") {
    return TakeColumn(value, request.columns);
  } else if (option == "--header") {
    return TakeFlag(option, value, request.format.header);
  } else if (option == "--labels") {
    return TakeFlag(option, value, request.labelled);
  } else if (option == "--max-length") {
    return TakeLength(value, request.max_length);
  } else if (option == "--delimiter") {
    if (value.size() != 1) {
      return BadPrediction(option, "is " + value, "say one character");
    }
    request.format.delimiter = value[0];
  } else {
    return false;
  }
  return true;
}

Expected<Done> CheckPredictRequest(const PredictRequest& request) {
  if (request.model.empty()) {
    return BadPrediction("--predict", "is missing", "name the model's folder");
  }
  if (request.file.empty())
    return BadPrediction("--rows", "is missing", "name a file");
  if (request.output.empty()) {
    return BadPrediction("--output", "is missing", "name the file to write");
  }
  return Done{};
}

}  // namespace frostline::trainer
