// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/trial_message.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/plain/json.h"
#include "base/plain/sums.h"
#include "base/plain/text.h"
#include "worker/trainer/data/registry.h"
#include "worker/trainer/trial/training_settings.h"

namespace frostline::trainer {
namespace {

constexpr std::size_t kMostTasks = 16;
constexpr double kMostShare = 1e9;

Expected<HeadSpec> ReadHead(const JsonValue* given, const std::string& where) {
  HeadSpec head;
  SettingFields fields("head.", where, nullptr, given);
  using enum HeadKind;
  head.kind =
      fields.OneOf("kind", std::array{kLinear, kMlp, kInnerProduct, kCosine,
                                      kFeatures, kTwoMapCosine});
  head.reads_apart = fields.OneOf("pair", std::array{false, true});
  if (!fields.Text("pair").empty() && !head.reads_apart && head.compares()) {
    fields.Fail("pair", "is joint, and the head compares two texts",
                "leave it out, or say apart");
  }
  const Pooling pooling = fields.OneOf(
      "pooling", std::array{Pooling::kFirst, Pooling::kMean, Pooling::kMax});
  if (!fields.Text("pooling").empty()) head.pooling = pooling;
  const double scale = fields.Number("scale");
  if (scale > 0.0) head.scale = scale;
  head.hidden = fields.Whole("hidden");
  if (fields.Has("dropout")) head.dropout = fields.Number("dropout");
  const bool mlp = head.kind == kMlp;
  if (!mlp && (head.hidden > 0 || head.dropout)) {
    fields.Fail("hidden", "and dropout are of mlp, and the head is another",
                "leave them out");
  }
  if (fields.fault()) return *fields.fault();
  return head;
}

const JsonValue* Within(const JsonValue* value, std::string_view name) {
  const JsonValue* found = value == nullptr ? nullptr : value->Find(name);
  return found == nullptr || found->is(JsonKind::kNull) ? nullptr : found;
}

Expected<DataRequest> ReadData(const JsonValue* data) {
  static constexpr JsonValue kNothing;
  return ReadDataRequest(data == nullptr ? kNothing : *data);
}

Expected<std::vector<TaskRequest>> ReadOnlyTask(
    const JsonValue& message, const TrainingSettings& training) {
  TaskRequest task;
  ASSIGN_OR_FAULT(DataRequest data, ReadData(message.Find("data")));
  task.data = std::move(data);
  const JsonValue* head = Within(message.Find("training"), "head");
  if (head != nullptr && training.pair.cosine) {
    return Fault{FaultKind::kMisuse,
                 "training.head and training.extra.head are both given",
                 "keep training.head"};
  }
  ASSIGN_OR_FAULT(HeadSpec read, ReadHead(head, "training.head"));
  task.head = std::move(read);
  if (training.pair.cosine) {
    task.head.kind = HeadKind::kCosine;
    task.head.pooling = training.pair.pooling;
    task.head.scale = training.pair.scale;
  }
  return std::vector<TaskRequest>{std::move(task)};
}

Expected<TaskRequest> ReadTask(const JsonValue& given, std::size_t index) {
  TaskRequest task;
  const std::string where = "tasks[" + std::to_string(index) + "]";
  RequestFields fields(where, {&given});
  task.name = fields.Text("name");
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  if (task.name.empty() || !std::ranges::all_of(task.name, plain)) {
    fields.Fail("name", Shown(task.name) + " is no name",
                "take a-z, 0-9, _ and -");
  }
  task.loss = fields.Text("loss");
  if (!task.loss.empty() && task.loss != "cross_entropy" &&
      task.loss != "squared_error") {
    fields.Fail("loss", "is unknown: " + Shown(task.loss),
                "use cross_entropy or squared_error");
  }
  task.share = fields.Number("share", 0.0, kMostShare, 0.0);
  task.loss_weight = fields.Number("loss_weight", 0.0, kMostShare, 0.0);
  if (task.loss_weight == 0.0) task.loss_weight = 1.0;
  for (const std::string& module : fields.Texts("freeze")) {
    task.freeze.insert(module);
  }
  if (fields.fault()) return *fields.fault();
  Expected<DataRequest> data = ReadData(given.Find("data"));
  if (!data.ok()) {
    return Fault{data.fault().kind,
                 "the task " + task.name + ": " + data.fault().cause,
                 data.fault().fix};
  }
  task.data = std::move(data).value();
  ASSIGN_OR_FAULT(HeadSpec head,
                  ReadHead(Within(&given, "head"), where + ".head"));
  task.head = std::move(head);
  task.head.name = task.name;
  return task;
}

// Checks the tasks together: names differ, all or none have a share, and there
// is no setting that only a single task can have.
Expected<Done> CheckTogether(const std::vector<TaskRequest>& tasks,
                             const TrainingSettings& training) {
  const auto wrong = [](const std::string& cause, const std::string& fix) {
    return Fault{FaultKind::kMisuse, cause, fix};
  };
  if (tasks.empty() || tasks.size() > kMostTasks) {
    return wrong("tasks has " + std::to_string(tasks.size()),
                 "list 1 to " + std::to_string(kMostTasks));
  }
  std::set<std::string> names;
  std::size_t shares = 0;
  for (const TaskRequest& task : tasks) {
    if (!names.insert(task.name).second) {
      return wrong("two tasks are called " + task.name,
                   "give each a name of its own");
    }
    if (task.share > 0.0) ++shares;
  }
  if (shares != 0 && shares != tasks.size()) {
    return wrong("tasks: some have a share, and others none",
                 "give all of them one over 0, or none");
  }
  if (shares != 0 && training.mixing == TaskMixing::kJoined) {
    return wrong("tasks have shares, and joined sets are drawn from as one",
                 "leave the shares out, or say training.task_mixing: random");
  }
  if (training.class_weights.any() || training.pair.cosine ||
      !training.also_evaluate.empty()) {
    return wrong(
        "training.extra.class_weights, training.extra.head and "
        "training.also_evaluate are of one task, and there are several",
        "leave them out");
  }
  return Done{};
}

}  // namespace

std::string TaskRequest::FieldOf(const std::string& field) const {
  return name.empty() ? field : "tasks." + name + "." + field;
}

Expected<std::vector<TaskRequest>> ReadTaskRequests(
    const JsonValue& message, const TrainingSettings& training) {
  const JsonValue* list = Within(&message, "tasks");
  const bool many = list != nullptr && list->first != nullptr;
  if (!many && (training.surgery != Surgery::kNone || training.tasks_alike ||
                training.mixing != TaskMixing::kRandom)) {
    return Fault{FaultKind::kMisuse,
                 "training.task_mixing, gradient_surgery or extra.tasks_weigh "
                 "is given, and the trial has no tasks",
                 "list them under tasks, or leave it out"};
  }
  if (!many) return ReadOnlyTask(message, training);
  if (!list->is(JsonKind::kArray)) {
    return Fault{FaultKind::kMisuse, "tasks is no list", "write [{…}, {…}]"};
  }
  std::vector<TaskRequest> tasks;
  for (const JsonValue* v = list->first; v != nullptr; v = v->next) {
    ASSIGN_OR_FAULT(TaskRequest task, ReadTask(*v, tasks.size()));
    tasks.push_back(std::move(task));
  }
  RETURN_IF_FAULT(CheckTogether(tasks, training));
  return tasks;
}

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

void ReadRates(RequestFields& fields, TrialMessage& out) {
  const JsonValue* rates = fields.Find("rates");
  if (rates == nullptr) return;
  const JsonValue* v = rates->first;
  for (; v != nullptr || !rates->is(JsonKind::kObject); v = v->next) {
    if (!rates->is(JsonKind::kObject) || !v->is(JsonKind::kNumber)) {
      fields.Fail("rates", "is no map of numbers",
                  "write {\"layer.0\": 0, \"head\": 1e-3}");
      return;
    }
    out.rates.emplace(v->key, v->number);
  }
}

// Reads the names of the parameters; training_settings.h reads their values.
void ReadSearched(RequestFields& fields, TrialMessage& out) {
  const JsonValue* parameters = fields.Find("parameters");
  if (parameters == nullptr) return;
  for (const JsonValue* v = parameters->first; v != nullptr; v = v->next) {
    out.searched.emplace(v->key);
  }
}

void ReadObjectives(RequestFields& fields, TrialMessage& out) {
  const JsonValue* objectives = fields.Find("objectives");
  if (objectives == nullptr) return;
  if (!objectives->is(JsonKind::kArray)) {
    fields.Fail("objectives", "is no list", "write [{\"metric\": …}]");
  }
  for (const JsonValue* v = objectives->first; v != nullptr; v = v->next) {
    RequestFields objective("objectives", {v});
    out.objectives.push_back(
        {objective.Text("metric"), objective.Text("direction") != "minimize"});
    if (objective.fault()) fields.Take(*objective.fault());
    if (out.objectives.back().metric.empty()) {
      fields.Fail("objectives", "has one without a metric", "name a metric");
    }
  }
}

void ReadModelPart(const JsonValue& message, RequestFields& fields,
                   TrialMessage& out) {
  RequestFields model("model", {message.Find("model")});
  out.model.id = model.Text("id");
  out.model.layers = model.Whole("layers", 0, 1 << 20, 0);
  out.model.sha256 = model.Text("sha256");
  if (!IsRegistryId(out.model.id)) {
    model.Fail("id", Shown(out.model.id) + " is no id",
               "name a model of the workers' registries");
  }
  if (model.fault()) fields.Take(*model.fault());
}

void ReadResume(const JsonValue& message, RequestFields& fields,
                TrialMessage& out) {
  RequestFields resume("resume_from", {message.Find("resume_from")});
  out.resume_path = resume.Text("path");
  out.resume_step = resume.Whole("step", 0, kMost, 0);
  if (resume.fault()) fields.Take(*resume.fault());
}

// Returns the training's members as text, without the precision. The first
// attempt may be asked for `auto`, and a later one for what the study has
// decided since, so the precision is no part of the identity.
std::string WithoutPrecision(const JsonValue* training) {
  std::string text;
  if (training == nullptr) return text;
  for (const JsonValue* v = training->first; v != nullptr; v = v->next) {
    if (v->key == "precision") continue;
    text += std::string(v->key) + " " + JsonText(*v) + "\n";
  }
  return text;
}

std::string IdentityOf(const JsonValue& message) {
  Sha256Sum sum;
  for (const char* name : {"seed", "parameters", "rates", "objectives", "model",
                           "data", "freeze"}) {
    const JsonValue* member = message.Find(name);
    sum.AddField(member == nullptr ? "" : JsonText(*member));
  }
  for (const char* name : {"tasks", "ranks"}) {
    const JsonValue* const member = message.Find(name);
    if (member != nullptr) sum.AddField(JsonText(*member));
  }
  sum.AddField(WithoutPrecision(message.Find("training")));
  return sum.Finish();
}

}  // namespace

