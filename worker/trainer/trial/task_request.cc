// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/task_request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/plain/text.h"
#include "worker/trainer/data/request_fields.h"
#include "worker/trainer/trial/setting_fields.h"

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
  Expected<DataRequest> data = ReadData(message.Find("data"));
  if (!data.ok()) return data.fault();
  task.data = std::move(data).value();
  const JsonValue* head = Within(message.Find("training"), "head");
  if (head != nullptr && training.pair.cosine) {
    return Fault{FaultKind::kMisuse,
                 "training.head and training.extra.head are both given",
                 "keep training.head"};
  }
  Expected<HeadSpec> read = ReadHead(head, "training.head");
  if (!read.ok()) return read.fault();
  task.head = std::move(read).value();
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
  Expected<HeadSpec> head = ReadHead(Within(&given, "head"), where + ".head");
  if (!head.ok()) return head.fault();
  task.head = std::move(head).value();
  task.head.name = task.name;
  return task;
}

// What fits one alone, or all or none.
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
    Expected<TaskRequest> task = ReadTask(*v, tasks.size());
    if (!task.ok()) return task.fault();
    tasks.push_back(std::move(task).value());
  }
  Expected<Done> fits = CheckTogether(tasks, training);
  if (!fits.ok()) return fits.fault();
  return tasks;
}

}  // namespace frostline::trainer
