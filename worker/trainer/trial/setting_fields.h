// SPDX-License-Identifier: Apache-2.0
//
// File: setting_fields.h
//
// Takes settings by the rows of base/plain/training_table.h: type, bounds and
// default. As RequestFields, it keeps the first fault, and a key that has no
// row is one.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_SETTING_FIELDS_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_SETTING_FIELDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/training_table.h"
#include "worker/trainer/data/request_fields.h"

namespace frostline::trainer {

class SettingFields {
 public:
  // `block` is that of the rows, `where` names them in faults. A setting is
  // looked for in the trial's parameters first (null: none), by the name that
  // it is searched by, then in `study`. All outlive this.
  SettingFields(std::string block, const std::string& where,
                const JsonValue* parameters, const JsonValue* study);

  // There must be a row of this name, of this kind.
  std::int64_t Whole(std::string_view name);
  std::int64_t Whole(std::string_view name, std::int64_t unless_given);
  double Number(std::string_view name);
  // Says which of the row's words it is.
  std::size_t Word(std::string_view name);
  // `values` are in the order of the row's words.
  template <typename Value, std::size_t N>
  Value OneOf(std::string_view name, const std::array<Value, N>& values) {
    return values[Word(name)];
  }
  std::string Text(std::string_view name) { return study_.Text(name); }
  std::vector<std::string> Texts(std::string_view name) {
    return study_.Texts(name);
  }
  bool Switch(std::string_view name) { return study_.Flag(name); }
  std::uint64_t Bits(std::string_view name);
  bool Has(std::string_view name) const;
  // As the study has it, of any kind; null when it is absent or null.
  const JsonValue* Given(std::string_view name) const {
    return study_.Find(name);
  }

  void Fail(std::string_view name, const std::string& what,
            const std::string& fix) {
    study_.Fail(name, what, fix);
  }
  std::optional<Fault> fault() const;

 private:
  const SettingRow& RowOf(std::string_view name) const;
  // Returns the parameters where the trial searches it, else the study, and its
  // name there.
  RequestFields& SourceOf(const SettingRow& row, std::string_view* name);

  std::string block_;
  RequestFields searched_;
  RequestFields study_;
};

// Finds a parameter that is neither a setting which may be searched, nor a rate
// or a tie: it would look like one that does not matter.
std::optional<Fault> IdleParameter(const JsonValue& trial);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_SETTING_FIELDS_H_
