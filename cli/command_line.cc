// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/plain/text.h"
#include "cli/commands/command.h"
#include "cli/help/complete.h"
#include "cli/help/help_format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxNumberWord = 100;

bool IsDigit(char c) {
  return absl::ascii_isdigit(static_cast<unsigned char>(c));
}

std::string WrongWithWhole(const std::string& word, bool has_sign) {
  std::string_view digits = word;
  if (has_sign && digits.starts_with('-')) digits.remove_prefix(1);
  const std::string shown = proto::CleanText(word, kMaxNumberWord);
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), IsDigit)) {
    return absl::StrCat("'", shown, "' is no whole number",
                        has_sign ? "" : " from 0");
  }
  if (digits.size() > 1 && digits.front() == '0') {
    return absl::StrCat("'", shown,
                        "' begins with 0; numbers are decimal, write it "
                        "without");
  }
  std::int64_t number = 0;
  std::uint64_t natural = 0;
  const bool fits = has_sign ? absl::SimpleAtoi(word, &number)
                             : absl::SimpleAtoi(word, &natural);
  return fits ? "" : absl::StrCat("'", shown, "' is too large");
}

// Returns whether a type of CLI11 is a whole number, or a range of them where
// another name is shown.
bool IsWhole(const std::string& type) {
  return absl::StartsWith(type, "INT") || absl::StartsWith(type, "UINT") ||
         absl::StrContains(type, "INT in [");
}

}  // namespace

void TakeDecimalAlone(CLI::App& app) {
  for (CLI::Option* const option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (!IsWhole(type)) continue;
    const bool has_sign = !absl::StrContains(type, "UINT");
    // A transformation runs before the other checks. Otherwise a range would
    // say that a word which is not a number is out of range.
    option->transform(CLI::Validator(
        [has_sign](const std::string& word) {
          return WrongWithWhole(word, has_sign);
        },
        ""));
  }
  for (CLI::App* const below : app.get_subcommands({}))
    TakeDecimalAlone(*below);
}

namespace {

constexpr char kConnectVariable[] = "FROSTLINE_CONNECT";
constexpr std::size_t kMaxCommandWord = 100;
// The verbs of `frostline worker` that are commands here; other words go to the
// worker program.
constexpr const char* kWorkerVerbs[] = {"list", "drain", "invite", "revoke"};

std::vector<std::string> NamesBelow(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands(nullptr)) {
    names.push_back(command->get_name());
  }
  return names;
}

// What people type for a verb that is called otherwise here.
constexpr std::pair<const char*, const char*> kOtherWords[] = {
    {"ls", "study list"},
    {"ui", "top"},
    {"run", "study create"},
    {"start", "study create"},
    {"rm", "study delete"},
    {"ps", "trial list"},
    {"logs", "trial log"},
    {"log", "trial log"},
    {"best", "study best"},
    {"watch", "study watch"},
    {"train", "study create"},
    {"submit", "study create"},
    {"web", "top"},
    {"dashboard", "top"}};

// The same of a verb behind its noun, where the noun has the second word.
constexpr std::pair<const char*, const char*> kOtherVerbs[] = {
    {"ls", "list"},       {"rm", "delete"},     {"rm", "remove"},
    {"del", "delete"},    {"del", "remove"},    {"delete", "remove"},
    {"remove", "delete"}, {"new", "create"},    {"add", "create"},
    {"get", "show"},      {"describe", "show"}, {"info", "show"},
    {"logs", "log"},      {"kill", "cancel"},   {"rerun", "retry"}};

// Returns what a word behind a noun should be, or else the words there are.
std::string SuggestVerb(const std::string& word,
                        const std::vector<std::string>& verbs) {
  for (const auto& [typed, meant] : kOtherVerbs) {
    if (word == typed && std::ranges::find(verbs, meant) != verbs.end()) {
      return absl::StrCat("did you mean '", meant, "'?");
    }
  }
  return Suggest(word, verbs);
}

// Returns the whole command that a first word stands for, if a noun has such a
// verb or people call it so; a study's goes first.
std::string MeantCommand(const CLI::App& app, const std::string& word) {
  for (const auto& [typed, meant] : kOtherWords) {
    if (word == typed) return absl::StrCat("frostline ", meant);
  }
  std::string found;
  for (const CLI::App* const noun : app.get_subcommands(nullptr)) {
    const std::vector<std::string> verbs = NamesBelow(*noun);
    if (std::ranges::find(verbs, word) == verbs.end()) continue;
    if (found.empty() || noun->get_name() == "study") {
      found = absl::StrCat("frostline ", noun->get_name(), " ", word);
    }
  }
  return found;
}

