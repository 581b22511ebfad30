// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/data/data_request.h"

#include <cmath>
#include <string_view>

#include "worker/trainer/data/registry.h"
#include "worker/trainer/data/shown.h"

namespace frostline {
namespace {

constexpr double kTwoTo64 = 18446744073709551616.0;

// Takes members by name; the first that does not fit is kept.
class RequestFields {
 public:
  explicit RequestFields(const JsonValue& data) : data_(data) {}

  std::string Text(std::string_view name) {
    const JsonValue* found = Find(name);
    if (found == nullptr) return "";
    if (!found->is(JsonKind::kString)) Fail(name, "is no text", "write a text");
    return std::string(found->text);
  }

  double Share(std::string_view name) {
    const JsonValue* found = Find(name);
    if (found == nullptr) return 0.0;
    const bool share = found->is(JsonKind::kNumber) && found->number >= 0.0 &&
                       found->number <= 1.0;
    if (!share) Fail(name, "is not within 0 and 1", "write e.g. 0.1");
    return found->number;
  }

  // Beyond 2^53 JSON keeps the leading digits: enough for a seed.
  std::uint64_t Whole(std::string_view name) {
    const JsonValue* found = Find(name);
    if (found == nullptr) return 0;
    const bool whole = found->is(JsonKind::kNumber) && found->number >= 0.0 &&
                       found->number <= kTwoTo64 &&
                       std::trunc(found->number) == found->number;
    if (!whole) {
      Fail(name, "is no whole number of 0 or more", "write one");
      return 0;
    }
    if (found->number >= kTwoTo64) return ~std::uint64_t{0};
    return static_cast<std::uint64_t>(found->number);
  }

  ColumnMap Columns() {
    ColumnMap columns;
    const JsonValue* found = Find("columns");
    if (found == nullptr) return columns;
    for (const JsonValue* v = found->first; v != nullptr; v = v->next) {
      if (!found->is(JsonKind::kObject) || !v->is(JsonKind::kString)) {
        Fail("columns", "is no map of texts",
             "write {\"text\": \"sentence\", \"label\": \"label\"}");
        return columns;
      }
      columns[std::string(v->key)] = std::string(v->text);
    }
    return columns;
  }

  std::optional<TaskName> Task() {
    const std::string name = Text("task");
    if (name.empty()) return std::nullopt;
    const std::optional<TaskName> task = ParseTaskName(name);
    if (!task) {
      Fail("task", "is unknown: " + Shown(name),
           "use classification, regression, tagging or pair");
    }
    return task;
  }

  void Fail(std::string_view name, const std::string& what,
            const std::string& fix) {
    if (fault_) return;
    fault_ = Fault{FaultKind::kMisuse, "data." + std::string(name) + " " + what,
                   fix};
  }
  const std::optional<Fault>& fault() const { return fault_; }

 private:
  const JsonValue* Find(std::string_view name) const {
    const JsonValue* found = data_.Find(name);
    return found == nullptr || found->is(JsonKind::kNull) ? nullptr : found;
  }

  const JsonValue& data_;
  std::optional<Fault> fault_;
};

}  // namespace

Outcome<DataRequest> ReadDataRequest(const JsonValue& data) {
  RequestFields fields(data);
  DataRequest request;
  request.id = fields.Text("id");
  if (!IsRegistryId(request.id)) {
    fields.Fail("id", Shown(request.id) + " is no id",
                "name a data set of the workers' registries");
  }
  request.columns = fields.Columns();
  request.train_split = fields.Text("train_split");
  request.validation_split = fields.Text("validation_split");
  request.test_split = fields.Text("test_split");
  request.train_rows = fields.Whole("train_rows");
  request.train_share = fields.Share("train_share");
  request.validation_share = fields.Share("validation_share");
  request.split_seed = fields.Whole("split_seed");
  request.task = fields.Task();
  request.sha256 = fields.Text("sha256");
  if (request.train_rows > 0 && request.train_share > 0.0) {
    fields.Fail("train_rows", "and train_share are both given",
                "give one of them");
  }
  if (fields.fault()) return *fields.fault();
  return request;
}

}  // namespace frostline
