// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/command.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/process.h"

namespace frostline::agent {
namespace {

namespace fs = std::filesystem;

constexpr char kCommandFlag[] = "--command";
constexpr char kPacked[] = "frostline-command.pyz";
// Where packages put what is no program, seen from the programs' folder.
constexpr char kShare[] = "../share/frostline";
constexpr char kPythonVariable[] = "FROSTLINE_PYTHON";
constexpr int kNoProgram = 127;
constexpr double kShareOfGrace = 0.75;

// A flag that may be repeated, and goes to the trainer as it is.
Flag PassedFlag(const std::string& name, const std::string& value,
                const std::string& help, PlainCommand* command) {
  Flag flag{name, value, help, [=](const std::string& text) {
              command->more.push_back(absl::StrCat(name, "=", text));
              return absl::OkStatus();
            }};
  flag.repeats = true;
  return flag;
}

std::string PythonOf() {
  const char* const given = std::getenv(kPythonVariable);
  return given == nullptr || *given == '\0' ? "python3" : given;
}

// Returns "" if the file is nowhere.
std::string PackedTrainer(const fs::path& programs) {
  std::error_code ignored;  // what cannot be looked at is not there
  for (const fs::path& folder : {programs, programs / kShare}) {
    const fs::path file = folder / kPacked;
    if (fs::is_regular_file(file, ignored)) return file.string();
  }
  return "";
}

// Runs the words and adds what they write. Returns as a shell would.
int OutputOf(std::vector<std::string> words, std::string* output) {
  Pipe pipe;
  if (!pipe.ok()) return kNoProgram;
  const pid_t child =
      StartProcess({.words = std::move(words), .out = pipe.write.number()});
  pipe.write.Close();
  if (child < 0) return kNoProgram;
  std::array<char, 4096> part{};
  for (ssize_t n = 1; n > 0;) {
    n = read(pipe.read.number(), part.data(), part.size());
    if (n > 0) output->append(part.data(), static_cast<std::size_t>(n));
  }
  return ShellCodeOf(WaitForEnd(child));
}

absl::Status NeedsPython(const std::string& python) {
  return BadFlag(
      kCommandFlag,
      absl::StrCat("needs Python 3.10 or later, and '", python,
                   "' is none that runs"),
      absl::StrCat("install python3, or name one: ", kPythonVariable,
                   "=/path/to/python3; a trainer that speaks the protocol "
                   "itself needs none (--exec)"));
}

// What the trainer writes with --check when it refuses: a line each for the
// mistake's id and cause, the flag, and the fix.
absl::Status Refusal(const std::string& output) {
  const std::vector<std::string> lines =
      absl::StrSplit(absl::StripSuffix(output, "\n"), '\n');
  if (lines.size() != 3) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid, lines[0], lines[2], lines[1]);
}

}  // namespace

std::string ShellQuoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::vector<Flag> CommandFlags(PlainCommand* command) {
  return {
      TextFlag(kCommandFlag, "CMD",
               "Any command as a trainer, unedited: 'python train.py --lr "
               "{lr}'; see docs/how-to/your-trainer.md",
               &command->text),
      PassedFlag("--metrics", "KIND:WHAT",
                 "Where its metrics are: regex:EXPR of its output, "
                 "jsonl:FILE (- is its output), csv:FILE, trainer_state:DIR",
                 command),
      PassedFlag("--rename", "OLD=NEW", "What the study calls a metric",
                 command),
      TextFlag("--config", "FILE",
               "A YAML or JSON file; {config} is a copy with --set applied",
               &command->config),
      PassedFlag("--set", "PATH={NAME}", "A value in it: optimizer.lr={lr}",
                 command),
      SwitchFlag("--in-folder", "Run it in the trial's own folder",
                 &command->runs_in_folder)};
}

absl::StatusOr<std::string> TrainerOf(const PlainCommand& command,
                                      const fs::path& programs,
                                      Duration stop_grace) {
  if (command.text.empty()) {
    return BadFlag(kCommandFlag, "is missing, which other flags are about",
                   "give it: --command 'python train.py --lr {lr}'");
  }
  const std::string trainer = PackedTrainer(programs);
  if (trainer.empty()) {
    return BadFlag(kCommandFlag,
                   absl::StrCat("needs ", kPacked, ", which is not in ",
                                programs.string()),
                   "put it beside frostline-worker, where a build makes it");
  }
  const double grace =
      std::chrono::duration<double>(stop_grace).count() * kShareOfGrace;
  std::vector<std::string> words = {PythonOf(), trainer, "--grace",
                                    absl::StrCat(grace)};
  words.insert(words.end(), command.more.begin(), command.more.end());
  if (!command.config.empty()) words.push_back("--config=" + command.config);
  if (command.runs_in_folder) words.emplace_back("--in-folder");
  words.insert(words.end(), {"--", command.text});

  std::vector<std::string> check = words;
  check.insert(check.begin() + 2, "--check");
  std::string output;
  const int code = OutputOf(std::move(check), &output);
  if (code != 0) {
    absl::Status refusal = Refusal(output);
    return refusal.ok() ? NeedsPython(words[0]) : refusal;
  }
  std::string line;
  for (const std::string& word : words) {
    absl::StrAppend(&line, line.empty() ? "" : " ", ShellQuoted(word));
  }
  return line;
}

}  // namespace frostline::agent
