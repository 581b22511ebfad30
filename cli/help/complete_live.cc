// SPDX-License-Identifier: Apache-2.0
#include "cli/help/complete_live.h"

#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/client/client.h"
#include "cli/context/context_store.h"
#include "cli/recipe/known_recipes.h"

namespace frostline::cli {
namespace {

constexpr std::int64_t kMostNumbers = 10'000;

absl::StatusOr<std::unique_ptr<Client>> Open(const Wish& flags) {
  ASSIGN_OR_RETURN(const Target target, ChooseTarget(flags, WishOfEnvironment(),
                                                     ContextStore::OfUser()));
  return Client::Open(target.connect, target.access);
}

absl::Status AddStudies(Client& client, NextWord& wanted) {
  ASSIGN_OR_RETURN(const v1::ListStudiesReply list,
                   client.CallForAll(&v1::StudyService::Stub::ListStudies,
                                     v1::ListStudiesRequest()));
  for (const v1::Study& study : list.studies()) {
    const std::string id(absl::StripPrefix(study.name(), "studies/"));
    wanted.candidates.push_back({id});
  }
  return absl::OkStatus();
}

// Numbers begin at 0 and have no gaps, so the counts tell them.
absl::Status AddTrials(Client& client, NextWord& wanted) {
  const std::string id(absl::StripPrefix(wanted.study, "studies/"));
  RETURN_IF_ERROR(CheckId(id, ""));
  v1::GetStudyRequest request;
  request.set_name(StudyNameOf(id));
  ASSIGN_OR_RETURN(const v1::Study study,
                   client.Call(&v1::StudyService::Stub::GetStudy, request));
  const v1::TrialCounts& counts = study.counts();
  const std::int64_t count = counts.queued() + counts.running() +
                             counts.succeeded() + counts.pruned() +
                             counts.infeasible() + counts.failed() +
                             counts.cancelled();
  for (std::int64_t i = 0; i < count && i < kMostNumbers; ++i) {
    wanted.candidates.push_back({absl::StrCat(i)});
  }
  return absl::OkStatus();
}

absl::Status AddWorkers(Client& client, NextWord& wanted) {
  ASSIGN_OR_RETURN(const v1::ListWorkersReply list,
                   client.CallForAll(&v1::WorkerService::Stub::ListWorkers,
                                     v1::ListWorkersRequest()));
  for (const v1::Worker& worker : list.workers()) {
    const std::string id(absl::StripPrefix(worker.name(), "workers/"));
    wanted.candidates.push_back({id});
  }
  return absl::OkStatus();
}

// Names may be written in full, as the contract has them: "studies/imdb".
void TakePrefix(const std::string& prefix, NextWord& wanted) {
  if (!absl::StartsWith(wanted.begun, prefix)) return;
  wanted.before += prefix;
  wanted.begun = wanted.begun.substr(prefix.size());
}

// "imdb/1" asks for a trial of imdb.
void TakeStudyOfSlash(NextWord& wanted) {
  const std::size_t slash = wanted.begun.rfind('/');
  if (!wanted.slash_number || slash == std::string::npos) return;
  wanted.study = wanted.begun.substr(0, slash);
  wanted.before += wanted.begun.substr(0, slash + 1);
  wanted.begun = wanted.begun.substr(slash + 1);
  wanted.live = Live::kTrials;
}

absl::Status AddOfCoordinator(NextWord& wanted) {
  ASSIGN_OR_RETURN(const auto client, Open(wanted.wish));
  if (wanted.live == Live::kStudies) return AddStudies(*client, wanted);
  if (wanted.live == Live::kTrials) return AddTrials(*client, wanted);
  return AddWorkers(*client, wanted);
}

}  // namespace

void AddLive(NextWord& wanted) {
  if (wanted.live == Live::kStudies) TakePrefix("studies/", wanted);
  if (wanted.live == Live::kWorkers) TakePrefix("workers/", wanted);
  TakeStudyOfSlash(wanted);
  if (wanted.live == Live::kNone) return;
  if (wanted.live == Live::kRecipes) {
    for (const KnownRecipe& recipe : KnownRecipes()) {
      wanted.candidates.push_back({recipe.name});
    }
  } else if (wanted.live == Live::kContexts) {
    for (const std::string& name :
         ContextStore::OfUser().Names().value_or(std::vector<std::string>())) {
      wanted.candidates.push_back({name});
    }
  } else {
    (void)AddOfCoordinator(wanted);
  }
}

}  // namespace frostline::cli
