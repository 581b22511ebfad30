// SPDX-License-Identifier: Apache-2.0
#include "base/ids.h"

#include <sys/random.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"

namespace frostline {
namespace {

constexpr std::size_t kMaxIdLength = 64;

bool IsIdChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

bool IsId(const std::string& id) {
  if (id.empty() || id.size() > kMaxIdLength) return false;
  for (const char c : id) {
    if (!IsIdChar(c)) return false;
  }
  const bool first_is_plain = id[0] != '.' && id[0] != '_' && id[0] != '-';
  return first_is_plain && id.find("..") == std::string::npos;
}

absl::Status BadName(const std::string& name, const std::string& form) {
  return MakeError(ErrorId::kNameInvalid,
                   absl::StrCat("'", absl::Utf8SafeCEscape(name.substr(0, 200)),
                                "' is not of the form ", form),
                   absl::StrCat("give a name of the form ", form), "name");
}

absl::StatusOr<std::string> ParseSingle(const std::string& name,
                                        const std::string& collection) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  if (parts.size() != 2 || parts[0] != collection || !IsId(parts[1])) {
    return BadName(name, collection + "/ID");
  }
  return parts[1];
}

}  // namespace

absl::Status CheckId(const std::string& id, const std::string& field) {
  if (IsId(id)) return absl::OkStatus();
  return MakeError(
      ErrorId::kNameInvalid,
      absl::StrCat("'", absl::Utf8SafeCEscape(id.substr(0, 200)),
                   "' is no valid id"),
      "use 1 to 64 of a-z, 0-9, '.', '_', '-', first a letter or digit", field);
}

std::string StudyNameOf(const std::string& study_id) {
  return absl::StrCat("studies/", study_id);
}

std::string TrialNameOf(const std::string& study_id, std::int64_t number) {
  return absl::StrCat("studies/", study_id, "/trials/", number);
}

std::string WorkerNameOf(const std::string& worker_id) {
  return absl::StrCat("workers/", worker_id);
}

absl::StatusOr<std::string> ParseStudyName(const std::string& name) {
  return ParseSingle(name, "studies");
}

absl::StatusOr<std::string> ParseWorkerName(const std::string& name) {
  return ParseSingle(name, "workers");
}

absl::StatusOr<TrialName> ParseTrialName(const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  TrialName trial;
  if (parts.size() != 4 || parts[0] != "studies" || !IsId(parts[1]) ||
      parts[2] != "trials" || !absl::SimpleAtoi(parts[3], &trial.number) ||
      trial.number < 0) {
    return BadName(name, "studies/ID/trials/NUMBER");
  }
  trial.study_id = parts[1];
  // One trial, one name: not "01", "+1" or " 1".
  if (TrialNameOf(trial.study_id, trial.number) != name) {
    return BadName(name, "studies/ID/trials/NUMBER");
  }
  return trial;
}

std::string RandomHexId() {
  std::array<char, 16> bytes{};
  // getrandom of 16 bytes neither fails nor blocks once the machine has booted.
  if (getrandom(bytes.data(), bytes.size(), 0) !=
      static_cast<ssize_t>(bytes.size())) {
    std::abort();
  }
  return absl::BytesToHexString(std::string(bytes.data(), bytes.size()));
}

std::string NewRequestId(const Clock& clock) {
  const auto milliseconds = static_cast<std::uint64_t>(clock.Wall() / 1000);
  return absl::StrCat(absl::Hex(milliseconds, absl::kZeroPad12),
                      RandomHexId().substr(0, 20));
}

}  // namespace frostline
