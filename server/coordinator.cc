// SPDX-License-Identifier: Apache-2.0
#include "server/coordinator.h"

#include <utility>

#include "server/coordinator_impl.h"

namespace frostline {
namespace {

// "studies/a" of "studies/a/trials/7".
std::string StudyPart(const std::string& trial_name) {
  return trial_name.substr(0, trial_name.find("/trials/"));
}

}  // namespace

Coordinator::Coordinator(CoordinatorOptions options, TrialStore& store,
                         const Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), store, clock)) {}

Coordinator::~Coordinator() { Drain(); }

absl::Status Coordinator::Start() { return impl_->Start(); }
void Coordinator::Drain() { impl_->Drain(); }

void Coordinator::CreateStudy(v1::CreateStudyRequest request,
                              Reply<v1::CreateStudyReply> reply) {
  if (request.validate_only()) {
    return impl_->Submit(std::move(reply), [this, request](Batch& batch) {
      return impl_->CreateStudy(batch, request);
    });
  }
  impl_->SubmitOnce("CreateStudy", std::move(request), std::move(reply),
                    [this](Batch& batch, const v1::CreateStudyRequest& r) {
                      return impl_->CreateStudy(batch, r);
                    });
}

void Coordinator::GetStudy(v1::GetStudyRequest request,
                           Reply<v1::Study> reply) {
  impl_->Submit(
      std::move(reply), [this, request](Batch&) -> absl::StatusOr<v1::Study> {
        ASSIGN_OR_RETURN(StudyBook * book, impl_->FindStudy(request.name()));
        return impl_->Describe(*book);
      });
}

void Coordinator::ListStudies(v1::ListStudiesRequest request,
                              Reply<v1::ListStudiesReply> reply) {
  impl_->Submit(std::move(reply), [this, request](Batch&) {
    return impl_->ListStudies(request);
  });
}

void Coordinator::PauseStudy(v1::PauseStudyRequest request,
                             Reply<v1::Study> reply) {
  impl_->SubmitOnce("PauseStudy", std::move(request), std::move(reply),
                    [this](Batch& batch, const v1::PauseStudyRequest& r) {
                      return impl_->SetState(batch, r.name(),
                                             StudyState::kPaused, r.reason());
                    });
}

void Coordinator::ResumeStudy(v1::ResumeStudyRequest request,
                              Reply<v1::Study> reply) {
  impl_->SubmitOnce("ResumeStudy", std::move(request), std::move(reply),
                    [this](Batch& batch, const v1::ResumeStudyRequest& r) {
                      return impl_->SetState(batch, r.name(),
                                             StudyState::kActive, "");
                    });
}

void Coordinator::StopStudy(v1::StopStudyRequest request,
                            Reply<v1::Study> reply) {
  impl_->SubmitOnce("StopStudy", std::move(request), std::move(reply),
                    [this](Batch& batch, const v1::StopStudyRequest& r) {
                      return impl_->StopStudy(batch, r);
                    });
}

void Coordinator::UpdateStudy(v1::UpdateStudyRequest request,
                              Reply<v1::Study> reply) {
  impl_->SubmitOnce("UpdateStudy", std::move(request), std::move(reply),
                    [this](Batch& batch, const v1::UpdateStudyRequest& r) {
                      return impl_->UpdateStudy(batch, r);
                    });
}

void Coordinator::DeleteStudy(v1::DeleteStudyRequest request,
                              Reply<v1::Study> reply) {
  impl_->SubmitOnce("DeleteStudy", std::move(request), std::move(reply),
                    [this](Batch& batch, const v1::DeleteStudyRequest& r) {
                      return impl_->DeleteStudy(batch, r);
                    });
}

void Coordinator::EnqueueTrials(v1::EnqueueTrialsRequest request,
                                Reply<v1::EnqueueTrialsReply> reply) {
  impl_->SubmitOnce("EnqueueTrials", std::move(request), std::move(reply),
                    [this](Batch& batch, const v1::EnqueueTrialsRequest& r) {
                      return impl_->EnqueueTrials(batch, r);
                    });
}

void Coordinator::ImportTrials(v1::ImportTrialsRequest request,
                               Reply<v1::ImportTrialsReply> reply) {
  impl_->SubmitOnce("ImportTrials", std::move(request), std::move(reply),
                    [this](Batch& batch, const v1::ImportTrialsRequest& r) {
                      return impl_->ImportTrials(batch, r);
                    });
}

void Coordinator::UpdateTrial(v1::UpdateTrialRequest request,
                              Reply<v1::Trial> reply) {
  impl_->SubmitOnce("UpdateTrial", std::move(request), std::move(reply),
                    [this](Batch& batch, const v1::UpdateTrialRequest& r) {
                      return impl_->UpdateTrial(batch, r);
                    });
}

void Coordinator::CancelTrial(v1::CancelTrialRequest request,
                              Reply<v1::Trial> reply) {
  impl_->SubmitOnce("CancelTrial", std::move(request), std::move(reply),
                    [this](Batch& batch, const v1::CancelTrialRequest& r) {
                      return impl_->CancelTrial(batch, r);
                    });
}

void Coordinator::RetryTrial(v1::RetryTrialRequest request,
                             Reply<v1::Trial> reply) {
  impl_->SubmitOnce("RetryTrial", std::move(request), std::move(reply),
                    [this](Batch& batch, const v1::RetryTrialRequest& r) {
                      return impl_->RetryTrial(batch, r);
                    });
}

