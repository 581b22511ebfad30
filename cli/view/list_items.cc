// SPDX-License-Identifier: Apache-2.0
#include "cli/view/list_items.h"

#include <google/protobuf/struct.pb.h>

namespace frostline::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::ListValue;
using google::protobuf::Message;
using google::protobuf::Struct;
using google::protobuf::Value;

// Null where there is none.
const FieldDescriptor* ListField(const Message& list) {
  const auto* const type = list.GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* const field = type->field(i);
    if (field->is_repeated() && !field->is_map() &&
        field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      return field;
    }
  }
  return nullptr;
}

// The key of the list in a Struct; "" where there is none.
std::string ListKey(const Struct& fields) {
  for (const auto& [key, value] : fields.fields()) {
    if (value.has_list_value()) return key;
  }
  return "";
}

std::string TextOf(const Message& item, const std::string& name) {
  if (const auto* const value = dynamic_cast<const Value*>(&item)) {
    const auto& fields = value->struct_value().fields();
    const auto found = fields.find(name);
    return found == fields.end() ? "" : found->second.string_value();
  }
  const FieldDescriptor* const field =
      item.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr || field->is_repeated() ||
      field->type() != FieldDescriptor::TYPE_STRING) {
    return "";
  }
  return item.GetReflection()->GetString(item, field);
}

}  // namespace

std::vector<const Message*> ItemsOf(const Message& list) {
  std::vector<const Message*> items;
  if (const auto* const fields = dynamic_cast<const Struct*>(&list)) {
    const std::string key = ListKey(*fields);
    if (key.empty()) return items;
    for (const Value& value : fields->fields().at(key).list_value().values()) {
      items.push_back(&value);
    }
    return items;
  }
  const FieldDescriptor* const field = ListField(list);
  if (field == nullptr) return items;
  const int size = list.GetReflection()->FieldSize(list, field);
  for (int i = 0; i < size; ++i) {
    items.push_back(&list.GetReflection()->GetRepeatedMessage(list, field, i));
  }
  return items;
}

std::unique_ptr<Message> WithItems(const Message& list,
                                   const std::vector<std::size_t>& places) {
  const auto items = ItemsOf(list);
  std::unique_ptr<Message> chosen(list.New());
  chosen->CopyFrom(list);
  if (auto* const fields = dynamic_cast<Struct*>(chosen.get())) {
    const std::string key = ListKey(*fields);
    if (key.empty()) return chosen;
    ListValue& values = *(*fields->mutable_fields())[key].mutable_list_value();
    values.Clear();
    for (const std::size_t place : places) {
      values.add_values()->CopyFrom(*items[place]);
    }
    return chosen;
  }
  const FieldDescriptor* const field = ListField(list);
  if (field == nullptr) return chosen;
  const auto* const reflection = chosen->GetReflection();
  reflection->ClearField(chosen.get(), field);
  for (const std::size_t place : places) {
    reflection->AddMessage(chosen.get(), field)->CopyFrom(*items[place]);
  }
  return chosen;
}

std::string NameOfItem(const Message& item) {
  const std::string name = TextOf(item, "name");
  return name.empty() ? TextOf(item, "id") : name;
}

}  // namespace frostline::cli
