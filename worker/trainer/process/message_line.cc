// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/process/message_line.h"

#include <cmath>
#include <utility>

#include "base/plain/json.h"
#include "base/plain/text.h"
#include "worker/trainer/tasks/outcomes.h"

namespace frostline::trainer {
namespace {

// Members of an object, in braces at the end.
class Members {
 public:
  Members& Raw(std::string_view name, const std::string& value) {
    text_ += (text_.empty() ? "" : ", ") + JsonString(name) + ": " + value;
    return *this;
  }
  Members& Text(std::string_view name, std::string_view value) {
    return Raw(name, JsonString(value));
  }
  // The protocol takes what JSON itself has no words for.
  Members& Number(std::string_view name, double value) {
    if (std::isnan(value)) return Raw(name, "NaN");
    if (std::isinf(value))
      return Raw(name, value > 0 ? "Infinity" : "-Infinity");
    return Raw(name, JsonNumber(value));
  }
  Members& Whole(std::string_view name, std::int64_t value) {
    return Raw(name, std::to_string(value));
  }
  std::string Close() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

std::string FreezeJson(const TrialUsage& usage) {
  Members freeze;
  freeze.Text("mode", usage.freeze.mode == FreezeMode::kHard ? "hard" : "lr0");
  freeze.Text("prefix_dropout",
              usage.freeze.prefix_dropout == PrefixDropout::kHf ? "hf" : "off");
  if (usage.virtual_tau > 0.0) freeze.Number("virtual_tau", usage.virtual_tau);
  return freeze.Close();
}

std::string AuditJson(const std::vector<ModuleAudit>& modules) {
  std::string all;
  for (const ModuleAudit& each : modules) {
    Members members;
    members.Text("module", each.module)
        .Number("rate", each.rate)
        .Whole("weights", each.weights)
        .Number("moved", each.moved)
        .Number("could_move", each.could_move)
        .Raw("had_gradient", each.had_gradient ? "true" : "false")
        .Whole("weight_bytes", each.weight_bytes)
        .Whole("gradient_bytes", each.gradient_bytes)
        .Whole("moment_bytes", each.moment_bytes)
        .Whole("activation_bytes", each.activation_bytes);
    all += (all.empty() ? "" : ", ") + members.Close();
  }
  return "[" + all + "]";
}

std::string_view StateName(TrialState state) {
  switch (state) {
    case TrialState::kSucceeded:
      return "succeeded";
    case TrialState::kInfeasible:
      return "infeasible";
    case TrialState::kFailed:
      return "failed";
    case TrialState::kStopped:
      return "stopped";
  }
  return "failed";
}

std::string_view ClassName(FailureClass failure) {
  switch (failure) {
    case FailureClass::kTrial:
      return "trial";
    case FailureClass::kOutOfMemory:
      return "out_of_memory";
    case FailureClass::kInfrastructure:
      return "infrastructure";
    case FailureClass::kUnfit:
      return "unfit";
  }
  return "trial";
}

std::string_view PhaseName(TrialPhase phase) {
  switch (phase) {
    case TrialPhase::kLoading:
      return "loading";
    case TrialPhase::kFilling:
      return "filling";
    case TrialPhase::kTraining:
      return "training";
    case TrialPhase::kEvaluating:
      return "evaluating";
    case TrialPhase::kSaving:
      return "saving";
  }
  return "training";
}

Members Marks(const ExampleOutcomes& examples) {
  Members members;
  members.Text("data_fingerprint", examples.data_fingerprint)
      .Text("encoding", examples.encoding)
      .Whole("count", examples.count)
      .Text("data", EncodeBase64(examples.bytes));
  return members;
}

void AddDetails(const ExampleOutcomes& set, Members& members) {
  members.Text("set", set.set);
  if (!set.task.empty()) members.Text("task", set.task);
  const auto packed = [&members](std::string_view name,
                                 const std::string& bytes) {
    if (!bytes.empty()) members.Text(name, EncodeBase64(bytes));
  };
  std::string list;
  for (const std::string& each : set.classes) {
    list += (list.empty() ? "" : ", ") + JsonString(each);
  }
  if (!list.empty()) members.Raw("classes", "[" + list + "]");
  packed("predicted_class", set.predicted_class);
  packed("true_class", set.true_class);
  packed("predicted_value", set.predicted_value);
  packed("true_value", set.true_value);
  packed("confidence", set.confidence);
  list.clear();
  for (const std::uint32_t end : set.sentence_ends) {
    list += (list.empty() ? "" : ", ") + std::to_string(end);
  }
  if (!list.empty()) members.Raw("sentence_ends", "[" + list + "]");
  if (set.words_cut > 0) members.Whole("words_cut", set.words_cut);
}

const ExampleOutcomes* ValidationOf(const TrialEnd& end) {
  for (const ExampleOutcomes& set : end.evaluations) {
    if (set.set == "validation" && set.task.empty()) return &set;
  }
  return nullptr;
}

}  // namespace

MessageLine::MessageLine(std::string_view type)
    : text_("{\"type\": " + JsonString(type)) {}

MessageLine& MessageLine::Add(std::string_view name, std::string_view text) {
  // A path in a fault may be anything.
  text_ += ", " + JsonString(name) + ": " + JsonString(RepairUtf8(text));
  return *this;
}

MessageLine& MessageLine::Add(std::string_view name, std::int64_t number) {
  text_ += ", " + JsonString(name) + ": " + std::to_string(number);
  return *this;
}

MessageLine& MessageLine::Add(std::string_view name,
                              const std::vector<std::string>& list) {
  std::string all;
  for (const std::string& each : list) {
    all += (all.empty() ? "" : ", ") + JsonString(each);
  }
  text_ += ", " + JsonString(name) + ": [" + all + "]";
  return *this;
}

MessageLine& MessageLine::Add(const TrialPace& pace) {
  Add("phase", PhaseName(pace.phase));
  if (pace.total_epochs > 0.0) {
    AddNumber("epoch", pace.epoch);
    AddNumber("total_epochs", pace.total_epochs);
  }
  if (pace.remaining_seconds) AddNumber("remaining_s", *pace.remaining_seconds);
  return *this;
}

void MessageLine::AddNumber(std::string_view name, double number) {
  // More digits would say more than anyone knows.
  const double shown = std::round(number * 1000.0) / 1000.0;
  text_ += ", " + JsonString(name) + ": " + JsonNumber(shown);
}

MessageLine& MessageLine::Add(std::string_view name, const Metrics& metrics) {
  Members members;
  for (const auto& [metric, value] : metrics) members.Number(metric, value);
  text_ += ", " + JsonString(name) + ": " + members.Close();
  return *this;
}

MessageLine& MessageLine::Add(std::string_view name, const TrialUsage& usage,
                              std::string_view software) {
  Members members;
  members.Number("train_seconds", usage.train_seconds)
      .Number("processor_seconds", usage.processor_seconds)
      .Number("total_seconds", usage.total_seconds)
      .Whole("trained_parameters", usage.trained_parameters)
      .Number("flops_spent", usage.flops_spent)
      .Number("flops_skipped", usage.flops_skipped)
      .Number("flops_shared", usage.flops_shared)
      .Whole("prefix_hits", usage.prefix.hits)
      .Whole("prefix_misses", usage.prefix.misses)
      .Whole("prefix_bytes", usage.prefix.bytes)
      .Whole("peak_memory_bytes", usage.peak_memory_bytes);
  if (usage.energy_joules)
    members.Number("energy_joules", *usage.energy_joules);
  members.Text("device", usage.device)
      .Text("precision", usage.precision)
      .Raw("freeze", FreezeJson(usage))
      .Whole("steps", usage.steps)
      .Text("software", software)
      .Text("data_fingerprint", usage.data_fingerprint);
  if (!usage.audit.empty()) members.Raw("audit", AuditJson(usage.audit));
  text_ += ", " + JsonString(name) + ": " + members.Close();
  return *this;
}

MessageLine& MessageLine::Add(std::string_view name,
                              const ExampleOutcomes& examples) {
  text_ += ", " + JsonString(name) + ": " + Marks(examples).Close();
  return *this;
}

MessageLine& MessageLine::Add(std::string_view name,
                              const std::vector<ExampleOutcomes>& sets) {
  std::string all;
  for (const ExampleOutcomes& set : sets) {
    Members members = Marks(set);
    AddDetails(set, members);
    all += (all.empty() ? "" : ", ") + members.Close();
  }
  text_ += ", " + JsonString(name) + ": [" + all + "]";
  return *this;
}

std::string MessageLine::Take() { return std::exchange(text_, "") + "}\n"; }

std::string FinishLine(const TrialEnd& end, std::string_view software) {
  MessageLine line("finish");
  line.Add("state", StateName(end.state)).Add("metrics", end.metrics);
  if (!end.cause.empty()) line.Add("cause", end.cause);
  if (end.state == TrialState::kFailed) {
    line.Add("class", ClassName(end.failure));
  }
  if (!end.precisions.empty()) line.Add("precisions", end.precisions);
  if (end.usage) line.Add("usage", *end.usage, software);
  if (end.tells_evaluations && !end.evaluations.empty()) {
    line.Add("evaluations", end.evaluations);
  } else if (const ExampleOutcomes* marks = ValidationOf(end)) {
    line.Add("examples", *marks);
  }
  return line.Take();
}

}  // namespace frostline::trainer
