// SPDX-License-Identifier: Apache-2.0
#include "proto/rules.h"

#include <google/protobuf/reflection.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/sums.h"
#include "frostline/v1/study.pb.h"
#include "proto/marked_fields.h"

namespace frostline::proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using v1::Rule;

constexpr std::size_t kMinRequestId = 16;
constexpr std::size_t kMaxToken = 64;
constexpr std::size_t kTokenIdBytes = 16;

bool IsTokenChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// Renames the field: base/ids.h always calls it "name".
absl::Status At(const absl::Status& status, const std::string& field) {
  if (status.ok()) return status;
  const ErrorDetail detail = DetailOf(status).value_or(ErrorDetail{});
  return MakeError(detail.id, std::string(status.message()), detail.fix, field);
}

absl::Status TooLarge(const std::string& field, const std::string& cause,
                      const std::string& fix) {
  return MakeError(ErrorId::kFieldTooLarge, absl::StrCat(field, " ", cause),
                   fix, field);
}

}  // namespace

absl::Status BadField(const std::string& field, const std::string& cause,
                      const std::string& fix) {
  return MakeError(ErrorId::kRequestInvalid, absl::StrCat(field, " ", cause),
                   fix, field);
}

absl::Status CheckRequestId(const std::string& id, const std::string& field) {
  if (id.size() >= kMinRequestId && id.size() <= kMaxToken &&
      std::all_of(id.begin(), id.end(), IsTokenChar)) {
    return absl::OkStatus();
  }
  return BadField(field, id.empty() ? "is missing" : "is not of the right form",
                  "give 16 to 64 of A-Z, a-z, 0-9, '_', '-', drawn anew for "
                  "each request, e.g. a UUID4");
}

absl::Status CheckStudyName(const std::string& name, const std::string& field) {
  return At(ParseStudyName(name).status(), field);
}

absl::Status CheckWorkerName(const std::string& name,
                             const std::string& field) {
  return At(ParseWorkerName(name).status(), field);
}

absl::Status CheckRange(std::int64_t value, std::int64_t lo, std::int64_t hi,
                        const std::string& field) {
  if (value >= lo && value <= hi) return absl::OkStatus();
  return BadField(field, absl::StrCat("is ", value),
                  absl::StrCat("give a number from ", lo, " to ", hi));
}

absl::Status CheckDuration(const google::protobuf::Duration& duration,
                           std::int64_t max_seconds, const std::string& field) {
  const std::int64_t seconds = duration.seconds();
  const std::int32_t nanos = duration.nanos();
  const bool formed = nanos >= 0 && nanos < 1'000'000'000;
  if (formed && seconds >= 0 &&
      (seconds < max_seconds || (seconds == max_seconds && nanos == 0))) {
    return absl::OkStatus();
  }
  return BadField(field, absl::StrCat("is ", seconds, " s and ", nanos, " ns"),
                  absl::StrCat("give 0 to ", max_seconds, " s"));
}

absl::Status CheckBytes(const std::string& text, std::size_t max,
                        const std::string& field) {
  if (text.size() <= max) return absl::OkStatus();
  return TooLarge(field, absl::StrCat("has ", text.size(), " bytes"),
                  absl::StrCat("keep it within ", max, " bytes"));
}

absl::Status CheckCount(std::int64_t count, std::int64_t max,
                        const std::string& field) {
  if (count <= max) return absl::OkStatus();
  return TooLarge(field, absl::StrCat("has ", count, " entries"),
                  absl::StrCat("send at most ", max, " at a time"));
}

absl::Status CheckTrialLabels(const Labels& labels, const std::string& field) {
  static const std::size_t most = MaxBytes<v1::EnqueuedTrial>("labels");
  std::size_t bytes = 0;
  for (const auto& [key, value] : labels) bytes += key.size() + value.size();
  if (bytes <= most) return absl::OkStatus();
  return MakeError(ErrorId::kFieldTooLarge,
                   absl::StrCat(field, " have ", bytes, " bytes"),
                   absl::StrCat("keep them within ", most), field);
}

