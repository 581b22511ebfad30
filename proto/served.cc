// SPDX-License-Identifier: Apache-2.0
#include "proto/served.h"

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "frostline/v1/served.pb.h"
#include "proto/marked_fields.h"

namespace frostline::proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

bool IsNotServed(const FieldDescriptor& field) {
  return field.options().HasExtension(v1::not_served);
}

const MarkedFields::Fields& FieldsToLookAt(const Descriptor& type) {
  static auto* const marked = new MarkedFields(IsNotServed);
  return marked->Of(type);
}

absl::Status NotServed(const FieldDescriptor& field, const std::string& path) {
  return MakeError(
      ErrorId::kMethodNotBuilt,
      absl::StrCat(path, " is not served by this version; it comes with ",
                   field.options().GetExtension(v1::not_served)),
      absl::StrCat("leave ", path, " out"), path);
}

absl::Status Look(const Message& message, const FieldPath* above) {
  const auto& reflection = *message.GetReflection();
  for (const FieldDescriptor* field :
       FieldsToLookAt(*message.GetDescriptor())) {
    const bool is_set = field->is_repeated()
                            ? reflection.FieldSize(message, field) > 0
                            : reflection.HasField(message, field);
    if (!is_set) continue;
    const FieldPath path{.above = above, .field = field};
    if (IsNotServed(*field)) return NotServed(*field, path.Text());
    RETURN_IF_ERROR(ForEachPart(message, path, Look));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckServed(const Message& message) {
  return Look(message, nullptr);
}

absl::Status MethodNotServed(const google::protobuf::MethodDescriptor& method) {
  const std::string what = method.options().GetExtension(v1::method_not_served);
  return MakeError(ErrorId::kMethodNotBuilt,
                   absl::StrCat(method.service()->name(), ".", method.name(),
                                " is not served by this coordinator",
                                what.empty() ? "" : "; it comes with ", what),
                   "use a coordinator of a later version, or do without");
}

}  // namespace frostline::proto
