// SPDX-License-Identifier: Apache-2.0
#include "cli/view/message_text.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/plain/json.h"
#include "cli/term/table.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::Timestamp;
using google::protobuf::Value;
using google::protobuf::util::TimeUtil;

// Returns whether a string needs no escapes in JSON. Protobuf escapes < and >
// too.
bool IsPlain(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '<' &&
           c != '>';
  });
}

std::string Quoted(const std::string& text) {
  if (IsPlain(text)) return absl::StrCat("\"", text, "\"");
  Value value;
  value.set_string_value(text);
  return ProtobufJson(value, /*indented=*/false);
}

// Formats a number as protobuf does: with 15 digits if they read back the same,
// else with 17.
std::string NumberText(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  if (value == 0.0 && !std::signbit(value)) return "0";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.15g", value);
  if (std::strtod(text.data(), nullptr) != value) {
    std::snprintf(text.data(), text.size(), "%.17g", value);
  }
  return text.data();
}

bool IsValid(const Timestamp& time) {
  return time.seconds() >= TimeUtil::kTimestampMinSeconds &&
         time.seconds() <= TimeUtil::kTimestampMaxSeconds &&
         time.nanos() >= 0 && time.nanos() < 1'000'000'000;
}

bool IsValid(const google::protobuf::Duration& time) {
  return time.seconds() >= 0 &&
         time.seconds() <= TimeUtil::kDurationMaxSeconds && time.nanos() >= 0 &&
         time.nanos() < 1'000'000'000;
}

// A writer of JSON in protobuf's layout.
class JsonSink {
 public:
  explicit JsonSink(bool indented) : indented_(indented) {}

  void BeginMap() { Open('{'); }
  void EndMap() { Close('}'); }
  void BeginList() { Open('['); }
  void EndList() { Close(']'); }
  void Key(const std::string& name) {
    Item();
    text_.append(Quoted(name)).append(indented_ ? ": " : ":");
  }
  void Item() {
    if (!is_first_) text_ += ',';
    is_first_ = false;
    if (indented_) text_.append("\n").append(depth_, ' ');
  }

  void Plain(std::string_view text) { text_ += text; }
  void Text(const std::string& text) { text_ += Quoted(text); }
  void Null() { text_ += "null"; }
  void Number(double value) { text_ += NumberText(value); }
  void Whole(std::int32_t value) { absl::StrAppend(&text_, value); }
  void Whole(std::uint32_t value) { absl::StrAppend(&text_, value); }
  // Whole numbers of 64 bits are text, because a double holds 53 of them.
  void Whole(std::int64_t value) { absl::StrAppend(&text_, "\"", value, "\""); }
  void Whole(std::uint64_t value) {
    absl::StrAppend(&text_, "\"", value, "\"");
  }
  void Enum(const EnumValueDescriptor* value, int /*number*/) {
    value == nullptr ? LeaveToProtobuf() : Text(value->name());
  }

  // Defaults are written, too, where it cannot be seen whether they were set.
  static bool Tells(const FieldDescriptor& field, bool is_set) {
    return is_set || field.is_repeated() ||
           (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE &&
            field.containing_oneof() == nullptr);
  }

  // Notes that the message has what this writer does not know.
  void LeaveToProtobuf() { is_known_ = false; }
  bool is_known() const { return is_known_; }

  std::string Take() { return std::move(text_) + "\n"; }

 private:
  void Open(char bracket) {
    text_ += bracket;
    ++depth_;
    is_first_ = true;
  }
  void Close(char bracket) {
    --depth_;
    if (indented_ && !is_first_) text_.append("\n").append(depth_, ' ');
    text_ += bracket;
    is_first_ = false;
  }

  const bool indented_;
  std::size_t depth_ = 0;
  bool is_first_ = true;
  bool is_known_ = true;
  std::string text_;
};

// A walk over a message by reflection, which tells a sink what there is: maps
// in the order of the alphabet, fields in that of the contract.
template <typename Sink>
class MessageWalk {
 public:
  explicit MessageWalk(Sink& sink) : sink_(sink) {}

  void Put(const Message& message);

