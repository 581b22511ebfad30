// SPDX-License-Identifier: Apache-2.0
#include "tests/server/rpc/hostile_fields.h"

#include <google/protobuf/descriptor.h>

#include <functional>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace frostline::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// A change of one field of a message of the request's type.
struct Change {
  std::string how;
  std::function<void(Message&)> apply;
};

template <typename T>
using Setter = void (google::protobuf::Reflection::*)(Message*,
                                                      const FieldDescriptor*,
                                                      T) const;

template <typename T>
void AddValues(const FieldDescriptor* field, Setter<T> set,
               const std::vector<T>& values, std::vector<Change>& changes) {
  for (const T& value : values) {
    changes.push_back(
        {absl::StrCat(" = ", value), [field, set, value](Message& message) {
           (message.GetReflection()->*set)(&message, field, value);
         }});
  }
}

void AddTexts(const FieldDescriptor* field, std::vector<Change>& changes) {
  const std::vector<std::pair<std::string, std::string>> texts = {
      {"70 KB of text", std::string(70'000, 'x')},
      {"no UTF-8", "\xff\xfe"},
      {"a line break", "a\nb"},
      {"a path", "../../etc/passwd"},
      {"a foreign study", "studies/nobodys"},
      {"a foreign trial", "studies/nobodys/trials/0"},
      {"a trial to come", "studies/a/trials/999999999999"},
      {"a foreign worker", "workers/nobody"},
      {"a token", "0123456789abcdef"}};
  for (const auto& [how, text] : texts) {
    changes.push_back(
        {absl::StrCat(": ", how), [field, text](Message& message) {
           message.GetReflection()->SetString(&message, field, text);
         }});
  }
}

void AddScalars(const FieldDescriptor* field, std::vector<Change>& changes) {
  using R = google::protobuf::Reflection;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr auto kMin64 = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax64 = std::numeric_limits<std::int64_t>::max();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return AddTexts(field, changes);
    case FieldDescriptor::CPPTYPE_INT32:
      return AddValues<std::int32_t>(
          field, &R::SetInt32,
          {-1, 0, std::numeric_limits<std::int32_t>::min(),
           std::numeric_limits<std::int32_t>::max()},
          changes);
    case FieldDescriptor::CPPTYPE_INT64:
      return AddValues<std::int64_t>(field, &R::SetInt64,
                                     {-1, 0, 1'000, kMin64, kMax64}, changes);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return AddValues<double>(field, &R::SetDouble,
                               {-kInf, kInf, kInf - kInf, -1.0, 1e308},
                               changes);
    case FieldDescriptor::CPPTYPE_ENUM:
      return AddValues<int>(field, &R::SetEnumValue, {0, -1, 99}, changes);
    case FieldDescriptor::CPPTYPE_BOOL:
      return AddValues<bool>(field, &R::SetBool, {true}, changes);
    default:
      return;
  }
}

std::vector<Change> ChangesOf(const Message& message, int depth);

// Those of an element, or of a message that is there, applied in its place.
void AddInner(const FieldDescriptor* field, const Message& inner, int depth,
              std::vector<Change>& changes) {
  for (Change& change : ChangesOf(inner, depth - 1)) {
    changes.push_back(
        {absl::StrCat(".", change.how),
         [field, apply = std::move(change.apply)](Message& message) {
           const auto* reflection = message.GetReflection();
           apply(field->is_repeated()
                     ? *reflection->MutableRepeatedMessage(&message, field, 0)
                     : *reflection->MutableMessage(&message, field));
         }});
  }
}

void AddMessages(const Message& message, const FieldDescriptor* field,
                 int depth, std::vector<Change>& changes) {
  const auto* reflection = message.GetReflection();
  if (!field->is_repeated()) {
    if (!reflection->HasField(message, field) || depth == 0) return;
    return AddInner(field, reflection->GetMessage(message, field), depth,
                    changes);
  }
  if (reflection->FieldSize(message, field) == 0) return;
  if (depth > 0) {
    AddInner(field, reflection->GetRepeatedMessage(message, field, 0), depth,
             changes);
  }
  changes.push_back({" twice over a thousand", [field](Message& changed) {
                       const auto* access = changed.GetReflection();
                       const auto& first =
                           access->GetRepeatedMessage(changed, field, 0);
                       const std::unique_ptr<Message> copy(first.New());
                       copy->CopyFrom(first);
                       for (int i = 0; i < 2'000; ++i) {
                         access->AddMessage(&changed, field)->CopyFrom(*copy);
                       }
                     }});
}

std::vector<Change> ChangesOf(const Message& message, int depth) {
  std::vector<Change> all;
  const auto* descriptor = message.GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* const field = descriptor->field(i);
    std::vector<Change> changes;
    changes.push_back({" missing", [field](Message& changed) {
                         changed.GetReflection()->ClearField(&changed, field);
                       }});
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      AddMessages(message, field, depth, changes);
    } else if (!field->is_repeated()) {
      AddScalars(field, changes);
    }
    for (Change& change : changes) {
      all.push_back({field->name() + change.how, std::move(change.apply)});
    }
  }
  return all;
}

}  // namespace

std::vector<Spoilt> SpoilEachField(const Message& good) {
  std::vector<Spoilt> requests;
  for (const Change& change : ChangesOf(good, 3)) {
    Spoilt spoilt{change.how, std::unique_ptr<Message>(good.New())};
    spoilt.request->CopyFrom(good);
    change.apply(*spoilt.request);
    requests.push_back(std::move(spoilt));
  }
  return requests;
}

}  // namespace frostline::server
