// SPDX-License-Identifier: Apache-2.0
#include "cli/help/complete.h"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/help/complete_live.h"
#include "cli/help/complete_program.h"
#include "cli/help/complete_words.h"

namespace frostline::cli {
namespace {

// With the start of the program it stays below 200 ms: more is felt as a pause.
constexpr suseconds_t kLongestMicroseconds = 150'000;

// Whatever hinders us (a name that no one resolves, a file system that is
// away), the person goes on typing.
void EndInTime() {
  std::signal(SIGALRM, [](int) { _exit(0); });
  itimerval timer{};
  timer.it_value.tv_usec = kLongestMicroseconds;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// A shell shows one line for each candidate.
std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char letter) { return letter == '\n' || letter == '\t'; }, ' ');
  return text;
}

void Print(const NextWord& wanted, std::ostream& out) {
  for (const Candidate& candidate : wanted.candidates) {
    if (!absl::StartsWith(candidate.word, wanted.begun)) continue;
    out << wanted.before << candidate.word;
    if (!candidate.help.empty()) out << "\t" << OneLine(candidate.help);
    out << "\n";
  }
}

}  // namespace

void Complete(const CLI::App& root, const std::vector<std::string>& words,
              const std::string& program, std::ostream& out) {
  EndInTime();
  NextWord wanted = WantedAfter(root, words);
  if (!program.empty()) AddProgramFlags(program, words, wanted);
  Print(wanted, out);
  if (wanted.folders) out << ":folders\n";
  if (wanted.files) out << ":files\n";
  out << std::flush;
  wanted.candidates.clear();
  AddLive(wanted);
  Print(wanted, out);
  out << std::flush;
}

}  // namespace frostline::cli