void Coordinator::ExplainStudy(v1::ExplainStudyRequest request,
                               Reply<v1::ExplainStudyReply> reply) {
  impl_->Submit(std::move(reply), [this, request](Batch&) {
    return impl_->ExplainStudy(request);
  });
}

void Coordinator::GetTrial(v1::GetTrialRequest request,
                           Reply<v1::Trial> reply) {
  const std::string study = StudyPart(request.name());
  impl_->Read(study, std::move(reply),
              [this, request](const StudyHandle& handle) {
                return impl_->GetTrial(handle, request);
              });
}

void Coordinator::ListTrials(v1::ListTrialsRequest request,
                             Reply<v1::ListTrialsReply> reply) {
  const std::string study = request.parent();
  impl_->Read(study, std::move(reply),
              [this, request](const StudyHandle& handle) {
                return impl_->ListTrials(handle, request);
              });
}

void Coordinator::ListMeasurements(v1::ListMeasurementsRequest request,
                                   Reply<v1::ListMeasurementsReply> reply) {
  const std::string study = StudyPart(request.name());
  impl_->Read(study, std::move(reply),
              [this, request](const StudyHandle& handle) {
                return impl_->ListMeasurements(handle, request);
              });
}

void Coordinator::ListBestTrials(v1::ListBestTrialsRequest request,
                                 Reply<v1::ListBestTrialsReply> reply) {
  const std::string study = request.name();
  impl_->Read(study, std::move(reply),
              [this, request](const StudyHandle& handle) {
                return impl_->ListBestTrials(handle, request);
              });
}

void Coordinator::GetExampleOutcomes(v1::GetExampleOutcomesRequest request,
                                     Reply<v1::ExampleOutcomes> reply) {
  const std::string study = StudyPart(request.name());
  impl_->Read(study, std::move(reply),
              [this, request](const StudyHandle& handle) {
                return impl_->GetExampleOutcomes(handle, request);
              });
}

void Coordinator::GetTrialLog(v1::GetTrialLogRequest request,
                              Reply<v1::GetTrialLogReply> reply) {
  impl_->StartLog(std::move(request), std::move(reply));
}

void Coordinator::ExportNext(v1::ExportTrialsRequest request,
                             std::int64_t after, Reply<ExportedPage> reply) {
  const std::string study = request.name();
  impl_->Read(study, std::move(reply),
              [this, request, after](const StudyHandle& handle) {
                return impl_->ExportNext(handle, request, after);
              });
}

void Coordinator::NextEvents(v1::WatchStudyRequest request, Duration wait,
                             CancelFlag cancelled,
                             Reply<std::vector<v1::StudyEvent>> reply) {
  impl_->StartWatch(std::move(request), wait, std::move(cancelled),
                    std::move(reply));
}

void Coordinator::Register(v1::RegisterRequest request,
                           Reply<v1::RegisterReply> reply) {
  impl_->Submit(std::move(reply), [this, request](Batch& batch) {
    return impl_->Register(batch, request);
  });
}

void Coordinator::Acquire(v1::AcquireRequest request, CancelFlag cancelled,
                          Reply<v1::AcquireReply> reply) {
  impl_->StartAcquire(std::move(request), std::move(cancelled),
                      std::move(reply));
}

void Coordinator::Heartbeat(v1::HeartbeatRequest request,
                            Reply<v1::HeartbeatReply> reply) {
  impl_->Submit(std::move(reply), [this, request](Batch& batch) {
    return impl_->Heartbeat(batch, request);
  });
}

void Coordinator::Report(v1::ReportRequest request,
                         Reply<v1::ReportReply> reply) {
  impl_->StartReport(std::move(request), std::move(reply));
}

void Coordinator::Finish(v1::FinishRequest request,
                         Reply<v1::FinishReply> reply) {
  impl_->Submit(std::move(reply), [this, request](Batch& batch) {
    return impl_->Finish(batch, request);
  });
}

void Coordinator::Release(v1::ReleaseRequest request,
                          Reply<v1::ReleaseReply> reply) {
  impl_->Submit(std::move(reply), [this, request](Batch& batch) {
    return impl_->Release(batch, request);
  });
}

void Coordinator::ListWorkers(v1::ListWorkersRequest request,
                              Reply<v1::ListWorkersReply> reply) {
  impl_->Submit(std::move(reply), [this, request](Batch&) {
    return impl_->ListWorkers(request);
  });
}

void Coordinator::DrainWorker(v1::DrainWorkerRequest request,
                              Reply<v1::Worker> reply) {
  impl_->SubmitOnce("DrainWorker", std::move(request), std::move(reply),
                    [this](Batch& batch, const v1::DrainWorkerRequest& r) {
                      return impl_->DrainWorker(batch, r);
                    });
}

void Coordinator::Backup(v1::BackupRequest request,
                         Reply<v1::BackupReply> reply) {
  impl_->StartBackup(std::move(request), std::move(reply));
}

void Coordinator::GetInfo(v1::GetInfoRequest, Reply<v1::ServerInfo> reply) {
  impl_->Submit(std::move(reply),
                [this](Batch&) -> absl::StatusOr<v1::ServerInfo> {
                  return impl_->Info();
                });
}

}  // namespace frostline
