// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/command.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/nearest.h"
#include "cli/client/client.h"
#include "cli/term/text_file.h"
#include "cli/view/format.h"
#include "cli/view/message_text.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// The wait that makes `frostline serve &` and the command after it work when
// both are pasted together.
constexpr Duration kStartsWithin = std::chrono::seconds(5);

}  // namespace

CLI::App* AddNoun(CLI::App& parent, const std::string& name,
                  const std::string& help) {
  CLI::App* const noun = parent.add_subcommand(name, help);
  noun->require_subcommand(1)->fallthrough();
  return noun;
}

CLI::App* AddVerb(CLI::App& parent, const std::string& name,
                  const std::string& help, Invocation& invocation,
                  Action action) {
  CLI::App* const verb = parent.add_subcommand(name, help);
  verb->fallthrough();  // --connect may stand after the verb too
  verb->callback([&invocation, action = std::move(action)] {
    invocation.action = action;
  });
  return verb;
}

const CLI::App* FindCommand(const CLI::App& app, const std::string& name) {
  // Not CLI11's own lookup, which throws.
  for (const CLI::App* const command : app.get_subcommands(nullptr)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

absl::StatusOr<Client*> OpenClient(Session& session) {
  if (session.client == nullptr) {
    ASSIGN_OR_RETURN(
        session.target,
        ChooseTarget(session.flags, session.environment, session.contexts,
                     ConfiguredTargetsOf(session.configuration)));
    ASSIGN_OR_RETURN(session.client, Client::Open(session.target.connect,
                                                  session.target.access));
  }
  return session.client.get();
}

absl::StatusOr<Client*> Connect(Session& session) {
  const bool is_open = session.client != nullptr;
  ASSIGN_OR_RETURN(Client* const client, OpenClient(session));
  // If it is still away, the error of the first call says so.
  if (!is_open) (void)client->AwaitStart(kStartsWithin);
  return client;
}

absl::StatusOr<std::string> StudyNameFrom(const std::string& argument) {
  const std::string prefix = "studies/";
  const std::string id = absl::StartsWith(argument, prefix)
                             ? argument.substr(prefix.size())
                             : argument;
  const absl::Status valid = CheckId(id, "");
  if (valid.ok()) return StudyNameOf(id);
  // The same mistake in a file would have exit code 100; here it is usage.
  return MakeError(ErrorId::kRequestInvalid, std::string(valid.message()),
                   "`frostline study list` shows the studies there are");
}

absl::Status CheckNewName(const std::string& name, const std::string& flag) {
  absl::Status valid = CheckId(name, flag);
  if (valid.ok()) return valid;
  return MakeError(ErrorId::kRequestInvalid, std::string(valid.message()),
                   DetailOf(valid)->fix, flag);
}

CLI::Validator AtLeastZero() {
  return CLI::Validator(
      [](const std::string& text) {
        double number = 0.0;
        const bool is_number = absl::SimpleAtod(text, &number);
        return is_number && number >= 0.0
                   ? std::string()
                   : absl::StrCat("'", text, "' is no number from 0");
      },
      "");
}

namespace {

// Removes escape sequences for the terminal, which may come from the command
// line or a file. Line breaks stay.
std::string ForTerminal(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (std::string& line : lines) line = proto::CleanText(line, line.size());
  return absl::StrJoin(lines, "\n");
}

}  // namespace

// A mistake on the command line needs no heading: its cause says it all.
std::string ErrorText(const absl::Status& status) {
  return ForTerminal(DescribeError(status));
}

std::string ErrorJson(const absl::Status& status) {
  const ErrorDetail detail = DetailOf(status).value_or(ErrorDetail());
  google::protobuf::Struct fields;
  const auto set = [&fields](const char* name, const std::string& text) {
    (*fields.mutable_fields())[name].set_string_value(text);
  };
  set("id", ErrorCode(detail.id));
  set("reason", KindOf(detail.id).reason);
  set("cause", std::string(status.message()));
  set("field", detail.field);
  set("fix", detail.fix);
  (*fields.mutable_fields())["exit_code"].set_number_value(ExitCodeOf(status));
  google::protobuf::Struct error;
  *(*error.mutable_fields())["error"].mutable_struct_value() =
      std::move(fields);
  return ToJson(error);
}

namespace {

constexpr std::size_t kMaxFormatWord = 100;

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

CLI::Option* AddFormat(CLI::App* verb, Output& output,
                       const std::string& help) {
  return verb->add_option_function<std::string>(
      "--format",
      [&output](const std::string& word) {
        output.format = FormatNamed(word).value_or(Format::kTable);
      },
      help);
}

CLI::Option* AddFormatAndJson(CLI::App* verb, Output& output,
                              const std::string& help) {
  CLI::Option* const format = AddFormat(verb, output, help);
  verb->add_flag_callback(
          "--json", [&output] { output.format = Format::kJson; },
          "The same as --format json")
      ->excludes(format);
  return format;
}

void AddFormats(CLI::App* verb, Output& output,
                const std::vector<std::string>& names) {
  AddFormatAndJson(verb, output, absl::StrJoin(names, ", "))
      ->type_name("FORMAT")
      ->check(OneOf(names));
}

}  // namespace

void AddOneFormats(CLI::App* verb, Output& output) {
  AddFormats(verb, output, {"table", "json", "jsonl", "yaml", "name"});
}

CLI::Option* AddFewFormats(CLI::App* verb, Output& output,
                           const std::vector<std::string>& names) {
  return AddFormat(verb, output, absl::StrJoin(names, ", ") + " [table]")
      ->transform(CLI::IsMember(names, CLI::ignore_case));
}

void AddFileFormats(CLI::App* verb, Output& output,
                    const std::vector<std::string>& names) {
  CLI::Option* const format =
      AddFormatAndJson(verb, output,
                       "How to write it [as FILE's name ends, else table]")
          ->check(CLI::IsMember(names));
  verb->add_option_function<std::string>(
          "-o,--output",
          [verb, format, &output](const std::string& file) {
            output.file = file;
            if (format->count() + verb->count("--json") > 0) return;
            output.format =
                FormatNamed(FormatOfEnding(file)).value_or(Format::kTable);
          },
          "Write to this file")
      ->type_name("FILE");
}

void AddListFormats(CLI::App* verb, Output& output) {
  AddFormats(verb, output,
             {"table", "wide", "json", "jsonl", "yaml", "csv", "name"});
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
