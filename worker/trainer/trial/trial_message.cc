// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/trial_message.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/plain/json.h"
#include "base/plain/sums.h"
#include "base/plain/text.h"
#include "worker/trainer/data/registry.h"
#include "worker/trainer/data/request_fields.h"

namespace frostline::trainer {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

void ReadRates(RequestFields& fields, TrialMessage& out) {
  const JsonValue* rates = fields.Find("rates");
  if (rates == nullptr) return;
  const JsonValue* v = rates->first;
  for (; v != nullptr || !rates->is(JsonKind::kObject); v = v->next) {
    if (!rates->is(JsonKind::kObject) || !v->is(JsonKind::kNumber)) {
      fields.Fail("rates", "is no map of numbers",
                  "write {\"layer.0\": 0, \"head\": 1e-3}");
      return;
    }
    out.rates.emplace(v->key, v->number);
  }
}

// Its values are read where they are looked for (setting_fields.h).
void ReadSearched(RequestFields& fields, TrialMessage& out) {
  const JsonValue* parameters = fields.Find("parameters");
  if (parameters == nullptr) return;
  for (const JsonValue* v = parameters->first; v != nullptr; v = v->next) {
    out.searched.emplace(v->key);
  }
}

void ReadObjectives(RequestFields& fields, TrialMessage& out) {
  const JsonValue* objectives = fields.Find("objectives");
  if (objectives == nullptr) return;
  if (!objectives->is(JsonKind::kArray)) {
    fields.Fail("objectives", "is no list", "write [{\"metric\": …}]");
  }
  for (const JsonValue* v = objectives->first; v != nullptr; v = v->next) {
    RequestFields objective("objectives", {v});
    out.objectives.push_back(
        {objective.Text("metric"), objective.Text("direction") != "minimize"});
    if (objective.fault()) fields.Take(*objective.fault());
    if (out.objectives.back().metric.empty()) {
      fields.Fail("objectives", "has one without a metric", "name a metric");
    }
  }
}

void ReadModelPart(const JsonValue& message, RequestFields& fields,
                   TrialMessage& out) {
  RequestFields model("model", {message.Find("model")});
  out.model.id = model.Text("id");
  out.model.layers = model.Whole("layers", 0, 1 << 20, 0);
  out.model.sha256 = model.Text("sha256");
  if (!IsRegistryId(out.model.id)) {
    model.Fail("id", Shown(out.model.id) + " is no id",
               "name a model of the workers' registries");
  }
  if (model.fault()) fields.Take(*model.fault());
}

void ReadResume(const JsonValue& message, RequestFields& fields,
                TrialMessage& out) {
  RequestFields resume("resume_from", {message.Find("resume_from")});
  out.resume_path = resume.Text("path");
  out.resume_step = resume.Whole("step", 0, kMost, 0);
  if (resume.fault()) fields.Take(*resume.fault());
}

// The first attempt may be asked for `auto`, and a later one for what the study
// has decided since: what it is computed in is no part of this.
std::string WithoutPrecision(const JsonValue* training) {
  std::string text;
  if (training == nullptr) return text;
  for (const JsonValue* v = training->first; v != nullptr; v = v->next) {
    if (v->key == "precision") continue;
    text += std::string(v->key) + " " + JsonText(*v) + "\n";
  }
  return text;
}

std::string IdentityOf(const JsonValue& message) {
  Sha256Sum sum;
  for (const char* name : {"seed", "parameters", "rates", "objectives", "model",
                           "data", "freeze"}) {
    const JsonValue* member = message.Find(name);
    sum.AddField(member == nullptr ? "" : JsonText(*member));
  }
  if (const JsonValue* tasks = message.Find("tasks")) {
    sum.AddField(JsonText(*tasks));
  }
  sum.AddField(WithoutPrecision(message.Find("training")));
  return sum.Finish();
}

}  // namespace

Expected<TrialMessage> ReadTrialMessage(const JsonValue& message) {
  TrialMessage out;
  RequestFields fields("trial", {&message});
  if (fields.Whole("protocol", 0, kMost, 1) != 1) {
    fields.Fail("protocol", "is not 1", "use an agent of this version");
  }
  out.trial = fields.Text("trial");
  out.attempt = fields.Whole("attempt", 0, kMost, 1);
  out.seed = fields.Bits("seed");
  out.folder = fields.Text("folder");
  if (out.folder.empty()) {
    fields.Fail("folder", "is missing", "give the attempt a folder of its own");
  }
  out.auto_precision = fields.Text("auto_precision");
  for (const std::string& each : fields.Texts("takes")) {
    out.takes_precision = out.takes_precision || each == "precision";
    out.takes_progress = out.takes_progress || each == "progress";
    out.takes_evaluations = out.takes_evaluations || each == "evaluations";
  }
  ReadRates(fields, out);
  ReadSearched(fields, out);
  ReadObjectives(fields, out);
  ReadModelPart(message, fields, out);
  ReadResume(message, fields, out);
  if (fields.fault()) return *fields.fault();
  Expected<TrainingSettings> training = ReadTrainingSettings(message);
  if (!training.ok()) return training.fault();
  out.training = std::move(training).value();
  Expected<std::vector<TaskRequest>> tasks =
      ReadTaskRequests(message, out.training);
  if (!tasks.ok()) return tasks.fault();
  out.tasks = std::move(tasks).value();
  if (out.training.seed != 0) out.seed = out.training.seed;
  out.identity = IdentityOf(message);
  return out;
}

std::optional<Fault> WhyUnfit(const TrialMessage& trial,
                              const std::vector<std::string>& precisions) {
  const std::string& wanted = trial.auto_precision;
  if (wanted.empty() ||
      std::ranges::find(precisions, wanted) != precisions.end()) {
    return std::nullopt;
  }
  return Fault{FaultKind::kUnsupported,
               "this study's trials are computed in " + wanted +
                   ", as its first one was, and this device does not do that "
                   "at full speed",
               "leave it to other workers; for this one make a study with "
               "training.precision: fp32"};
}

}  // namespace frostline::trainer
