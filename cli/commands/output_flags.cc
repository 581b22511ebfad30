// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/output_flags.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/nearest.h"
#include "cli/client/notes.h"
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

}  // namespace frostline::cli
