// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm/slurm.h"

#include <unistd.h>

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "cli/process/child_process.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr const char* kPrograms[] = {"sbatch", "squeue", "scontrol", "scancel"};
// The format of a line for each task. The folder is last, because it may
// contain any character.
constexpr char kFormat[] = "%F|%K|%T|%N|%r|%Z";
constexpr int kFields = 6;

bool IsInPath(const std::string& program) {
  const char* const path = std::getenv("PATH");
  for (const auto folder : absl::StrSplit(path == nullptr ? "" : path, ':')) {
    if (access(absl::StrCat(folder, "/", program).c_str(), X_OK) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> SubmitWords(const ArraySpec& spec) {
  std::vector<std::string> words = {
      "sbatch", "--parsable", absl::StrCat("--job-name=", spec.name),
      absl::StrCat("--array=0-", spec.tasks - 1, "%", spec.at_a_time),
      absl::StrCat("--chdir=", spec.folder),
      // A percent sign begins a pattern there.
      absl::StrCat("--output=", absl::StrReplaceAll(spec.folder, {{"%", "%%"}}),
                   "/log/%a.log"),
      absl::StrCat("--gres=", spec.gres.empty() ? "none" : spec.gres)};
  if (!spec.partition.empty()) {
    words.push_back(absl::StrCat("--partition=", spec.partition));
  }
  words.push_back(spec.script);
  words.insert(words.end(), spec.arguments.begin(), spec.arguments.end());
  return words;
}

std::vector<ArrayTask> ParseTasks(const std::string& text) {
  std::vector<ArrayTask> tasks;
  for (const auto line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> fields =
        absl::StrSplit(line, absl::MaxSplits('|', kFields - 1));
    ArrayTask task;
    if (fields.size() != kFields || !absl::SimpleAtoi(fields[0], &task.array) ||
        !absl::SimpleAtoi(fields[1], &task.index)) {
      continue;
    }
    task.state = fields[2];
    task.node = fields[3];
    task.reason = fields[4] == "None" ? "" : fields[4];
    task.folder = fields[5];
    tasks.push_back(std::move(task));
  }
  return tasks;
}

absl::StatusOr<Slurm> Slurm::Find() {
  for (const char* const program : kPrograms) {
    if (!IsInPath(program)) return SlurmMissing(program);
  }
  return Slurm();
}

absl::StatusOr<std::int64_t> Slurm::Submit(const ArraySpec& spec) const {
  ASSIGN_OR_RETURN(const std::string said, AskSlurm(SubmitWords(spec)));
  // "123", or "123;cluster" of a federation.
  const std::vector<std::string> parts =
      absl::StrSplit(absl::StripAsciiWhitespace(said), ';');
  std::int64_t array = 0;
  if (absl::SimpleAtoi(parts[0], &array)) return array;
  return SlurmRefused("sbatch", absl::StrCat("'", said, "' is no job id"));
}

absl::StatusOr<std::vector<ArrayTask>> Slurm::Look(
    const std::string& name) const {
  ASSIGN_OR_RETURN(const std::string said,
                   AskSlurm({"squeue", "--me", "--noheader", "--array",
                             absl::StrCat("--name=", name),
                             absl::StrCat("--format=", kFormat)}));
  return ParseTasks(said);
}

absl::StatusOr<std::string> Slurm::ClusterName() const {
  ASSIGN_OR_RETURN(const std::string said,
                   AskSlurm({"scontrol", "show", "config"}));
  for (const auto line : absl::StrSplit(said, '\n')) {
    const std::vector<std::string> parts =
        absl::StrSplit(line, absl::MaxSplits('=', 1));
    if (parts.size() == 2 &&
        absl::StripAsciiWhitespace(parts[0]) == "ClusterName") {
      return std::string(absl::StripAsciiWhitespace(parts[1]));
    }
  }
  return std::string();
}

absl::Status Slurm::Throttle(std::int64_t array, int at_a_time) const {
  return TellSlurm({"scontrol", "update", absl::StrCat("JobId=", array),
                    absl::StrCat("ArrayTaskThrottle=", at_a_time)});
}

absl::Status Slurm::Hold(std::int64_t array) const {
  return TellSlurm({"scontrol", "hold", absl::StrCat(array)});
}

absl::Status Slurm::Release(std::int64_t array) const {
  return TellSlurm({"scontrol", "release", absl::StrCat(array)});
}

absl::Status Slurm::CancelWaiting(std::int64_t array) const {
  return TellSlurm({"scancel", "--state=PENDING", absl::StrCat(array)});
}

absl::Status Slurm::SignalRunning(std::int64_t array,
                                  const std::string& signal) const {
  return TellSlurm({"scancel", "--state=RUNNING",
                    absl::StrCat("--signal=", signal), absl::StrCat(array)});
}

namespace {

// The longest wait. Slurm's programs give up after MessageTimeout, usually 10
// s, and try again.
constexpr Duration kLongestSlurmCall = std::chrono::minutes(2);
constexpr std::size_t kMaxWords = 1000;
// After these words sbatch tries again for two minutes without another message.
constexpr char kTriesAgain[] = ", sleeping and retrying";

// Returns the fix. Slurm says what is wrong; this adds the option of ours that
// it is about.
std::string FixFor(const std::string& words) {
  const std::string said = absl::AsciiStrToLower(words);
  const auto speaks_of = [&said](const char* word) {
    return absl::StrContains(said, word);
  };
  if (speaks_of("contact") || speaks_of("connect") ||
      speaks_of("configuration source")) {
    return "see whether the controller answers: `scontrol ping`";
  }
  if (speaks_of("temporarily unable")) {
    return "the cluster has as many jobs as it may (MaxJobCount), or has just "
           "begun: ask for less with --max, or try again";
  }
  if (speaks_of("limit") || speaks_of("qos") || speaks_of("account") ||
      speaks_of("array")) {
    return "ask for less with --max, for another account with "
           "$SBATCH_ACCOUNT, or ask the site for more";
  }
  if (speaks_of("partition")) {
    return "`sinfo` shows the partitions; name one with --partition";
  }
  if (speaks_of("configuration") || speaks_of("gres")) {
    return "`sinfo -o '%P %G'` shows what there is; ask for that with --gres";
  }
  return "it is the site's rule; `scontrol show config` and `sinfo` show what "
         "is allowed";
}

absl::StatusOr<std::string> Answer(const std::string& program,
                                   const absl::StatusOr<Captured>& ran) {
  if (absl::IsNotFound(ran.status())) return SlurmMissing(program);
  if (!ran.ok())
    return SlurmRefused(program, std::string(ran.status().message()));
  if (ran->code == 0) return ran->out;
  const absl::string_view said = absl::StripAsciiWhitespace(ran->err);
  return SlurmRefused(program, said.empty() ? absl::StrCat("code ", ran->code)
                                            : std::string(said));
}

// Returns whether scontrol complains only about tasks that have ended. It
// prints a line for each range of them and exits with 1, although it has
// changed the other tasks.
bool SpeaksOfEndedTasksAlone(const std::string& said) {
  for (const auto line : absl::StrSplit(said, '\n', absl::SkipWhitespace())) {
    const bool is_harmless =
        absl::EndsWith(line, ": No error") ||
        absl::EndsWith(line, "already finished") ||
        absl::EndsWith(line, "already completing or completed");
    if (!is_harmless) return false;
  }
  return !said.empty();
}

}  // namespace

absl::Status SlurmMissing(const std::string& program) {
  return MakeError(ErrorId::kSlurmMissing,
                   absl::StrCat(program, " is not in the PATH"),
                   "run this on a login node of the cluster, or install "
                   "Slurm's client there (Debian: slurm-client)");
}

absl::Status SlurmRefused(const std::string& program,
                          const std::string& words) {
  std::string text = proto::CleanText(words, kMaxWords);
  for (const char* const opening : {": error: ", ": "}) {
    text = absl::StrReplaceAll(text, {{absl::StrCat(program, opening), ""}});
  }
  text = absl::StrReplaceAll(text, {{kTriesAgain, ""}});
  return MakeError(ErrorId::kSlurmRefused, absl::StrCat(program, ": ", text),
                   FixFor(text));
}

absl::StatusOr<std::string> AskSlurm(const std::vector<std::string>& words) {
  return Answer(words[0], RunCaptured(words, kLongestSlurmCall, kTriesAgain));
}

absl::Status TellSlurm(const std::vector<std::string>& words) {
  const auto ran = RunCaptured(words, kLongestSlurmCall);
  const bool is_done =
      ran.ok() && (ran->code == 0 || SpeaksOfEndedTasksAlone(ran->err));
  return is_done ? absl::OkStatus() : Answer(words[0], ran).status();
}

}  // namespace frostline::cli
