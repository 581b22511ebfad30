// SPDX-License-Identifier: Apache-2.0
#include "cli/help/help_format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/flags.h"

namespace frostline::cli {

HelpExamples ReadExamples(const std::string& text) {
  HelpExamples table;
  std::vector<std::string>* below = nullptr;
  for (const absl::string_view line :
       absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (absl::StartsWith(line, "#")) continue;
    if (!absl::StartsWith(line, " ")) {
      below = &table[std::string(line)];
    } else if (below != nullptr) {
      below->emplace_back(absl::StripLeadingAsciiWhitespace(line));
    }
  }
  return table;
}

std::vector<std::string> ExamplesOf(const std::string& path) {
  // Help is asked for once in a run, but man pages ask for all of them.
  static const auto* const table =
      new HelpExamples(ReadExamples(kHelpExamples));
  const auto found = table->find(path);
  return found == table->end() ? std::vector<std::string>() : found->second;
}

namespace {

constexpr char kExitCodes[] =
    "Exit codes, the same for every Frostline program:\n"
    "    0  ok\n"
    "    1  failure\n"
    "    2  usage: a wrong command, option or argument\n"
    "    3  not found\n"
    "    4  not allowed\n"
    "    5  conflict: another state, or somebody was faster\n"
    "    6  timed out\n"
    "    7  the coordinator cannot be reached; trying again may help\n"
    "    8  the study ended without a result\n"
    "   75  preempted: run me again\n"
    "  100  a study file or a registry has mistakes\n"
    "  130  interrupted by Ctrl-C\n";

constexpr char kEnvironment[] =
    "Environment:\n"
    "  FROSTLINE_CONNECT  HOST:PORT of the coordinator, for --connect\n"
    "  FROSTLINE_CONTEXT  a context of `frostline login`, for --context\n"
    "  FROSTLINE_TOKEN_FILE, FROSTLINE_TLS_CA, FROSTLINE_TLS_CERT,\n"
    "  FROSTLINE_TLS_KEY  files, for --token-file, --tls-ca, …\n"
    "  FROSTLINE_REGISTRY DIR of models.yaml and datasets.yaml, for "
    "--registry\n"
    "  XDG_CONFIG_HOME    where contexts and settings are kept; ~/.config\n"
    "                     (`frostline config view` says what holds, and "
    "why)\n"
    "  FROSTLINE_CORE_DUMPS  1: programs may dump core, secrets and all\n"
    "  FROSTLINE_PAGER    for what is taller than the terminal, before PAGER;\n"
    "                     empty: none, as --no-pager\n"
    "  NO_COLOR           no colours, as --no-color\n";

constexpr char kFormats[] =
    "What --format takes, where a command answers with data:\n"
    "  table  columns that fit the terminal\n"
    "  wide   all columns\n"
    "  json   the API's message, indented; --json is short for it\n"
    "  jsonl  one object a line\n"
    "  yaml   the same message\n"
    "  csv    all columns, exact numbers\n"
    "  name   names alone, one a line, for other commands\n"
    "Data goes to standard output, all else to standard error.\n";

constexpr char kFilter[] =
    "What --filter takes: terms joined by AND, each FIELD OPERATOR VALUE.\n"
    "Of trials:\n"
    "  accuracy > 0.93         a metric that the study is judged by\n"
    "  metrics.loss < 0.3      any metric\n"
    "  embeddings = 0          a parameter; 0 is frozen, and may be written "
    "so\n"
    "  parameters.layer.0 > 0  the same of a name that is a metric's too\n"
    "  values[0] >= 0.9        the first objective, as numbered from 0\n"
    "  state = SUCCEEDED       QUEUED, RUNNING, PRUNED, FAILED, …\n"
    "  origin = SAMPLED        ENQUEUED, IMPORTED, …\n"
    "  number < 10, attempt > 1, worker = workers/gpu03\n"
    "  labels.kind = \"base\"    a label; quotes where a value has blanks\n"
    "Of studies: state = ACTIVE, labels.team = nlp.\n"
    "Text is compared by = and !=, numbers also by < <= > >=. Quote the whole\n"
    "for the shell: --filter 'state = SUCCEEDED AND accuracy > 0.93'\n";

constexpr char kStudyFile[] =
    "A study file says what to search. This one is whole:\n"
    "\n"
    "  id: imdb\n"
    "  model: {id: minilm, layers: 6}\n"
    "  data: {id: reviews, task: classification}\n"
    "  maximize: accuracy\n"
    "  budget: 100\n"
    "  space:\n"
    "    modules:\n"
    "      embeddings: [0, 2e-5, 1e-4]\n"
    "      \"layer.*\": [0, 2e-5, 1e-4]\n"
    "      pooler: 1e-4\n"
    "      head: 1e-3\n"
    "\n"
    "0 freezes a module. `frostline study create FILE --dry-run` checks a "
    "file\n"
    "and creates nothing. All keys: docs/reference/study-file.md\n";

constexpr char kConfiguration[] =
    "Which coordinator a command asks; the first that is said counts:\n"
    "  1  flags: --connect, --context\n"
    "  2  the environment: FROSTLINE_CONNECT, FROSTLINE_CONTEXT\n"
    "  3  the current context, of `frostline login` or `frostline context "
    "use`\n"
    "  4  127.0.0.1:7070\n"
    "`frostline status` says which it was, and why.\n";

struct Topic {
  const char* name;
  const char* text;
};
constexpr std::array kTopics = {
    Topic{"exit-codes", kExitCodes}, Topic{"environment", kEnvironment},
    Topic{"filter", kFilter},        Topic{"formats", kFormats},
    Topic{"study-file", kStudyFile}, Topic{"configuration", kConfiguration}};

}  // namespace

std::vector<std::string> TopicNames() {
  std::vector<std::string> names;
  names.reserve(kTopics.size());
  for (const Topic& topic : kTopics) names.emplace_back(topic.name);
  return names;
}

std::string TopicText(const std::string& name) {
  for (const Topic& topic : kTopics) {
    if (name == topic.name) return topic.text;
  }
  return "";
}

namespace {

constexpr std::string_view kRange = " in [";
constexpr double kNoBound = 1e9;

}  // namespace

std::vector<std::string> WordsOfType(const std::string& type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open);
  const bool is_set = open != std::string::npos && close != std::string::npos;
  if (!is_set && !absl::StrContains(type, "|")) return {};
  const std::string text =
      is_set ? type.substr(open + 1, close - open - 1) : type;
  std::vector<std::string> words;
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(",|"), absl::SkipEmpty())) {
    // A set's words are meant; outside one, a word in capitals is a kind.
    const bool is_kind =
        !is_set && std::none_of(word.begin(), word.end(), [](unsigned char c) {
          return std::islower(c) != 0;
        });
    if (!is_kind) words.emplace_back(word);
  }
  return words;
}

