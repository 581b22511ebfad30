// SPDX-License-Identifier: Apache-2.0
#include "tests/proto/contract.h"

#include <google/protobuf/descriptor.pb.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace frostline::proto {
namespace {

namespace pb = google::protobuf;

constexpr char kIs[] = " = ";
constexpr char kReserved[] = "reserved";

std::string TypeOf(const pb::FieldDescriptor& field) {
  if (field.is_map()) {
    const pb::Descriptor& entry = *field.message_type();
    return absl::StrCat("map<", TypeOf(*entry.map_key()), ", ",
                        TypeOf(*entry.map_value()), ">");
  }
  if (field.enum_type() != nullptr) {
    return absl::StrCat("enum ", field.enum_type()->full_name());
  }
  if (field.message_type() != nullptr) {
    return absl::StrCat("message ", field.message_type()->full_name());
  }
  return field.type_name();
}

std::string LabelOf(const pb::FieldDescriptor& field) {
  if (field.is_map()) return "map";
  if (field.is_repeated()) return "repeated";
  if (field.real_containing_oneof() != nullptr) {
    return absl::StrCat("oneof(", field.real_containing_oneof()->name(), ")");
  }
  return field.has_presence() && field.message_type() == nullptr ? "optional"
                                                                 : "singular";
}

std::string Numbered(const char* kind, const std::string& owner, int number) {
  return absl::StrCat(kind, " ", owner, " ", number);
}

// Both kinds of owner: ranges of a message end before, those of an enum at,
// their last number.
template <typename Descriptor>
void AddReserved(const Descriptor& owner, const char* kind, int end_offset,
                 Contract* contract) {
  for (int i = 0; i < owner.reserved_range_count(); ++i) {
    const auto* range = owner.reserved_range(i);
    for (int n = range->start; n < range->end + end_offset; ++n) {
      (*contract)[Numbered(kind, owner.full_name(), n)] = kReserved;
    }
  }
}

void AddEnum(const pb::EnumDescriptor& descriptor, Contract* contract) {
  (*contract)[absl::StrCat("enum ", descriptor.full_name())] = "";
  for (int i = 0; i < descriptor.value_count(); ++i) {
    const pb::EnumValueDescriptor& value = *descriptor.value(i);
    (*contract)[Numbered("value", descriptor.full_name(), value.number())] =
        value.name();
  }
  AddReserved(descriptor, "value", 1, contract);
}

void AddMessage(const pb::Descriptor& message, Contract* contract) {
  if (message.options().map_entry()) return;  // told by the map field
  (*contract)[absl::StrCat("message ", message.full_name())] = "";
  for (int i = 0; i < message.field_count(); ++i) {
    const pb::FieldDescriptor& field = *message.field(i);
    (*contract)[Numbered("field", message.full_name(), field.number())] =
        absl::StrCat(LabelOf(field), " ", TypeOf(field), " ", field.name());
  }
  AddReserved(message, "field", 0, contract);
  for (int i = 0; i < message.enum_type_count(); ++i) {
    AddEnum(*message.enum_type(i), contract);
  }
  for (int i = 0; i < message.nested_type_count(); ++i) {
    AddMessage(*message.nested_type(i), contract);
  }
}

// A mark that the contract's own declarations may carry.
void AddExtension(const pb::FieldDescriptor& field, Contract* contract) {
  (*contract)[absl::StrCat("extension ", field.full_name())] =
      absl::StrCat(TypeOf(field), " ", field.number(), " of ",
                   field.containing_type()->full_name());
}

void AddService(const pb::ServiceDescriptor& service, Contract* contract) {
  (*contract)[absl::StrCat("service ", service.full_name())] = "";
  for (int i = 0; i < service.method_count(); ++i) {
    const pb::MethodDescriptor& method = *service.method(i);
    (*contract)[absl::StrCat("method ", method.full_name())] =
        absl::StrCat(method.client_streaming() ? "stream " : "",
                     method.input_type()->full_name(), " -> ",
                     method.server_streaming() ? "stream " : "",
                     method.output_type()->full_name());
  }
}

}  // namespace

void AddFile(const pb::FileDescriptor& file, Contract* contract) {
  for (int i = 0; i < file.message_type_count(); ++i) {
    AddMessage(*file.message_type(i), contract);
  }
  for (int i = 0; i < file.enum_type_count(); ++i) {
    AddEnum(*file.enum_type(i), contract);
  }
  for (int i = 0; i < file.extension_count(); ++i) {
    AddExtension(*file.extension(i), contract);
  }
  for (int i = 0; i < file.service_count(); ++i) {
    AddService(*file.service(i), contract);
  }
}

std::string FormatContract(const Contract& contract) {
  std::string text;
  for (const auto& [name, content] : contract) {
    absl::StrAppend(&text, name, content.empty() ? "" : kIs, content, "\n");
  }
  return text;
}

Contract ParseContract(const std::string& text) {
  Contract contract;
  for (const auto line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    const std::vector<std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(kIs, 1));
    contract[parts[0]] = parts.size() == 2 ? parts[1] : "";
  }
  return contract;
}

ContractChange CompareContracts(const Contract& locked, const Contract& now) {
  ContractChange change;
  for (const auto& [name, content] : locked) {
    const auto found = now.find(name);
    if (found == now.end()) {
      change.breaks.push_back(absl::StrCat(name, " (", content, ") is gone"));
    } else if (found->second != content && found->second != kReserved) {
      change.breaks.push_back(absl::StrCat(name, " was '", content,
                                           "' and is '", found->second, "'"));
    }
  }
  for (const auto& [name, content] : now) {
    const auto found = locked.find(name);
    const bool newly_reserved = content == kReserved && found != locked.end() &&
                                found->second != kReserved;
    if (found == locked.end() || newly_reserved) {
      change.additions.push_back(name);
    }
  }
  return change;
}

}  // namespace frostline::proto
