// SPDX-License-Identifier: Apache-2.0
#include "cli/help/complete_walk.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace frostline::cli {
namespace {

const CLI::App* Below(const CLI::App& at, const std::string& word) {
  for (const CLI::App* const command : at.get_subcommands(nullptr)) {
    if (command->get_name() == word) return command;
  }
  return nullptr;
}

const CLI::Option* FlagNamed(const CLI::App& root, const CLI::App& at,
                             const std::string& name) {
  for (const CLI::Option* const flag : FlagsAt(root, at)) {
    if (flag->check_name(name)) return flag;
  }
  return nullptr;
}

void NoteWish(const std::string& flag, const std::string& value, Wish& wish) {
  if (flag == "--connect") wish.connect = value;
  if (flag == "--context") wish.context = value;
  if (flag == "--token-file") wish.access.token = value;
  if (flag == "--tls-ca") wish.access.tls.ca = value;
  if (flag == "--tls-cert") wish.access.tls.certificate = value;
  if (flag == "--tls-key") wish.access.tls.key = value;
}

std::vector<std::string> JoinedAtSigns(const std::vector<std::string>& words) {
  std::vector<std::string> joined;
  bool after_sign = false;
  for (const std::string& word : words) {
    const bool is_sign =
        !joined.empty() &&
        (word == ":" || (word == "=" && absl::StartsWith(joined.back(), "--")));
    if (is_sign || after_sign) {
      joined.back() += word;
    } else {
      joined.push_back(word);
    }
    after_sign = is_sign;
  }
  return joined;
}

// Of a flag that stands before the last word. `awaits` stays set where its
// value is still to come.
void StepOverFlag(const CLI::App& root, const std::string& word, Walk& walk) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const CLI::Option* const flag = FlagNamed(root, *walk.at, name);
  if (flag == nullptr || flag->get_type_size() == 0) return;
  if (equals == std::string::npos) {
    walk.awaits = flag;
  } else {
    NoteWish(flag->get_name(), word.substr(equals + 1), walk.wish);
  }
}

void Step(const CLI::App& root, const std::string& word, Walk& walk) {
  if (walk.awaits != nullptr) {
    NoteWish(walk.awaits->get_name(), word, walk.wish);
    walk.awaits = nullptr;
  } else if (walk.only_words || word.size() < 2 || word[0] != '-') {
    const CLI::App* const next =
        walk.positionals.empty() ? Below(*walk.at, word) : nullptr;
    if (next != nullptr) {
      walk.at = next;
    } else {
      walk.positionals.push_back(word);
    }
  } else if (word == "--") {
    walk.only_words = true;
  } else {
    StepOverFlag(root, word, walk);
  }
}

// The last word: "--format=js" asks for a value, too.
void StopAt(const CLI::App& root, const std::string& word, Walk& walk) {
  walk.begun = word;
  const std::size_t equals = word.find('=');
  if (walk.awaits != nullptr || walk.only_words ||
      !absl::StartsWith(word, "--") || equals == std::string::npos) {
    return;
  }
  walk.awaits = FlagNamed(root, *walk.at, word.substr(0, equals));
  walk.before = word.substr(0, equals + 1);
  walk.begun = word.substr(equals + 1);
}

}  // namespace

Walk WalkAlong(const CLI::App& root, const std::vector<std::string>& words) {
  Walk walk;
  walk.at = &root;
  const std::vector<std::string> joined = JoinedAtSigns(words);
  for (std::size_t i = 0; i + 1 < joined.size(); ++i) {
    Step(root, joined[i], walk);
  }
  StopAt(root, joined.empty() ? "" : joined.back(), walk);
  return walk;
}

std::vector<const CLI::Option*> FlagsAt(const CLI::App& root,
                                        const CLI::App& at) {
  const auto is_flag = [](const CLI::Option* option) {
    return option->nonpositional() && !option->get_group().empty();
  };
  std::vector<const CLI::Option*> flags = at.get_options(is_flag);
  if (&at == &root) return flags;
  for (const CLI::Option* const flag : root.get_options(is_flag)) {
    if (at.get_option_no_throw(flag->get_name()) == nullptr) {
      flags.push_back(flag);
    }
  }
  return flags;
}

const CLI::Option* PositionalAt(const Walk& walk) {
  const std::vector<const CLI::Option*> all = walk.at->get_options(
      [](const CLI::Option* option) { return option->get_positional(); });
  const std::size_t index = walk.positionals.size();
  if (index < all.size()) return all[index];
  const bool repeats = !all.empty() && all.back()->get_items_expected_max() > 1;
  return repeats ? all.back() : nullptr;
}

}  // namespace frostline::cli
