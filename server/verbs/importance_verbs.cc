// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/importance_verbs.h"

#include <utility>

#include "server/importance/comparison.h"

namespace frostline::server {

template <typename V, typename Request, typename Answer>
void ImportanceVerbs::Add(VerbTable& table, const char* verb, V& object,
                          void (V::*ask)(const StudyHandle&, const Request&,
                                         CancelFlag, Reply<Answer>)) {
  const auto run = [this, &object, ask](CallContext caller, Request request,
                                        Reply<Answer> reply) {
    std::vector<std::string> study = {request.study()};
    const CancelFlag cancelled = caller.cancelled;
    calls_.Read(
        calls_.readers(), std::move(caller), std::move(study), std::move(reply),
        [&object, ask, request = std::move(request), cancelled](
            const std::vector<StudyHandle>& studies, Reply<Answer> answer) {
          (object.*ask)(studies[0], request, cancelled, std::move(answer));
        });
  };
  AddUnary<Request, Answer>(table, absl::StrCat("ImportanceService.", verb),
                            CallerRole::kViewer, run);
}

void ImportanceVerbs::AddTo(VerbTable& table) {
  Add(table, "GetReport", reports_, &ReportVerbs::GetReport);
  Add(table, "ListPairs", reports_, &ReportVerbs::ListPairs);
  Add(table, "GetMarginals", curves_, &CurveVerbs::GetMarginals);
  Add(table, "GetPairMarginal", curves_, &CurveVerbs::GetPairMarginal);
  Add(table, "GetStability", curves_, &CurveVerbs::GetStability);
  Add(table, "GetPlan", plans_, &PlanVerbs::GetPlan);
  Add(table, "GetFrontier", plans_, &PlanVerbs::GetFrontier);
  Add(table, "AskPlan", plans_, &PlanVerbs::AskPlan);
  Add(table, "GetPlanRivals", plans_, &PlanVerbs::GetPlanRivals);
  Add(table, "ExplainDifference", plans_, &PlanVerbs::ExplainDifference);
  Add(table, "GetPlanVerification", verify_, &VerifyVerb::GetPlanVerification);
  calls_.Add(table, "ImportanceService.CompareStudies", CallerRole::kViewer,
             this, &ImportanceVerbs::CompareStudies);
  calls_.Add(table, "ImportanceService.CompareTrials", CallerRole::kViewer,
             this, &ImportanceVerbs::CompareTrials);
}

void ImportanceVerbs::CompareStudies(CallContext caller,
                                     v1::CompareStudiesRequest request,
                                     Reply<v1::StudyComparison> reply) {
  std::vector<std::string> names = {request.first(), request.second()};
  const CancelFlag cancelled = caller.cancelled;
  calls_.Read(calls_.readers(), std::move(caller), std::move(names),
              std::move(reply),
              [this, request = std::move(request), cancelled](
                  const std::vector<StudyHandle>& studies,
                  Reply<v1::StudyComparison> answer) {
                reports_.CompareStudies(studies[0], studies[1], request,
                                        cancelled, std::move(answer));
              });
}

void ImportanceVerbs::CompareTrials(CallContext caller,
                                    v1::CompareTrialsRequest request,
                                    Reply<v1::TrialComparison> reply) {
  auto names = StudiesOf(request);
  if (!names.ok()) return reply(names.status());
  const CancelFlag cancelled = caller.cancelled;
  calls_.Read(
      calls_.readers(), std::move(caller), *std::move(names), std::move(reply),
      [this, request = std::move(request), cancelled](
          const std::vector<StudyHandle>& studies,
          Reply<v1::TrialComparison> answer) {
        compare_.CompareTrials(studies, request, cancelled, std::move(answer));
      });
}

}  // namespace frostline::server
