// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/importance_verbs.h"

#include <utility>

namespace frostline::server {

template <typename Request, typename Answer>
void ImportanceVerbs::Add(VerbTable& table, const char* verb,
                          DeskVerb<Request, Answer> ask) {
  const auto run = [this, ask](CallContext caller, Request request,
                               Reply<Answer> reply) {
    std::vector<std::string> study = {request.study()};
    calls_.Read(
        std::move(study), std::move(reply),
        [this, ask, request = std::move(request),
         cancelled = std::move(caller.cancelled)](
            const std::vector<StudyHandle>& studies, Reply<Answer> answer) {
          (desk_.*ask)(studies[0], request, cancelled, std::move(answer));
        });
  };
  table.unary.emplace(absl::StrCat("frostline.v1.ImportanceService.", verb),
                      MakeUnaryVerb<Request, Answer>(CallerRole::kViewer, run));
}

void ImportanceVerbs::AddTo(VerbTable& table) {
  using D = ImportanceDesk;
  Add(table, "GetReport", &D::GetReport);
  Add(table, "ListPairs", &D::ListPairs);
  Add(table, "GetMarginals", &D::GetMarginals);
  Add(table, "GetPairMarginal", &D::GetPairMarginal);
  Add(table, "GetStability", &D::GetStability);
  Add(table, "GetPlan", &D::GetPlan);
  Add(table, "GetFrontier", &D::GetFrontier);
  Add(table, "AskPlan", &D::AskPlan);
  Add(table, "GetPlanRivals", &D::GetPlanRivals);
  Add(table, "GetPlanVerification", &D::GetPlanVerification);
  calls_.Add(table, "ImportanceService.CompareStudies", CallerRole::kViewer,
             this, &ImportanceVerbs::CompareStudies);
}

void ImportanceVerbs::CompareStudies(CallContext caller,
                                     v1::CompareStudiesRequest request,
                                     Reply<v1::StudyComparison> reply) {
  std::vector<std::string> names = {request.first(), request.second()};
  calls_.Read(std::move(names), std::move(reply),
              [this, request = std::move(request),
               cancelled = std::move(caller.cancelled)](
                  const std::vector<StudyHandle>& studies,
                  Reply<v1::StudyComparison> answer) {
                desk_.CompareStudies(studies[0], studies[1], request, cancelled,
                                     std::move(answer));
              });
}

}  // namespace frostline::server