 private:
  template <typename Time>
  void PutTime(const Time& time);
  void PutAny(const Message& value);
  void PutFields(const Message& message);
  void PutList(const Message& message, const FieldDescriptor& field);
  void PutMap(const Message& message, const FieldDescriptor& field);
  // Writes the element at `index` of a repeated field, or the field itself for
  // -1.
  void PutValue(const Message& message, const FieldDescriptor& field,
                int index);

  Sink& sink_;
};

template <typename Sink>
void MessageWalk<Sink>::Put(const Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  switch (type.well_known_type()) {
    case Descriptor::WELLKNOWNTYPE_TIMESTAMP:
      return PutTime(static_cast<const Timestamp&>(message));
    case Descriptor::WELLKNOWNTYPE_DURATION:
      return PutTime(static_cast<const google::protobuf::Duration&>(message));
    case Descriptor::WELLKNOWNTYPE_VALUE:
      return PutAny(message);
    case Descriptor::WELLKNOWNTYPE_STRUCT:
      return PutMap(message, *type.field(0));
    case Descriptor::WELLKNOWNTYPE_LISTVALUE:
      return PutList(message, *type.field(0));
    default:
      if (type.file()->package() == "google.protobuf") sink_.LeaveToProtobuf();
      PutFields(message);
  }
}

template <typename Sink>
template <typename Time>
void MessageWalk<Sink>::PutTime(const Time& time) {
  if (!IsValid(time)) sink_.LeaveToProtobuf();
  sink_.Text(TimeUtil::ToString(time));
}

template <typename Sink>
void MessageWalk<Sink>::PutAny(const Message& value) {
  const FieldDescriptor* const kind =
      value.GetReflection()->GetOneofFieldDescriptor(
          value, value.GetDescriptor()->oneof_decl(0));
  if (kind == nullptr || kind->number() == Value::kNullValueFieldNumber) {
    if (kind == nullptr) sink_.LeaveToProtobuf();
    return sink_.Null();
  }
  const bool has_odd_number =
      kind->number() == Value::kNumberValueFieldNumber &&
      !std::isfinite(value.GetReflection()->GetDouble(value, kind));
  if (has_odd_number) sink_.LeaveToProtobuf();
  PutValue(value, *kind, -1);
}

template <typename Sink>
void MessageWalk<Sink>::PutFields(const Message& message) {
  const Descriptor& type = *message.GetDescriptor();
  const Reflection& from = *message.GetReflection();
  sink_.BeginMap();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const bool is_set = field.is_repeated()
                            ? from.FieldSize(message, &field) > 0
                            : from.HasField(message, &field);
    if (!Sink::Tells(field, is_set)) continue;
    sink_.Key(field.name());
    if (field.is_map()) {
      PutMap(message, field);
    } else if (field.is_repeated()) {
      PutList(message, field);
    } else {
      PutValue(message, field, -1);
    }
  }
  sink_.EndMap();
}

template <typename Sink>
void MessageWalk<Sink>::PutList(const Message& message,
                                const FieldDescriptor& field) {
  const int size = message.GetReflection()->FieldSize(message, &field);
  sink_.BeginList();
  for (int i = 0; i < size; ++i) {
    sink_.Item();
    PutValue(message, field, i);
  }
  sink_.EndList();
}

template <typename Sink>
void MessageWalk<Sink>::PutMap(const Message& message,
                               const FieldDescriptor& field) {
  const FieldDescriptor& key = *field.message_type()->map_key();
  const FieldDescriptor& value = *field.message_type()->map_value();
  const Reflection& from = *message.GetReflection();
  std::vector<std::pair<std::string, const Message*>> pairs;
  for (int i = 0; i < from.FieldSize(message, &field); ++i) {
    const Message& pair = from.GetRepeatedMessage(message, &field, i);
    // The contract has no maps but those of text.
    if (key.cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
      sink_.LeaveToProtobuf();
      continue;
    }
    pairs.emplace_back(pair.GetReflection()->GetString(pair, &key), &pair);
  }
  std::sort(pairs.begin(), pairs.end());
  sink_.BeginMap();
  for (const auto& [name, pair] : pairs) {
    sink_.Key(name);
    PutValue(*pair, value, -1);
  }
  sink_.EndMap();
}