std::string ShownType(const std::string& type) {
  const std::vector<std::string> words = absl::StrContains(type, ":{")
                                             ? WordsOfType(type)
                                             : std::vector<std::string>();
  if (!words.empty()) return absl::StrJoin(words, "|");
  const std::size_t range = type.find(kRange);
  const std::size_t between = type.find(" - ", range);
  if (range == std::string::npos || between == std::string::npos) return type;
  const std::string kind = type.substr(0, type.find(':'));
  const std::size_t least = range + kRange.size();
  const std::string from = type.substr(least, between - least);
  const std::string to =
      type.substr(between + 3, type.find(']', between) - between - 3);
  double most = 0.0;
  // The largest that a number can be is no bound that anybody meets.
  const bool is_bound = absl::SimpleAtod(to, &most) && most < kNoBound;
  return absl::StrCat(kind, " from ", from, is_bound ? " to " : "",
                      is_bound ? to : "");
}

namespace {

constexpr std::size_t kColumn = 30;

const CLI::App& RootOf(const CLI::App& command) {
  const CLI::App* at = &command;
  while (at->get_parent() != nullptr) at = at->get_parent();
  return *at;
}

std::vector<const CLI::Option*> FlagsOf(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty();
  });
}

// Counts columns of text whose characters are one column wide: in UTF-8 all
// bytes except 10xxxxxx begin a character.
std::size_t HelpColumnsOf(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
      }));
}

