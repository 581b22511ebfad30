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

#include "absl/algorithm/container.h"
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
                     WishesOf(session.configuration)));
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

absl::StatusOr<v1::Study> FetchStudy(Client& client, const std::string& name) {
  v1::GetStudyRequest request;
  request.set_name(name);
  return client.Call(&v1::StudyService::Stub::GetStudy, request);
}

absl::StatusOr<v1::ListWorkersReply> FetchWorkers(Client& client) {
  return client.CallForAll(&v1::WorkerService::Stub::ListWorkers,
                           v1::ListWorkersRequest());
}

absl::StatusOr<v1::ListTokensReply> FetchTokens(Client& client) {
  return client.CallForAll(&v1::AdminService::Stub::ListTokens,
                           v1::ListTokensRequest());
}

absl::StatusOr<v1::ListBestTrialsReply> FetchBestTrials(
    Client& client, const std::string& study) {
  v1::ListBestTrialsRequest request;
  request.set_name(study);
  return client.Call(&v1::StudyService::Stub::ListBestTrials, request);
}

absl::StatusOr<std::optional<v1::Trial>> FetchBest(Client& client,
                                                   const v1::Study& study) {
  if (study.best_trials().empty()) return std::optional<v1::Trial>();
  v1::GetTrialRequest request;
  request.set_name(study.best_trials(0));
  request.set_view(v1::TRIAL_VIEW_FULL);
  ASSIGN_OR_RETURN(v1::Trial best,
                   client.Call(&v1::StudyService::Stub::GetTrial, request));
  return std::optional<v1::Trial>(std::move(best));
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
  if (!HasErrorId(status, ErrorId::kRequestInvalid)) {
    return ForTerminal(DescribeError(status));
  }
  return ForTerminal(absl::StrCat("error[", ErrorCode(ErrorId::kRequestInvalid),
                                  "]: ", status.message(),
                                  "\n  fix: ", DetailOf(status)->fix));
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
