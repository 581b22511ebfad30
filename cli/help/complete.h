// SPDX-License-Identifier: Apache-2.0
//
// File: complete.h
//
// The answers to a shell's completion: `frostline __complete -- WORDS…`. People
// do not type this command, so no help shows it. It prints lines:
//
//   study<TAB>Create, watch and steer studies
//   :files            the shell is to complete names of files
//   :folders          the shell is to complete names of folders
#ifndef FROSTLINE_CLI_HELP_COMPLETE_H_
#define FROSTLINE_CLI_HELP_COMPLETE_H_

#include <CLI/CLI.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "cli/context/context_store.h"

namespace frostline::cli {

// A walk along the typed words through the table of commands. Unlike the
// parser, it ignores mistakes, because the command line is not complete yet.

// The place that the typed words have reached.
struct Walk {
  const CLI::App* at = nullptr;          // the command that was reached
  std::vector<std::string> positionals;  // its words without the last
  const CLI::Option* awaits = nullptr;   // the last word is its value
  bool only_words = false;               // after "--"
  std::string begun;
  std::string before;  // "--format=" of "--format=js"
  TargetOptions options;
};

// Walks along `words`. bash splits "--flag=value" and "HOST:PORT" into three
// words; they are joined again.
Walk WalkAlong(const CLI::App& root, const std::vector<std::string>& words);

// Returns the flags of the command and of the program, each name once.
std::vector<const CLI::Option*> FlagsAt(const CLI::App& root,
                                        const CLI::App& at);

// Returns the positional that the next word would be, or null if there is none.
const CLI::Option* PositionalAt(const Walk& walk);

// What may come next, as far as the program's own table of commands says. If
// names of the coordinator may come, this is only noted here, and AddLive()
// fetches them.

// A word that may come next, and its help.
struct Candidate {
  std::string word;
  std::string help = "";  // one line, or empty
};

enum class Live { kNone, kStudies, kTrials, kWorkers, kContexts, kRecipes };

// Everything that may come next.
struct NextWord {
  std::string begun;   // the typed part of the word, without `before`
  std::string before;  // put before each candidate: "--format=", "imdb/"
  std::vector<Candidate> candidates;
  Live live = Live::kNone;
  bool slash_number = false;  // STUDY/N may replace a study
  std::string study;          // for kTrials: "imdb" or "studies/imdb"
  bool files = false;         // the shell completes files
  bool folders = false;
  TargetOptions options;  // the coordinator that the words choose
};

// Returns what may come next. `words` are the words after the program's name;
// the last one, which may be empty, is the one to complete. The result holds
// all candidates, also those that do not start with `begun`.
NextWord WantedAfter(const CLI::App& root,
                     const std::vector<std::string>& words);

// Adds names from the coordinator or from this user's contexts. If nobody
// answers, it adds nothing and prints nothing. It may block for a long time:
// the caller must end the program in time.
void AddLive(NextWord& wanted);

// Adds what the sibling program `name` would accept for the last of `words`. It
// reads that program's table (`--help=json`). If the program does not exist, it
// adds nothing.
void AddProgramFlags(const std::string& name,
                     const std::vector<std::string>& words, NextWord& wanted);

// Prints the candidates that fit the last of `words`. `program` is the program
// that takes over the words (for `frostline worker` it is frostline-worker), or
// empty. After 150 ms it ends the running program with code 0; what was printed
// until then stays.
void Complete(const CLI::App& root, const std::vector<std::string>& words,
              const std::string& program, std::ostream& out);

// Returns the script for "bash", "zsh" or "fish".
std::string CompletionScript(const std::string& shell);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HELP_COMPLETE_H_
