// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/command.h"

namespace frostline::cli {
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
