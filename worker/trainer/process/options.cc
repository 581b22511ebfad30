// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/process/options.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "worker/trainer/data/row_source.h"
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

const char kTrainerHelp[] =
    "usage: frostline-trainer --registry DIR [options] < trials\n"
    "       frostline-trainer --predict MODEL --rows FILE --output FILE\n"
    "       frostline-trainer --self-check | --version | --help\n"
    "\n"
    "Fine-tunes the trials that come on standard input, one JSON object a\n"
    "line; started by frostline-worker, and by hand to try one trial.\n"
    "\n"
    "  --registry DIR        the folder of datasets.yaml and models.yaml\n"
    "                        (default: $FROSTLINE_REGISTRY)\n"
    "  --device NAME         auto (default: a GPU when there is one), cpu,\n"
    "                        cuda, cuda:N\n"
    "  --threads N           of the processor (default: $OMP_NUM_THREADS, "
    "else\n"
    "                        one for each core)\n"
    "  --checkpoint-every T  seconds between checkpoints, e.g. 300s "
    "(default);\n"
    "                        0s: after every step\n"
    "  --prefix-dir DIR      keeps what frozen layers gave, for all trials "
    "and\n"
    "                        trainers of this node (default:\n"
    "                        $FROSTLINE_PREFIX_DIR, else nothing is kept);\n"
    "                        it tells the texts, so it is closed to others\n"
    "  --prefix-bytes N      the most that it may hold, e.g. 20G (default:\n"
    "                        $FROSTLINE_PREFIX_BYTES, else a tenth of its\n"
    "                        file system)\n"
    "  --write-dir DIR       writes there, in --prefix-dir and among "
    "temporary\n"
    "                        files alone, starts no programs and reaches no\n"
    "                        network, where the kernel can hold it to that;\n"
    "                        off: it may (default: $FROSTLINE_WRITE_DIR,\n"
    "                        which an agent sets, else off)\n"
    "  --resident-bytes N    the most of it that stays in a GPU's memory for\n"
    "                        the next epochs and trials, e.g. 4G; 0 for\n"
    "                        nothing (default: $FROSTLINE_RESIDENT_BYTES,\n"
    "                        else a quarter of what is free)\n"
    "  --predict MODEL       lets a trained model's folder answer for each of\n"
    "                        --rows FILE, into --output FILE; the measures\n"
    "                        are one line of JSON. `frostline predict` finds\n"
    "                        out these and passes them on:\n"
    "                        --format tsv|csv|jsonl|conllu, --delimiter C,\n"
    "                        --header yes|no, --labels yes|no, --column\n"
    "                        ROLE=COLUMN, --max-length N, --precision NAME\n"
    "  --self-check          compute with LibTorch, compare with the known\n"
    "                        answer, measure; print one line of JSON\n"
    "  --version             print the versions of Frostline and LibTorch\n"
    "  --help                print this\n";

