// SPDX-License-Identifier: Apache-2.0
#include "cli/help/complete_words.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "cli/help/complete_walk.h"
#include "cli/help/help_format.h"
#include "cli/help/topics.h"
#include "cli/help/type_words.h"

namespace frostline::cli {
namespace {

bool IsOneOf(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void AddTopics(const CLI::App& root, NextWord& wanted) {
  for (const std::string& topic : TopicNames()) {
    wanted.candidates.push_back({topic});
  }
  for (const CLI::App* const command : root.get_subcommands(nullptr)) {
    wanted.candidates.push_back(
        {command->get_name(), command->get_description()});
  }
}

void AddErrors(NextWord& wanted) {
  for (const ErrorKind& kind : AllErrorKinds()) {
    wanted.candidates.push_back({ErrorCode(kind.id), kind.title});
  }
}

// By the name that the table has: "STUDY", "NUMBER", "FILE".
void WantNamed(const std::string& name, const std::string& noun,
               const std::vector<std::string>& before, NextWord& wanted) {
  const bool names_study =
      IsOneOf(name, {"STUDY", "FIRST", "SECOND", "FROM", "TO"});
  if (names_study || (name == "ID" && noun == "study")) {
    wanted.live = Live::kStudies;
    wanted.files = noun == "report";  // takes a record's file too
  } else if (name == "STUDY[/N]" || name == "TRIAL") {
    wanted.live = Live::kStudies;
    wanted.slash_number = true;
  } else if (name == "NUMBER" && !before.empty()) {
    wanted.live = Live::kTrials;
    wanted.study = before.front();
  } else if (name == "WORKER") {
    wanted.live = Live::kWorkers;
  } else if (name == "NAME" && (noun == "context" || noun == "logout")) {
    wanted.live = Live::kContexts;
  } else if (name == "NAME" && noun == "recipe") {
    wanted.live = Live::kRecipes;
    wanted.files = true;
  } else if (IsOneOf(name, {"DIR", "FOLDER", "DATA_DIR"})) {
    wanted.folders = true;
  } else if (IsOneOf(name, {"FILE", "PATH", "MODEL"})) {
    wanted.files = true;
  }
}

void WantPositional(const CLI::App& root, const Walk& walk, NextWord& wanted) {
  const std::string path = PathOf(*walk.at);
  const std::string noun = path.substr(0, path.find(' '));
  if (noun == "help") return AddTopics(root, wanted);
  if (noun == "explain") return AddErrors(wanted);
  const CLI::Option* const option = PositionalAt(walk);
  if (option == nullptr) return;
  for (const std::string& word : WordsOfType(option->get_type_name())) {
    wanted.candidates.push_back({word});
  }
  WantNamed(option->get_name(true), noun, walk.positionals, wanted);
  // Where a trial's number may stand behind its study, or after a slash.
  const bool takes_number = walk.at->get_option_no_throw("NUMBER") != nullptr;
  if (takes_number && wanted.live == Live::kStudies) wanted.slash_number = true;
}

// The help of `--format` is the list of what it takes, and nothing else.
std::vector<std::string> FormatsOf(const CLI::Option& flag) {
  if (flag.get_type_name() != "FORMAT") return {};
  const std::vector<std::string> words =
      absl::StrSplit(flag.get_description(), ", ");
  const bool is_list =
      std::all_of(words.begin(), words.end(), [](const std::string& word) {
        return !word.empty() && !absl::StrContains(word, ' ');
      });
  return is_list ? words : std::vector<std::string>();
}

void WantValue(const CLI::Option& flag, NextWord& wanted) {
  const std::string type = flag.get_type_name();
  for (const std::string& word : WordsOfType(type)) {
    wanted.candidates.push_back({word});
  }
  for (const std::string& word : FormatsOf(flag)) {
    wanted.candidates.push_back({word});
  }
  if (!wanted.candidates.empty()) return;
  const std::string name = flag.get_name();
  if (name == "--context") {
    wanted.live = Live::kContexts;
  } else if (name == "--study") {
    wanted.live = Live::kStudies;
  } else if (name == "--worker") {
    wanted.live = Live::kWorkers;
  } else if (absl::StrContains(type, "DIR")) {
    wanted.folders = true;
  } else {
    // A word that nobody can know may still be a file's name.
    wanted.files = true;
  }
}

void WantFlags(const CLI::App& root, const CLI::App& at, NextWord& wanted) {
  for (const CLI::Option* const flag : FlagsAt(root, at)) {
    for (const std::string& name : flag->get_lnames()) {
      wanted.candidates.push_back(
          {absl::StrCat("--", name), flag->get_description()});
    }
    for (const std::string& name : flag->get_snames()) {
      wanted.candidates.push_back(
          {absl::StrCat("-", name), flag->get_description()});
    }
  }
}

}  // namespace

NextWord WantedAfter(const CLI::App& root,
                     const std::vector<std::string>& words) {
  const Walk walk = WalkAlong(root, words);
  NextWord wanted;
  wanted.begun = walk.begun;
  wanted.before = walk.before;
  wanted.wish = walk.wish;
  if (walk.awaits != nullptr) {
    WantValue(*walk.awaits, wanted);
  } else if (!walk.only_words && absl::StartsWith(walk.begun, "-")) {
    WantFlags(root, *walk.at, wanted);
  } else {
    if (walk.positionals.empty()) {
      for (const CLI::App* const below : walk.at->get_subcommands(nullptr)) {
        wanted.candidates.push_back(
            {below->get_name(), below->get_description()});
      }
    }
    WantPositional(root, walk, wanted);
  }
  return wanted;
}

}  // namespace frostline::cli