template <typename Sink>
void MessageWalk<Sink>::PutValue(const Message& message,
                                 const FieldDescriptor& field, int index) {
  using R = Reflection;
  const R& from = *message.GetReflection();
  const auto get = [&](auto one, auto repeated) {
    return index < 0 ? (from.*one)(message, &field)
                     : (from.*repeated)(message, &field, index);
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return Put(index < 0 ? from.GetMessage(message, &field)
                           : from.GetRepeatedMessage(message, &field, index));
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = get(&R::GetString, &R::GetRepeatedString);
      const bool is_bytes = field.type() == FieldDescriptor::TYPE_BYTES;
      return sink_.Text(is_bytes ? absl::Base64Escape(text) : text);
    }
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return sink_.Number(get(&R::GetDouble, &R::GetRepeatedDouble));
    case FieldDescriptor::CPPTYPE_FLOAT:  // the contract has none
      sink_.LeaveToProtobuf();
      return sink_.Number(get(&R::GetFloat, &R::GetRepeatedFloat));
    case FieldDescriptor::CPPTYPE_INT64:
      return sink_.Whole(get(&R::GetInt64, &R::GetRepeatedInt64));
    case FieldDescriptor::CPPTYPE_UINT64:
      return sink_.Whole(get(&R::GetUInt64, &R::GetRepeatedUInt64));
    case FieldDescriptor::CPPTYPE_INT32:
      return sink_.Whole(get(&R::GetInt32, &R::GetRepeatedInt32));
    case FieldDescriptor::CPPTYPE_UINT32:
      return sink_.Whole(get(&R::GetUInt32, &R::GetRepeatedUInt32));
    case FieldDescriptor::CPPTYPE_BOOL:
      return sink_.Plain(get(&R::GetBool, &R::GetRepeatedBool) ? "true"
                                                               : "false");
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int number = get(&R::GetEnumValue, &R::GetRepeatedEnumValue);
      return sink_.Enum(field.enum_type()->FindValueByNumber(number), number);
    }
  }
}

}  // namespace

std::string ProtobufJson(const Message& message, bool indented) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = indented;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &json, options);
  return status.ok() ? json : "{\"error\": \"no JSON\"}\n";
}

std::string ToJson(const Message& message) {
  JsonSink sink(/*indented=*/true);
  MessageWalk(sink).Put(message);
  return sink.is_known() ? sink.Take() : ProtobufJson(message, true);
}

std::string ToJsonLine(const Message& message) {
  JsonSink sink(/*indented=*/false);
  MessageWalk(sink).Put(message);
  return sink.is_known() ? sink.Take() : ProtobufJson(message, false) + "\n";
}

namespace {

constexpr std::size_t kIndent = 2;
constexpr const char* kOtherThanText[] = {"true", "false", "null", "yes", "no",
                                          "on",   "off",   "y",    "n"};
constexpr std::size_t kLongestOther = 5;

bool IsPlainChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("_-./ ,()+=").find(c) != std::string_view::npos;
}

bool NeedsQuotes(const std::string& text) {
  if (text.empty() || text.back() == ' ') return true;
  const auto first = static_cast<unsigned char>(text.front());
  if (!absl::ascii_isalpha(first) && first != '/' && first != '_') return true;
  if (!std::all_of(text.begin(), text.end(), IsPlainChar)) return true;
  return text.size() <= kLongestOther &&
         std::any_of(std::begin(kOtherThanText), std::end(kOtherThanText),
                     [&text](const char* other) {
                       return absl::EqualsIgnoreCase(text, other);
                     });
}

// Returns the letter of a short escape, or 0 for none.
char EscapeOf(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\n':
      return 'n';
    case '\t':
      return 't';
    case '\r':
      return 'r';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    default:
      return 0;
  }
}

struct Escaped {
  std::string_view bytes;
  std::string_view text;
};

// UTF-8 characters that a YAML reader folds or drops: line ends outside of
// ASCII, and the byte order mark.
constexpr std::array<Escaped, 4> kEscaped = {{{"\xC2\x85", "\\x85"},
                                              {"\xE2\x80\xA8", "\\u2028"},
                                              {"\xE2\x80\xA9", "\\u2029"},
                                              {"\xEF\xBB\xBF", "\\ufeff"}}};

