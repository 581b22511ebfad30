// SPDX-License-Identifier: Apache-2.0
#include "proto/rules.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/served.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace frostline::proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::Message;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using v1::Rule;

// Every request that somebody serves.
std::vector<const Descriptor*> Requests() {
  std::vector<const Descriptor*> requests;
  for (const FileDescriptor* file :
       {v1::GetStudyRequest::descriptor()->file(),
        v1::AcquireRequest::descriptor()->file(),
        v1::GetReportRequest::descriptor()->file(),
        v1::GetInfoRequest::descriptor()->file()}) {
    const auto& service = *file->service(0);
    for (int i = 0; i < service.method_count(); ++i) {
      const auto& method = *service.method(i);
      if (method.options().HasExtension(v1::method_not_served)) continue;
      requests.push_back(method.input_type());
    }
  }
  return requests;
}

std::unique_ptr<Message> Make(const Descriptor& type) {
  return std::unique_ptr<Message>(
      google::protobuf::MessageFactory::generated_factory()
          ->GetPrototype(&type)
          ->New());
}

const char* TextOf(Rule::Form form) {
  switch (form) {
    case Rule::REQUEST_ID:
      return "0123456789abcdef";
    case Rule::STUDY_NAME:
      return "studies/s";
    case Rule::TRIAL_NAME:
      return "studies/s/trials/0";
    case Rule::WORKER_NAME:
      return "workers/w";
    case Rule::TOKEN_ID:
      return "0123456789abcdef";
    case Rule::SHA256:
      return "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    case Rule::TOKEN:
    case Rule::ID:
      return "a";
    default:
      return "";
  }
}

bool IsNumber(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_INT32 ||
         field.cpp_type() == FieldDescriptor::CPPTYPE_INT64 ||
         field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE;
}

void SetNumber(Message& message, const FieldDescriptor& field, double value) {
  const auto& reflection = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
    reflection.SetDouble(&message, &field, value);
  } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
    reflection.SetInt32(&message, &field, static_cast<std::int32_t>(value));
  } else {
    reflection.SetInt64(&message, &field, static_cast<std::int64_t>(value));
  }
}

// A field of a request, with the request and the part that holds the field.
struct Place {
  Message& request;
  Message& part;
  const FieldDescriptor& field;
  const Rule& rule;
  std::string path;
};

// Fills `part` with what every rule allows, and calls `visit` for each field
// with a rule. Lists of messages get one entry.
void Fill(Message& request, Message& part, const std::string& prefix,
          std::vector<Place>& places, int depth = 0) {
  const Descriptor& type = *part.GetDescriptor();
  const auto& reflection = *part.GetReflection();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const Rule& rule = field.options().GetExtension(v1::rule);
    if (rule.judged_apart() || depth > 5 ||
        field.options().HasExtension(v1::not_served)) {
      continue;
    }
    std::string path = prefix + field.name();
    const bool is_message = field.message_type() != nullptr && !field.is_map();
    const bool is_ours =
        is_message &&
        absl::StartsWith(field.message_type()->full_name(), "frostline.");
    if (field.options().HasExtension(v1::rule)) {
      places.push_back({request, part, field, rule, path});
    }
    if (is_ours && field.is_repeated()) {
      Fill(request, *reflection.AddMessage(&part, &field), path + "[0].",
           places, depth + 1);
    } else if (is_ours) {
      Fill(request, *reflection.MutableMessage(&part, &field), path + ".",
           places, depth + 1);
    } else if (!field.is_repeated() && IsNumber(field) && rule.least() > 0.0) {
      SetNumber(part, field, rule.least());
    } else if (!field.is_repeated() &&
               field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      reflection.SetString(&part, &field, TextOf(rule.form()));
    }
  }
}

// Ways to break the rule of a place, each undone before the next.
using Breaks = std::vector<std::function<void()>>;

