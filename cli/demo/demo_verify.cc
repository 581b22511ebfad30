// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_verify.h"

#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/plan.h"
#include "cli/view/verification_view.h"

namespace frostline::cli {
namespace {

constexpr int kSeeds = 3;  // of each rival

}  // namespace

absl::Status VerifyDemo(Client& client, const std::string& study,
                        LocalFleet& fleet, StopSignals& signals,
                        const Terminal& terminal) {
  ASSIGN_OR_RETURN(const auto before, FetchVerification(client, study));
  if (!before.has_value()) {
    PlanAsked plan;
    plan.study = study;
    ASSIGN_OR_RETURN(const v1::EnqueueTrialsReply reply,
                     EnqueueRivals(client, plan, kSeeds));
    std::cout << "running it beside what it has to beat: "
              << reply.trials_size() << " trials, " << kSeeds << " seeds each\n"
              << std::flush;
  }
  StatusLine line(terminal);
  ASSIGN_OR_RETURN(
      const v1::PlanVerification verification,
      AwaitVerification(
          client, study, signals, [&](const v1::PlanVerification& so_far) {
            line.Show(
                absl::StrCat(so_far.ended(), "/", so_far.total(), " done"));
            return fleet.Check();
          }));
  line.Clear();
  std::cout << RenderVerificationInShort(verification, terminal.width)
            << std::flush;
  return absl::OkStatus();
}

}  // namespace frostline::cli
