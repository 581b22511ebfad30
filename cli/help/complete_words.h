// SPDX-License-Identifier: Apache-2.0
//
// File: complete_words.h
//
// What may stand where a person has stopped typing, as far as the program's own
// table of commands says it. What a coordinator has is only named here
// (complete_live.h fetches it).
#ifndef FROSTLINE_CLI_HELP_COMPLETE_WORDS_H_
#define FROSTLINE_CLI_HELP_COMPLETE_WORDS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/context/target.h"

namespace frostline::cli {

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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HELP_COMPLETE_WORDS_H_
