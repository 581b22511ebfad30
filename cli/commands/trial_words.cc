// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "cli/commands/trial.h"

namespace frostline::cli {
namespace {

constexpr std::int64_t kMostTrialWords = 1'000'000'000;

absl::Status NoTrial(const std::string& words) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("\"", words, "\" names no trial"),
                   "write STUDY NUMBER or STUDY/NUMBER, e.g. imdb/17; "
                   "`frostline trial list STUDY` shows their numbers");
}

// Returns "imdb/17" for "studies/imdb/trials/17".
std::string Shortened(const std::string& word) {
  return absl::StrReplaceAll(absl::StripPrefix(word, "studies/"),
                             {{"/trials/", "/"}});
}

absl::StatusOr<TrialName> TrialFrom(const std::string& study,
                                    const std::string& digits) {
  TrialName trial;
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(study));
  ASSIGN_OR_RETURN(trial.study_id, ParseStudyName(name));
  const bool starts_well =
      !digits.empty() &&
      absl::ascii_isdigit(static_cast<unsigned char>(digits.front()));
  if (!starts_well || !absl::SimpleAtoi(digits, &trial.number) ||
      trial.number > kMostTrialWords) {
    return NoTrial(absl::StrCat(study, "/", digits));
  }
  return trial;
}

}  // namespace

CLI::App* AddStudyTrial(CLI::App& noun, const std::string& name,
                        const std::string& help, Invocation& invocation,
                        TrialWords& words, Action action) {
  CLI::App* const verb =
      AddVerb(noun, name, help, invocation, std::move(action));
  verb->add_option("STUDY", words.study, "The study, or STUDY/NUMBER")
      ->required();
  verb->add_option("NUMBER", words.number, "The trial's number");
  return verb;
}

absl::StatusOr<std::string> TrialNameFrom(const TrialWords& words,
                                          std::vector<std::string>* more) {
  const std::string word = Shortened(words.study);
  const std::size_t slash = word.find('/');
  if (slash == std::string::npos) {
    if (words.number.empty()) return NoTrial(words.study);
    ASSIGN_OR_RETURN(const TrialName trial, TrialFrom(word, words.number));
    return TrialNameOf(trial.study_id, trial.number);
  }
  if (!words.number.empty()) {
    if (more == nullptr) {
      return NoTrial(absl::StrCat(words.study, " ", words.number));
    }
    more->insert(more->begin(), words.number);
  }
  ASSIGN_OR_RETURN(const TrialName trial,
                   TrialFrom(word.substr(0, slash), word.substr(slash + 1)));
  return TrialNameOf(trial.study_id, trial.number);
}

std::string StudyNameOfTrial(const std::string& trial) {
  return trial.substr(0, trial.find("/trials/"));
}

absl::StatusOr<std::vector<TrialName>> TrialNamesFrom(
    const std::vector<std::string>& words) {
  std::vector<TrialName> trials;
  std::string study;
  for (const std::string& given : words) {
    const std::string word = Shortened(given);
    const std::size_t slash = word.find('/');
    if (slash == std::string::npos && study.empty()) {
      RETURN_IF_ERROR(StudyNameFrom(word).status());
      study = word;
      continue;
    }
    if (slash != std::string::npos) study = word.substr(0, slash);
    ASSIGN_OR_RETURN(
        TrialName trial,
        TrialFrom(study,
                  slash == std::string::npos ? word : word.substr(slash + 1)));
    trials.push_back(std::move(trial));
  }
  if (trials.empty()) return NoTrial(study);
  return trials;
}

}  // namespace frostline::cli
