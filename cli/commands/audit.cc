// SPDX-License-Identifier: Apache-2.0
//
// Who changed what: asked of the coordinator, or read in its data folder.
#include "cli/commands/audit.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/plain/audit_chain.h"
#include "base/plain/json.h"
#include "cli/commands/command.h"
#include "cli/process/child_process.h"
#include "cli/term/terminal.h"
#include "cli/view/access_view.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kFullFile[] = "audit-";
constexpr char kDatabaseFile[] = "frostline.sqlite";
constexpr Duration kLongestLook = std::chrono::minutes(1);
constexpr std::size_t kShownBytes = 500;

absl::Status NoAudit(const std::string& folder, const std::string& why) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("there is no audit to read in ",
                                proto::CleanText(folder, 300), why),
                   "name the folder of `frostline serve --data`");
}

// Returns the full files by their first entries, then the growing one.
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

struct AuditLine {
  std::int64_t sequence = 0;
  std::string time;
  std::string_view text;
  std::string_view chain;
};

// Parses a line. The result points into `line`; it is empty when the line is
// not an entry.
std::optional<AuditLine> ReadAuditLine(const std::string& line) {
  const auto parts = ReadChainedLine(line);
  const auto json = Json::Parse(line);
  if (!parts.has_value() || !json.ok()) return std::nullopt;
  const JsonValue* const sequence = json.value().root().Find("sequence");
  const JsonValue* const time = json.value().root().Find("time");
  if (sequence == nullptr || time == nullptr ||
      !sequence->is(JsonKind::kNumber) || !time->is(JsonKind::kString)) {
    return std::nullopt;
  }
  AuditLine entry{0, std::string(time->text), parts->text, parts->chain};
  if (!absl::SimpleAtoi(std::string(sequence->text), &entry.sequence)) {
    return std::nullopt;
  }
  return entry;
}

absl::Status BrokenDatabase(const std::string& cause) {
  return MakeError(ErrorId::kAuditBroken,
                   absl::StrCat("in the database ", cause),
                   "look there; a copy that is kept elsewhere has the others");
}

class Verifier {
 public:
  explicit Verifier(const std::optional<StoredAudit>& stored)
      : stored_(stored) {}

  const AuditFacts& facts() const { return facts_; }

  absl::Status ReadFile(const std::string& path, bool grows) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return NoAudit(path, ": it cannot be read");
    std::string line;
    newest_ = path;
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

