// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/command.h"

#include <google/protobuf/struct.pb.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// The wait that makes `frostline serve &` and the command after it work when
// both are pasted together.
constexpr Duration kStartsWithin = std::chrono::seconds(5);

}  // namespace

CLI::App* AddVerb(CLI::App& parent, const std::string& name,
                  const std::string& help, Invocation& invocation,
                  Action action) {
  CLI::App* const verb = parent.add_subcommand(name, help);
  verb->fallthrough();  // --connect may stand after the verb too
  verb->callback([&invocation, action = std::move(action)] {
    invocation.action = action;
  });
  return verb;
}

const CLI::App* FindCommand(const CLI::App& app, const std::string& name) {
  // Not CLI11's own lookup, which throws.
  for (const CLI::App* const command : app.get_subcommands(nullptr)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

absl::StatusOr<Client*> OpenClient(Session& session) {
  if (session.client == nullptr) {
    ASSIGN_OR_RETURN(
        session.target,
        ChooseTarget(session.flags, session.environment, session.contexts,
                     WishesOf(session.configuration)));
    ASSIGN_OR_RETURN(session.client, Client::Open(session.target.connect,
                                                  session.target.access));
  }
  return session.client.get();
}

absl::StatusOr<Client*> Connect(Session& session) {
  const bool is_open = session.client != nullptr;
  ASSIGN_OR_RETURN(Client* const client, OpenClient(session));
  // If it is still away, the error of the first call says so.
  if (!is_open) (void)client->AwaitStart(kStartsWithin);
  return client;
}

absl::StatusOr<std::string> StudyNameFrom(const std::string& argument) {
  const std::string prefix = "studies/";
  const std::string id = absl::StartsWith(argument, prefix)
                             ? argument.substr(prefix.size())
                             : argument;
  const absl::Status valid = CheckId(id, "");
  if (valid.ok()) return StudyNameOf(id);
  // The same mistake in a file would have exit code 100; here it is usage.
  return MakeError(ErrorId::kRequestInvalid, std::string(valid.message()),
                   "`frostline study list` shows the studies there are");
}

absl::Status CheckNewName(const std::string& name, const std::string& flag) {
  absl::Status valid = CheckId(name, flag);
  if (valid.ok()) return valid;
  return MakeError(ErrorId::kRequestInvalid, std::string(valid.message()),
                   DetailOf(valid)->fix, flag);
}

CLI::Validator AtLeastZero() {
  return CLI::Validator(
      [](const std::string& text) {
        double number = 0.0;
        const bool is_number = absl::SimpleAtod(text, &number);
        return is_number && number >= 0.0
                   ? std::string()
                   : absl::StrCat("'", text, "' is no number from 0");
      },
      "");
}

absl::StatusOr<v1::Study> FetchStudy(Client& client, const std::string& name) {
  v1::GetStudyRequest request;
  request.set_name(name);
  return client.Call(&v1::StudyService::Stub::GetStudy, request);
}

absl::StatusOr<v1::ListWorkersReply> FetchWorkers(Client& client) {
  return client.CallForAll(&v1::WorkerService::Stub::ListWorkers,
                           v1::ListWorkersRequest());
}

absl::StatusOr<v1::ListTokensReply> FetchTokens(Client& client) {
  return client.CallForAll(&v1::AdminService::Stub::ListTokens,
                           v1::ListTokensRequest());
}

absl::StatusOr<v1::ListBestTrialsReply> FetchBestTrials(
    Client& client, const std::string& study) {
  v1::ListBestTrialsRequest request;
  request.set_name(study);
  return client.Call(&v1::StudyService::Stub::ListBestTrials, request);
}

absl::StatusOr<std::optional<v1::Trial>> FetchBest(Client& client,
                                                   const v1::Study& study) {
  if (study.best_trials().empty()) return std::optional<v1::Trial>();
  v1::GetTrialRequest request;
  request.set_name(study.best_trials(0));
  request.set_view(v1::TRIAL_VIEW_FULL);
  ASSIGN_OR_RETURN(v1::Trial best,
                   client.Call(&v1::StudyService::Stub::GetTrial, request));
  return std::optional<v1::Trial>(std::move(best));
}

namespace {

// Removes escape sequences for the terminal, which may come from the command
// line or a file. Line breaks stay.
std::string ForTerminal(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (std::string& line : lines) line = proto::CleanText(line, line.size());
  return absl::StrJoin(lines, "\n");
}

}  // namespace

// A mistake on the command line needs no heading: its cause says it all.
std::string ErrorText(const absl::Status& status) {
  if (!HasErrorId(status, ErrorId::kRequestInvalid)) {
    return ForTerminal(DescribeError(status));
  }
  return ForTerminal(absl::StrCat("error[", ErrorCode(ErrorId::kRequestInvalid),
                                  "]: ", status.message(),
                                  "\n  fix: ", DetailOf(status)->fix));
}

std::string ErrorJson(const absl::Status& status) {
  const ErrorDetail detail = DetailOf(status).value_or(ErrorDetail());
  google::protobuf::Struct fields;
  const auto set = [&fields](const char* name, const std::string& text) {
    (*fields.mutable_fields())[name].set_string_value(text);
  };
  set("id", ErrorCode(detail.id));
  set("reason", KindOf(detail.id).reason);
  set("cause", std::string(status.message()));
  set("field", detail.field);
  set("fix", detail.fix);
  (*fields.mutable_fields())["exit_code"].set_number_value(ExitCodeOf(status));
  google::protobuf::Struct error;
  *(*error.mutable_fields())["error"].mutable_struct_value() =
      std::move(fields);
  return ToJson(error);
}

}  // namespace frostline::cli
