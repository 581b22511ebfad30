// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm/slurm.h"

#include <unistd.h>

#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "cli/slurm/slurm_program.h"

namespace frostline::cli {
namespace {

constexpr const char* kPrograms[] = {"sbatch", "squeue", "scontrol", "scancel"};
// One line for each task; the folder last, since it may hold anything.
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

}  // namespace frostline::cli
