// SPDX-License-Identifier: Apache-2.0
#include "server/importance/plan_verbs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/training_table.h"
#include "importance/plan/attribution.h"
#include "importance/plan/frontier.h"
#include "importance/plan/other_tools.h"
#include "importance/plan/plan_trials.h"
#include "importance/plan/study_plan.h"
#include "proto/rules.h"
#include "sampler/memory.h"
#include "server/importance/comparison.h"
#include "server/importance/convert_importance.h"
#include "server/wire/convert.h"
#include "server/wire/space.h"
#include "storage/trial_store.h"

namespace frostline::server {

importance::PlanOptions PlanGround::OptionsFor(
    double tolerance, const std::stop_token& stop) const {
  importance::PlanOptions options{.evaluate = question.options,
                                  .tolerance = tolerance,
                                  .evaluation_rows = evaluation_rows};
  options.evaluate.stop = stop;
  return options;
}

absl::StatusOr<PlanGroundPtr> LastPlanGround::Of(
    const std::string& key,
    absl::FunctionRef<absl::StatusOr<PlanGroundPtr>()> make) {
  std::shared_ptr<Entry> entry;
  {
    const MutexLock lock(&mutex_);
    if (last_ == nullptr || last_->key != key) {
      last_ = std::make_shared<Entry>();
      last_->key = key;
    }
    entry = last_;
  }
  const MutexLock lock(&entry->mutex);
  if (entry->ground == nullptr) {
    ASSIGN_OR_RETURN(entry->ground, make());
  }
  return entry->ground;
}

namespace {

// A difference between trials knows no tolerance.
template <typename Request>
double ToleranceOf(const Request& request) {
  if constexpr (requires { request.tolerance(); }) {
    return request.tolerance();
  } else {
    return 0.0;
  }
}

template <typename Request>
absl::StatusOr<ImportanceQuestion> PlanQuestion(const StudyHandle& study,
                                                const Request& request) {
  if (request.options().parameters_size() > 0) {
    return MakeError(ErrorId::kRequestInvalid, "a plan is of all modules",
                     "leave the parameters out", "options.parameters");
  }
  const double tolerance = ToleranceOf(request);
  if (!(tolerance >= 0.0) || std::isinf(tolerance)) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("tolerance is ", tolerance),
                     "give a part of the score, 0 or more", "tolerance");
  }
  return MakeQuestion(request.options(), *study.checked);
}

