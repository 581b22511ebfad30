// SPDX-License-Identifier: Apache-2.0
//
// File: request_fields.h
//
// Takes members of a JSON request by name and type, and keeps the first that
// does not fit as the fault, so a reader asks once, at the end. An absent
// member is its default: the contract leaves out 0 and empty.
#ifndef FROSTLINE_WORKER_TRAINER_DATA_REQUEST_FIELDS_H_
#define FROSTLINE_WORKER_TRAINER_DATA_REQUEST_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/plain/json.h"
#include "base/plain/result.h"

namespace frostline::trainer {

class RequestFields {
 public:
  // A member is looked for in one object after the other, which outlive this
  // (null is an empty one; what is neither is a fault). `where` names them in
  // faults.
  RequestFields(std::string where, std::vector<const JsonValue*> objects);

  std::string Text(std::string_view name);
  bool Flag(std::string_view name);
  double Share(std::string_view name);  // within [0, 1]
  double Number(std::string_view name, double least, double most,
                double fallback);
  std::int64_t Whole(std::string_view name, std::int64_t least,
                     std::int64_t most, std::int64_t fallback);
  std::uint64_t Bits(std::string_view name);  // any 64 bits; 0 when absent
  std::vector<std::string> Texts(std::string_view name);
  // It is null when absent or null.
  const JsonValue* Find(std::string_view name) const;

  void Fail(std::string_view name, const std::string& what,
            const std::string& fix);
  // Takes the fault of a separate part.
  void Take(const Fault& fault) {
    if (!fault_) fault_ = fault;
  }
  const std::optional<Fault>& fault() const { return fault_; }

 private:
  std::string where_;
  std::vector<const JsonValue*> objects_;
  std::optional<Fault> fault_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DATA_REQUEST_FIELDS_H_
