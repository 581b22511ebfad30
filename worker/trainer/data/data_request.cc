// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/data_request.h"

#include "base/plain/text.h"
#include "worker/trainer/data/registry.h"
#include "worker/trainer/data/request_fields.h"

namespace frostline::trainer {
namespace {

// A map of texts; `example` is one.
ColumnMap Map(RequestFields& fields, std::string_view name,
              const std::string& example) {
  ColumnMap map;
  const JsonValue* found = fields.Find(name);
  if (found == nullptr) return map;
  const JsonValue* v = found->first;
  for (; v != nullptr || !found->is(JsonKind::kObject); v = v->next) {
    if (!found->is(JsonKind::kObject) || !v->is(JsonKind::kString)) {
      fields.Fail(name, "is no map of texts", "write " + example);
      return map;
    }
    map[std::string(v->key)] = std::string(v->text);
  }
  return map;
}

LabelRules Rules(RequestFields& fields) {
  LabelRules rules;
  for (const auto& [label, name] :
       Map(fields, "label_map", "{\"0\": \"neg\", \"1\": \"pos\"}")) {
    rules.names.emplace(label, name);
  }
  for (const std::string& label : fields.Texts("drop_labels")) {
    rules.dropped.insert(label);
  }
  const Expected<Done> fits = Check(rules, "data.");
  if (!fits.ok()) fields.Take(fits.fault());
  return rules;
}

std::optional<TaskName> TaskOf(RequestFields& fields) {
  const std::string name = fields.Text("task");
  if (name.empty()) return std::nullopt;
  const std::optional<TaskName> task = ParseTaskName(name);
  if (!task) {
    fields.Fail("task", "is unknown: " + Shown(name),
                "use classification, regression, tagging or pair");
  }
  return task;
}

}  // namespace
Expected<DataRequest> ReadDataRequest(const JsonValue& data) {
  RequestFields fields("data", {&data});
  DataRequest request;
  request.id = fields.Text("id");
  if (!IsRegistryId(request.id)) {
    fields.Fail("id", Shown(request.id) + " is no id",
                "name a data set of the workers' registries");
  }
  request.columns =
      Map(fields, "columns", "{\"text\": \"sentence\", \"label\": \"label\"}");
  request.train_split = fields.Text("train_split");
  request.validation_split = fields.Text("validation_split");
  request.test_split = fields.Text("test_split");
  request.train_rows = fields.Bits("train_rows");
  request.train_share = fields.Share("train_share");
  request.validation_share = fields.Share("validation_share");
  request.split_seed = fields.Bits("split_seed");
  request.task = TaskOf(fields);
  request.sha256 = fields.Text("sha256");
  request.form.lowercase = fields.Flag("lowercase");
  request.form.strip_accents = fields.Flag("strip_accents");
  request.rules = Rules(fields);
  if (request.train_rows > 0 && request.train_share > 0.0) {
    fields.Fail("train_rows", "and train_share are both given",
                "give one of them");
  }
  const bool numbers =
      request.task && request.task->kind == TaskKind::kRegression;
  if (numbers && request.rules.any()) {
    fields.Fail("label_map",
                "and drop_labels are of classes, and the task is "
                "regression",
                "leave them out");
  }
  if (fields.fault()) return *fields.fault();
  return request;
}

}  // namespace frostline::trainer
