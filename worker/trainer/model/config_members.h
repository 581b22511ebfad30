// SPDX-License-Identifier: Apache-2.0
//
// File: config_members.h
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_CONFIG_MEMBERS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_CONFIG_MEMBERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/json.h"
#include "base/plain/result.h"
#include "worker/trainer/model/model_config.h"

namespace frostline::trainer {

// Takes members of a config.json by name and type, and keeps the first fault.
class ConfigMembers {
 public:
  // `root` outlives it.
  explicit ConfigMembers(const JsonValue& root) : root_(&root) {}

  // A whole number from `lowest` to `highest`; it must be there.
  std::int64_t Count(std::string_view name, std::int64_t lowest,
                     std::int64_t highest);
  // The same, or `otherwise` where it is not there.
  std::int64_t CountOr(std::string_view name, std::int64_t lowest,
                       std::int64_t highest, std::int64_t otherwise);
  // In [0, below).
  double Number(std::string_view name, double below, double otherwise);
  std::string Text(std::string_view name, std::string_view otherwise);
  bool Flag(std::string_view name, bool otherwise);
  Activation ActivationOf(std::string_view name, std::string_view otherwise);

  // Null when it is absent or null.
  const JsonValue* Find(std::string_view name) const;
  // Those of the object `name`, or of nothing. The first fault stays here.
  ConfigMembers Within(std::string_view name) const;

  // kUnsupported, unless `name` is `only`, or absent where that is usual.
  void MustBe(std::string_view name, std::string_view only,
              std::string_view usual);
  void Fail(FaultKind kind, const std::string& what);
  const std::optional<Fault>& fault() const { return fault_; }

 private:
  const JsonValue* root_;
  std::optional<Fault> fault_;
};

// The names of the classes 0, 1, … in an "id2label"; empty where one lacks, as
// of no use to us.
std::vector<std::string> NamesOfClasses(const JsonValue& id2label);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_CONFIG_MEMBERS_H_
