// SPDX-License-Identifier: Apache-2.0
#include "cli/help/unknown_flag.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/flags.h"
#include "cli/help/help_format.h"

namespace frostline::cli {
namespace {

// "--limit" of "--limit=3", "-o" of "-ofile".
std::string FlagNameOf(const std::string& word) {
  return absl::StartsWith(word, "--") ? word.substr(0, word.find('='))
                                      : word.substr(0, 2);
}

// A command takes the flags of those above it too.
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

// The command's own before those of all commands, so that of two that are
// equally near its own is named.
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

// How many words behind `word` are the flag's values.
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
