// SPDX-License-Identifier: Apache-2.0
#include "proto/marked_fields.h"

#include <set>

#include "absl/strings/str_cat.h"

namespace frostline::proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// Says whether a marked field can be reached. Types may contain themselves, as
// google.protobuf.Value does.
bool ReachesMark(const Descriptor& type, MarkedFields::IsMarked is_marked,
                 std::set<const Descriptor*>& seen) {
  if (!seen.insert(&type).second) return false;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (is_marked(field)) return true;
    if (field.message_type() == nullptr) continue;
    if (ReachesMark(*field.message_type(), is_marked, seen)) return true;
  }
  return false;
}

}  // namespace

const MarkedFields::Fields& MarkedFields::Of(const Descriptor& type) {
  const MutexLock lock(&mutex_);
  const auto found = fields_.find(&type);
  if (found != fields_.end()) return found->second;
  Fields fields;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    std::set<const Descriptor*> seen;
    if (is_marked_(field) ||
        (field.message_type() != nullptr &&
         ReachesMark(*field.message_type(), is_marked_, seen))) {
      fields.push_back(&field);
    }
  }
  return fields_.emplace(&type, std::move(fields)).first->second;
}

std::string FieldPath::Text() const {
  std::string text = above == nullptr ? "" : above->Text() + ".";
  text += field->name();
  if (index >= 0) absl::StrAppend(&text, "[", index, "]");
  return text;
}

}  // namespace frostline::proto
