// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/methods.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "server/rpc/call.h"
#include "server/rpc/stream.h"
#include "server/rpc/watch.h"

namespace frostline {
namespace {

// Page after page of the export, each a chunk, until the last.
NextMessages<v1::ExportChunk> ChunksOf(Coordinator& coordinator,
                                       v1::ExportTrialsRequest request) {
  using Chunks = std::vector<v1::ExportChunk>;
  // What the next page goes on after; nothing once all are written.
  auto after = std::make_shared<std::optional<std::int64_t>>(-1);
  return [&coordinator, request = std::move(request), after](
             const CancelFlag&, Reply<Chunks> reply) {
    if (!after->has_value()) return reply(Chunks());
    coordinator.ExportNext(request, **after,
                           [after, reply = std::move(reply)](
                               absl::StatusOr<ExportedPage> page) mutable {
                             if (!page.ok()) return reply(page.status());
                             *after = page->next;
                             Chunks chunks(1);
                             chunks[0].set_data(std::move(page->data));
                             reply(std::move(chunks));
                           });
  };
}

}  // namespace

MethodTable ServedMethods(Coordinator& coordinator, Duration watch_alive) {
  using C = Coordinator;
  const auto serve = [&coordinator](auto method) {
    return Unary(coordinator, method);
  };
  MethodTable table;
  table.unary = {
      {"frostline.v1.StudyService.CreateStudy", serve(&C::CreateStudy)},
      {"frostline.v1.StudyService.GetStudy", serve(&C::GetStudy)},
      {"frostline.v1.StudyService.ListStudies", serve(&C::ListStudies)},
      {"frostline.v1.StudyService.PauseStudy", serve(&C::PauseStudy)},
      {"frostline.v1.StudyService.ResumeStudy", serve(&C::ResumeStudy)},
      {"frostline.v1.StudyService.StopStudy", serve(&C::StopStudy)},
      {"frostline.v1.StudyService.UpdateStudy", serve(&C::UpdateStudy)},
      {"frostline.v1.StudyService.DeleteStudy", serve(&C::DeleteStudy)},
      {"frostline.v1.StudyService.ExplainStudy", serve(&C::ExplainStudy)},
      {"frostline.v1.StudyService.EnqueueTrials", serve(&C::EnqueueTrials)},
      {"frostline.v1.StudyService.ImportTrials", serve(&C::ImportTrials)},
      {"frostline.v1.StudyService.UpdateTrial", serve(&C::UpdateTrial)},
      {"frostline.v1.StudyService.CancelTrial", serve(&C::CancelTrial)},
      {"frostline.v1.StudyService.RetryTrial", serve(&C::RetryTrial)},
      {"frostline.v1.StudyService.ListBestTrials", serve(&C::ListBestTrials)},
      {"frostline.v1.StudyService.GetExampleOutcomes",
       serve(&C::GetExampleOutcomes)},
      {"frostline.v1.StudyService.GetTrialLog", serve(&C::GetTrialLog)},
      {"frostline.v1.StudyService.GetTrial", serve(&C::GetTrial)},
      {"frostline.v1.StudyService.ListTrials", serve(&C::ListTrials)},
      {"frostline.v1.StudyService.ListMeasurements",
       serve(&C::ListMeasurements)},

      {"frostline.v1.WorkerService.Register", serve(&C::Register)},
      {"frostline.v1.WorkerService.Acquire", serve(&C::Acquire)},
      {"frostline.v1.WorkerService.Heartbeat", serve(&C::Heartbeat)},
      {"frostline.v1.WorkerService.Report", serve(&C::Report)},
      {"frostline.v1.WorkerService.Finish", serve(&C::Finish)},
      {"frostline.v1.WorkerService.Release", serve(&C::Release)},
      {"frostline.v1.WorkerService.ListWorkers", serve(&C::ListWorkers)},
      {"frostline.v1.WorkerService.DrainWorker", serve(&C::DrainWorker)},

      {"frostline.v1.ImportanceService.GetReport", serve(&C::GetReport)},
      {"frostline.v1.ImportanceService.ListPairs", serve(&C::ListPairs)},
      {"frostline.v1.ImportanceService.GetMarginals", serve(&C::GetMarginals)},
      {"frostline.v1.ImportanceService.GetPairMarginal",
       serve(&C::GetPairMarginal)},
      {"frostline.v1.ImportanceService.GetStability", serve(&C::GetStability)},
      {"frostline.v1.ImportanceService.CompareStudies",
       serve(&C::CompareStudies)},
      {"frostline.v1.ImportanceService.GetPlan", serve(&C::GetPlan)},
      {"frostline.v1.ImportanceService.GetFrontier", serve(&C::GetFrontier)},
      {"frostline.v1.ImportanceService.AskPlan", serve(&C::AskPlan)},
      {"frostline.v1.ImportanceService.GetPlanRivals",
       serve(&C::GetPlanRivals)},
      {"frostline.v1.ImportanceService.GetPlanVerification",
       serve(&C::GetPlanVerification)},

      {"frostline.v1.AdminService.Backup", serve(&C::Backup)},
      {"frostline.v1.AdminService.GetInfo", serve(&C::GetInfo)},
  };
  table.streams = {
      {"frostline.v1.StudyService.WatchStudy",
       WatchMethod([&coordinator, watch_alive](
                       v1::WatchStudyRequest request, CancelFlag cancelled,
                       Reply<std::vector<v1::StudyEvent>> reply) {
         coordinator.NextEvents(std::move(request), watch_alive,
                                std::move(cancelled), std::move(reply));
       })},
      {"frostline.v1.StudyService.ExportTrials",
       Stream<v1::ExportTrialsRequest, v1::ExportChunk>(
           [&coordinator](v1::ExportTrialsRequest request) {
             return ChunksOf(coordinator, std::move(request));
           })},
  };
  return table;
}

}  // namespace frostline
