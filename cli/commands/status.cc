// SPDX-License-Identifier: Apache-2.0
//
// `frostline status`: whether a coordinator answers, and what it has.
#include <chrono>
#include <iostream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/ids.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

constexpr Duration kLongestStatusWait = std::chrono::hours(1);
constexpr Duration kAskAgain = std::chrono::milliseconds(200);

struct ServiceStatusArgs {
  std::string wait = "0s";
  Output output;
};

std::string RenderInfo(const v1::ServerInfo& info, const Target& target) {
  const auto count = [](std::int64_t number, const std::string& what) {
    return absl::StrCat(FormatCount(number), " ", what);
  };
  std::string text =
      KeyLine("coordinator", absl::StrCat("frostline ", info.version(), " at ",
                                          DescribeTarget(target)));
  text += KeyLine("since", FormatTime(info.start_time()));
  text += KeyLine("store", info.store());
  text += KeyLine("studies", FormatCount(info.studies()));
  text += KeyLine("workers",
                  absl::StrCat(count(info.live_workers(), "live, "),
                               count(info.waiting_workers(), "waiting")));
  text += KeyLine("leases", FormatCount(info.open_leases()));
  text += KeyLine("memory", count(info.resident_bytes() >> 20, "MiB"));
  for (const std::string& hole : info.known_holes()) {
    text += KeyLine("note", hole);
  }
  return text;
}

// Tries again while the coordinator is away, until `longest` is over.
absl::StatusOr<v1::ServerInfo> AskInfo(Client& client, Duration longest) {
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    auto info =
        client.Call(&v1::AdminService::Stub::GetInfo, v1::GetInfoRequest());
    const bool is_away = HasErrorId(info.status(), ErrorId::kCoordinatorAway);
    if (!is_away || std::chrono::steady_clock::now() - begin >= longest) {
      return info;
    }
    std::this_thread::sleep_for(kAskAgain);
  }
}

absl::StatusOr<ExitCode> ShowStatus(Session& session,
                                    const ServiceStatusArgs& args) {
  ASSIGN_OR_RETURN(
      const Duration wait,
      ReadTime("--wait", args.wait, Duration::zero(), kLongestStatusWait));
  // Not Connect(): it would wait, and here that is for the caller to say.
  ASSIGN_OR_RETURN(Client* const client, OpenClient(session));
  ASSIGN_OR_RETURN(const v1::ServerInfo info, AskInfo(*client, wait));
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, info, [&] {
    return WrapKeyLines(RenderInfo(info, session.target),
                        session.terminal.width);
  }));
  return kExitOk;
}

}  // namespace

void AddStatusCommand(CLI::App& app, Invocation& invocation) {
  const auto args = std::make_shared<ServiceStatusArgs>();
  CLI::App* const verb =
      AddVerb(app, "status", "Whether a coordinator answers, and what it has",
              invocation,
              [args](Session& session) { return ShowStatus(session, *args); });
  verb->add_option("--wait", args->wait,
                   "Try again for so long while there is none: 60s, 5m");
  AddOneFormats(verb, args->output);
}

namespace {

absl::StatusOr<ExitCode> BackUp(Session& session, const std::string& label) {
  if (!label.empty()) RETURN_IF_ERROR(CheckNewName(label, "--label"));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::BackupRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_label(label);
  ASSIGN_OR_RETURN(const v1::BackupReply reply,
                   client->Call(&v1::AdminService::Stub::Backup, request));
  std::cout << "backups/" << reply.file()
            << " in the data folder: " << reply.studies() << " studies, "
            << reply.trials() << " trials, " << reply.bytes()
            << " bytes, checked\n";
  return kExitOk;
}

}  // namespace

void AddBackupCommand(CLI::App& app, Invocation& invocation) {
  const auto label = std::make_shared<std::string>();
  AddVerb(app, "backup",
          "Copy the coordinator's database while it runs; "
          "`serve --restore FILE` is the way back",
          invocation,
          [label](Session& session) { return BackUp(session, *label); })
      ->add_option("--label", *label, "The file's name; made from the time")
      ->type_name("NAME");
}

}  // namespace frostline::cli
