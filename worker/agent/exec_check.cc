// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/exec_check.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/flags.h"
#include "worker/agent/trainer_choice.h"

namespace frostline::agent {
namespace {

namespace fs = std::filesystem;

// A word with one of these is for the shell to read.
constexpr char kForTheShell[] = "|&;<>()$`\\\"'*?[]{}~#=%!\n";
constexpr const char* kOfTheShell[] = {
    ".",    ":",    "alias",  "break", "case",  "cd",     "command", "eval",
    "exec", "exit", "export", "for",   "if",    "return", "set",     "shift",
    "trap", "type", "ulimit", "umask", "unset", "until",  "wait",    "while"};
constexpr const char* kInterpreters[] = {"python", "pypy",    "sh",   "bash",
                                         "dash",   "zsh",     "perl", "ruby",
                                         "node",   "Rscript", "julia"};

bool IsPlain(const std::string& word) {
  return word.find_first_of(kForTheShell) == std::string::npos;
}

bool IsOfTheShell(const std::string& word) {
  return std::any_of(std::begin(kOfTheShell), std::end(kOfTheShell),
                     [&word](const char* own) { return word == own; });
}

// "python3.11" too.
bool IsInterpreter(const std::string& program) {
  const std::string name = fs::path(program).filename().string();
  const std::string bare = name.substr(0, name.find_first_of("0123456789."));
  return std::any_of(std::begin(kInterpreters), std::end(kInterpreters),
                     [&bare](const char* known) { return bare == known; });
}

bool IsFile(const fs::path& path) {
  std::error_code ignored;  // what cannot be looked at is not there
  return fs::is_regular_file(path, ignored);
}

bool IsOnPath(const std::string& program) {
  const char* const path = std::getenv("PATH");
  const std::vector<std::string> folders =
      absl::StrSplit(path == nullptr ? "/usr/bin:/bin" : path, ':');
  for (const std::string& folder : folders) {
    const fs::path file = fs::path(folder.empty() ? "." : folder) / program;
    if (IsFile(file) && access(file.c_str(), X_OK) == 0) return true;
  }
  return false;
}

absl::Status Missing(const std::string& cause, const std::string& fix) {
  return BadFlag("--exec", absl::StrCat("cannot be run: ", cause), fix);
}

// The fix for a program that is in no folder of PATH.
std::string WhereItIs(const std::string& program) {
  if (IsFile(program)) {
    return absl::StrCat("it is in this folder: --exec ./", program);
  }
  const fs::path beside = FolderOfThisProgram() / program;
  return IsFile(beside) ? absl::StrCat("it is beside frostline-worker: --exec ",
                                       beside.string())
                        : "install it, or give its path";
}

absl::Status CheckProgram(const std::string& program) {
  if (program.find('/') == std::string::npos) {
    if (IsOnPath(program)) return absl::OkStatus();
    return Missing(absl::StrCat("there is no program '", program,
                                "' in the folders of PATH"),
                   WhereItIs(program));
  }
  if (!IsFile(program)) {
    return Missing(
        absl::StrCat("there is no file ", program, ", looked for from ",
                     fs::current_path().string()),
        "give the right path, best one that begins with /");
  }
  if (access(program.c_str(), X_OK) == 0) return absl::OkStatus();
  return Missing(
      absl::StrCat(program, " may not be executed"),
      absl::StrCat("chmod +x ", program, ", or name its interpreter: \"python ",
                   program, "\""));
}

}  // namespace

absl::Status CheckExec(const std::string& command) {
  const std::vector<std::string> words =
      absl::StrSplit(command, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (words.empty() || !IsPlain(words[0]) || IsOfTheShell(words[0])) {
    return absl::OkStatus();
  }
  const absl::Status program = CheckProgram(words[0]);
  if (!program.ok()) return program;
  const bool has_script = words.size() > 1 && IsInterpreter(words[0]) &&
                          words[1].front() != '-' && IsPlain(words[1]);
  if (!has_script || IsFile(words[1])) return absl::OkStatus();
  return Missing(
      absl::StrCat("there is no script ", words[1], ", looked for from ",
                   fs::current_path().string()),
      "give the right path, best one that begins with /");
}

}  // namespace frostline::agent
