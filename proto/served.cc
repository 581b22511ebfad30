// SPDX-License-Identifier: Apache-2.0
#include "proto/served.h"

#include <map>
#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/mutex.h"
#include "frostline/v1/served.pb.h"

namespace frostline::proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

using Fields = std::vector<const FieldDescriptor*>;

bool IsMarked(const FieldDescriptor& field) {
  return field.options().HasExtension(v1::not_served);
}

// Says whether a marked field can be reached. Types may contain themselves, as
// google.protobuf.Value does.
bool ReachesMark(const Descriptor& type, std::set<const Descriptor*>& seen) {
  if (!seen.insert(&type).second) return false;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (IsMarked(field)) return true;
    if (field.message_type() == nullptr) continue;
    if (ReachesMark(*field.message_type(), seen)) return true;
  }
  return false;
}

Fields FieldsBeforeMarks(const Descriptor& type) {
  Fields fields;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    std::set<const Descriptor*> seen;
    if (IsMarked(field) || (field.message_type() != nullptr &&
                            ReachesMark(*field.message_type(), seen))) {
      fields.push_back(&field);
    }
  }
  return fields;
}

// Which fields to look at, found once for each type of message.
class KnownTypes {
 public:
  const Fields& FieldsOf(const Descriptor& type) {
    const MutexLock lock(&mutex_);
    const auto found = fields_.find(&type);
    if (found != fields_.end()) return found->second;
    return fields_.emplace(&type, FieldsBeforeMarks(type)).first->second;
  }

 private:
  Mutex mutex_;
  // Entries are never removed or changed, so references to them stay valid.
  std::map<const Descriptor*, const Fields> fields_ ABSL_GUARDED_BY(mutex_);
};

const Fields& FieldsToLookAt(const Descriptor& type) {
  static auto* const known = new KnownTypes();
  return known->FieldsOf(type);
}

absl::Status NotServed(const FieldDescriptor& field, const std::string& path) {
  return MakeError(
      ErrorId::kMethodNotBuilt,
      absl::StrCat(path, " is not served by this version; it comes with ",
                   field.options().GetExtension(v1::not_served)),
      absl::StrCat("leave ", path, " out"), path);
}

absl::Status Look(const Message& message, const std::string& prefix) {
  const auto& reflection = *message.GetReflection();
  for (const FieldDescriptor* field :
       FieldsToLookAt(*message.GetDescriptor())) {
    const int count = field->is_repeated()
                          ? reflection.FieldSize(message, field)
                          : (reflection.HasField(message, field) ? 1 : 0);
    if (count == 0) continue;
    const std::string path = absl::StrCat(prefix, field->name());
    if (IsMarked(*field)) return NotServed(*field, path);
    if (!field->is_repeated()) {
      RETURN_IF_ERROR(Look(reflection.GetMessage(message, field), path + "."));
      continue;
    }
    for (int i = 0; i < count; ++i) {
      RETURN_IF_ERROR(Look(reflection.GetRepeatedMessage(message, field, i),
                           absl::StrCat(path, "[", i, "].")));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckServed(const Message& message) { return Look(message, ""); }

absl::Status MethodNotServed(const google::protobuf::MethodDescriptor& method) {
  const std::string what = method.options().GetExtension(v1::method_not_served);
  return MakeError(ErrorId::kMethodNotBuilt,
                   absl::StrCat(method.service()->name(), ".", method.name(),
                                " is not served by this coordinator",
                                what.empty() ? "" : "; it comes with ", what),
                   "use a coordinator of a later version, or do without");
}

}  // namespace frostline::proto