namespace {

constexpr int kMostThreads = 4096;
constexpr double kMostSeconds = 1e9;

Fault Bad(const std::string& option, const std::string& what,
          const std::string& fix) {
  return {FaultKind::kMisuse, option + " " + what, fix};
}

template <typename Number>
std::optional<Number> Parse(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// "4096", "512M", "20GiB", in powers of 1,024; not 0.
std::optional<std::uint64_t> ParseBytes(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  if (text.ends_with("iB")) text.remove_suffix(2);
  std::size_t unit = text.empty() ? kUnits.npos : kUnits.find(text.back());
  if (unit != kUnits.npos) text.remove_suffix(1);
  unit = unit == kUnits.npos ? 0 : unit + 1;
  const auto number = Parse<std::uint64_t>(text);
  const std::uint64_t most = ~std::uint64_t{0} >> 10 * unit;
  if (!number || *number == 0 || *number > most) return std::nullopt;
  return *number << 10 * unit;
}

Expected<Done> TakeValue(const std::string& option, const std::string& value,
                         TrainerOptions& options) {
  if (option == "--registry") {
    options.registry = value;
  } else if (option == "--device") {
    options.device = value;
  } else if (option == "--threads") {
    const auto threads = Parse<int>(value);
    if (!threads || *threads < 1 || *threads > kMostThreads) {
      return Bad(option, "is no number of threads: " + value, "say e.g. 4");
    }
    options.threads = *threads;
  } else if (option == "--checkpoint-every") {
    std::string_view number = value;
    if (number.ends_with('s')) number.remove_suffix(1);
    const auto seconds = Parse<double>(number);
    if (!seconds || !(*seconds >= 0.0) || *seconds > kMostSeconds) {
      return Bad(option, "is no time in seconds: " + value, "say e.g. 300s");
    }
    options.checkpoint_seconds = *seconds;
  } else if (option == "--prefix-dir") {
    options.prefix_folder = value;
  } else if (option == "--write-dir") {
    options.write_folder = value == "off" ? "" : value;
  } else if (option == "--prefix-bytes") {
    const auto bytes = ParseBytes(value);
    if (!bytes) {
      return Bad(option, "is no number of bytes: " + value, "say e.g. 20G");
    }
    options.prefix_bytes = *bytes;
  } else if (option == "--resident-bytes") {
    const auto bytes = value == "0" ? 0 : ParseBytes(value);
    if (!bytes) {
      return Bad(option, "is no number of bytes: " + value, "say e.g. 4G or 0");
    }
    options.resident_bytes = *bytes;
  } else {
    ASSIGN_OR_FAULT(const bool taken,
                    TakePredictOption(option, value, options.predict));
    if (!taken) {
      return Bad(option, "is no option", "see frostline-trainer --help");
    }
    if (option == "--predict") {
      options.action = TrainerOptions::Action::kPredict;
    }
  }
  return Done{};
}

std::optional<TrainerOptions::Action> ActionOf(const std::string& argument) {
  if (argument == "--self-check") return TrainerOptions::Action::kSelfCheck;
  if (argument == "--version") return TrainerOptions::Action::kVersion;
  if (argument == "--help") return TrainerOptions::Action::kHelp;
  return std::nullopt;
}

}  // namespace

Expected<TrainerOptions> ReadOptions(std::span<const std::string> arguments) {
  TrainerOptions options;
  if (const char* registry = std::getenv("FROSTLINE_REGISTRY")) {
    options.registry = registry;
  }
  if (const char* folder = std::getenv("FROSTLINE_PREFIX_DIR")) {
    options.prefix_folder = folder;
  }
  if (const char* folder = std::getenv("FROSTLINE_WRITE_DIR")) {
    RETURN_IF_FAULT(TakeValue("--write-dir", folder, options));
  }
  if (const char* bytes = std::getenv("FROSTLINE_PREFIX_BYTES")) {
    RETURN_IF_FAULT(TakeValue("--prefix-bytes", bytes, options));
  }
  if (const char* bytes = std::getenv("FROSTLINE_RESIDENT_BYTES")) {
    RETURN_IF_FAULT(TakeValue("--resident-bytes", bytes, options));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (const auto action = ActionOf(arguments[i])) {
      options.action = *action;
      continue;
    }
    if (i + 1 == arguments.size()) {
      return Bad(arguments[i], "lacks a value or is no option",
                 "see frostline-trainer --help");
    }
    RETURN_IF_FAULT(TakeValue(arguments[i], arguments[i + 1], options));
    ++i;
  }
  if (options.action == TrainerOptions::Action::kPredict) {
    RETURN_IF_FAULT(CheckPredictRequest(options.predict));
  }
  if (options.action == TrainerOptions::Action::kTrain &&
      options.registry.empty()) {
    return Bad("--registry", "is missing",
               "give the folder of datasets.yaml and models.yaml");
  }
  return options;
}

}  // namespace frostline::trainer