namespace {

absl::Status CheckToken(const std::string& token, const std::string& field) {
  if (!token.empty() && token.size() <= kMaxToken &&
      std::all_of(token.begin(), token.end(),
                  [](char c) { return IsTokenChar(c) || c == '.'; })) {
    return absl::OkStatus();
  }
  return BadField(field,
                  token.empty() ? "is missing" : "is not of the right form",
                  "give 1 to 64 of A-Z, a-z, 0-9, '.', '_', '-'");
}

absl::Status CheckTokenId(const std::string& id, const std::string& field) {
  const bool good = id.size() == kTokenIdBytes &&
                    std::all_of(id.begin(), id.end(), [](char c) {
                      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                    });
  if (good) return absl::OkStatus();
  return BadField(field, "is no id of a token",
                  "`frostline token list` shows them");
}

absl::Status CheckSum(const std::string& sum, const std::string& field) {
  if (IsSha256(sum)) return absl::OkStatus();
  return BadField(field, "is not 64 lower-case hex digits",
                  "give the sum that the registry has, or none");
}

absl::Status CheckText(const std::string& text, const Rule& rule,
                       const FieldPath& path) {
  const auto max = static_cast<std::size_t>(rule.max_bytes());
  if (rule.form() == Rule::FORM_UNSPECIFIED) {
    if (max == 0 || text.size() <= max) return absl::OkStatus();
    return CheckBytes(text, max, path.Text());
  }
  if (text.empty() && rule.may_be_empty()) return absl::OkStatus();
  switch (rule.form()) {
    case Rule::REQUEST_ID:
      return CheckRequestId(text, path.Text());
    case Rule::TOKEN:
      return CheckToken(text, path.Text());
    case Rule::ID:
      return CheckId(text, path.Text());
    case Rule::STUDY_NAME:
      return CheckStudyName(text, path.Text());
    case Rule::TRIAL_NAME:
      return At(ParseTrialName(text).status(), path.Text());
    case Rule::WORKER_NAME:
      return CheckWorkerName(text, path.Text());
    case Rule::TOKEN_ID:
      return CheckTokenId(text, path.Text());
    case Rule::SHA256:
      return CheckSum(text, path.Text());
    case Rule::PAGE_TOKEN:
      if (text.size() <= max) return absl::OkStatus();
      return MakeError(ErrorId::kPageTokenInvalid, "the page token is too long",
                       "send next_page_token as it came", path.field->name());
    case Rule::FILTER:
      if (text.size() <= max) return absl::OkStatus();
      return MakeError(ErrorId::kFilterInvalid, "the filter is too long",
                       absl::StrCat("keep it within ", max, " bytes"),
                       path.field->name());
    default:
      return absl::OkStatus();
  }
}

absl::Status CheckWhole(std::int64_t value, const Rule& rule,
                        const FieldPath& path) {
  const auto lo = rule.has_least() ? static_cast<std::int64_t>(rule.least())
                                   : std::numeric_limits<std::int64_t>::min();
  const auto hi = rule.has_most() ? static_cast<std::int64_t>(rule.most())
                                  : std::numeric_limits<std::int64_t>::max();
  if (value >= lo && value <= hi) return absl::OkStatus();
  return CheckRange(value, lo, hi, path.Text());
}

// NaN is in no range.
absl::Status CheckNumber(double value, const Rule& rule,
                         const FieldPath& path) {
  if (value >= rule.least() && value <= rule.most()) return absl::OkStatus();
  return BadField(path.Text(), "is out of its range",
                  absl::StrCat("give ", rule.least(), " to ", rule.most(),
                               ", or leave it out"));
}

absl::Status CheckKeys(const Message& entry, const Rule& rule,
                       const FieldPath& path) {
  const auto max = static_cast<std::size_t>(rule.max_bytes());
  const Reflection& reflection = *entry.GetReflection();
  const std::string key =
      reflection.GetString(entry, entry.GetDescriptor()->map_key());
  const bool is_labels = rule.form() == Rule::LABELS;
  if (key.empty()) {
    return BadField(
        path.Text(),
        is_labels ? "has a label without a key" : "has a metric without a name",
        is_labels ? "name every label" : "name every metric");
  }
  RETURN_IF_ERROR(CheckBytes(key, max, path.Text()));
  if (!is_labels) return absl::OkStatus();
  return CheckBytes(
      reflection.GetString(entry, entry.GetDescriptor()->map_value()), max,
      path.Text());
}

absl::Status CheckMap(const Message& message, const FieldDescriptor& field,
                      const Rule& rule, const FieldPath& path) {
  const Reflection& reflection = *message.GetReflection();
  if (rule.form() == Rule::TRIAL_LABELS) {
    Labels labels;
    for (const Message& entry :
         reflection.GetRepeatedFieldRef<Message>(message, &field)) {
      const Reflection& of_entry = *entry.GetReflection();
      labels[of_entry.GetString(entry, field.message_type()->map_key())] =
          of_entry.GetString(entry, field.message_type()->map_value());
    }
    return CheckTrialLabels(labels, path.Text());
  }
  for (const Message& entry :
       reflection.GetRepeatedFieldRef<Message>(message, &field)) {
    RETURN_IF_ERROR(CheckKeys(entry, rule, path));
  }
  return absl::OkStatus();
}

// Judges every item of a list; an item is named like the list.
absl::Status CheckItems(const Message& message, const FieldDescriptor& field,
                        const Rule& rule, const FieldPath& path) {
  const Reflection& reflection = *message.GetReflection();
  const int count = reflection.FieldSize(message, &field);
  if (rule.max_items() > 0 && count > rule.max_items()) {
    return CheckCount(count, rule.max_items(), path.Text());
  }
  if (field.is_map()) return CheckMap(message, field, rule, path);
  std::string scratch;
  for (int i = 0; i < count; ++i) {
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      RETURN_IF_ERROR(CheckText(
          reflection.GetRepeatedStringReference(message, &field, i, &scratch),
          rule, path));
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      RETURN_IF_ERROR(CheckWhole(
          reflection.GetRepeatedInt64(message, &field, i), rule, path));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckField(const Message& message, const FieldDescriptor& field,
                        const Rule& rule, const FieldPath& path) {
  if (field.is_repeated()) return CheckItems(message, field, rule, path);
  const Reflection& reflection = *message.GetReflection();
  std::string scratch;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return CheckText(reflection.GetStringReference(message, &field, &scratch),
                       rule, path);
    case FieldDescriptor::CPPTYPE_INT32:
      return CheckWhole(reflection.GetInt32(message, &field), rule, path);
    case FieldDescriptor::CPPTYPE_INT64:
      return CheckWhole(reflection.GetInt64(message, &field), rule, path);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return CheckNumber(reflection.GetDouble(message, &field), rule, path);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return CheckDuration(static_cast<const google::protobuf::Duration&>(
                               reflection.GetMessage(message, &field)),
                           rule.max_seconds(), path.Text());
    default:
      return absl::OkStatus();
  }
}

bool HasRule(const FieldDescriptor& field) {
  return field.options().HasExtension(v1::rule);
}

const MarkedFields::Fields& RuledFields(const Descriptor& type) {
  static auto* const marked = new MarkedFields(HasRule);
  return marked->Of(type);
}

absl::Status Walk(const Message& message, const FieldPath* above) {
  for (const FieldDescriptor* field : RuledFields(*message.GetDescriptor())) {
    const FieldPath path{.above = above, .field = field};
    if (HasRule(*field)) {
      const Rule& rule = field->options().GetExtension(v1::rule);
      if (rule.judged_apart()) continue;
      RETURN_IF_ERROR(CheckField(message, *field, rule, path));
    }
    if (field->message_type() == nullptr || field->is_map()) continue;
    RETURN_IF_ERROR(ForEachPart(message, path, Walk));
  }
  return absl::OkStatus();
}

// Returns a number of any type that may be negative; 0 for all else.
double NumberOf(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.GetDouble(message, &field);
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return static_cast<double>(reflection.GetInt64(message, &field));
    default:
      return 0.0;
  }
}

absl::Status NotNegative(const Message& message, const FieldPath* above) {
  const bool is_marked =
      message.GetDescriptor()->options().GetExtension(v1::no_negative_numbers);
  std::vector<const FieldDescriptor*> present;
  message.GetReflection()->ListFields(message, &present);
  for (const FieldDescriptor* field : present) {
    const FieldPath path{.above = above, .field = field};
    if (field->message_type() != nullptr && !field->is_map()) {
      RETURN_IF_ERROR(ForEachPart(message, path, NotNegative));
    }
    if (!is_marked || field->is_repeated()) continue;
    const double value = NumberOf(message, *field);
    if (std::isfinite(value) && value >= 0.0) continue;
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat(path.Text(), " is ", value),
                     "give a finite number that is not negative", path.Text());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRules(const Message& request) {
  return Walk(request, nullptr);
}

absl::Status CheckNoNegativeNumbers(const Message& message) {
  return NotNegative(message, nullptr);
}

namespace {

std::string DescribeForm(Rule::Form form) {
  switch (form) {
    case Rule::REQUEST_ID:
      return "16 to 64 of A-Z, a-z, 0-9, '_', '-'";
    case Rule::TOKEN:
      return "1 to 64 of A-Z, a-z, 0-9, '.', '_', '-'";
    case Rule::ID:
      return "1 to 64 of a-z, 0-9, '.', '_', '-', first a letter or digit";
    case Rule::STUDY_NAME:
      return "studies/{id}";
    case Rule::TRIAL_NAME:
      return "studies/{id}/trials/{number}";
    case Rule::WORKER_NAME:
      return "workers/{id}";
    case Rule::TOKEN_ID:
      return "16 lower-case hex digits";
    case Rule::SHA256:
      return "64 lower-case hex digits";
    case Rule::PAGE_TOKEN:
      return "next_page_token of an earlier answer";
    default:
      return "";
  }
}

std::string DescribeNumbers(const Rule& rule) {
  if (rule.has_least() && rule.has_most()) {
    return absl::StrCat(rule.least(), " to ", rule.most());
  }
  if (rule.has_least()) return absl::StrCat(rule.least(), " or more");
  return rule.has_most() ? absl::StrCat("at most ", rule.most()) : "";
}

std::string DescribeSize(const FieldDescriptor& field, const Rule& rule) {
  const std::string bytes =
      rule.max_bytes() == 0 || rule.form() == Rule::PAGE_TOKEN
          ? ""
          : absl::StrCat("at most ", rule.max_bytes(), " bytes");
  if (rule.max_items() == 0) return bytes;
  const bool is_each =
      field.is_map() || field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE;
  return absl::StrCat(
      "at most ", rule.max_items(), " entries",
      bytes.empty() ? "" : (is_each ? ", each " : ", together ") + bytes);
}

}  // namespace

std::string DescribeRule(const FieldDescriptor& field) {
  if (!HasRule(field)) return "";
  const Rule& rule = field.options().GetExtension(v1::rule);
  if (rule.judged_apart()) return "";
  std::string text = DescribeForm(rule.form());
  const auto add = [&text](const std::string& more) {
    if (!more.empty()) absl::StrAppend(&text, text.empty() ? "" : ", ", more);
  };
  add(DescribeNumbers(rule));
  add(DescribeSize(field, rule));
  if (rule.max_seconds() > 0)
    add(absl::StrCat("0 to ", rule.max_seconds(), " s"));
  if (!text.empty() && rule.may_be_empty()) add("or left out");
  return text;
}

const Rule& RuleOf(const Descriptor& type, const std::string& field) {
  const FieldDescriptor* const found = type.FindFieldByName(field);
  if (found == nullptr || !HasRule(*found)) {
    std::fprintf(stderr, "the contract has no rule for %s.%s\n",
                 type.full_name().c_str(), field.c_str());
    std::abort();
  }
  return found->options().GetExtension(v1::rule);
}

}  // namespace frostline::proto
