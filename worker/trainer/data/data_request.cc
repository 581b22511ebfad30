// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/data_request.h"

#include "base/plain/shown.h"
#include "worker/trainer/data/registry.h"
#include "worker/trainer/data/request_fields.h"

namespace frostline::trainer {
namespace {

ColumnMap Columns(RequestFields& fields) {
  ColumnMap columns;
  const JsonValue* found = fields.Find("columns");
  if (found == nullptr) return columns;
  const JsonValue* v = found->first;
  for (; v != nullptr || !found->is(JsonKind::kObject); v = v->next) {
    if (!found->is(JsonKind::kObject) || !v->is(JsonKind::kString)) {
      fields.Fail("columns", "is no map of texts",
                  "write {\"text\": \"sentence\", \"label\": \"label\"}");
      return columns;
    }
    columns[std::string(v->key)] = std::string(v->text);
  }
  return columns;
}

std::optional<TaskName> Task(RequestFields& fields) {
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
  request.columns = Columns(fields);
  request.train_split = fields.Text("train_split");
  request.validation_split = fields.Text("validation_split");
  request.test_split = fields.Text("test_split");
  request.train_rows = fields.Bits("train_rows");
  request.train_share = fields.Share("train_share");
  request.validation_share = fields.Share("validation_share");
  request.split_seed = fields.Bits("split_seed");
  request.task = Task(fields);
  request.sha256 = fields.Text("sha256");
  if (request.train_rows > 0 && request.train_share > 0.0) {
    fields.Fail("train_rows", "and train_share are both given",
                "give one of them");
  }
  if (fields.fault()) return *fields.fault();
  return request;
}

}  // namespace frostline::trainer
