// SPDX-License-Identifier: Apache-2.0
//
// File: json_fields.h
//
// Takes the members of one component of a tokenizer.json by name and type, and
// keeps the first that does not fit as the fault, so a loader asks once, at the
// end.
#ifndef FROSTLINE_WORKER_TRAINER_TEXT_JSON_FIELDS_H_
#define FROSTLINE_WORKER_TRAINER_TEXT_JSON_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/plain/json.h"
#include "base/plain/result.h"

namespace frostline::trainer {

class JsonFields {
 public:
  // `where` names the component in faults.
  JsonFields(const JsonValue& object, std::string where);

  // Absent or null is the default; another type is a fault, and the default.
  bool Bool(std::string_view name, bool fallback);
  std::string_view Text(std::string_view name, std::string_view fallback);
  std::int32_t Index(std::string_view name, std::int32_t fallback);
  // It is null, and a fault, when absent or of another kind.
  const JsonValue* Demand(std::string_view name, JsonKind kind);
  // It is null when absent or null.
  const JsonValue* Find(std::string_view name) const;

  // A setting that we would have to imitate, and do not, is a fault.
  void MustBe(std::string_view name, bool holds);
  void Fail(FaultKind kind, const std::string& what);

  const std::optional<Fault>& fault() const { return fault_; }

 private:
  const JsonValue& object_;
  std::string where_;
  std::optional<Fault> fault_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TEXT_JSON_FIELDS_H_