void AddListBreaks(const Place& place, Breaks& breaks) {
  const auto& reflection = *place.part.GetReflection();
  if (place.rule.max_items() > 0 && !place.field.is_map()) {
    breaks.push_back([&place, &reflection] {
      for (int i = 0; i <= place.rule.max_items(); ++i) {
        if (place.field.message_type() != nullptr) {
          reflection.AddMessage(&place.part, &place.field);
        } else if (place.field.cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
          reflection.AddInt64(&place.part, &place.field, 1);
        } else {
          reflection.AddString(&place.part, &place.field,
                               TextOf(place.rule.form()));
        }
      }
    });
  }
  if (place.field.cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    breaks.push_back([&place, &reflection] {
      reflection.AddInt64(&place.part, &place.field, -1);
    });
  }
  if (place.field.cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
      (place.rule.form() != Rule::FORM_UNSPECIFIED ||
       place.rule.max_bytes() > 0)) {
    breaks.push_back([&place, &reflection] {
      reflection.AddString(&place.part, &place.field, std::string(300, '/'));
    });
  }
  if (!place.field.is_map()) return;
  const auto add = [&place, &reflection](const std::string& key) {
    Message& entry = *reflection.AddMessage(&place.part, &place.field);
    entry.GetReflection()->SetString(&entry, entry.GetDescriptor()->map_key(),
                                     key);
  };
  const auto max_bytes = static_cast<std::size_t>(place.rule.max_bytes());
  breaks.push_back([add, max_bytes] { add(std::string(max_bytes + 1, 'k')); });
  if (place.rule.form() == Rule::TRIAL_LABELS) return;
  breaks.push_back([add] { add(""); });
  breaks.push_back([add, most = place.rule.max_items()] {
    for (int i = 0; i <= most; ++i) add(absl::StrCat("k", i));
  });
}

Breaks BreaksOf(const Place& place) {
  Breaks breaks;
  const auto& reflection = *place.part.GetReflection();
  if (place.field.is_repeated()) {
    AddListBreaks(place, breaks);
    return breaks;
  }
  if (place.rule.has_least()) {
    breaks.push_back([&place] {
      SetNumber(place.part, place.field, place.rule.least() - 1);
    });
  }
  if (place.rule.has_most()) {
    breaks.push_back([&place] {
      SetNumber(place.part, place.field, place.rule.most() + 1);
    });
  }
  if (place.rule.max_seconds() > 0) {
    breaks.push_back([&place, &reflection] {
      auto& duration = static_cast<google::protobuf::Duration&>(
          *reflection.MutableMessage(&place.part, &place.field));
      duration.set_seconds(place.rule.max_seconds());
      duration.set_nanos(1);
    });
  }
  if (place.field.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    const auto bytes = std::max<std::size_t>(
        200, static_cast<std::size_t>(place.rule.max_bytes()) + 1);
    breaks.push_back([&place, &reflection, bytes] {
      reflection.SetString(&place.part, &place.field, std::string(bytes, '/'));
    });
  }
  return breaks;
}

// Other places point at the entries that a list had before.
void Undo(const Place& place, Message& before) {
  const auto& reflection = *place.part.GetReflection();
  if (!place.field.is_repeated() || place.field.message_type() == nullptr ||
      place.field.is_map()) {
    reflection.SwapFields(&place.part, &before, {&place.field});
    return;
  }
  while (reflection.FieldSize(place.part, &place.field) >
         reflection.FieldSize(before, &place.field)) {
    reflection.RemoveLast(&place.part, &place.field);
  }
}

TEST(RulesTest, EachRuleOfEachRequestIsKept) {
  int broken = 0;
  for (const Descriptor* type : Requests()) {
    const auto request = Make(*type);
    std::vector<Place> places;
    Fill(*request, *request, "", places);
    ASSERT_OK(CheckRules(*request)) << type->name();
    for (const Place& place : places) {
      for (const auto& breaks : BreaksOf(place)) {
        const auto before = Make(*place.part.GetDescriptor());
        before->CopyFrom(place.part);
        breaks();
        const absl::Status status = CheckRules(*request);
        ASSERT_FALSE(status.ok()) << type->name() << " " << place.path;
        const std::string field = DetailOf(status)->field;
        // Of a filter and a page token only the last word is told.
        EXPECT_TRUE(field == place.path ||
                    absl::EndsWith(place.path, "." + field))
            << type->name() << " " << place.path << " and not " << field;
        Undo(place, *before);
        ++broken;
      }
    }
  }
  EXPECT_GT(broken, 200);
}

// Calls `visit` for every field of the contract.
void ForEachField(const std::function<void(const FieldDescriptor&)>& visit) {
  std::set<const FileDescriptor*> seen;
  const std::function<void(const Descriptor&)> in_message =
      [&](const Descriptor& type) {
        for (int i = 0; i < type.field_count(); ++i) visit(*type.field(i));
        for (int i = 0; i < type.nested_type_count(); ++i) {
          in_message(*type.nested_type(i));
        }
      };
  const std::function<void(const FileDescriptor&)> in_file =
      [&](const FileDescriptor& file) {
        if (!seen.insert(&file).second) return;
        for (int i = 0; i < file.message_type_count(); ++i) {
          in_message(*file.message_type(i));
        }
        for (int i = 0; i < file.dependency_count(); ++i) {
          in_file(*file.dependency(i));
        }
      };
  for (const Descriptor* type : Requests()) in_file(*type->file());
}

