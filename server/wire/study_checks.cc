// SPDX-License-Identifier: Apache-2.0
#include "server/wire/study_checks.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/plain/training_table.h"
#include "frostline/v1/trial.pb.h"
#include "proto/rules.h"
#include "server/wire/settings.h"
#include "server/wire/space.h"

namespace frostline::server {
namespace {

constexpr std::size_t kMostNameBytes = 32;
constexpr int kMostHidden = 65'536;

absl::Status WrongTask(const std::string& field, const std::string& cause,
                       const std::string& fix) {
  return MakeError(ErrorId::kRequestInvalid, cause, fix, field);
}

bool IsTaskName(const std::string& name) {
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= kMostNameBytes &&
         small(name.front()) && name != "test" && name != "mean" &&
         std::ranges::all_of(name, [&](char c) {
           return small(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

bool IsCosine(const std::string& kind) {
  return kind == "cosine" || kind == "two_map_cosine";
}

// `task` is the kind of the data's task; empty: only the worker's registry
// knows it.
absl::Status CheckHeadFits(const v1::HeadSpec& head, const std::string& task,
                           const std::string& field) {
  const std::string& kind = head.kind();
  const bool tags = task == "tagging";
  const bool of_pairs =
      kind == "inner_product" || IsCosine(kind) || kind == "features";
  if (of_pairs && head.pair() == "joint") {
    return WrongTask(
        field + ".pair",
        absl::StrCat(kind, " compares two texts, and pair is joint"),
        "leave pair out, or say apart");
  }
  if (tags && (of_pairs || head.pair() == "apart" || !head.pooling().empty())) {
    return WrongTask(
        field, "this head answers for a whole text, and the task is tagging",
        "say kind: linear or mlp, without pair and pooling");
  }
  if (IsCosine(kind) && !task.empty() && task != "regression") {
    return WrongTask(
        field + ".kind",
        absl::StrCat(kind, " gives a number, and the task is ", task),
        "say task: regression in its data, or inner_product");
  }
  return absl::OkStatus();
}

absl::Status CheckHead(const v1::HeadSpec& head, const std::string& task,
                       const std::string& field) {
  const std::string& kind = head.kind();
  RETURN_IF_ERROR(CheckWord(SettingOf("head.kind"), kind, field + ".kind"));
  RETURN_IF_ERROR(
      CheckWord(SettingOf("head.pair"), head.pair(), field + ".pair"));
  RETURN_IF_ERROR(
      CheckWord(SettingOf("head.pooling"), head.pooling(), field + ".pooling"));
  if (head.scale() != 0.0 &&
      (!IsCosine(kind) || !std::isfinite(head.scale()) || head.scale() < 0)) {
    return WrongTask(field + ".scale", "scale is of cosine, and over 0",
                     "leave it out, or say kind: cosine and a number over 0");
  }
  const bool mlp = kind == "mlp";
  if (head.hidden() != 0 &&
      (!mlp || head.hidden() < 0 || head.hidden() > kMostHidden)) {
    return WrongTask(field + ".hidden", "hidden is of mlp, 1 to 65536",
                     "leave it out, or say kind: mlp and a width");
  }
  if (head.has_dropout() &&
      (!mlp || !(head.dropout() >= 0.0 && head.dropout() < 1.0))) {
    return WrongTask(field + ".dropout", "dropout is of mlp, 0 to below 1",
                     "leave it out, or say kind: mlp and a share");
  }
  return CheckHeadFits(head, task, field);
}

absl::Status CheckLoss(const v1::TaskSpec& task, const std::string& field) {
  static const SettingRow kLoss = {.key = "loss",
                                   .kind = SettingKind::kWord,
                                   .words = "cross_entropy, squared_error"};
  RETURN_IF_ERROR(CheckWord(kLoss, task.loss(), field));
  const std::string& kind = task.data().task();
  const bool numbers = kind == "regression" || IsCosine(task.head().kind());
  if (task.loss() == "cross_entropy" && numbers) {
    return WrongTask(field,
                     "cross_entropy is of classes, and this task has numbers",
                     "say squared_error, or leave it out");
  }
  if (task.loss() == "squared_error" && !kind.empty() && !numbers) {
    return WrongTask(
        field,
        absl::StrCat("squared_error is of numbers, and the task is ", kind),
        "say cross_entropy, or leave it out");
  }
  return absl::OkStatus();
}

absl::Status CheckWeights(const v1::TaskSpec& task, const std::string& field) {
  for (const auto& [name, value] : {std::pair(".share", task.share()),
                                    {".loss_weight", task.loss_weight()}}) {
    if (std::isfinite(value) && value >= 0.0) continue;
    return WrongTask(field + name, absl::StrCat(field, name, " is ", value),
                     "give a finite number over 0");
  }
  return absl::OkStatus();
}

absl::Status CheckTask(const v1::TaskSpec& task, const ModelShape& shape,
                       const std::string& field) {
  if (!IsTaskName(task.name())) {
    return WrongTask(
        field + ".name",
        absl::StrCat("'", task.name().substr(0, 40), "' is no name of a task"),
        "take 1 to 32 of a-z, 0-9, _ and -, first a letter; mean and "
        "test are taken");
  }
  if (task.data().id().empty()) {
    return WrongTask(field + ".data.id",
                     absl::StrCat("the task ", task.name(), " has no data set"),
                     "name one: data: {id: …}");
  }
  RETURN_IF_ERROR(CheckHead(task.head(), task.data().task(), field + ".head"));
  RETURN_IF_ERROR(CheckLoss(task, field + ".loss"));
  RETURN_IF_ERROR(CheckWeights(task, field));
  const int most_selectors = proto::MaxItems<v1::TaskSpec>("freeze");
  if (task.freeze_size() > most_selectors) {
    return WrongTask(
        field + ".freeze", "it names too many modules",
        absl::StrCat("name at most ", most_selectors, " selectors"));
  }
  for (int i = 0; i < task.freeze_size(); ++i) {
    RETURN_IF_ERROR(SelectModules(shape, task.freeze(i),
                                  absl::StrCat(field, ".freeze[", i, "]"))
                        .status());
  }
  return absl::OkStatus();
}

absl::Status CheckShares(const v1::StudySpec& spec) {
  const auto given = std::ranges::count_if(
      spec.tasks(), [](const v1::TaskSpec& task) { return task.share() > 0; });
  if (given == 0) return absl::OkStatus();
  if (spec.training().task_mixing() == "joined") {
    return WrongTask(
        "tasks[0].share",
        "joined sets are drawn from as one, and a task has a share",
        "leave shares out, or say task_mixing: random");
  }
  for (int i = 0; i < spec.tasks_size(); ++i) {
    if (spec.tasks(i).share() > 0) continue;
    return WrongTask(absl::StrCat("tasks[", i, "].share"),
                     absl::StrCat("the task ", spec.tasks(i).name(),
                                  " has no share, and others have one"),
                     "give all tasks one over 0, or none");
  }
  return absl::OkStatus();
}

// Checks the name of a metric that a trial of tasks reports: "sst.accuracy",
// "sst.test.accuracy", "mean".
absl::Status CheckMetric(const std::string& metric, const ModelShape& shape,
                         const std::string& field) {
  static const auto* const kOfAll = new std::set<std::string, std::less<>>{
      "mean",          "test.mean",          "train_loss",
      "train_seconds", "trained_parameters", "steps",
      "kept_step",     "gradient_conflicts"};
  static const auto* const kOfOne = new std::set<std::string, std::less<>>{
      "accuracy", "f1",   "f1_macro", "f1_micro",  "loss",   "mcc",
      "mse",      "rmse", "pearson",  "precision", "recall", "spearman"};
  if (kOfAll->contains(metric)) return absl::OkStatus();
  const std::size_t dot = metric.find('.');
  const bool of_task = dot != std::string::npos &&
                       std::ranges::find(shape.tasks, metric.substr(0, dot)) !=
                           shape.tasks.end();
  if (of_task || (dot == std::string::npos && !kOfOne->contains(metric))) {
    return absl::OkStatus();
  }
  return MakeError(ErrorId::kObjectiveInvalid,
                   absl::StrCat(metric, " is of no task of this study"),
                   absl::StrCat("name a task's metric, ", shape.tasks.front(),
                                ".accuracy, or mean; the tasks are ",
                                absl::StrJoin(shape.tasks, ", ")),
                   field);
}

absl::Status CheckTaskMetrics(const v1::StudySpec& spec,
                              const ModelShape& shape) {
  for (int i = 0; i < spec.objectives_size(); ++i) {
    RETURN_IF_ERROR(CheckMetric(spec.objectives(i).metric(), shape,
                                absl::StrCat("objectives[", i, "].metric")));
  }
  const std::string& stopping = spec.training().early_stopping().metric();
  if (stopping.empty()) return absl::OkStatus();
  return CheckMetric(stopping, shape, "training.early_stopping.metric");
}

absl::Status CheckMixing(const v1::StudySpec& spec) {
  const v1::Training& training = spec.training();
  RETURN_IF_ERROR(CheckWord(SettingOf("task_mixing"), training.task_mixing(),
                            "training.task_mixing"));
  RETURN_IF_ERROR(CheckWord(SettingOf("gradient_surgery"),
                            training.gradient_surgery(),
                            "training.gradient_surgery"));
  const std::string& surgery = training.gradient_surgery();
  const bool operates = !surgery.empty() && surgery != "none";
  if (spec.tasks_size() == 0) {
    if (!operates && training.task_mixing().empty()) return absl::OkStatus();
    return WrongTask(
        operates ? "training.gradient_surgery" : "training.task_mixing",
        "the study has no tasks to mix",
        "list them under tasks, or leave it out");
  }
  if (operates && training.task_mixing() != "joined" &&
      training.accumulation() < 2) {
    return WrongTask("training.gradient_surgery",
                     "each step has one batch, of one task: no gradients meet",
                     "say task_mixing: joined, or accumulation: 2 or more");
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> NamesOfTasks(const v1::StudySpec& spec) {
  std::vector<std::string> names;
  for (const v1::TaskSpec& task : spec.tasks()) names.push_back(task.name());
  return names;
}

absl::Status CheckTasks(const v1::StudySpec& spec, const ModelShape& shape) {
  RETURN_IF_ERROR(CheckMixing(spec));
  if (spec.tasks_size() == 0) {
    return CheckHead(spec.training().head(), spec.data().task(),
                     "training.head");
  }
  const int most_tasks = proto::MaxItems<v1::StudySpec>("tasks");
  if (spec.tasks_size() > most_tasks) {
    return WrongTask("tasks",
                     absl::StrCat("there are ", spec.tasks_size(), " tasks"),
                     absl::StrCat("list at most ", most_tasks));
  }
  for (const auto& [given, field] :
       {std::pair(spec.has_data(), "data"),
        {spec.training().has_head(), "training.head"},
        {spec.training().also_evaluate_size() > 0, "training.also_evaluate"}}) {
    if (!given) continue;
    return WrongTask(field, absl::StrCat(field, " is of a study without tasks"),
                     "give data and head within each of tasks");
  }
  std::set<std::string> seen;
  for (int i = 0; i < spec.tasks_size(); ++i) {
    const std::string field = absl::StrCat("tasks[", i, "]");
    RETURN_IF_ERROR(CheckTask(spec.tasks(i), shape, field));
    if (seen.insert(spec.tasks(i).name()).second) continue;
    return WrongTask(
        field + ".name",
        absl::StrCat("two tasks are called ", spec.tasks(i).name()),
        "give each a name of its own");
  }
  RETURN_IF_ERROR(CheckShares(spec));
  return CheckTaskMetrics(spec, shape);
}

void ResolveFreeze(const ModelShape& shape, v1::TaskSpec& task) {
  std::set<std::string> modules;
  for (const std::string& selector : task.freeze()) {
    const auto selected = SelectModules(shape, selector, "freeze");
    if (selected.ok()) modules.insert(selected->begin(), selected->end());
  }
  task.mutable_freeze()->Assign(modules.begin(), modules.end());
}

namespace {

// A trainer is given a trial as one line of 1 MiB at most; rates, labels and
// paths need room besides.
constexpr std::size_t kMaxTrialJsonBytes = std::size_t{512} << 10;
constexpr double kMaxGridValues = 9007199254740992.0;  // 2^53

absl::Status CheckCarriedNames(const v1::StudySpec& spec) {
  const std::size_t name_bytes = proto::MaxBytes<v1::Outcome>("metrics");
  const int final_metrics = proto::MaxItems<v1::Outcome>("metrics");
  const std::size_t set_bytes = proto::MaxBytes<v1::ExampleOutcomes>("set");
  std::set<std::string> metrics;
  for (int i = 0; i < spec.objectives_size(); ++i) {
    const std::string& metric = spec.objectives(i).metric();
    RETURN_IF_ERROR(proto::CheckBytes(
        metric, name_bytes, absl::StrCat("objectives[", i, "].metric")));
    metrics.insert(metric);
  }
  for (const auto& each : spec.constraints()) metrics.insert(each.metric());
  if (std::cmp_greater(metrics.size(), final_metrics)) {
    return MakeError(
        ErrorId::kFieldTooLarge,
        absl::StrCat("objectives and constraints name ", metrics.size(),
                     " metrics, and a trial ends with ", final_metrics,
                     " at most"),
        "search fewer at a time", "objectives");
  }
  const v1::Training& training = spec.training();
  for (int i = 0; i < training.also_evaluate_size(); ++i) {
    RETURN_IF_ERROR(
        proto::CheckBytes(training.also_evaluate(i), set_bytes,
                          absl::StrCat("training.also_evaluate[", i, "]")));
  }
  return proto::CheckBytes(training.early_stopping().metric(), name_bytes,
                           "training.early_stopping.metric");
}

// Checks that neighbours on the grid are different numbers.
absl::Status CheckGrid(const v1::FloatRange& range, const std::string& field) {
  const double step = range.step();
  const double farthest = std::max(std::abs(range.lo()), std::abs(range.hi()));
  const bool fine = farthest - step == farthest ||
                    (range.hi() - range.lo()) / step > kMaxGridValues;
  if (!(step > 0.0) || !fine) return absl::OkStatus();
  return MakeError(ErrorId::kRangeInvalid,
                   absl::StrCat("step ", step,
                                " is too small for numbers up "
                                "to ",
                                farthest),
                   "give a larger step, or none: the range is then continuous",
                   field + ".step");
}

absl::Status CheckGrids(const v1::SearchSpace& space) {
  for (int i = 0; i < space.parameters_size(); ++i) {
    RETURN_IF_ERROR(CheckGrid(space.parameters(i).float_(),
                              absl::StrCat("space.parameters[", i, "].float")));
  }
  const std::string decay = "space.layerwise_decay.";
  RETURN_IF_ERROR(CheckGrid(space.layerwise_decay().base_rate().float_(),
                            decay + "base_rate.float"));
  return CheckGrid(space.layerwise_decay().decay().float_(),
                   decay + "decay.float");
}

bool IsFinite(const google::protobuf::Value& value) {
  for (const auto& [name, field] : value.struct_value().fields()) {
    if (!IsFinite(field)) return false;
  }
  const auto& list = value.list_value().values();
  return std::isfinite(value.number_value()) &&
         std::all_of(list.begin(), list.end(), IsFinite);
}

absl::Status CheckFiniteExtra(const google::protobuf::Struct& extra) {
  for (const auto& [name, value] : extra.fields()) {
    if (IsFinite(value)) continue;
    return proto::BadField(absl::StrCat("training.extra.", name.substr(0, 80)),
                           "has a number that is not finite",
                           "give a finite one; a trainer's JSON has no other");
  }
  return absl::OkStatus();
}

std::size_t LongestChoice(const v1::ParameterSpace& parameter) {
  std::size_t longest = 0;
  for (const auto& choice : parameter.choices().values()) {
    longest = std::max(longest, ChoiceText(choice).size());
  }
  return longest;
}

absl::Status CheckTrialLine(const v1::StudySpec& spec) {
  v1::StudySpec told = spec;
  told.clear_space();
  told.clear_enqueue();
  std::string json;
  (void)google::protobuf::util::MessageToJsonString(told, &json);
  std::size_t bytes = json.size();
  for (const auto& each : spec.space().parameters()) {
    bytes += LongestChoice(each);
  }
  if (bytes <= kMaxTrialJsonBytes) return absl::OkStatus();
  return MakeError(
      ErrorId::kFieldTooLarge,
      absl::StrCat("a trial of this study would be ", bytes,
                   " bytes of JSON for its trainer"),
      absl::StrCat(
          "keep it within ", kMaxTrialJsonBytes,
          ": give long texts a name, and let the trainer look them up"),
      "spec");
}

}  // namespace

absl::Status CheckNewStudy(const v1::StudySpec& spec) {
  for (int i = 0; i < spec.enqueue_size(); ++i) {
    RETURN_IF_ERROR(proto::CheckTrialLabels(
        spec.enqueue(i).labels(), absl::StrCat("enqueue[", i, "].labels")));
  }
  RETURN_IF_ERROR(CheckCarriedNames(spec));
  RETURN_IF_ERROR(CheckGrids(spec.space()));
  RETURN_IF_ERROR(CheckFiniteExtra(spec.training().extra()));
  return CheckTrialLine(spec);
}

}  // namespace frostline::server
