// SPDX-License-Identifier: Apache-2.0
//
// The verbs of importance, on their way to the desk that answers them.
#include <utility>

#include "server/coordinator_impl.h"

namespace frostline {
namespace {

// What the desk is asked once the study has been looked up.
template <typename Request, typename Answer>
using DeskVerb = void (ImportanceDesk::*)(const StudyHandle&, const Request&,
                                          CancelFlag, Reply<Answer>);

template <typename Impl, typename Request, typename Answer>
void AskDesk(Impl& impl, DeskVerb<Request, Answer> verb, Request request,
             CancelFlag cancelled, Reply<Answer> reply) {
  std::vector<std::string> studies = {request.study()};
  impl.ReadAll(
      std::move(studies), std::move(reply),
      [&impl, verb, request = std::move(request),
       cancelled = std::move(cancelled)](
          const std::vector<StudyHandle>& handles, Reply<Answer> answer) {
        (impl.importance().*verb)(handles[0], request, cancelled,
                                  std::move(answer));
      });
}

}  // namespace

void Coordinator::GetReport(v1::GetReportRequest request, CancelFlag cancelled,
                            Reply<v1::ImportanceReport> reply) {
  AskDesk(*impl_, &ImportanceDesk::GetReport, std::move(request),
          std::move(cancelled), std::move(reply));
}

void Coordinator::ListPairs(v1::ListPairsRequest request, CancelFlag cancelled,
                            Reply<v1::ListPairsReply> reply) {
  AskDesk(*impl_, &ImportanceDesk::ListPairs, std::move(request),
          std::move(cancelled), std::move(reply));
}

void Coordinator::GetMarginals(v1::GetMarginalsRequest request,
                               CancelFlag cancelled,
                               Reply<v1::GetMarginalsReply> reply) {
  AskDesk(*impl_, &ImportanceDesk::GetMarginals, std::move(request),
          std::move(cancelled), std::move(reply));
}

void Coordinator::GetPairMarginal(v1::GetPairMarginalRequest request,
                                  CancelFlag cancelled,
                                  Reply<v1::PairMarginal> reply) {
  AskDesk(*impl_, &ImportanceDesk::GetPairMarginal, std::move(request),
          std::move(cancelled), std::move(reply));
}

void Coordinator::GetStability(v1::GetStabilityRequest request,
                               CancelFlag cancelled,
                               Reply<v1::GetStabilityReply> reply) {
  AskDesk(*impl_, &ImportanceDesk::GetStability, std::move(request),
          std::move(cancelled), std::move(reply));
}

void Coordinator::GetPlan(v1::GetPlanRequest request, CancelFlag cancelled,
                          Reply<v1::FreezePlan> reply) {
  AskDesk(*impl_, &ImportanceDesk::GetPlan, std::move(request),
          std::move(cancelled), std::move(reply));
}

void Coordinator::GetFrontier(v1::GetFrontierRequest request,
                              CancelFlag cancelled, Reply<v1::Frontier> reply) {
  AskDesk(*impl_, &ImportanceDesk::GetFrontier, std::move(request),
          std::move(cancelled), std::move(reply));
}

void Coordinator::AskPlan(v1::AskPlanRequest request, CancelFlag cancelled,
                          Reply<v1::AskPlanReply> reply) {
  AskDesk(*impl_, &ImportanceDesk::AskPlan, std::move(request),
          std::move(cancelled), std::move(reply));
}

void Coordinator::GetPlanRivals(v1::GetPlanRivalsRequest request,
                                CancelFlag cancelled,
                                Reply<v1::GetPlanRivalsReply> reply) {
  AskDesk(*impl_, &ImportanceDesk::GetPlanRivals, std::move(request),
          std::move(cancelled), std::move(reply));
}

void Coordinator::GetPlanVerification(v1::GetPlanVerificationRequest request,
                                      CancelFlag cancelled,
                                      Reply<v1::PlanVerification> reply) {
  AskDesk(*impl_, &ImportanceDesk::GetPlanVerification, std::move(request),
          std::move(cancelled), std::move(reply));
}

void Coordinator::CompareStudies(v1::CompareStudiesRequest request,
                                 CancelFlag cancelled,
                                 Reply<v1::StudyComparison> reply) {
  std::vector<std::string> studies = {request.first(), request.second()};
  impl_->ReadAll(
      std::move(studies), std::move(reply),
      [this, request = std::move(request), cancelled = std::move(cancelled)](
          const std::vector<StudyHandle>& handles,
          Reply<v1::StudyComparison> answer) {
        impl_->importance().CompareStudies(handles[0], handles[1], request,
                                           cancelled, std::move(answer));
      });
}

}  // namespace frostline
