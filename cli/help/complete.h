// SPDX-License-Identifier: Apache-2.0
//
// File: complete.h
//
// `frostline __complete -- WORDS…`: what a shell's completion asks for. No
// person types it, so no help names it. It prints lines:
//
//   study<TAB>Create, watch and steer studies
//   :files            the shell's own completion of names of files is wanted
//   :folders          of folders
#ifndef FROSTLINE_CLI_HELP_COMPLETE_H_
#define FROSTLINE_CLI_HELP_COMPLETE_H_

#include <CLI/CLI.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "cli/context/context_store.h"

namespace frostline::cli {

// Follows words that were typed so far down the table of commands. Unlike the
// parser it minds no mistakes: who asks for a completion is not done.

struct Walk {
  const CLI::App* at = nullptr;          // the command that was reached
  std::vector<std::string> positionals;  // its words, but for the last
  const CLI::Option* awaits = nullptr;   // the last word is this flag's value
  bool only_words = false;               // behind "--"
  std::string begun;
  std::string before;  // "--format=" of "--format=js"
  Wish wish;
};

// bash cuts "--flag=value" and "HOST:PORT" into three words; they are taken as
// one.
Walk WalkAlong(const CLI::App& root, const std::vector<std::string>& words);

// Those of the command and of the program, each name once.
std::vector<const CLI::Option*> FlagsAt(const CLI::App& root,
                                        const CLI::App& at);

// What the next word would be; null: there is none.
const CLI::Option* PositionalAt(const Walk& walk);

// What may stand where a person has stopped typing, as far as the program's own
// table of commands says it. What a coordinator has is only named here
// (complete.h fetches it).

struct Candidate {
  std::string word;
  std::string help = "";  // one line, or none
};

enum class Live { kNone, kStudies, kTrials, kWorkers, kContexts, kRecipes };

struct NextWord {
  std::string begun;   // what is typed of the word, without `before`
  std::string before;  // goes before each candidate: "--format=", "imdb/"
  std::vector<Candidate> candidates;
  Live live = Live::kNone;
  bool slash_number = false;  // STUDY/N may stand where a study does
  std::string study;          // of kTrials: "imdb" or "studies/imdb"
  bool files = false;         // the shell's to complete
  bool folders = false;
  Wish wish;  // the coordinator that the words name
};

// `words` are those after the program's name; the last is the one to complete,
// and may be empty. All candidates are given, whether or not they fit `begun`.
NextWord WantedAfter(const CLI::App& root,
                     const std::vector<std::string>& words);

// Adds what is wanted of a coordinator or of this user's contexts. Where nobody
// answers, nothing is added and nothing is said. It may wait for long: its
// caller ends the program in time.
void AddLive(NextWord& wanted);

// Asks the sibling program `name` for its table (`--help=json`), and adds what
// it would take for the last of `words`. Where it is not there nothing is
// added.
void AddProgramFlags(const std::string& name,
                     const std::vector<std::string>& words, NextWord& wanted);

// Prints what fits the last of `words`. `program` is the one that takes the
// words in our place (`frostline worker` is frostline-worker), or empty. The
// running program ends with code 0 when this has taken 150 ms, with what was
// printed by then.
void Complete(const CLI::App& root, const std::vector<std::string>& words,
              const std::string& program, std::ostream& out);

// The script for "bash", "zsh" or "fish".
std::string CompletionScript(const std::string& shell);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HELP_COMPLETE_H_
