// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/audit_verify.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/audit_chain.h"
#include "base/plain/json.h"
#include "base/status_macros.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kFullFile[] = "audit-";

absl::Status NoAudit(const std::string& folder, const std::string& why) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("there is no audit to read in ",
                                proto::CleanText(folder, 300), why),
                   "name the folder of `frostline serve --data`");
}

// Full ones by their first entries, then the one that grows.
absl::StatusOr<std::vector<std::string>> FilesOf(const std::string& folder) {
  std::error_code error;
  const std::string within = absl::StrCat(folder, "/", kAuditFolder);
  const std::string at = fs::is_directory(within, error) ? within : folder;
  std::vector<std::string> files;
  for (fs::directory_iterator entry(at, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (absl::StartsWith(name, kFullFile) && absl::EndsWith(name, ".jsonl")) {
      files.push_back(entry->path().string());
    }
  }
  if (error) return NoAudit(folder, ": " + error.message());
  std::sort(files.begin(), files.end());
  const std::string newest = absl::StrCat(at, "/", kAuditFile);
  if (fs::exists(newest, error)) files.push_back(newest);
  if (files.empty()) return NoAudit(folder, "");
  return files;
}

class Verifier {
 public:
  const AuditFacts& facts() const { return facts_; }

  absl::Status ReadFile(const std::string& path, bool grows) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return NoAudit(path, ": it cannot be read");
    std::string line;
    for (std::int64_t number = 1; std::getline(file, line); ++number) {
      at_ = absl::StrCat(path, ":", number);
      if (!file.eof()) {
        RETURN_IF_ERROR(Take(line));
      } else if (!grows) {
        return Broken("the line has no end");
      } else {
        facts_.unfinished = true;
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Take(const std::string& line) {
    const auto parts = ReadChainedLine(line);
    const auto json = Json::Parse(line);
    if (!parts.has_value() || !json.ok()) {
      return Broken("the line is no entry of the audit");
    }
    const JsonValue* const sequence = json.value().root().Find("sequence");
    const JsonValue* const time = json.value().root().Find("time");
    if (sequence == nullptr || time == nullptr ||
        !sequence->is(JsonKind::kNumber) || !time->is(JsonKind::kString)) {
      return Broken("the line is no entry of the audit");
    }
    if (sequence->text != absl::StrCat(facts_.entries + 1)) {
      return Broken(
          absl::StrCat("the line has entry ",
                       proto::CleanText(std::string(sequence->text), 40)));
    }
    if (NextChain(chain_, parts->text) != parts->chain) {
      return Broken(
          "it does not follow from the one before: one of them was "
          "changed");
    }
    chain_ = std::string(parts->chain);
    facts_.last_chain = chain_;
    facts_.last_time = std::string(time->text);
    if (++facts_.entries == 1) facts_.first_time = facts_.last_time;
    return absl::OkStatus();
  }

  absl::Status Broken(const std::string& cause) const {
    return MakeError(ErrorId::kAuditBroken,
                     absl::StrCat("entry ", facts_.entries + 1,
                                  " is not where "
                                  "it belongs, ",
                                  at_, ": ", cause),
                     absl::StrCat("look there; the ", facts_.entries,
                                  " entries before are whole. A copy that is "
                                  "kept elsewhere has the others"));
  }

  AuditFacts facts_;
  std::string chain_ = FirstChain();
  std::string at_;
};

}  // namespace

absl::StatusOr<AuditFacts> VerifyAudit(const std::string& folder) {
  ASSIGN_OR_RETURN(const auto files, FilesOf(folder));
  Verifier verifier;
  for (const std::string& file : files) {
    RETURN_IF_ERROR(verifier.ReadFile(file, &file == &files.back()));
  }
  return verifier.facts();
}

}  // namespace frostline::cli
