// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm/slurm_program.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "cli/process/captured.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// Slurm's own programs give up after MessageTimeout, mostly 10 s, and try
// again.
constexpr Duration kLongestSlurmCall = std::chrono::minutes(2);
constexpr std::size_t kMaxWords = 1000;
// sbatch then tries again for two minutes without another word.
constexpr char kTriesAgain[] = ", sleeping and retrying";

// Slurm's words say what; which of our options it is about is ours to say.
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

// Of an array with tasks that have ended scontrol says so, a line for each
// range of tasks, and ends with 1, though it has done what it was asked to the
// others.
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