// Appends one character of several bytes and returns their number.
std::size_t PutWide(std::string_view rest, std::string& to) {
  for (const Escaped& one : kEscaped) {
    if (!rest.starts_with(one.bytes)) continue;
    to += one.text;
    return one.bytes.size();
  }
  // The other controls between U+0080 and U+009F, and the hard blank.
  if (rest.size() > 1 && rest[0] == '\xC2' &&
      static_cast<unsigned char>(rest[1]) <= 0xA0) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(rest[1]);
    to += {'\\', 'x', kDigits[code >> 4], kDigits[code & 15]};
    return 2;
  }
  to += rest[0];
  return 1;
}

void PutQuoted(const std::string& text, std::string& to) {
  constexpr char kDigits[] = "0123456789abcdef";
  to += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x80) {
      i += PutWide(std::string_view(text).substr(i), to);
      continue;
    }
    const char escape = EscapeOf(c);
    if (escape != 0) {
      to += {'\\', escape};
    } else if (code < 0x20 || code == 0x7F) {
      to += {'\\', 'x', kDigits[code >> 4], kDigits[code & 15]};
    } else {
      to += c;
    }
    ++i;
  }
  to += '"';
}

}  // namespace

void BlockYaml::Begin() {
  const std::size_t indent =
      levels_.empty() ? 0 : levels_.back().indent + kIndent;
  levels_.push_back({.indent = indent, .opened = behind_});
}

void BlockYaml::End(const char* when_empty) {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.is_empty) return;
  behind_ = level.opened;
  Plain(when_empty);
}

void BlockYaml::Key(const std::string& name) {
  Level& level = levels_.back();
  if (level.is_empty && level.opened == Behind::kDash) {
    text_ += ' ';  // the first key stands on the line of its dash
  } else {
    if (level.is_empty && level.opened == Behind::kKey) text_ += '\n';
    text_.append(level.indent, ' ');
  }
  level.is_empty = false;
  PutText(name);
  text_ += ':';
  behind_ = Behind::kKey;
}

void BlockYaml::Item() {
  Level& level = levels_.back();
  if (level.is_empty && level.opened != Behind::kNothing) text_ += '\n';
  level.is_empty = false;
  text_.append(level.indent, ' ');
  text_ += '-';
  behind_ = Behind::kDash;
}

void BlockYaml::Plain(std::string_view text) {
  if (behind_ != Behind::kNothing) text_ += ' ';
  text_.append(text).append("\n");
}

void BlockYaml::Text(const std::string& text) {
  if (behind_ != Behind::kNothing) text_ += ' ';
  PutText(text);
  text_ += '\n';
}

void BlockYaml::PutText(const std::string& text) {
  if (NeedsQuotes(text)) {
    PutQuoted(text, text_);
  } else {
    text_ += text;
  }
}

namespace {

// Formats a number with a dot: YAML 1.1 takes "1e-05" for text, "1.0e-05" for a
// number.
std::string YamlNumberText(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  std::string text = CsvNumber(value);
  const std::size_t exponent = text.find('e');
  if (exponent != std::string::npos && !absl::StrContains(text, '.')) {
    text.insert(exponent, ".0");
  }
  return text;
}

// Returns whether a zero is written although it is the default, as for the
// number of trial 0 and the rate of a frozen module.
bool IsToldOfZero(const FieldDescriptor& field) {
  if (field.is_repeated() || field.has_presence()) return false;
  return field.name() == "number" ||
         (field.name() == "rate" &&
          field.containing_type()->name() == "ModuleRate");
}

class YamlSink : public BlockYaml {
 public:
  void Null() { Plain("~"); }
  void Number(double value) { Plain(YamlNumberText(value)); }
  template <typename Integer>
  void Whole(Integer value) {
    Plain(absl::StrCat(value));
  }
  void Enum(const EnumValueDescriptor* value, int number) {
    Plain(value == nullptr ? absl::StrCat(number) : value->name());
  }

  static bool Tells(const FieldDescriptor& field, bool is_set) {
    return is_set || IsToldOfZero(field);
  }

  void LeaveToProtobuf() {}  // which has no YAML: all is written here
};

}  // namespace

std::string ToYaml(const Message& message) {
  YamlSink sink;
  MessageWalk(sink).Put(message);
  return sink.Take();
}

}  // namespace frostline::cli
