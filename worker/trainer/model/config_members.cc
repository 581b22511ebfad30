// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/config_members.h"

#include <array>
#include <utility>

#include "worker/trainer/model/limits.h"

namespace frostline::trainer {
namespace {

std::string Quoted(std::string_view name) {
  return "\"" + std::string(name) + "\"";
}

}  // namespace

std::int64_t ConfigMembers::Count(std::string_view name, std::int64_t lowest,
                                  std::int64_t highest) {
  const JsonValue* value = Find(name);
  const std::optional<std::int32_t> whole =
      value == nullptr ? std::nullopt : value->Index();
  if (!whole || *whole < lowest || *whole > highest) {
    Fail(FaultKind::kInconsistent,
         Quoted(name) + " must be a whole number from " +
             std::to_string(lowest) + " to " + std::to_string(highest));
    return highest;
  }
  return *whole;
}

std::int64_t ConfigMembers::CountOr(std::string_view name, std::int64_t lowest,
                                    std::int64_t highest,
                                    std::int64_t otherwise) {
  return Find(name) == nullptr ? otherwise : Count(name, lowest, highest);
}

double ConfigMembers::Number(std::string_view name, double below,
                             double otherwise) {
  const JsonValue* value = Find(name);
  if (value == nullptr) return otherwise;
  if (!value->is(JsonKind::kNumber) || value->number < 0.0 ||
      value->number >= below) {
    Fail(FaultKind::kInconsistent, Quoted(name) +
                                       " must be a number from 0 to below " +
                                       std::to_string(below));
    return otherwise;
  }
  return value->number;
}

std::string ConfigMembers::Text(std::string_view name,
                                std::string_view otherwise) {
  const JsonValue* value = Find(name);
  if (value == nullptr) return std::string(otherwise);
  if (value->is(JsonKind::kString)) return std::string(value->text);
  Fail(FaultKind::kInconsistent, Quoted(name) + " must be a string");
  return std::string(otherwise);
}

bool ConfigMembers::Flag(std::string_view name, bool otherwise) {
  const JsonValue* value = Find(name);
  if (value == nullptr) return otherwise;
  if (value->is(JsonKind::kBool)) return value->truth;
  Fail(FaultKind::kInconsistent, Quoted(name) + " must be true or false");
  return otherwise;
}

Activation ConfigMembers::ActivationOf(std::string_view name,
                                       std::string_view otherwise) {
  constexpr std::array<std::pair<std::string_view, Activation>, 5> kKnown = {
      {{"gelu", Activation::kGelu},
       {"gelu_new", Activation::kGeluTanh},
       {"gelu_pytorch_tanh", Activation::kGeluTanh},
       {"relu", Activation::kRelu},
       {"tanh", Activation::kTanh}}};
  const std::string wanted = Text(name, otherwise);
  for (const auto& [known, activation] : kKnown) {
    if (known == wanted) return activation;
  }
  Fail(FaultKind::kUnsupported,
       "the activation " + Quoted(wanted) + " is not known");
  return Activation::kGelu;
}

const JsonValue* ConfigMembers::Find(std::string_view name) const {
  const JsonValue* value = root_->Find(name);
  return value == nullptr || value->is(JsonKind::kNull) ? nullptr : value;
}

ConfigMembers ConfigMembers::Within(std::string_view name) const {
  static const JsonValue kNothing;
  const JsonValue* value = Find(name);
  return ConfigMembers(value == nullptr ? kNothing : *value);
}

void ConfigMembers::MustBe(std::string_view name, std::string_view only,
                           std::string_view usual) {
  if (Text(name, usual) == only) return;
  Fail(FaultKind::kUnsupported, std::string(name) + " is not " + Quoted(only));
}

void ConfigMembers::Fail(FaultKind kind, const std::string& what) {
  if (fault_) return;
  fault_ = Fault{kind, "config.json: " + what,
                 "take the config.json that was published with the weights of "
                 "a BERT, DistilBERT, RoBERTa, XLM-R, ELECTRA, ModernBERT or "
                 "DeBERTa-v3 model"};
}

std::vector<std::string> NamesOfClasses(const JsonValue& id2label) {
  std::vector<std::string> names;
  if (!id2label.is(JsonKind::kObject) || id2label.count > kMaxOutputs) {
    return names;
  }
  for (std::uint32_t id = 0; id < id2label.count; ++id) {
    const JsonValue* const name = id2label.Find(std::to_string(id));
    if (name == nullptr || !name->is(JsonKind::kString)) return {};
    names.emplace_back(name->text);
  }
  return names;
}

}  // namespace frostline::trainer