// Returns an error for the first word that should be a command and is not.
absl::Status FindUnknownCommand(const CLI::App& app,
                                const std::vector<std::string>& arguments) {
  const CLI::App* at = &app;
  for (const std::string& word : arguments) {
    if (absl::StartsWith(word, "-")) break;
    const std::vector<std::string> names = NamesBelow(*at);
    if (at->get_subcommands(nullptr).empty()) break;
    const CLI::App* const next = FindCommand(*at, word);
    if (next == nullptr) {
      const std::string meant = at == &app ? MeantCommand(app, word) : "";
      return MakeError(
          ErrorId::kRequestInvalid,
          absl::StrCat("there is no command '",
                       proto::CleanText(word, kMaxCommandWord), "'"),
          meant.empty() ? SuggestVerb(word, names)
                        : absl::StrCat("did you mean `", meant, "`?"));
    }
    at = next;
  }
  return absl::OkStatus();
}

std::string HelpCommand(const CLI::App& app) {
  std::string path;
  for (const CLI::App* at = &app; at != nullptr; at = at->get_parent()) {
    path =
        path.empty() ? at->get_name() : absl::StrCat(at->get_name(), " ", path);
  }
  return path + " --help";
}

// Returns the cause of a parser's error. The parser lists unexpected words from
// the last to the first.
std::string CauseOf(const CLI::App& app, const CLI::Error& error) {
  const auto* const extras = dynamic_cast<const CLI::ExtrasError*>(&error);
  const std::vector<std::string> words = app.remaining(true);
  if (extras == nullptr || words.empty()) return error.what();
  return absl::StrCat("'", proto::CleanText(words.front(), kMaxCommandWord),
                      "' is a word too many");
}

// Returns the innermost command of the command line.
const CLI::App& Deepest(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : Deepest(*chosen.front());
}

// Returns whether the option is a path; a path may hold any bytes.
bool IsPath(const CLI::Option& option) {
  const std::string words =
      absl::StrCat(option.get_name(true), " ", option.get_type_name());
  for (const char* const kind : {"FILE", "PATH", "DIR", "FOLDER", "MODEL"}) {
    if (absl::StrContains(words, kind)) return true;
  }
  return option.check_name("--output") || option.check_name("--out");
}

// Checks that all other words are UTF-8, because they may go into a message.
absl::Status CheckTexts(const CLI::App& app) {
  for (const CLI::Option* const option : app.get_options()) {
    if (IsPath(*option)) continue;
    for (const std::string& word : option->results()) {
      if (IsValidUtf8(word)) continue;
      const std::string name = option->get_name();
      return MakeError(ErrorId::kRequestInvalid,
                       absl::StrCat(name, " is no UTF-8 text"),
                       absl::StrCat("give ", name, " in UTF-8"), name);
    }
  }
  for (const CLI::App* const chosen : app.get_subcommands()) {
    RETURN_IF_ERROR(CheckTexts(*chosen));
  }
  return absl::OkStatus();
}

// Refuses empty global flags, as from a script whose variable is not set: the
// command would reach another coordinator than intended.
absl::Status CheckGlobalFlags(const CLI::App& app) {
  for (const CLI::Option* const option : app.get_options()) {
    if (option->count() == 0 || !option->results().front().empty()) continue;
    const std::string name = option->get_name();
    return MakeError(ErrorId::kRequestInvalid, absl::StrCat(name, " is empty"),
                     absl::StrCat("leave ", name, " out, or give it a ",
                                  option->get_type_name()),
                     name);
  }
  return absl::OkStatus();
}

}  // namespace

