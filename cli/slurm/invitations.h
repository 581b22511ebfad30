// SPDX-License-Identifier: Apache-2.0
//
// File: invitations.h
//
// The invitations of a fleet's workers, one for each task: made by `up`, used
// once by the worker of that task, ended by whoever sees the fleet go.
#ifndef FROSTLINE_CLI_SLURM_INVITATIONS_H_
#define FROSTLINE_CLI_SLURM_INVITATIONS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/commands/command.h"
#include "cli/slurm/slurm.h"

namespace frostline::cli {

// One for each of the workers ID-0 … ID-(tasks-1), who alone may use it,
// however long its task waits (90 days). When one is refused those before are
// revoked. Answers JOIN_UNAVAILABLE where the coordinator has no CA.
struct Invitations {
  std::string text;                    // a line for each task
  std::vector<std::string> token_ids;  // to revoke them by
};
absl::StatusOr<Invitations> Invite(Client& client, const std::string& id,
                                   int tasks);
void Revoke(Client& client, const Invitations& invitations);

// The task's worker ("workers/imdb-3f9c0a-7"), if `slurm up` invited it; empty
// where the invitations are an admin's own, which are not ours to end.
std::string InvitedWorker(const ArrayTask& task);

// Ends what workers that will never begin have not used, and says on standard
// error how many. That this cannot be is said there too, and is no failure: the
// fleet has gone all the same. Asks the coordinator only if there is a worker.
void EndInvitations(Session& session, const std::set<std::string>& workers);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_SLURM_INVITATIONS_H_
