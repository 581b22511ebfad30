// SPDX-License-Identifier: Apache-2.0
#include "cli/view/list_items.h"

#include <google/protobuf/struct.pb.h>

#include <map>

namespace frostline::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::ListValue;
using google::protobuf::Message;
using google::protobuf::Struct;
using google::protobuf::Value;

std::vector<const FieldDescriptor*> ListFields(const Message& list) {
  std::vector<const FieldDescriptor*> fields;
  const auto* const type = list.GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* const field = type->field(i);
    if (field->is_repeated() && !field->is_map() &&
        field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      fields.push_back(field);
    }
  }
  return fields;
}

std::map<std::string, const ListValue*> ListsIn(const Struct& fields) {
  std::map<std::string, const ListValue*> lists;
  for (const auto& [key, value] : fields.fields()) {
    if (value.has_list_value()) lists[key] = &value.list_value();
  }
  return lists;
}

// An item and the list it is in, by its place among them.
struct Item {
  const Message* message;
  const FieldDescriptor* field;  // null in a Struct
  std::string key;               // of a Struct
};

std::vector<Item> AllItems(const Message& list) {
  std::vector<Item> items;
  if (const auto* const fields = dynamic_cast<const Struct*>(&list)) {
    for (const auto& [key, values] : ListsIn(*fields)) {
      for (const Value& value : values->values()) {
        items.push_back({&value, nullptr, key});
      }
    }
    return items;
  }
  const auto* const reflection = list.GetReflection();
  for (const FieldDescriptor* const field : ListFields(list)) {
    for (int i = 0; i < reflection->FieldSize(list, field); ++i) {
      items.push_back(
          {&reflection->GetRepeatedMessage(list, field, i), field, ""});
    }
  }
  return items;
}

std::string ItemTextOf(const Message& item, const std::string& name) {
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
  std::vector<const Message*> messages;
  for (const Item& item : AllItems(list)) messages.push_back(item.message);
  return messages;
}

std::unique_ptr<Message> WithItems(const Message& list,
                                   const std::vector<std::size_t>& places) {
  const std::vector<Item> items = AllItems(list);
  std::unique_ptr<Message> chosen(list.New());
  chosen->CopyFrom(list);
  if (auto* const fields = dynamic_cast<Struct*>(chosen.get())) {
    auto& map = *fields->mutable_fields();
    for (auto& [key, value] : map) {
      if (value.has_list_value()) value.mutable_list_value()->Clear();
    }
    for (const std::size_t place : places) {
      map[items[place].key].mutable_list_value()->add_values()->CopyFrom(
          *items[place].message);
    }
    return chosen;
  }
  const auto* const reflection = chosen->GetReflection();
  for (const FieldDescriptor* const field : ListFields(list)) {
    reflection->ClearField(chosen.get(), field);
  }
  for (const std::size_t place : places) {
    reflection->AddMessage(chosen.get(), items[place].field)
        ->CopyFrom(*items[place].message);
  }
  return chosen;
}

std::string NameOfItem(const Message& item) {
  for (const char* const field : {"name", "id", "sha256"}) {
    const std::string name = ItemTextOf(item, field);
    if (!name.empty()) return name;
  }
  return "";
}

}  // namespace frostline::cli
