// SPDX-License-Identifier: Apache-2.0
//
// File: message_fields.h
//
// Every error here is a TRAINER_PROTOCOL that names the field.
#ifndef FROSTLINE_WORKER_AGENT_MESSAGE_FIELDS_H_
#define FROSTLINE_WORKER_AGENT_MESSAGE_FIELDS_H_

#include <google/protobuf/message.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "worker/agent/protocol.h"

namespace frostline::agent {

absl::Status BadField(const std::string& field, const std::string& cause);

// Allows no keys but these and "type".
absl::Status CheckKeys(const nlohmann::json& object,
                       std::initializer_list<const char*> known);

// It is empty when absent.
absl::StatusOr<std::string> TextAt(const nlohmann::json& object,
                                   const char* key);
// Reads a whole number from 0; `fallback` below 0 makes it required.
absl::StatusOr<std::int64_t> CountAt(const nlohmann::json& object,
                                     const char* key, std::int64_t fallback);
// Reads "metrics", empty when absent.
absl::StatusOr<Metrics> MetricsAt(const nlohmann::json& object,
                                  std::size_t most);
// Reads how far the trial is; nothing, when none of its fields is there.
absl::StatusOr<std::optional<ProgressMessage>> ProgressAt(
    const nlohmann::json& object);
// Fills `message` from the object at `key`, and is false when absent.
absl::StatusOr<bool> MessageAt(const nlohmann::json& object, const char* key,
                               google::protobuf::Message* message);
// Fills the field `key` of `message` alone, a list of messages.
absl::StatusOr<bool> ListAt(const nlohmann::json& object, const char* key,
                            google::protobuf::Message* message);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_MESSAGE_FIELDS_H_
