// SPDX-License-Identifier: Apache-2.0
//
// File: marked_fields.h
//
// The fields of messages that carry a mark of the contract, an option such as
// (rule) or (not_served).
#ifndef FROSTLINE_PROTO_MARKED_FIELDS_H_
#define FROSTLINE_PROTO_MARKED_FIELDS_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/error.h"
#include "base/mutex.h"

namespace frostline::proto {

// Finds the fields of a message that are marked or lead to a marked one, once
// for each type of message. Any thread may call.
class MarkedFields {
 public:
  using Fields = std::vector<const google::protobuf::FieldDescriptor*>;
  using IsMarked = bool (*)(const google::protobuf::FieldDescriptor&);

  explicit MarkedFields(IsMarked is_marked) : is_marked_(is_marked) {}

  // The answer stays valid as long as this object lives.
  const Fields& Of(const google::protobuf::Descriptor& type);

 private:
  const IsMarked is_marked_;
  Mutex mutex_;
  // Entries are never removed or changed.
  std::map<const google::protobuf::Descriptor*, const Fields> fields_
      ABSL_GUARDED_BY(mutex_);
};

// Where a walk over a message is. Each step lies on the stack of the walk.
struct FieldPath {
  const FieldPath* above = nullptr;  // null at the top
  const google::protobuf::FieldDescriptor* field = nullptr;
  int index = -1;  // in a list, else -1

  // Returns "left_logs[2].lease.trial".
  std::string Text() const;
};

// Calls visit(part, &path) for the message in a field, present or not, or for
// each in a list, up to the first error.
template <typename Visit>
absl::Status ForEachPart(const google::protobuf::Message& message,
                         FieldPath path, const Visit& visit) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (!path.field->is_repeated()) {
    return visit(reflection.GetMessage(message, path.field), &path);
  }
  const int count = reflection.FieldSize(message, path.field);
  for (path.index = 0; path.index < count; ++path.index) {
    RETURN_IF_ERROR(visit(
        reflection.GetRepeatedMessage(message, path.field, path.index), &path));
  }
  return absl::OkStatus();
}

}  // namespace frostline::proto

#endif  // FROSTLINE_PROTO_MARKED_FIELDS_H_
