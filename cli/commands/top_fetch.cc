// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/commands/top.h"

namespace frostline::cli {

absl::StatusOr<FleetAnswers> FleetAsker::Ask() {
  FleetAnswers answers;
  answers.coordinator = client_.address();
  ASSIGN_OR_RETURN(answers.info, client_.Call(&v1::AdminService::Stub::GetInfo,
                                              v1::GetInfoRequest()));
  ASSIGN_OR_RETURN(const v1::ListWorkersReply workers, FetchWorkers(client_));
  answers.workers = {workers.workers().begin(), workers.workers().end()};
  if (!study_.empty()) {
    ASSIGN_OR_RETURN(v1::Study study, FetchStudy(client_, study_));
    answers.studies.push_back(std::move(study));
  } else {
    ASSIGN_OR_RETURN(const v1::ListStudiesReply all,
                     client_.CallForAll(&v1::StudyService::Stub::ListStudies,
                                        v1::ListStudiesRequest()));
    answers.studies = {all.studies().begin(), all.studies().end()};
  }
  for (const v1::Study& study : answers.studies) {
    RETURN_IF_ERROR(AskOfStudy(study, &answers));
  }
  answers.time = clock_.Wall();
  return answers;
}

absl::Status FleetAsker::AskOfStudy(const v1::Study& study,
                                    FleetAnswers* answers) {
  if (study.counts().running() == 0) return absl::OkStatus();
  v1::ListTrialsRequest request;
  request.set_parent(study.name());
  request.set_filter("state = RUNNING");
  request.set_view(v1::TRIAL_VIEW_FULL);
  ASSIGN_OR_RETURN(
      const v1::ListTrialsReply running,
      client_.CallForAll(&v1::StudyService::Stub::ListTrials, request));
  answers->running.insert(answers->running.end(), running.trials().begin(),
                          running.trials().end());
  if (study.best_trials().empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(v1::Trial best, Best(study.best_trials(0)));
  answers->best.push_back(std::move(best));
  return absl::OkStatus();
}

absl::StatusOr<v1::Trial> FleetAsker::Best(const std::string& trial) {
  const auto known = best_.find(trial);
  if (known != best_.end()) return known->second;
  v1::GetTrialRequest request;
  request.set_name(trial);
  ASSIGN_OR_RETURN(v1::Trial best,
                   client_.Call(&v1::StudyService::Stub::GetTrial, request));
  return best_[trial] = std::move(best);
}

AskingThread::AskingThread(FleetAsker& asker, Duration every)
    : asker_(asker), every_(every), thread_([this] { Run(); }) {}

AskingThread::~AskingThread() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

std::optional<absl::StatusOr<FleetAnswers>> AskingThread::Take() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(answers_, std::nullopt);
}

bool AskingThread::IsAsking() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_asking_;
}

void AskingThread::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ends_.wait_for(lock, every_, [this] { return is_ending_; })) {
    is_asking_ = true;
    lock.unlock();
    auto answers = asker_.Ask();
    lock.lock();
    is_asking_ = false;
    answers_ = std::move(answers);
  }
}

}  // namespace frostline::cli