// What is wrong with a rule, as this field has it; or nothing.
std::string WhatDoesNotFit(const FieldDescriptor& field, const Rule& rule) {
  const bool is_text = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  const bool is_number = IsNumber(field);
  const auto form = rule.form();
  const bool is_of_maps = form == Rule::LABELS || form == Rule::METRICS ||
                          form == Rule::TRIAL_LABELS;
  if (form != Rule::FORM_UNSPECIFIED && is_of_maps != field.is_map()) {
    return "form";
  }
  if (form != Rule::FORM_UNSPECIFIED && !is_of_maps && !is_text) return "form";
  if ((rule.has_least() || rule.has_most()) && !is_number) return "range";
  // A range of numbers with a point needs both ends.
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE &&
      rule.has_least() != rule.has_most() &&
      field.containing_type() != v1::Budget::descriptor()) {
    return "range";
  }
  if (rule.max_items() > 0 && !field.is_repeated()) return "max_items";
  if (rule.max_seconds() > 0 &&
      field.message_type() != google::protobuf::Duration::descriptor()) {
    return "max_seconds";
  }
  if (rule.max_bytes() > 0 && !is_text && !field.is_repeated()) {
    return "max_bytes";
  }
  if (rule.max_bytes() > (1 << 20)) return "more bytes than a request has";
  return "";
}

TEST(RulesTest, EachRuleFitsItsField) {
  int rules = 0;
  ForEachField([&rules](const FieldDescriptor& field) {
    if (!field.options().HasExtension(v1::rule)) return;
    ++rules;
    EXPECT_EQ(WhatDoesNotFit(field, field.options().GetExtension(v1::rule)), "")
        << field.full_name();
  });
  EXPECT_GT(rules, 150);
}

TEST(RulesTest, ATextOfARequestItselfIsBounded) {
  std::vector<std::string> unbounded;
  for (const Descriptor* type : Requests()) {
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor& field = *type->field(i);
      const bool is_open =
          field.cpp_type() == FieldDescriptor::CPPTYPE_STRING ||
          field.is_repeated();
      if (!is_open || field.options().HasExtension(v1::rule) ||
          field.options().HasExtension(v1::not_served)) {
        continue;
      }
      unbounded.push_back(field.full_name());
    }
  }
  EXPECT_THAT(unbounded, IsEmpty());
}

TEST(RulesTest, TellsTheWayToAFieldDeepInAList) {
  v1::RegisterRequest request;
  request.set_request_id("0123456789abcdef");
  request.set_worker_id("w");
  request.mutable_worker()->set_boot_id("b");
  request.mutable_worker()->set_slots(1);
  for (int i = 0; i < 2; ++i) {
    v1::LeaseRef& lease = *request.add_left_logs()->mutable_lease();
    lease.set_trial("studies/s/trials/0");
    lease.set_secret("s");
    lease.set_attempt(1 - i);
  }
  const absl::Status status = CheckRules(request);
  EXPECT_THAT(status,
              FailsAt(ErrorId::kRequestInvalid, "left_logs[1].lease.attempt"));
  EXPECT_THAT(DetailOf(status)->fix,
              HasSubstr("from 1 to 9223372036854775807"));
}

TEST(RulesTest, AnAbsentPartIsJudgedLikeAnEmptyOne) {
  v1::ReportRequest request;
  request.set_sequence(1);
  EXPECT_THAT(CheckRules(request),
              FailsAt(ErrorId::kNameInvalid, "lease.trial"));
}

TEST(RulesTest, NoNumberOfATrainingIsNegative) {
  v1::StudySpec spec;
  spec.add_tasks()->mutable_data()->set_train_share(0.1);
  EXPECT_OK(CheckNoNegativeNumbers(spec));
  spec.mutable_training()->mutable_lora()->set_alpha(-1);
  EXPECT_THAT(CheckNoNegativeNumbers(spec),
              FailsAt(ErrorId::kRequestInvalid, "training.lora.alpha"));
  spec.clear_training();
  spec.mutable_tasks(0)->mutable_data()->set_train_share(
      std::numeric_limits<double>::infinity());
  EXPECT_THAT(CheckNoNegativeNumbers(spec),
              FailsAt(ErrorId::kRequestInvalid, "tasks[0].data.train_share"));
}

TEST(RulesDeathTest, AskingForARuleThatThereIsNotEndsTheProgram) {
  EXPECT_DEATH(MaxBytes<v1::GetStudyRequest>("nothere"),
               "no rule for frostline.v1.GetStudyRequest.nothere");
}

}  // namespace
}  // namespace frostline::proto
