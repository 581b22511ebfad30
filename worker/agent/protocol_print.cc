// SPDX-License-Identifier: Apache-2.0
//
// Agent to trainer.
#include "worker/agent/checkpoint_id.h"
#include "worker/agent/json_text.h"
#include "worker/agent/proto_json.h"
#include "worker/agent/protocol.h"

namespace frostline::agent {
namespace {

using nlohmann::json;

std::string Line(const json& message) { return PrintJsonText(message) + "\n"; }

json ResumeJson(const v1::Checkpoint& checkpoint, const std::string& path) {
  // The trainer's own name for it.
  const auto id = ParseCheckpointId(checkpoint.id());
  json resume = {{"id", id.has_value() ? id->name : checkpoint.id()},
                 {"step", checkpoint.step()}};
  if (!checkpoint.sha256().empty()) resume["sha256"] = checkpoint.sha256();
  if (!path.empty()) resume["path"] = path;
  return resume;
}

}  // namespace

std::string TrialLine(const v1::Lease& lease, const std::string& folder,
                      const std::string& checkpoint_path,
                      const std::vector<std::string>& takes) {
  const v1::TrialSpec& spec = lease.spec();
  json message = {{"type", "trial"},
                  {"protocol", kProtocolVersion},
                  {"trial", lease.trial()},
                  {"attempt", lease.attempt()},
                  {"seed", spec.seed()},
                  {"prefix_depth", spec.prefix_depth()},
                  {"parameters", json::object()},
                  {"rates", json::object()},
                  {"objectives", json::array()},
                  {"model", ToJson(spec.model())},
                  {"data", ToJson(spec.data())},
                  {"training", ToJson(spec.training())},
                  {"freeze", ToJson(spec.freeze())},
                  {"labels", json::object()},
                  {"takes", json::array({"precision", "progress"})},
                  {"folder", folder},
                  {"resume_from", nullptr}};
  if (!spec.auto_precision().empty()) {
    message["auto_precision"] = spec.auto_precision();
  }
  for (const auto& parameter : spec.parameters()) {
    message["parameters"][parameter.name()] = ToJson(parameter.value());
  }
  for (const auto& rate : spec.rates()) {
    message["rates"][rate.module()] = rate.rate();
  }
  for (const auto& objective : spec.objectives()) {
    message["objectives"].push_back(ToJson(objective));
  }
  for (const auto& task : spec.tasks()) {
    message["tasks"].push_back(ToJson(task));
  }
  for (const auto& [key, value] : spec.labels()) message["labels"][key] = value;
  if (lease.has_resume_from()) {
    message["resume_from"] = ResumeJson(lease.resume_from(), checkpoint_path);
  }
  for (const std::string& each : takes) message["takes"].push_back(each);
  return Line(message);
}

std::string StopLine(const std::string& reason) {
  return Line({{"type", "stop"}, {"reason", reason}});
}

std::string ExitLine() { return Line({{"type", "exit"}}); }

}  // namespace frostline::agent
