// SPDX-License-Identifier: Apache-2.0
#include "server/wire/training_bounds.h"

#include <google/protobuf/message.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/training_table.h"
#include "base/status_macros.h"

namespace frostline::server {
namespace {

using Field = google::protobuf::FieldDescriptor;

double NumberIn(const google::protobuf::Message& message, const Field* field) {
  const auto& reflection = *message.GetReflection();
  switch (field->cpp_type()) {
    case Field::CPPTYPE_DOUBLE:
      return reflection.GetDouble(message, field);
    case Field::CPPTYPE_INT32:
      return reflection.GetInt32(message, field);
    case Field::CPPTYPE_INT64:
      return static_cast<double>(reflection.GetInt64(message, field));
    default:
      return 0.0;
  }
}

// `where` is how a study names the message, `block` how the table does.
absl::Status CheckBlock(const google::protobuf::Message& message,
                        const std::string& where, const std::string& block) {
  const auto* const type = message.GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const Field* const field = type->field(i);
    const SettingRow* const row = FindSetting(block + field->name());
    if (row == nullptr || field->is_repeated()) continue;
    const double value = NumberIn(message, field);
    // 0 is what no study gave.
    if (value == 0.0 || (value >= row->least && value <= row->most)) continue;
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat(where, field->name(), " is ", value),
                     absl::StrCat("give ", RangeOf(*row)),
                     where + field->name());
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
  RETURN_IF_ERROR(CheckBlock(training.lora(), "training.lora.", "lora."));
  RETURN_IF_ERROR(CheckBlock(training.early_stopping(),
                             "training.early_stopping.", "early_stopping."));
  return CheckBlock(spec.freeze(), "freeze.", "freeze.");
}

}  // namespace frostline::server