class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat() {
    column_width(kColumn);
    label("OPTIONS", "FLAGS");
    label("SUBCOMMAND", "COMMAND");
    label("Positionals", "Arguments");
  }

  std::string make_help(const CLI::App* app, std::string /*name*/,
                        CLI::AppFormatMode /*mode*/) const override {
    const CLI::App& root = RootOf(*app);
    const std::string path = PathOf(*app);
    std::string text = Examples(path);
    // Not CLI11's words of how many of what is required.
    absl::StrAppend(&text, app->get_description(), "\n\n",
                    make_usage(app, app == &root ? path
                                                 : absl::StrCat(root.get_name(),
                                                                " ", path)),
                    make_positionals(app));
    if (app == &root) {
      absl::StrAppend(&text, Group("Global flags", FlagsOf(root)));
    } else {
      absl::StrAppend(&text, Group("Flags", FlagsOf(*app)));
    }
    absl::StrAppend(&text, make_subcommands(app, CLI::AppFormatMode::Normal));
    if (app != &root) {
      absl::StrAppend(&text, Group("Global flags", GlobalFlags(*app, root)));
    }
    return absl::StrCat(text, "\n", LastWords(*app));
  }

  // CLI11 counts bytes, of which "…" has three.
  std::string make_option(const CLI::Option* option,
                          bool is_positional) const override {
    std::string line =
        absl::StrCat("  ", make_option_name(option, is_positional),
                     make_option_opts(option));
    const std::string words = make_option_desc(option);
    if (words.empty()) return absl::StrCat(line, "\n");
    const std::size_t width = HelpColumnsOf(line);
    absl::StrAppend(
        &line, width < kColumn ? "" : "\n",
        std::string(width < kColumn ? kColumn - width : kColumn, ' '));
    return absl::StrCat(line, words, "\n");
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";
    std::string text = absl::StrCat(" ", ShownType(option->get_type_name()));
    if (option->get_items_expected_max() > 1) absl::StrAppend(&text, " ...");
    return text;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    if (option->get_required() && option->nonpositional()) {
      absl::StrAppend(&text, " (required)");
    }
    if (option->get_type_size() != 0 && !option->get_default_str().empty()) {
      absl::StrAppend(&text, " [", option->get_default_str(), "]");
    }
    return text;
  }

 private:
  static std::string Examples(const std::string& path) {
    const std::vector<std::string> lines = ExamplesOf(path);
    if (lines.empty()) return "";
    return absl::StrCat("Examples:\n  ", absl::StrJoin(lines, "\n  "), "\n\n");
  }

  std::string Group(const std::string& title,
                    const std::vector<const CLI::Option*>& flags) const {
    return flags.empty() ? std::string() : make_group(title, false, flags);
  }

  // Its own --help stands among its own.
  static std::vector<const CLI::Option*> GlobalFlags(const CLI::App& app,
                                                     const CLI::App& root) {
    std::vector<const CLI::Option*> flags;
    for (const CLI::Option* const flag : FlagsOf(root)) {
      const std::string name = flag->get_name();
      const bool is_hidden = app.get_option_no_throw(name) != nullptr;
      if (!is_hidden && name != "--version") flags.push_back(flag);
    }
    return flags;
  }

  static std::string LastWords(const CLI::App& app) {
    std::string text = app.get_footer();
    if (!text.empty()) absl::StrAppend(&text, "\n\n");
    return absl::StrCat(text, "More: ", kDocs,
                        "; `frostline help exit-codes`, `frostline help "
                        "environment`\n");
  }
};

void Use(CLI::App& app, const std::shared_ptr<HelpFormat>& format) {
  app.formatter(format);
  for (CLI::App* const below : app.get_subcommands(nullptr)) {
    Use(*below, format);
  }
}

}  // namespace

std::string PathOf(const CLI::App& command) {
  if (command.get_parent() == nullptr) return command.get_name();
  std::string path = command.get_name();
  for (const CLI::App* at = command.get_parent(); at->get_parent() != nullptr;
       at = at->get_parent()) {
    path = absl::StrCat(at->get_name(), " ", path);
  }
  return path;
}

void UseHelpFormat(CLI::App& app) { Use(app, std::make_shared<HelpFormat>()); }

namespace {

// Returns "--limit" for "--limit=3", "-o" for "-ofile".
std::string FlagNameOf(const std::string& word) {
  return absl::StartsWith(word, "--") ? word.substr(0, word.find('='))
                                      : word.substr(0, 2);
}

// Finds a flag of the command or of the commands above it.
const CLI::Option* FlagOf(const CLI::App& command, const std::string& name) {
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    const CLI::Option* const flag = at->get_option_no_throw(name);
    if (flag != nullptr) return flag;
  }
  return nullptr;
}

const CLI::App* CommandBelow(const CLI::App& app, const std::string& word) {
  for (const CLI::App* const command : app.get_subcommands(nullptr)) {
    if (command->get_name() == word) return command;
  }
  return nullptr;
}

// Returns the flags, the command's own first, so that it is named when another
// flag is equally similar.
std::vector<std::string> FlagNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* const option : at->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        names.push_back(absl::StrCat("--", name));
      }
    }
  }
  return names;
}

std::string Typed(const CLI::App& command) {
  const std::string program = "frostline";
  return command.get_parent() == nullptr
             ? program
             : absl::StrCat(program, " ", PathOf(command));
}

// Returns how many words after `word` are values of the flag.
std::size_t ValuesOf(const CLI::Option& flag, const std::string& word) {
  const bool attached = word.size() > FlagNameOf(word).size();
  if (attached || flag.get_items_expected_max() == 0) return 0;
  return static_cast<std::size_t>(std::max(1, flag.get_items_expected_min()));
}

}  // namespace

absl::Status FindUnknownFlag(const CLI::App& root,
                             const std::vector<std::string>& arguments) {
  const CLI::App* at = &root;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--") break;
    if (word.size() < 2 || word[0] != '-') {
      const CLI::App* const below = CommandBelow(*at, word);
      if (below != nullptr) at = below;
      continue;
    }
    const CLI::Option* const flag = FlagOf(*at, FlagNameOf(word));
    if (flag == nullptr) {
      return UnknownFlag(FlagNameOf(word), FlagNames(*at), Typed(*at));
    }
    i += ValuesOf(*flag, word);
  }
  return absl::OkStatus();
}

}  // namespace frostline::cli
