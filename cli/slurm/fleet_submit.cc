// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm/fleet_submit.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/client/address.h"
#include "cli/slurm/fleet.h"
#include "cli/slurm/invitations.h"
#include "tls/private_file.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kNoJoin[] = "-";  // as worker.sbatch reads it

bool IsThisMachine(const std::string& address) {
  const std::string host = HostOf(address);
  return absl::StartsWith(address, "unix:") || host == "localhost" ||
         host == "::1" || absl::StartsWith(host, "127.");
}

// Where the coordinator can invite nobody, workers of its own machine need no
// invitation.
absl::StatusOr<Invitations> InviteFor(Client& client, const UpArgs& args,
                                      FleetPlan* plan) {
  if (!args.join.empty()) return Invitations();
  auto made = Invite(client, plan->id, args.max);
  if (!HasErrorId(made.status(), ErrorId::kJoinUnavailable) ||
      !IsThisMachine(client.address())) {
    return made;
  }
  plan->connects_directly = true;
  plan->array.arguments[2] = kNoJoin;
  plan->array.arguments.insert(plan->array.arguments.end(),
                               {"--connect", client.address()});
  return Invitations();
}

}  // namespace

absl::StatusOr<std::int64_t> SubmitFleet(Client& client, const Slurm& slurm,
                                         const UpArgs& args, FleetPlan* plan) {
  ASSIGN_OR_RETURN(const Invitations invitations,
                   InviteFor(client, args, plan));
  absl::StatusOr<std::int64_t> array = 0;
  std::error_code ignored;
  const bool is_new = !fs::exists(plan->array.folder, ignored);
  const auto made = MakeFleetFolder(args.folder, plan->id);
  absl::Status ready = made.status();
  if (ready.ok() && !invitations.text.empty()) {
    ready = tls::WritePrivateFile(plan->array.folder + "/join",
                                  SecretString(invitations.text), "--dir");
  }
  array = ready.ok() ? slurm.Submit(plan->array) : ready;
  if (array.ok()) return array;
  // Refused: nothing is left behind.
  Revoke(client, invitations);
  if (is_new) fs::remove_all(plan->array.folder, ignored);
  return array;
}

}  // namespace frostline::cli