void AddGlobalOptions(CLI::App& app, Invocation& invocation) {
  app.require_subcommand(1);
  UseHelpFormat(app);
  app.set_version_flag("--version",
                       absl::StrCat("frostline ", FROSTLINE_VERSION));
  TargetOptions& flags = invocation.flags;
  // Variables are read apart, since a context stands between (context_store.h).
  app.add_option("--connect", flags.connect,
                 "The coordinator; $FROSTLINE_CONNECT, else the current "
                 "context, else 127.0.0.1:7070")
      ->type_name("HOST:PORT");
  app.add_option("--context", flags.context,
                 "One that `frostline login` made; $FROSTLINE_CONTEXT")
      ->type_name("NAME");
  const auto file = [&app](const char* flag, std::string* path,
                           const char* help) {
    app.add_option(flag, *path, help)->type_name("FILE");
  };
  file("--token-file", &flags.access.token,
       "Holds a token, of mode 0600; $FROSTLINE_TOKEN_FILE");
  file("--tls-ca", &flags.access.tls.ca,
       "Who signed the coordinator's certificate; $FROSTLINE_TLS_CA");
  file("--tls-cert", &flags.access.tls.certificate,
       "A certificate of yours; $FROSTLINE_TLS_CERT");
  file("--tls-key", &flags.access.tls.key,
       "Its key, of mode 0600; $FROSTLINE_TLS_KEY");
  app.add_flag("--no-color", invocation.no_color, "No colours");
  app.add_flag("--no-pager", invocation.no_pager,
               "No pager; $FROSTLINE_PAGER, else $PAGER, is the one");
}

absl::StatusOr<std::string> ParseCommandLine(
    CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  // CLI11 throws; it ends here.
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    // Help on a word that is no command would be help on something else.
    absl::Status unknown = FindUnknownCommand(app, arguments);
    if (!unknown.ok()) return unknown;
    return app.help();  // of the innermost command that was reached
  } catch (const CLI::CallForVersion& version) {
    return absl::StrCat(version.what(), "\n");
  } catch (const CLI::Error& error) {
    absl::Status unknown = FindUnknownCommand(app, arguments);
    if (unknown.ok()) unknown = FindUnknownFlag(app, arguments);
    if (!unknown.ok()) return unknown;
    return MakeError(ErrorId::kRequestInvalid, CauseOf(app, error),
                     absl::StrCat("see `", HelpCommand(Deepest(app)), "`"));
  }
  RETURN_IF_ERROR(CheckTexts(app));
  RETURN_IF_ERROR(CheckGlobalFlags(app));
  return "";
}

std::optional<ProgramCall> OtherProgram(
    const std::vector<std::string>& arguments) {
  if (arguments.empty()) return std::nullopt;
  ProgramCall call;
  call.arguments = {arguments.begin() + 1, arguments.end()};
  if (arguments[0] == "serve") {
    call.name = "frostline-coordinator";
    return call;
  }
  const bool is_command =
      arguments.size() > 1 &&
      std::any_of(
          std::begin(kWorkerVerbs), std::end(kWorkerVerbs),
          [&arguments](const char* verb) { return arguments[1] == verb; });
  if (arguments[0] != "worker" || is_command) return std::nullopt;
  call.name = "frostline-worker";
  const char* const address = std::getenv(kConnectVariable);
  const bool given = std::any_of(call.arguments.begin(), call.arguments.end(),
                                 [](const std::string& word) {
                                   return absl::StartsWith(word, "--connect") ||
                                          absl::StartsWith(word, "--join");
                                 });
  if (address != nullptr && *address != '\0' && !given) {
    call.arguments.insert(call.arguments.begin(), {"--connect", address});
  }
  return call;
}

namespace {

constexpr char kComplete[] = "__complete";
constexpr char kParse[] = "__parse";

ExitCode CompleteWords(const CLI::App& app,
                       const std::vector<std::string>& words) {
  // A user who has typed only `worker` may still mean `worker list`.
  std::vector<std::string> done = words;
  if (!done.empty()) done.pop_back();
  const auto other = OtherProgram(done);
  Complete(app, words, other.has_value() ? other->name : "", std::cout);
  return kExitOk;
}

ExitCode ParseWords(CLI::App& app, const std::vector<std::string>& words) {
  const auto parsed = ParseCommandLine(app, words);
  if (parsed.ok()) return kExitOk;
  std::cerr << ErrorText(parsed.status()) << "\n";
  return ExitCodeOf(parsed.status());
}

}  // namespace

std::optional<ExitCode> AnswerScript(
    CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.size() < 2 || arguments[1] != "--") return std::nullopt;
  const std::vector<std::string> words(arguments.begin() + 2, arguments.end());
  if (arguments[0] == kComplete) return CompleteWords(app, words);
  if (arguments[0] == kParse) return ParseWords(app, words);
  return std::nullopt;
}

}  // namespace frostline::cli
