// SPDX-License-Identifier: Apache-2.0
#include "server/wire/training_bounds.h"

#include <google/protobuf/message.h>
#include <google/protobuf/struct.pb.h>

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/training_table.h"
#include "server/wire/named_words.h"
#include "server/wire/predicted_sets.h"
#include "server/wire/settings.h"
#include "server/wire/untyped_settings.h"

namespace frostline::server {
namespace {

using Field = google::protobuf::FieldDescriptor;
using google::protobuf::Value;

void SetNumber(double number, Value& value) {
  // 0 is what no study gave.
  if (number != 0.0) value.set_number_value(number);
}

// A number that this build has no name for stays one, which no row takes.
void SetWord(const google::protobuf::EnumDescriptor& type, int number,
             Value& value) {
  if (number == 0) return;
  const auto* const named = type.FindValueByNumber(number);
  if (named == nullptr) return value.set_number_value(number);
  value.set_string_value(absl::AsciiStrToLower(named->name()));
}

// What the study gave, as it would stand in a file: null for nothing, and for
// what has no bounds.
Value GivenIn(const google::protobuf::Message& message, const Field* field) {
  const auto& reflection = *message.GetReflection();
  Value value;
  switch (field->cpp_type()) {
    case Field::CPPTYPE_DOUBLE:
      SetNumber(reflection.GetDouble(message, field), value);
      break;
    case Field::CPPTYPE_INT32:
      SetNumber(reflection.GetInt32(message, field), value);
      break;
    case Field::CPPTYPE_INT64:
      SetNumber(static_cast<double>(reflection.GetInt64(message, field)),
                value);
      break;
    case Field::CPPTYPE_STRING:
      value.set_string_value(reflection.GetString(message, field));
      break;
    case Field::CPPTYPE_ENUM:
      SetWord(*field->enum_type(), reflection.GetEnumValue(message, field),
              value);
      break;
    default:
      break;
  }
  return value;
}

// `where` is how a study names the message, `block` how the table does.
absl::Status CheckBlock(const google::protobuf::Message& message,
                        const std::string& where, const std::string& block) {
  const auto* const type = message.GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const Field* const field = type->field(i);
    const SettingRow* const row = FindSetting(block + field->name());
    if (row == nullptr || field->is_repeated()) continue;
    RETURN_IF_ERROR(
        CheckSetting(*row, GivenIn(message, field), where + field->name()));
  }
  return absl::OkStatus();
}

// Metrics of such a set would have the names of those of the test split.
absl::Status CheckOtherSets(const v1::Training& training) {
  for (const std::string& id : training.also_evaluate()) {
    if (id != "test") continue;
    return MakeError(
        ErrorId::kRequestInvalid,
        "also_evaluate names a data set test, whose metrics would be those "
        "of the test split: test.accuracy",
        "register the data set under another id; for the test split of data.id "
        "give data.test_split",
        "training.also_evaluate");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTrainingBounds(const v1::StudySpec& spec) {
  const v1::Training& training = spec.training();
  RETURN_IF_ERROR(CheckBlock(training, "training.", ""));
  RETURN_IF_ERROR(CheckOtherSets(training));
  RETURN_IF_ERROR(CheckBlock(training.head(), "training.head.", "head."));
  RETURN_IF_ERROR(CheckBlock(training.lora(), "training.lora.", "lora."));
  RETURN_IF_ERROR(
      CheckBlock(training.adapters(), "training.adapters.", "adapters."));
  RETURN_IF_ERROR(CheckBlock(training.smart(), "training.smart.", "smart."));
  RETURN_IF_ERROR(CheckBlock(training.early_stopping(),
                             "training.early_stopping.", "early_stopping."));
  RETURN_IF_ERROR(CheckBlock(spec.freeze(), "freeze.", "freeze."));
  for (int i = 0; i < spec.tasks_size(); ++i) {
    RETURN_IF_ERROR(CheckBlock(spec.tasks(i).head(),
                               absl::StrCat("tasks[", i, "].head."), "head."));
  }
  RETURN_IF_ERROR(CheckNamedWords(spec));
  RETURN_IF_ERROR(CheckUntypedSettings(spec));
  return CheckPredictedSets(spec);
}

}  // namespace frostline::server
