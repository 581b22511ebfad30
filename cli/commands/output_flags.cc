// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/output_flags.h"

#include <algorithm>
#include <iostream>
#include <limits>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/client/notes.h"
#include "cli/term/text_file.h"
#include "cli/view/format.h"
#include "cli/view/json_text.h"
#include "cli/view/message_text.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxFormatWord = 100;

std::optional<Format> OutputFormatOf(const std::string& word) {
  const auto& names = FormatNames();
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) return std::nullopt;
  return static_cast<Format>(found - names.begin());
}

CLI::Validator OneOf(const std::vector<std::string>& names) {
  return CLI::Validator(
      [names](const std::string& word) {
        const bool is_one =
            std::find(names.begin(), names.end(), word) != names.end();
        return is_one ? std::string()
                      : absl::StrCat("there is no format '",
                                     proto::CleanText(word, kMaxFormatWord),
                                     "': ", Suggest(word, names));
      },
      "");
}

void AddFormats(CLI::App* verb, Output& output,
                const std::vector<std::string>& names) {
  CLI::Option* const format =
      verb->add_option_function<std::string>(
              "--format",
              [&output](const std::string& word) {
                output.format = OutputFormatOf(word).value_or(Format::kTable);
              },
              absl::StrJoin(names, ", "))
          ->type_name("FORMAT")
          ->check(OneOf(names));
  verb->add_flag_callback(
          "--json", [&output] { output.format = Format::kJson; },
          "The same as --format json")
      ->excludes(format);
}

}  // namespace

void AddOneFormats(CLI::App* verb, Output& output) {
  AddFormats(verb, output, {"table", "json", "jsonl", "yaml", "name"});
}

void AddListFormats(CLI::App* verb, Output& output) {
  AddFormats(verb, output, FormatNames());
  verb->add_option_function<std::string>(
          "--columns",
          [&output](const std::string& text) {
            output.columns.clear();
            for (const auto word :
                 absl::StrSplit(text, ',', absl::SkipWhitespace())) {
              output.columns.emplace_back(absl::StripAsciiWhitespace(word));
            }
          },
          "Only these, in this order; --format csv has all that there are")
      ->type_name("NAME,…");
  verb->add_option("--sort", output.sort,
                   "By this column; with - before it the highest first")
      ->type_name("[-]COLUMN");
}

void AddWide(CLI::App* verb, Output& output, const std::string& help) {
  verb->add_flag_callback(
          "--wide", [&output] { output.format = Format::kWide; }, help)
      ->excludes(verb->get_option("--format"))
      ->excludes(verb->get_option("--json"));
}

bool AsksForJson(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string format;
    if (arguments[i] == "--format" && i + 1 < arguments.size()) {
      format = arguments[i + 1];
    }
    for (const char* const json : {"json", "jsonl"}) {
      if (format == json || arguments[i] == absl::StrCat("--format=", json)) {
        return true;
      }
    }
    if (arguments[i] == "--json") return true;
  }
  return false;
}

void LeaveNotesOut() { SilenceNotes(); }

void QuestionFlags::AddTo(CLI::App& verb) {
  verb.add_option("--evaluator", evaluator,
                  "How to judge: fanova, levels, forest, ped-anova, "
                  "fanova-optuna, mdi [fanova]");
  verb.add_option("--target", target,
                  "What to explain: a metric, train_seconds or "
                  "trained_parameters [the first objective]");
  verb.add_flag("--maximize", maximize,
                "Higher is better of a target that is no objective");
  verb.add_option("--top", top, "Only the best so much of the trials: 10%");
  verb.add_option("--best-by", best_by,
                  "What --top goes by [the target itself]");
  verb.add_option("--at-step", at_step,
                  "Values measured at this step, instead of final ones")
      ->check(CLI::Range(std::int64_t{1},
                         std::numeric_limits<std::int64_t>::max()));
  verb.add_option("--filter", filter,
                  "Only trials that match: 'labels.kind = \"baseline\"'; "
                  "`frostline help filter`");
  verb.add_option("--seed", seed, "Of the bootstraps [the study's]");
}

absl::StatusOr<v1::ImportanceOptions> QuestionFlags::Options() const {
  v1::ImportanceOptions options;
  options.set_evaluator(evaluator);
  options.set_target(target);
  if (maximize) options.set_target_direction(v1::DIRECTION_MAXIMIZE);
  if (!top.empty()) {
    ASSIGN_OR_RETURN(const double share, ParseShare(top));
    options.set_top_quantile(share);
  }
  options.set_best_by(best_by);
  options.set_at_step(at_step);
  options.set_filter(filter);
  options.set_seed(seed);
  return options;
}

void OutputFlags::AddTo(CLI::App& verb, const std::vector<std::string>& known) {
  formats = known;
  CLI::Option* const which =
      verb.add_option("--format", format,
                      "How to write it [as FILE's name ends, else table]")
          ->check(CLI::IsMember(formats));
  verb.add_flag("--json", json, "The same as --format json")->excludes(which);
  verb.add_option("-o,--output", file, "Write to this file")->type_name("FILE");
}

std::string OutputFlags::Format() const {
  if (json) return "json";
  if (!format.empty()) return format;
  const std::string told = FormatOfEnding(file);
  return told.empty() ? "table" : told;
}

absl::Status OutputFlags::Check() const {
  const std::string wanted = Format();
  if (absl::c_linear_search(formats, wanted)) return absl::OkStatus();
  std::vector<std::string> endings;
  for (const std::string& one : formats) {
    if (one != "table") endings.push_back("." + one);
  }
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(file, " ends as ", wanted, " does, and of this there is no ",
                   wanted),
      absl::StrCat("end its name in one of ", absl::StrJoin(endings, ", "),
                   ", or say --format"),
      "--output");
}

absl::Status OutputFlags::Write(const std::string& text) const {
  if (file.empty() || file == "-") {
    std::cout << text;
    return absl::OkStatus();
  }
  return WriteTextFile(file, text);
}

bool IsForMessages(const std::string& format) {
  return format == "json" || format == "jsonl" || format == "yaml";
}

std::string InFormat(const std::string& format,
                     const google::protobuf::Message& message) {
  if (format == "json") return ToJson(message);
  return format == "yaml" ? ToYaml(message) : ToJsonLine(message);
}

absl::StatusOr<double> ParseShare(const std::string& text) {
  absl::string_view digits = text;
  const double unit = absl::ConsumeSuffix(&digits, "%") ? 0.01 : 1.0;
  double number = 0.0;
  if (absl::SimpleAtod(digits, &number) && number > 0.0 &&
      number * unit <= 1.0) {
    return number * unit;
  }
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("'", text, "' is no share of the trials"),
                   "give one above 0 and at most 1, as 10% or 0.1");
}

absl::StatusOr<v1::ParameterSubset> ParseSubset(const std::string& names) {
  v1::ParameterSubset subset;
  for (const absl::string_view name : absl::StrSplit(names, ',')) {
    if (name.empty()) {
      return MakeError(ErrorId::kRequestInvalid,
                       absl::StrCat("'", names, "' is no set of parameters"),
                       "name them with commas between them: layer.0,head");
    }
    subset.add_parameters(std::string(name));
  }
  return subset;
}

absl::Status AsUsage(const absl::Status& status) {
  const auto detail = DetailOf(status);
  if (!detail.has_value() || ExitCodeOf(status) != kExitInvalidFile) {
    return status;
  }
  return MakeError(ErrorId::kRequestInvalid, std::string(status.message()),
                   detail->fix);
}

}  // namespace frostline::cli