absl::Status CheckPlanCount(std::int64_t count, std::int64_t most,
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
  const double tolerance = ToleranceOf(request);
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

namespace {

// The number of this name in a point; nothing where it is not searched.
std::optional<double> SearchedNumber(const Space& space, const Point& point,
                                     const std::string& name) {
  const std::optional<int> index = space.IndexOf(name);
  if (!index.has_value()) return std::nullopt;
  const auto i = static_cast<std::size_t>(*index);
  if (IsAbsent(point[i])) return std::nullopt;
  return ValueToProto(space.parameters()[i].domain, point[i]).number_value();
}

// The rank of most adapters that train, the larger of two; 0 without any.
int UsualRank(const importance::StudyPlan& plan) {
  std::map<int, int> counts;
  for (const importance::PlannedModule& module : plan.modules) {
    const int rank = module.freeze ? 0 : module.rank.value_or(0);
    if (rank > 0) ++counts[rank];
  }
  int usual = 0;
  for (const auto& [rank, count] : counts) {
    if (usual == 0 || count >= counts[usual]) usual = rank;
  }
  return usual;
}

// The maps that have adapters, by our words, each once. A study may name them
// as a family of models does; one that names none has them on two.
std::vector<std::string> MapsOf(const v1::LoraSpec& lora) {
  std::vector<std::string> maps;
  for (const std::string& name : lora.modules()) {
    const auto word = std::ranges::find(LoraWords(), name, &LoraWord::word);
    if (word == LoraWords().end()) continue;  // refused with the study
    const std::string map(word->map);
    if (std::ranges::find(maps, map) == maps.end()) maps.push_back(map);
  }
  if (maps.empty()) maps = {"query", "value"};
  return maps;
}

// Says the plan in the words of the tool that the request names.
absl::Status SayInTool(const StudyHandle& study,
                       const importance::StudyPlan& plan,
                       const std::string& tool, v1::FreezePlan* proto) {
  const v1::Training& training = study.checked->spec.training();
  if (training.trains() == "biases" || training.has_adapters()) {
    return MakeError(
        ErrorId::kRequestInvalid,
        "the study trains biases or bottleneck adapters, for which "
        "other tools have no words",
        "leave for_tool out", "for_tool");
  }
  const auto rule = training.extra().fields().find("layers_by");
  if (rule != training.extra().fields().end() &&
      rule->second.string_value() != "rates") {
    return MakeError(
        ErrorId::kRequestInvalid,
        "the study has a rule choose its layers (training.extra.layers_by), "
        "for which other tools have no words",
        "leave for_tool out", "for_tool");
  }
  importance::PlanToSay say;
  say.study = study.id;
  for (const importance::PlannedModule& module : plan.modules) {
    say.modules.push_back(
        {module.module, module.freeze ? 0.0 : module.rate, module.rank});
  }
  const v1::LoraSpec& lora = training.lora();
  const Space& space = study.checked->space;
  const auto number = [&](const char* name, double unless_searched) {
    return SearchedNumber(space, plan.point, name).value_or(unless_searched);
  };
  say.lora = {
      .rank = static_cast<int>(number("lora_rank", lora.rank())),
      .alpha = number("lora_alpha", lora.alpha()),
      .alpha_per_rank = number("lora_alpha_per_rank", lora.alpha_per_rank()),
      .dropout = number("lora_dropout", lora.dropout()),
      .maps = {}};
  if (say.lora.rank == 0) say.lora.rank = UsualRank(plan);
  if (say.lora.rank > 0) say.lora.maps = MapsOf(lora);
  if (say.lora.alpha_per_rank == 0.0 && say.lora.alpha == 0.0) {
    say.lora.alpha_per_rank = 1.0;
  }
  if (say.lora.alpha == 0.0) {
    say.lora.alpha = say.lora.alpha_per_rank * say.lora.rank;
  }
  ASSIGN_OR_RETURN(const importance::PlanInTool said,
                   importance::SayPlanFor(tool, say));
  v1::PlanInTool* const out = proto->mutable_in_tool();
  out->set_tool(said.tool);
  out->set_text(said.text);
  for (const std::string& one : said.cannot_say) out->add_cannot_say(one);
  return absl::OkStatus();
}

}  // namespace

namespace {

// Writes into a trial what it would take of memory, as far as the study's
// trials tell; then it stands beside what it took.
class MemoryForecast {
 public:
  MemoryForecast(const CheckedStudy& study, const History& history)
      : memory_(study.space) {
    const v1::Training& training = study.spec.training();
    const auto& extra = training.extra().fields();
    const auto momentum = extra.find("momentum");
    if (training.optimizer() == "sgd") {
      moments_ = momentum == extra.end() ? 0.0 : 1.0;
    }
    memory_.CatchUp(history);
  }

  void Say(const Point& point, v1::EnqueuedTrial& trial) const {
    if (!memory_.Knows(point)) return;
    auto& labels = *trial.mutable_labels();
    labels[kPredictedMemoryLabel] =
        absl::StrFormat("%.1f", memory_.MibOf(point));
    const std::optional<double> trained = memory_.TrainedWeightsOf(point);
    if (!trained.has_value()) return;
    constexpr double kBytesOfAMoment = 4.0;
    labels[kPredictedOptimizerLabel] = absl::StrFormat(
        "%.1f", *trained * moments_ * kBytesOfAMoment / (1024.0 * 1024.0));
  }

 private:
  sampler::MemoryModel memory_;
  double moments_ = 2.0;  // of Adam
};

}  // namespace

void PlanVerbs::ExplainDifference(const StudyHandle& study,
                                  const v1::ExplainDifferenceRequest& request,
                                  CancelFlag cancelled,
                                  Reply<v1::DifferenceExplanation> reply) {
  ServePlan(absl::StrCat("difference ", request.first_trial(), " ",
                         request.second_trial()),
            study, request, std::move(cancelled), std::move(reply),
            [study, request](const PlanGround& ground,
                             const importance::PlanOptions& options)
                -> absl::StatusOr<v1::DifferenceExplanation> {
              ASSIGN_OR_RETURN(
                  importance::Difference difference,
                  importance::ExplainDifference(
                      *ground.basis, request.first_trial(),
                      request.second_trial(), options.evaluate.stop));
              WarnOfStudy(*study.checked, difference.warnings);
              v1::DifferenceExplanation proto = DifferenceToProto(
                  difference, study.checked->space, ground.basis->belief(),
                  {request.first_trial(), request.second_trial()});
              proto.set_study(StudyNameOf(study.id));
              proto.set_first(TrialNameOf(study.id, request.first_trial()));
              proto.set_second(TrialNameOf(study.id, request.second_trial()));
              return proto;
            });
}

void PlanVerbs::GetPlan(const StudyHandle& study,
                        const v1::GetPlanRequest& request, CancelFlag cancelled,
                        Reply<v1::FreezePlan> reply) {
  ServePlan(
      absl::StrCat("plan ", request.for_tool()), study, request,
      std::move(cancelled), std::move(reply),
      [study, request](const PlanGround& ground,
                       const importance::PlanOptions& options)
          -> absl::StatusOr<v1::FreezePlan> {
        ASSIGN_OR_RETURN(importance::StudyPlan plan,
                         importance::MakePlan(*ground.basis, options));
        WarnOfStudy(*study.checked, plan.warnings);
        v1::FreezePlan proto = PlanToProto(plan, study, request);
        proto.set_study(StudyNameOf(study.id));
        MemoryForecast(*study.checked, ground.history)
            .Say(plan.point, *proto.mutable_as_trial());
        if (!request.for_tool().empty()) {
          RETURN_IF_ERROR(SayInTool(study, plan, request.for_tool(), &proto));
        }
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
        const MemoryForecast memory(*study.checked, ground.history);
        const auto say = [&memory](const auto& sets, auto& protos) {
          for (std::size_t i = 0; i < sets.size(); ++i) {
            memory.Say(
                sets[i].point,
                *protos.Mutable(static_cast<int>(i))->mutable_as_trial());
          }
        };
        say(frontier.by_modules, *proto.mutable_by_modules());
        say(frontier.by_prefix, *proto.mutable_by_prefix());
        return proto;
      });
}

void PlanVerbs::AskPlan(const StudyHandle& study,
                        const v1::AskPlanRequest& request, CancelFlag cancelled,
                        Reply<v1::AskPlanReply> reply) {
  const int count = request.trials();
  const auto counted = CheckPlanCount(
      count, proto::MostOf<v1::AskPlanRequest>("trials"), "trials");
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
  const auto counted = CheckPlanCount(
      seeds, proto::MostOf<v1::GetPlanRivalsRequest>("seeds"), "seeds");
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

namespace {

struct MarkedTrial {
  VerifyMark mark;
  TrialState state = TrialState::kQueued;
  double value = std::numeric_limits<double>::quiet_NaN();
};
using MarkedTrials = std::map<std::int64_t, MarkedTrial>;  // by number

absl::Status AddOpen(const StudyHandle& study, const storage::TrialStore& store,
                     const std::stop_token& stop, MarkedTrials& marked) {
  const storage::TrialQuery open{
      .study = study.key,
      .states = {TrialState::kQueued, TrialState::kRunning}};
  return storage::ForEachTrial(store, open, [&](const storage::TrialRow& row) {
    RETURN_IF_ERROR(importance::CheckStop(stop));
    if (auto mark = VerifyMarkOf(row)) {
      marked[row.number] = {*std::move(mark), row.state};
    }
    return absl::OkStatus();
  });
}

void AddEnded(const std::map<std::int64_t, KnownTrial>& trials,
              MarkedTrials& marked) {
  for (const auto& [number, known] : trials) {
    auto mark = VerifyMarkOf(known.row);
    if (!mark.has_value()) continue;
    MarkedTrial& trial = marked[number];
    trial = {*std::move(mark), known.row.state};
    if (trial.state != TrialState::kSucceeded) continue;
    const auto value = FinalValueOf(known, trial.mark.objective.metric);
    if (value.has_value()) trial.value = *value;
  }
}

// Leaves those of one batch: the one that is named, else the last.
absl::Status KeepBatch(const StudyHandle& study, std::string batch,
                       MarkedTrials& marked) {
  if (batch.empty() && !marked.empty()) {
    batch = marked.rbegin()->second.mark.batch;
  }
  std::erase_if(marked, [&batch](const auto& entry) {
    return entry.second.mark.batch != batch;
  });
  if (!marked.empty()) return absl::OkStatus();
  return MakeError(
      ErrorId::kTrialNotFound,
      absl::StrCat("no trials of ", study.id, " verify ",
                   batch.empty() ? "a plan" : batch),
      absl::StrCat("`frostline plan ", study.id, " --verify` enqueues them"),
      "batch");
}

// The metric by its rows, all of one data set; else null.
class ScoreReader {
 public:
  ScoreReader(const StudyHandle& study, const storage::TrialStore& store)
      : study_(study), store_(store) {}

  absl::StatusOr<std::shared_ptr<const statistics::RunScore>> Read(
      std::int64_t number, const std::string& metric, double value) {
    std::shared_ptr<const statistics::RunScore> score;
    if (std::isnan(value)) return score;
    ASSIGN_OR_RETURN(const std::optional<storage::OutcomeRow> outcome,
                     store_.FindOutcome(study_.key, number));
    if (!outcome.has_value()) return score;
    if (fingerprint_.empty()) fingerprint_ = outcome->data_fingerprint;
    if (outcome->data_fingerprint != fingerprint_) return score;
    return ScoreOf(*outcome, metric, value);
  }

  const std::string& fingerprint() const { return fingerprint_; }

 private:
  const StudyHandle& study_;
  const storage::TrialStore& store_;
  std::string fingerprint_;
};

// The rivals in the order in which they were enqueued, with their runs.
struct Runs {
  std::vector<importance::RivalRuns> rivals;
  std::string fingerprint;
  v1::PlanVerification proto;
};

absl::StatusOr<Runs> RunsOf(const StudyHandle& study,
                            const storage::TrialStore& store,
                            const std::stop_token& stop,
                            const MarkedTrials& marked) {
  Runs runs;
  ScoreReader reader(study, store);
  for (const auto& [number, trial] : marked) {
    RETURN_IF_ERROR(importance::CheckStop(stop));
    const VerifyMark& mark = trial.mark;
    std::size_t r = 0;
    while (r < runs.rivals.size() && runs.rivals[r].seen.name != mark.rival)
      ++r;
    if (r == runs.rivals.size()) {
      runs.rivals.push_back({mark.predicted, mark.one_run, {mark.rival, {}}});
      runs.proto.add_rivals()->set_name(mark.rival);
    }
    statistics::Run& run = runs.rivals[r].seen.runs.emplace_back();
    run.seed = mark.seed;
    run.value = trial.value;
    ASSIGN_OR_RETURN(run.score,
                     reader.Read(number, mark.objective.metric, trial.value));
    v1::VerifiedRun* const out =
        runs.proto.mutable_rivals(static_cast<int>(r))->add_runs();
    out->set_trial(TrialNameOf(study.id, number));
    out->set_seed(mark.seed);
    out->set_state(static_cast<v1::TrialState>(trial.state));
    out->set_value(trial.value);
    runs.proto.set_ended(runs.proto.ended() +
                         (IsTerminal(trial.state) ? 1 : 0));
  }
  runs.fingerprint = reader.fingerprint();
  return runs;
}

void AddJudgement(const Runs& runs, const importance::Verification& judged,
                  v1::PlanVerification& proto) {
  for (std::size_t r = 0; r < runs.rivals.size(); ++r) {
    v1::VerifiedRival& out = *proto.mutable_rivals(static_cast<int>(r));
    const importance::JudgedRival& rival = judged.rivals[r];
    *out.mutable_predicted() = IntervalToProto(runs.rivals[r].predicted);
    *out.mutable_one_run() = IntervalToProto(runs.rivals[r].one_run);
    *out.mutable_seen() = IntervalToProto(rival.seen);
    *out.mutable_difference() = IntervalToProto(rival.difference);
    out.set_seed_noise(rival.seed_noise);
    out.set_row_noise(rival.row_noise);
    out.set_exceeds_seeds(rival.exceeds_seeds);
    out.set_exceeds_rows(rival.exceeds_rows);
    out.set_p(rival.p);
    out.set_adjusted_p(rival.adjusted_p);
  }
  proto.set_seed_deviation(judged.seed_deviation);
  proto.set_evaluation_rows(judged.rows);
}

}  // namespace

absl::StatusOr<AnswerPtr> VerifyVerb::Verify(const StudyHandle& study,
                                             const std::string& batch,
                                             const std::stop_token& stop) {
  MarkedTrials marked;
  // Open ones first: what ends meanwhile is among the ended ones then.
  RETURN_IF_ERROR(AddOpen(study, desk_.store(), stop, marked));
  std::int64_t revision = 0;
  RETURN_IF_ERROR(desk_.studies().Of(study.key)->See(
      study, desk_.store(), 0, stop,
      [&](const std::map<std::int64_t, KnownTrial>& trials, std::int64_t seen) {
        revision = seen;
        AddEnded(trials, marked);
        return absl::OkStatus();
      }));
  RETURN_IF_ERROR(KeepBatch(study, batch, marked));
  ASSIGN_OR_RETURN(Runs runs, RunsOf(study, desk_.store(), stop, marked));
  const VerifyMark& mark = marked.begin()->second.mark;
  const importance::Verification judged = importance::JudgeRuns(
      runs.rivals, ChanceOf(runs.fingerprint, mark.objective.metric), stop);
  RETURN_IF_ERROR(importance::CheckStop(stop));
  AddJudgement(runs, judged, runs.proto);
  runs.proto.set_study(StudyNameOf(study.id));
  runs.proto.set_revision(revision);
  runs.proto.set_batch(mark.batch);
  runs.proto.set_target(mark.objective.metric);
  runs.proto.set_direction(mark.objective.direction == Direction::kMaximize
                               ? v1::DIRECTION_MAXIMIZE
                               : v1::DIRECTION_MINIMIZE);
  runs.proto.set_total(std::max<std::int64_t>(mark.total, runs.proto.ended()));
  runs.proto.set_verdict(
      importance::VerificationSentence(mark.objective, runs.rivals, judged));
  return ToKeep(std::move(runs.proto));
}

void VerifyVerb::GetPlanVerification(
    const StudyHandle& study, const v1::GetPlanVerificationRequest& request,
    CancelFlag cancelled, Reply<v1::PlanVerification> reply) {
  desk_.Serve(
      {.key = absl::StrCat("verify ", study.key, "/", study.revision, " ",
                           request.batch())},
      std::move(cancelled), std::move(reply),
      [](const KeptAnswer& answer) {
        return MessageIn<v1::PlanVerification>(answer);
      },
      [this, study, batch = request.batch()](const std::stop_token& stop) {
        return Verify(study, batch, stop);
      });
}

}  // namespace frostline::server
