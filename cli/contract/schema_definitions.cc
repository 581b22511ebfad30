// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/schema_definitions.h"

#include "absl/strings/str_cat.h"
#include "base/plain/json.h"
#include "cli/contract/catalogue.h"
#include "cli/contract/comments.h"
#include "cli/study_file/yaml_sugar.h"
#include "frostline/v1/served.pb.h"

namespace frostline::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// A schema, described where there are words; a reference may have a neighbour.
std::string Described(const std::string& schema, const std::string& words) {
  if (words.empty()) return schema;
  const std::string member =
      absl::StrCat("\"description\":", JsonString(words));
  return schema == "{}" ? absl::StrCat("{", member, "}")
                        : absl::StrCat("{", member, ",", schema.substr(1));
}

std::string ListOf(const std::string& items) {
  return SchemaObject().PutText("type", "array").Put("items", items).Json();
}

std::string MapTo(const std::string& values) {
  return SchemaObject()
      .PutText("type", "object")
      .Put("additionalProperties", values)
      .Json();
}

std::vector<std::string> Choices(const Descriptor& type) {
  std::vector<std::string> rules;
  for (int i = 0; i < type.real_oneof_decl_count(); ++i) {
    std::vector<std::string> keys;
    for (int j = 0; j < type.oneof_decl(i)->field_count(); ++j) {
      keys.push_back(type.oneof_decl(i)->field(j)->name());
    }
    for (const std::string& rule : Exclusive(keys)) rules.push_back(rule);
  }
  return rules;
}

}  // namespace

std::vector<std::string> Exclusive(const std::vector<std::string>& keys) {
  std::vector<std::string> rules;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = i + 1; j < keys.size(); ++j) {
      rules.push_back(absl::StrCat("{\"not\":{\"required\":[",
                                   JsonString(keys[i]), ",",
                                   JsonString(keys[j]), "]}}"));
    }
  }
  return rules;
}

std::string SchemaDefinitions::OneValue(const FieldDescriptor& field) {
  return field.message_type() == nullptr ? ScalarSchema(field, form_)
                                         : Message(*field.message_type());
}

std::string SchemaDefinitions::Field(const FieldDescriptor& field) {
  if (field.is_map()) {
    return MapTo(OneValue(*field.message_type()->map_value()));
  }
  const std::string one = OneValue(field);
  if (!field.is_repeated()) return one;
  const bool has_keys = form_ == SchemaForm::kStudyFile &&
                        field.message_type() != nullptr &&
                        !FieldOfKey(*field.message_type()).empty();
  return has_keys ? AnyOf({ListOf(one), MapTo(one)}) : ListOf(one);
}

std::string SchemaDefinitions::Message(const Descriptor& type) {
  if (IsGoogleType(type)) return GoogleSchema(type, form_);
  const std::string name = ShortNameOf(type);
  // The place is taken first: a message may hold itself.
  if (made_.emplace(name, "").second) made_[name] = Definition(type);
  return SchemaObject().PutText("$ref", "#/$defs/" + name).Json();
}

void SchemaDefinitions::AddProperties(const Descriptor& type,
                                      SchemaObject* properties) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.options().HasExtension(v1::not_served)) continue;
    properties->Put(field.name(), Described(Field(field), CommentOf(field)));
  }
}

std::string SchemaDefinitions::Object(const Descriptor& type) {
  SchemaObject properties;
  AddProperties(type, &properties);
  std::vector<std::string> rules = Choices(type);
  // The one key with another name than its field (LongKey).
  const auto* const ties = type.FindFieldByName(LongKey("tie", type));
  if (form_ == SchemaForm::kStudyFile && ties != nullptr) {
    properties.Put("tie", Described(Field(*ties), CommentOf(*ties)));
    rules.push_back(Exclusive({"tie", "ties"}).front());
  }
  SchemaObject object;
  object.PutText("type", "object").Put("properties", properties.Json());
  object.Put("additionalProperties", "false");
  if (!rules.empty()) object.Put("allOf", SchemaList(rules));
  return object.Json();
}

std::string SchemaDefinitions::ListFor(const Descriptor& type) {
  if (IsRange(type)) {
    return SchemaObject()
        .PutText("type", "array")
        .Put("items", ScalarSchema(*type.FindFieldByName("lo"), form_))
        .Put("minItems", "2")
        .Put("maxItems", "2")
        .Json();
  }
  const auto* const field = type.FindFieldByName(FieldOfList(type));
  if (field == nullptr) return "";
  if (field->is_repeated()) return Field(*field);
  const Descriptor& inner = *field->message_type();
  return IsGoogleType(inner) ? GoogleSchema(inner, form_) : ListFor(inner);
}

// {full: 1e-3} and {first_k: {k: 2, rate: 1e-3}}.
std::string SchemaDefinitions::NamedStrategies(const Descriptor& type) {
  SchemaObject rest;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.name() == "name") continue;
    rest.Put(field.name(), Described(Field(field), CommentOf(field)));
  }
  const std::string value =
      AnyOf({ScalarSchema(*type.FindFieldByName("rate"), form_),
             SchemaObject()
                 .PutText("type", "object")
                 .Put("properties", rest.Json())
                 .Put("additionalProperties", "false")
                 .Json()});
  SchemaObject names;
  for (const std::string& name : StrategyNames()) names.Put(name, value);
  return SchemaObject()
      .PutText("type", "object")
      .Put("properties", names.Json())
      .Put("additionalProperties", "false")
      .Put("minProperties", "1")
      .Put("maxProperties", "1")
      .Json();
}

std::string SchemaDefinitions::Definition(const Descriptor& type) {
  std::vector<std::string> forms = {Object(type)};
  if (form_ == SchemaForm::kStudyFile) {
    const auto* const scalar = type.FindFieldByName(FieldOfScalar(type));
    if (scalar != nullptr) forms.push_back(ScalarSchema(*scalar, form_));
    const std::string list = ListFor(type);
    if (!list.empty()) forms.push_back(list);
    if (type.name() == "Strategy") forms.push_back(NamedStrategies(type));
  }
  return Described(AnyOf(forms), CommentOf(type));
}

std::string SchemaDefinitions::Json() const {
  SchemaObject all;
  for (const auto& [name, schema] : made_) all.Put(name, schema);
  return all.Json();
}

}  // namespace frostline::cli
