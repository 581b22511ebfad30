// SPDX-License-Identifier: Apache-2.0
#include "cli/help/help_format.h"

#include <algorithm>
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
#include "base/flags.h"
#include "cli/help/examples.h"

namespace frostline::cli {
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