Expected<TrialMessage> ReadTrialMessage(const JsonValue& message) {
  TrialMessage out;
  RequestFields fields("trial", {&message});
  if (fields.Whole("protocol", 0, kMost, 1) != 1) {
    fields.Fail("protocol", "is not 1", "use an agent of this version");
  }
  out.trial = fields.Text("trial");
  out.attempt = fields.Whole("attempt", 0, kMost, 1);
  out.seed = fields.Bits("seed");
  out.folder = fields.Text("folder");
  if (out.folder.empty()) {
    fields.Fail("folder", "is missing", "give the attempt a folder of its own");
  }
  out.auto_precision = fields.Text("auto_precision");
  for (const std::string& each : fields.Texts("takes")) {
    out.takes_precision = out.takes_precision || each == "precision";
    out.takes_progress = out.takes_progress || each == "progress";
    out.takes_evaluations = out.takes_evaluations || each == "evaluations";
    out.takes_audit = out.takes_audit || each == "audit";
  }
  ReadRates(fields, out);
  ReadSearched(fields, out);
  ReadObjectives(fields, out);
  ReadModelPart(message, fields, out);
  ReadResume(message, fields, out);
  if (fields.fault()) return *fields.fault();
  ASSIGN_OR_FAULT(TrainingSettings training, ReadTrainingSettings(message));
  out.training = std::move(training);
  ASSIGN_OR_FAULT(std::vector<TaskRequest> tasks,
                  ReadTaskRequests(message, out.training));
  out.tasks = std::move(tasks);
  if (out.training.seed != 0) out.seed = out.training.seed;
  out.identity = IdentityOf(message);
  return out;
}

std::optional<Fault> WhyUnfit(const TrialMessage& trial,
                              const std::vector<std::string>& precisions) {
  const std::string& wanted = trial.auto_precision;
  if (wanted.empty() ||
      std::ranges::find(precisions, wanted) != precisions.end()) {
    return std::nullopt;
  }
  return Fault{FaultKind::kUnsupported,
               "this study's trials are computed in " + wanted +
                   ", as its first one was, and this device does not do that "
                   "at full speed",
               "leave it to other workers; for this one make a study with "
               "training.precision: fp32"};
}

}  // namespace frostline::trainer