  // Checks, after the last file, that no entry is missing at the end and that
  // the entries that only the database has follow.
  absl::Status CheckEnd() {
    if (!stored_.has_value()) return absl::OkStatus();
    std::int64_t in_files = stored_->moved;
    std::int64_t before = 0;
    for (const auto& [number, line] : stored_->lines) {
      if (number != before + 1) in_files = std::max(in_files, number - 1);
      before = number;
    }
    const std::int64_t newest = std::max(stored_->moved, before);
    if (facts_.entries < in_files) return Cut(newest);
    for (std::int64_t n = facts_.entries + 1; n <= newest; ++n) {
      const std::string& line = stored_->lines.at(n);
      const auto entry = ReadAuditLine(line);
      if (!entry.has_value() ||
          NextChain(chain_, entry->text) != entry->chain) {
        return BrokenDatabase(
            absl::StrCat("entry ", n, " does not follow from the one before"));
      }
      chain_ = std::string(entry->chain);
      ++facts_.waiting;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Take(const std::string& line) {
    const auto entry = ReadAuditLine(line);
    if (!entry.has_value()) return Broken("the line is no entry of the audit");
    if (entry->sequence != facts_.entries + 1) {
      return Broken(absl::StrCat("the line has entry ", entry->sequence));
    }
    if (NextChain(chain_, entry->text) != entry->chain) {
      return Broken(
          "it does not follow from the one before: one of them was "
          "changed");
    }
    if (!IsAsStored(entry->sequence, line)) {
      return Broken(
          "the database has another: this one, or one before, was "
          "changed");
    }
    chain_ = std::string(entry->chain);
    facts_.last_chain = chain_;
    facts_.last_time = entry->time;
    if (++facts_.entries == 1) facts_.first_time = facts_.last_time;
    return absl::OkStatus();
  }

  bool IsAsStored(std::int64_t number, const std::string& line) const {
    if (!stored_.has_value()) return true;
    const auto found = stored_->lines.find(number);
    return found == stored_->lines.end() || found->second == line;
  }

  absl::Status Cut(std::int64_t newest) const {
    const std::string end =
        newest_.empty()
            ? "there is no file"
            : absl::StrCat(newest_, " ends with entry ", facts_.entries);
    return MakeError(
        ErrorId::kAuditBroken,
        absl::StrCat("the end was cut off: ", end,
                     ", and the database says "
                     "that entry ",
                     newest, " was written"),
        absl::StrCat("look there; the ", facts_.entries,
                     " entries before are whole. A copy that is kept elsewhere "
                     "has the others"));
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

  const std::optional<StoredAudit>& stored_;
  AuditFacts facts_;
  std::string chain_ = FirstChain();
  std::string at_;
  std::string newest_;  // file
};

absl::StatusOr<AuditFacts> ReadFiles(const std::vector<std::string>& files,
                                     const std::optional<StoredAudit>& stored) {
  Verifier verifier(stored);
  for (const std::string& file : files) {
    RETURN_IF_ERROR(verifier.ReadFile(file, &file == &files.back()));
  }
  RETURN_IF_ERROR(verifier.CheckEnd());
  return verifier.facts();
}

// Returns the data folder that has the database: `folder` or, for a folder
// `audit`, the one above it. Returns "" when there is none.
std::string DatabaseBeside(const std::string& folder) {
  std::error_code none;
  const fs::path within = fs::path(folder) / kDatabaseFile;
  if (fs::exists(within, none)) return folder;
  // The folder `audit` itself may be named.
  const fs::path above = fs::path(folder).lexically_normal() / "..";
  const bool is_audit = !fs::exists(fs::path(folder) / kAuditFolder, none) &&
                        fs::exists(above / kDatabaseFile, none) &&
                        fs::equivalent(above / kAuditFolder, folder, none);
  return is_audit ? above.string() : "";
}

// Returns the id in the program's one line, which begins with "error[FL-3003]:
// ".
ErrorId IdIn(const std::string& said) {
  for (const ErrorKind& kind : AllErrorKinds()) {
    if (absl::StartsWith(said, absl::StrCat("error[", ErrorCode(kind.id)))) {
      return kind.id;
    }
  }
  return ErrorId::kStoreIo;
}

absl::Status CannotCompare(ErrorId id, const std::string& why) {
  return MakeError(id,
                   absl::StrCat("the end of the audit cannot be held against "
                                "the database: ",
                                proto::CleanText(why, kShownBytes)),
                   "mend that first; a copy of the folder audit alone is read "
                   "without it, and an end that was cut off does not show");
}

}  // namespace

absl::StatusOr<StoredAudit> ParseStoredAudit(const std::string& text) {
  StoredAudit stored;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const auto head = Json::Parse(line);
  const JsonValue* const moved =
      head.ok() ? head.value().root().Find("moved") : nullptr;
  if (moved == nullptr ||
      !absl::SimpleAtoi(std::string(moved->text), &stored.moved)) {
    return CannotCompare(ErrorId::kStoreIo, "its program said nothing of it");
  }
  while (std::getline(lines, line)) {
    const auto entry = ReadAuditLine(line);
    if (!entry.has_value()) {
      return BrokenDatabase("a line is no entry of the audit");
    }
    stored.lines[entry->sequence] = line;
  }
  return stored;
}

absl::StatusOr<std::optional<StoredAudit>> FetchStoredAudit(
    const std::string& folder) {
  const std::string data = DatabaseBeside(folder);
  if (data.empty()) return std::optional<StoredAudit>();
  const auto program = SiblingProgram("frostline-coordinator");
  if (!program.ok()) {
    return CannotCompare(ErrorId::kTrainerStart,
                         std::string(program.status().message()));
  }
  const auto ran =
      RunCaptured({*program, "--data", data, "--audit-end"}, kLongestLook);
  if (!ran.ok()) {
    return CannotCompare(ErrorId::kStoreIo,
                         std::string(ran.status().message()));
  }
  if (ran->code != 0) return CannotCompare(IdIn(ran->err), ran->err);
  ASSIGN_OR_RETURN(StoredAudit stored, ParseStoredAudit(ran->out));
  return std::optional<StoredAudit>(std::move(stored));
}

absl::StatusOr<AuditFacts> VerifyAudit(
    const std::string& folder, const std::optional<StoredAudit>& stored) {
  constexpr int kTries = 3;
  for (int tried = 1;; ++tried) {
    auto files = FilesOf(folder);
    const bool had_some =
        stored.has_value() && (stored->moved > 0 || !stored->lines.empty());
    if (!files.ok() && !had_some) return files.status();
    const std::vector<std::string> read =
        files.ok() ? *std::move(files) : std::vector<std::string>();
    auto facts = ReadFiles(read, stored);
    // A file that grew may have been given its number meanwhile.
    const auto now = FilesOf(folder);
    const bool is_same = now.ok() ? *now == read : read.empty();
    if (facts.ok() || is_same || tried == kTries) return facts;
  }
}

namespace {

constexpr int kAuditPageSize = 1000;
constexpr int kMostEntries = 1'000'000;

struct AuditArgs {
  std::string study;
  std::string subject;
  std::string method;
  std::string outcome;
  int limit = 100;
  Output output;
};

absl::StatusOr<std::string> AuditFilterOf(const AuditArgs& args) {
  std::vector<std::string> terms;
  const auto add = [&terms](const char* field, const std::string& value) {
    if (!value.empty()) {
      terms.push_back(absl::StrCat(field, " = \"", value, "\""));
    }
  };
  if (!args.study.empty()) {
    ASSIGN_OR_RETURN(const std::string study, StudyNameFrom(args.study));
    add("study", study);
  }
  add("subject", args.subject);
  add("method", args.method);
  add("outcome", args.outcome);
  return absl::StrJoin(terms, " AND ");
}

CLI::Validator WithoutQuotes() {
  return CLI::Validator(
      [](const std::string& text) {
        return text.find('"') == std::string::npos
                   ? std::string()
                   : std::string("a quote is in no entry");
      },
      "");
}

absl::StatusOr<std::vector<v1::AuditEntry>> FetchAudit(Client& client,
                                                       const AuditArgs& args) {
  v1::ListAuditEntriesRequest request;
  ASSIGN_OR_RETURN(*request.mutable_filter(), AuditFilterOf(args));
  std::vector<v1::AuditEntry> entries;
  do {
    const int missing = args.limit - static_cast<int>(entries.size());
    request.set_page_size(std::min(missing, kAuditPageSize));
    ASSIGN_OR_RETURN(
        const v1::ListAuditEntriesReply page,
        client.Call(&v1::AdminService::Stub::ListAuditEntries, request));
    entries.insert(entries.end(), page.entries().begin(), page.entries().end());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty() &&
           entries.size() < static_cast<std::size_t>(args.limit));
  return entries;
}

absl::StatusOr<ExitCode> ListAudit(Session& session, const AuditArgs& args) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(auto entries, FetchAudit(*client, args));
  // Where the prompt comes next, what happened last is what one looks for.
  std::reverse(entries.begin(), entries.end());
  // JSON has been lines from the start, with the keys of the audit's own file.
  const bool lines =
      args.output.sort.empty() && (args.output.format == Format::kJson ||
                                   args.output.format == Format::kJsonLines);
  if (lines) {
    std::string text;
    for (const v1::AuditEntry& entry : entries) text += AuditJsonLine(entry);
    PrintPaged(session.terminal, text);
    return kExitOk;
  }
  v1::ListAuditEntriesReply all;
  all.mutable_entries()->Assign(entries.begin(), entries.end());
  return PrintList(
      session.terminal, args.output, all,
      [&entries](bool) { return AuditTable(entries); }, "no entries");
}

absl::StatusOr<ExitCode> Verify(Session& /*session*/,
                                const std::string& folder) {
  // First, so that whatever it says was written is in the files.
  ASSIGN_OR_RETURN(const std::optional<StoredAudit> stored,
                   FetchStoredAudit(folder));
  ASSIGN_OR_RETURN(const AuditFacts facts, VerifyAudit(folder, stored));
  std::cout << FormatCount(facts.entries)
            << (facts.entries == 1 ? " entry" : " entries");
  if (facts.entries > 0) {
    std::cout << " from " << facts.first_time << " to " << facts.last_time;
  }
  std::cout << ", whole\n" << KeyLine("last chain", facts.last_chain);
  if (facts.unfinished) {
    std::cerr << "note: the last line has no end yet and is not counted: it is "
                 "being written, or a kill cut it off\n";
  }
  if (facts.waiting > 0) {
    std::cerr << "note: " << FormatCount(facts.waiting)
              << (facts.waiting == 1 ? " newer entry is" : " newer entries are")
              << " in the database alone, and follow: a coordinator that runs "
                 "brings them to the files\n";
  }
  if (!stored.has_value()) {
    std::cerr
        << "note: there is no database beside, so an end that was cut off "
           "does not show: compare the last chain with one that you "
           "kept\n";
  }
  return kExitOk;
}

}  // namespace

void AddAuditCommands(CLI::App& app, Invocation& invocation) {
  const auto args = std::make_shared<AuditArgs>();
  CLI::App* const noun = app.add_subcommand(
      "audit", "Who changed what, and whether its record is whole");
  noun->require_subcommand(0, 1)->fallthrough();
  noun->callback([noun, args, &invocation] {
    if (!noun->get_subcommands().empty()) return;
    invocation.action = [args](Session& session) {
      return ListAudit(session, *args);
    };
  });
  noun->add_option("--study", args->study, "Of one study and its trials")
      ->type_name("ID");
  noun->add_option("--subject", args->subject, "By whom: ana, workers/gpu03")
      ->type_name("WHO")
      ->check(WithoutQuotes());
  noun->add_option("--method", args->method, "StudyService.StopStudy")
      ->type_name("METHOD")
      ->check(WithoutQuotes());
  noun->add_option("--outcome", args->outcome, "OK, or PERMISSION_DENIED, …")
      ->type_name("OUTCOME")
      ->check(WithoutQuotes());
  noun->add_option("--limit", args->limit, "So many of the newest")
      ->type_name("N")
      ->check(CLI::Range(1, kMostEntries))
      ->capture_default_str();
  AddListFormats(noun, args->output);
  const auto [verify, folder] = AddVerb(
      *noun, "verify", "Whether nothing in the audit's files was changed",
      invocation, Verify);
  verify->add_option("DATA_DIR", *folder, "The data folder of the coordinator")
      ->required();
}

}  // namespace frostline::cli
