// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm/fleet.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/context/context_store.h"
#include "cli/view/format.h"
#include "tls/private_file.h"

namespace frostline::cli {

Demand DemandOf(const v1::Study& study) {
  Demand demand;
  if (IsEnded(study.state())) return demand;
  const v1::TrialCounts& counts = study.counts();
  demand.running = counts.running();
  const std::int64_t begun = counts.running() + counts.queued();
  // A retried trial is queued and belongs to no budget.
  demand.left = std::max(
      study.settings().budget().trials() - counts.budget_used(), begun);
  if (study.state() == v1::STUDY_STATE_PAUSED) {
    demand.usable = counts.running();
    return demand;
  }
  const std::int64_t bound = study.settings().max_parallel() > 0
                                 ? study.settings().max_parallel()
                                 : std::max(study.useful_parallelism(), begun);
  demand.usable = std::min(demand.left, bound);
  return demand;
}

Demand DemandOf(const std::vector<v1::Study>& studies) {
  Demand all;
  for (const v1::Study& study : studies) {
    const Demand one = DemandOf(study);
    all.left += one.left;
    all.running += one.running;
    all.usable += one.usable;
  }
  return all;
}

int WorkersFor(const Demand& demand, int slots, int most) {
  const std::int64_t workers = (demand.usable + slots - 1) / slots;
  return static_cast<int>(std::min<std::int64_t>(workers, most));
}

std::string DescribeWish(const Demand& demand, int wish, int most) {
  return absl::StrCat(wish, " at a time (", FormatCount(demand.left),
                      demand.left == 1 ? " trial left, " : " trials left, ",
                      FormatCount(demand.usable), " useful at a time, at most ",
                      most, ")");
}

namespace {

namespace fs = std::filesystem;

constexpr int kFleetPageSize = 500;
constexpr std::size_t kStudyInId = 40;  // an id has 64, and tasks a number
constexpr std::size_t kDigits = 6;

}  // namespace

void AddFleetOf(CLI::App* verb, FleetOf* fleet) {
  verb->add_option("STUDY", fleet->study, "The study's id");
  verb->add_flag("--all", fleet->all, "Instead: any study there is");
}

absl::Status CheckFleetOf(FleetOf* fleet) {
  if (fleet->all == !fleet->study.empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     fleet->all ? "STUDY and --all exclude each other"
                                : "a fleet needs a study to work for",
                     "name a study, or give --all");
  }
  if (fleet->all) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(fleet->study));
  fleet->study = LastPart(name);
  return absl::OkStatus();
}

std::string JobNameOf(const FleetOf& fleet) {
  return fleet.all ? "frostline" : absl::StrCat("frostline-", fleet.study);
}

absl::Status NoFleet(const FleetOf& fleet) {
  return MakeError(ErrorId::kSlurmRefused,
                   absl::StrCat("no task of ", JobNameOf(fleet),
                                " waits or runs on this cluster"),
                   "`frostline slurm up STUDY --registry DIR` submits them; "
                   "what ended says why in "
                   "its log");
}

std::string NewFleetId(const FleetOf& fleet) {
  const std::string name =
      fleet.all ? "all" : fleet.study.substr(0, kStudyInId);
  return absl::StrCat(name, "-", RandomHexId().substr(0, kDigits));
}

absl::StatusOr<std::vector<v1::Study>> FetchStudiesOf(Client& client,
                                                      const FleetOf& fleet) {
  if (!fleet.all) {
    ASSIGN_OR_RETURN(v1::Study study,
                     FetchStudy(client, StudyNameOf(fleet.study)));
    return std::vector<v1::Study>{std::move(study)};
  }
  std::vector<v1::Study> studies;
  v1::ListStudiesRequest request;
  request.set_page_size(kFleetPageSize);
  do {
    ASSIGN_OR_RETURN(
        const v1::ListStudiesReply page,
        client.Call(&v1::StudyService::Stub::ListStudies, request));
    for (const v1::Study& study : page.studies()) {
      if (!IsEnded(study.state())) studies.push_back(study);
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return studies;
}

absl::StatusOr<std::string> MakeFleetFolder(const std::string& parent,
                                            const std::string& id) {
  std::error_code error;
  std::string folder = (fs::absolute(parent, error) / id).string();
  if (!error) fs::create_directories(parent, error);
  if (error) return Unwritable(parent, error.message());
  RETURN_IF_ERROR(MakeFolder(folder));
  RETURN_IF_ERROR(MakeFolder(folder + "/log"));
  RETURN_IF_ERROR(tls::WritePrivateFile(folder + "/worker.sbatch",
                                        SecretString(kWorkerScript), "--dir"));
  return folder;
}

}  // namespace frostline::cli
