// SPDX-License-Identifier: Apache-2.0
#include "server/importance/plan_verbs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/ids.h"
#include "importance/plan/frontier.h"
#include "importance/plan/plan_questions.h"
#include "importance/plan/study_plan.h"
#include "server/importance/contenders.h"
#include "server/importance/serve.h"
#include "server/wire/limits.h"
#include "server/wire/observation.h"
#include "storage/trial_store.h"

namespace frostline::server {
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

absl::Status CheckPlanCount(std::int64_t count, int most,
                            const std::string& field) {
  if (count >= 1 && count <= most) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid, absl::StrCat(field, " is ", count),
                   absl::StrCat("give 1 to ", most), field);
}

// Those of the trials that have not ended, whatever the question is.
absl::StatusOr<History> OpenTrials(const storage::TrialStore& store,
                                   storage::StudyKey study) {
  History open;
  const storage::TrialQuery query{
      .study = study, .states = {TrialState::kQueued, TrialState::kRunning}};
  RETURN_IF_ERROR(
      storage::ForEachTrial(store, query, [&](const storage::TrialRow& row) {
        open.Put(ObservationOf(row));
        return absl::OkStatus();
      }));
  return open;
}

}  // namespace

absl::StatusOr<PlanGroundPtr> PlanVerbs::LoadGround(
    const StudyHandle& study, const ImportanceQuestion& question,
    const std::stop_token& stop) {
  const auto make = [&]() -> absl::StatusOr<PlanGroundPtr> {
    ASSIGN_OR_RETURN(ImportanceDesk::Loaded loaded,
                     desk_.Load(study, question, stop));
    auto ground = std::make_shared<PlanGround>();
    ground->study = study;
    ground->question = question;
    ground->history = std::move(loaded.history);
    ground->revision = loaded.revision;
    // What is stored of rows is of the trials' ends.
    if (question.used.at_step() == 0) {
      ASSIGN_OR_RETURN(
          ground->evaluation_rows,
          CountEvaluationRows(desk_.store(), study.key, ground->history));
    }
    ASSIGN_OR_RETURN(ground->basis,
                     importance::MakePlanBasis(
                         ground->space(), ground->question.objectives,
                         ground->history, ground->OptionsFor(0.0, stop)));
    return ground;
  };
  return ground_.Of(AnswerKey("ground", study, question), make);
}

template <typename Message, typename Request, typename Make>
void PlanVerbs::ServePlan(const std::string& kind, const StudyHandle& study,
                          const Request& request, CancelFlag cancelled,
                          Reply<Message> reply, Make make) {
  const auto question = PlanQuestion(study, request);
  if (!question.ok()) return reply(question.status());
  const double tolerance = request.tolerance();
  desk_.Serve(
      // A plan says how to verify it, unless the study was stopped.
      {.key = AnswerKey(kind.c_str(), study, *question,
                        absl::StrCat(ExactText(tolerance), " ",
                                     static_cast<int>(study.state)))},
      std::move(cancelled), std::move(reply),
      [running = study.running](const KeptAnswer& answer) {
        return Shown<Message>(answer, running);
      },
      [this, study, question = *question, tolerance, make = std::move(make)](
          const std::stop_token& stop) -> absl::StatusOr<AnswerPtr> {
        ASSIGN_OR_RETURN(const PlanGroundPtr ground,
                         LoadGround(study, question, stop));
        ASSIGN_OR_RETURN(Message message,
                         make(*ground, ground->OptionsFor(tolerance, stop)));
        SayWhereFrom(question, ground->revision, message);
        return ToKeep(std::move(message));
      });
}

void PlanVerbs::GetPlan(const StudyHandle& study,
                        const v1::GetPlanRequest& request, CancelFlag cancelled,
                        Reply<v1::FreezePlan> reply) {
  ServePlan("plan", study, request, std::move(cancelled), std::move(reply),
            [study, request](const PlanGround& ground,
                             const importance::PlanOptions& options)
                -> absl::StatusOr<v1::FreezePlan> {
              ASSIGN_OR_RETURN(importance::StudyPlan plan,
                               importance::MakePlan(*ground.basis, options));
              WarnOfStudy(*study.checked, plan.warnings);
              v1::FreezePlan proto = PlanToProto(plan, study, request);
              proto.set_study(StudyNameOf(study.id));
              return proto;
            });
}

void PlanVerbs::GetFrontier(const StudyHandle& study,
                            const v1::GetFrontierRequest& request,
                            CancelFlag cancelled, Reply<v1::Frontier> reply) {
  ServePlan(
      "frontier", study, request, std::move(cancelled), std::move(reply),
      [study](const PlanGround& ground, const importance::PlanOptions& options)
          -> absl::StatusOr<v1::Frontier> {
        ASSIGN_OR_RETURN(importance::Frontier frontier,
                         importance::MakeFrontier(*ground.basis, options));
        WarnOfStudy(*study.checked, frontier.warnings);
        v1::Frontier proto = FrontierToProto(frontier, ground.space());
        proto.set_study(StudyNameOf(study.id));
        return proto;
      });
}

void PlanVerbs::AskPlan(const StudyHandle& study,
                        const v1::AskPlanRequest& request, CancelFlag cancelled,
                        Reply<v1::AskPlanReply> reply) {
  const int count = request.trials();
  const auto counted = CheckPlanCount(count, kMaxAskedTrials, "trials");
  if (!counted.ok()) return reply(counted);
  ServePlan(
      // It avoids what waits or runs, which grants and new trials change.
      absl::StrCat("ask ", count, " at ", study.revision), study, request,
      std::move(cancelled), std::move(reply),
      [this, key = study.key, count](const PlanGround& ground,
                                     const importance::PlanOptions& options)
          -> absl::StatusOr<v1::AskPlanReply> {
        ASSIGN_OR_RETURN(const History open, OpenTrials(desk_.store(), key));
        ASSIGN_OR_RETURN(
            const std::vector<importance::AskedTrial> asked,
            importance::AskTrials(*ground.basis,
                                  importance::OpenPoints(ground.space(), open),
                                  options, count));
        v1::AskPlanReply proto;
        for (const importance::AskedTrial& one : asked) {
          *proto.add_trials() = AskedToProto(one, ground.space());
        }
        return proto;
      });
}

void PlanVerbs::GetPlanRivals(const StudyHandle& study,
                              const v1::GetPlanRivalsRequest& request,
                              CancelFlag cancelled,
                              Reply<v1::GetPlanRivalsReply> reply) {
  const int seeds = request.seeds();
  const auto counted = CheckPlanCount(seeds, kMaxVerifySeeds, "seeds");
  if (!counted.ok()) return reply(counted);
  if (request.options().at_step() > 0) {
    return reply(MakeError(ErrorId::kRequestInvalid,
                           "a plan is verified by final values",
                           "leave the step out", "options.at_step"));
  }
  // Each asking is a batch of its own, named by the study's revision.
  ServePlan(absl::StrCat("rivals ", seeds, " at ", study.revision), study,
            request, std::move(cancelled), std::move(reply),
            [study, seeds](const PlanGround& ground,
                           const importance::PlanOptions& options)
                -> absl::StatusOr<v1::GetPlanRivalsReply> {
              ASSIGN_OR_RETURN(const std::vector<importance::Rival> rivals,
                               importance::PlanRivals(*ground.basis, options));
              return RivalsToProto(rivals, study, ground.question.objectives[0],
                                   std::max(study.revision, ground.revision),
                                   seeds);
            });
}

}  // namespace frostline::server
