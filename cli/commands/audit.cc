// SPDX-License-Identifier: Apache-2.0
//
// Who changed what: asked of the coordinator, or read in its data folder.
#include "cli/commands/audit.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/term/pager.h"
#include "cli/view/access_view.h"
#include "cli/view/format.h"

namespace frostline::cli {
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
  RETURN_IF_ERROR(PrintList(
      session.terminal, args.output, all,
      [&entries](bool) { return AuditTable(entries); }, "no entries"));
  return kExitOk;
}

absl::StatusOr<ExitCode> Verify(const std::string& folder) {
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
  const auto folder = std::make_shared<std::string>();
  AddVerb(*noun, "verify", "Whether nothing in the audit's files was changed",
          invocation, [folder](Session&) { return Verify(*folder); })
      ->add_option("DATA_DIR", *folder, "The data folder of the coordinator")
      ->required();
}

}  // namespace frostline::cli
