// SPDX-License-Identifier: Apache-2.0
//
// The verbs of plans: what to freeze, what is the least to train, which trials
// would tell most, and the rivals that a plan has to beat.
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/ids.h"
#include "base/status_macros.h"
#include "importance/plan/frontier.h"
#include "importance/plan/plan_questions.h"
#include "importance/plan/study_plan.h"
#include "server/importance_serve.h"
#include "server/limits.h"
#include "server/outcome_rows.h"

namespace frostline {
namespace {

template <typename Request>
absl::StatusOr<ImportanceQuestion> PlanQuestion(const StudyHandle& study,
                                                const Request& request) {
  if (request.options().parameters_size() > 0) {
    return MakeError(ErrorId::kRequestInvalid, "a plan is of all modules",
                     "leave the parameters out", "options.parameters");
  }
  if (!(request.tolerance() >= 0.0) || std::isinf(request.tolerance())) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("tolerance is ", request.tolerance()),
                     "give a part of the score, 0 or more", "tolerance");
  }
  return MakeQuestion(request.options(), *study.checked);
}

absl::Status CheckCount(std::int64_t count, int most,
                        const std::string& field) {
  if (count >= 1 && count <= most) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid, absl::StrCat(field, " is ", count),
                   absl::StrCat("give 1 to ", most), field);
}

// What the plan says of itself and of the best trial is what they are judged
// by, to the bit: both are predicted by draws.
void SayTheSame(const StudyPlan& plan, std::vector<Rival>& rivals) {
  for (Rival& rival : rivals) {
    if (rival.name == "plan") {
      rival.predicted = plan.predicted_score;
      rival.one_run = plan.one_run;
    } else if (rival.name == "best trial") {
      rival.predicted = plan.best_seen_score;
    }
  }
}

}  // namespace

absl::StatusOr<ImportanceDesk::ToPlan> ImportanceDesk::LoadToPlan(
    const StudyHandle& study, const ImportanceQuestion& question,
    double tolerance) {
  ASSIGN_OR_RETURN(Loaded loaded, Load(study, question));
  ToPlan to_plan;
  to_plan.options.evaluate = question.options;
  to_plan.options.tolerance = tolerance;
  // What is stored of rows is of the trials' ends.
  if (question.used.at_step() == 0) {
    ASSIGN_OR_RETURN(to_plan.options.evaluation_rows,
                     CountEvaluationRows(store_, study.key, loaded.history));
  }
  to_plan.history = std::move(loaded.history);
  to_plan.revision = loaded.revision;
  return to_plan;
}

template <typename Message, typename Request, typename Make>
void ImportanceDesk::ServePlan(const std::string& kind,
                               const StudyHandle& study, const Request& request,
                               CancelFlag cancelled, Reply<Message> reply,
                               Make make) {
  const auto question = PlanQuestion(study, request);
  if (!question.ok()) return reply(question.status());
  const double tolerance = request.tolerance();
  Serve(
      AnswerKey(kind.c_str(), study, *question, ExactText(tolerance)), false,
      std::move(cancelled), std::move(reply),
      [](const KeptAnswer& answer) { return As<Message>(answer); },
      [this, study, question = *question, tolerance,
       make = std::move(make)]() -> absl::StatusOr<AnswerPtr> {
        ASSIGN_OR_RETURN(const ToPlan loaded,
                         LoadToPlan(study, question, tolerance));
        ASSIGN_OR_RETURN(Message message, make(question, loaded));
        Sign(study, question, loaded.revision, message);
        return Kept(std::move(message));
      });
}

void ImportanceDesk::GetPlan(const StudyHandle& study,
                             const v1::GetPlanRequest& request,
                             CancelFlag cancelled,
                             Reply<v1::FreezePlan> reply) {
  ServePlan(
      "plan", study, request, std::move(cancelled), std::move(reply),
      [study, request](const ImportanceQuestion& question,
                       const ToPlan& loaded) -> absl::StatusOr<v1::FreezePlan> {
        ASSIGN_OR_RETURN(const StudyPlan plan,
                         MakePlan(study.checked->space, question.objectives,
                                  loaded.history, loaded.options));
        v1::FreezePlan proto = PlanToProto(plan, study, request);
        proto.set_study(StudyNameOf(study.id));
        return proto;
      });
}

void ImportanceDesk::GetFrontier(const StudyHandle& study,
                                 const v1::GetFrontierRequest& request,
                                 CancelFlag cancelled,
                                 Reply<v1::Frontier> reply) {
  ServePlan(
      "frontier", study, request, std::move(cancelled), std::move(reply),
      [study](const ImportanceQuestion& question,
              const ToPlan& loaded) -> absl::StatusOr<v1::Frontier> {
        ASSIGN_OR_RETURN(const Frontier frontier,
                         MakeFrontier(study.checked->space, question.objectives,
                                      loaded.history, loaded.options));
        v1::Frontier proto = FrontierToProto(frontier, study.checked->space);
        proto.set_study(StudyNameOf(study.id));
        return proto;
      });
}

void ImportanceDesk::AskPlan(const StudyHandle& study,
                             const v1::AskPlanRequest& request,
                             CancelFlag cancelled,
                             Reply<v1::AskPlanReply> reply) {
  const int count = request.trials();
  const auto counted = CheckCount(count, kMaxAskedTrials, "trials");
  if (!counted.ok()) return reply(counted);
  ServePlan(
      absl::StrCat("ask ", count), study, request, std::move(cancelled),
      std::move(reply),
      [study, count](const ImportanceQuestion& question,
                     const ToPlan& loaded) -> absl::StatusOr<v1::AskPlanReply> {
        const Space& space = study.checked->space;
        ASSIGN_OR_RETURN(const std::vector<AskedTrial> asked,
                         AskTrials(space, question.objectives, loaded.history,
                                   loaded.options, count));
        v1::AskPlanReply proto;
        for (const AskedTrial& one : asked) {
          *proto.add_trials() = AskedToProto(one, space);
        }
        return proto;
      });
}

void ImportanceDesk::GetPlanRivals(const StudyHandle& study,
                                   const v1::GetPlanRivalsRequest& request,
                                   CancelFlag cancelled,
                                   Reply<v1::GetPlanRivalsReply> reply) {
  const int seeds = request.seeds();
  const auto counted = CheckCount(seeds, kMaxVerifySeeds, "seeds");
  if (!counted.ok()) return reply(counted);
  if (request.options().at_step() > 0) {
    return reply(MakeError(ErrorId::kRequestInvalid,
                           "a plan is verified by final values",
                           "leave the step out", "options.at_step"));
  }
  ServePlan(
      absl::StrCat("rivals ", seeds), study, request, std::move(cancelled),
      std::move(reply),
      [study, seeds](const ImportanceQuestion& question, const ToPlan& loaded)
          -> absl::StatusOr<v1::GetPlanRivalsReply> {
        const Space& space = study.checked->space;
        ASSIGN_OR_RETURN(std::vector<Rival> rivals,
                         PlanRivals(space, question.objectives, loaded.history,
                                    loaded.options));
        ASSIGN_OR_RETURN(const StudyPlan plan,
                         MakePlan(space, question.objectives, loaded.history,
                                  loaded.options));
        SayTheSame(plan, rivals);
        return RivalsToProto(rivals, study, question.objectives[0],
                             loaded.revision, seeds);
      });
}

}  // namespace frostline
