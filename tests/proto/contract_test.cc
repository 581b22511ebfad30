// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/errors.pb.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/rules.pb.h"
#include "frostline/v1/served.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::proto {

// The wire contract as a list of facts, one a line, to be kept in
// proto/frostline.v1.lock and compared with what the .proto files say today:
//
//   field frostline.v1.Study 4 = singular enum frostline.v1.StudyState state
//
// What stands before " = " names the fact, what follows is its content. A new
// fact is an addition; a fact that is gone or says something else breaks
// somebody's client.

using Contract = std::map<std::string, std::string>;

struct ContractChange {
  std::vector<std::string> breaks;     // sentences
  std::vector<std::string> additions;  // names of facts
};

// Everything the file declares, added to `contract`.
void AddFile(const google::protobuf::FileDescriptor& file, Contract* contract);

std::string FormatContract(const Contract& contract);
Contract ParseContract(const std::string& text);

// A field or enum value may go when its number is reserved; nothing else may.
ContractChange CompareContracts(const Contract& locked, const Contract& now);

namespace {

namespace pb = google::protobuf;

constexpr char kIs[] = " = ";
constexpr char kReserved[] = "reserved";

std::string TypeOf(const pb::FieldDescriptor& field) {
  if (field.is_map()) {
    const pb::Descriptor& entry = *field.message_type();
    return absl::StrCat("map<", TypeOf(*entry.map_key()), ", ",
                        TypeOf(*entry.map_value()), ">");
  }
  if (field.enum_type() != nullptr) {
    return absl::StrCat("enum ", field.enum_type()->full_name());
  }
  if (field.message_type() != nullptr) {
    return absl::StrCat("message ", field.message_type()->full_name());
  }
  return field.type_name();
}

std::string LabelOf(const pb::FieldDescriptor& field) {
  if (field.is_map()) return "map";
  if (field.is_repeated()) return "repeated";
  if (field.real_containing_oneof() != nullptr) {
    return absl::StrCat("oneof(", field.real_containing_oneof()->name(), ")");
  }
  return field.has_presence() && field.message_type() == nullptr ? "optional"
                                                                 : "singular";
}

std::string Numbered(const char* kind, const std::string& owner, int number) {
  return absl::StrCat(kind, " ", owner, " ", number);
}

// Both kinds of owner: ranges of a message end before, those of an enum at,
// their last number.
template <typename Descriptor>
void AddReserved(const Descriptor& owner, const char* kind, int end_offset,
                 Contract* contract) {
  for (int i = 0; i < owner.reserved_range_count(); ++i) {
    const auto* range = owner.reserved_range(i);
    for (int n = range->start; n < range->end + end_offset; ++n) {
      (*contract)[Numbered(kind, owner.full_name(), n)] = kReserved;
    }
  }
}

void AddEnum(const pb::EnumDescriptor& descriptor, Contract* contract) {
  (*contract)[absl::StrCat("enum ", descriptor.full_name())] = "";
  for (int i = 0; i < descriptor.value_count(); ++i) {
    const pb::EnumValueDescriptor& value = *descriptor.value(i);
    (*contract)[Numbered("value", descriptor.full_name(), value.number())] =
        value.name();
  }
  AddReserved(descriptor, "value", 1, contract);
}

void AddMessage(const pb::Descriptor& message, Contract* contract) {
  if (message.options().map_entry()) return;  // told by the map field
  (*contract)[absl::StrCat("message ", message.full_name())] = "";
  for (int i = 0; i < message.field_count(); ++i) {
    const pb::FieldDescriptor& field = *message.field(i);
    (*contract)[Numbered("field", message.full_name(), field.number())] =
        absl::StrCat(LabelOf(field), " ", TypeOf(field), " ", field.name());
  }
  AddReserved(message, "field", 0, contract);
  for (int i = 0; i < message.enum_type_count(); ++i) {
    AddEnum(*message.enum_type(i), contract);
  }
  for (int i = 0; i < message.nested_type_count(); ++i) {
    AddMessage(*message.nested_type(i), contract);
  }
}

// A mark that the contract's own declarations may carry.
void AddExtension(const pb::FieldDescriptor& field, Contract* contract) {
  (*contract)[absl::StrCat("extension ", field.full_name())] =
      absl::StrCat(TypeOf(field), " ", field.number(), " of ",
                   field.containing_type()->full_name());
}

void AddService(const pb::ServiceDescriptor& service, Contract* contract) {
  (*contract)[absl::StrCat("service ", service.full_name())] = "";
  for (int i = 0; i < service.method_count(); ++i) {
    const pb::MethodDescriptor& method = *service.method(i);
    (*contract)[absl::StrCat("method ", method.full_name())] =
        absl::StrCat(method.client_streaming() ? "stream " : "",
                     method.input_type()->full_name(), " -> ",
                     method.server_streaming() ? "stream " : "",
                     method.output_type()->full_name());
  }
}

}  // namespace

void AddFile(const pb::FileDescriptor& file, Contract* contract) {
  for (int i = 0; i < file.message_type_count(); ++i) {
    AddMessage(*file.message_type(i), contract);
  }
  for (int i = 0; i < file.enum_type_count(); ++i) {
    AddEnum(*file.enum_type(i), contract);
  }
  for (int i = 0; i < file.extension_count(); ++i) {
    AddExtension(*file.extension(i), contract);
  }
  for (int i = 0; i < file.service_count(); ++i) {
    AddService(*file.service(i), contract);
  }
}

std::string FormatContract(const Contract& contract) {
  std::string text;
  for (const auto& [name, content] : contract) {
    absl::StrAppend(&text, name, content.empty() ? "" : kIs, content, "\n");
  }
  return text;
}

Contract ParseContract(const std::string& text) {
  Contract contract;
  for (const auto line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    const std::vector<std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(kIs, 1));
    contract[parts[0]] = parts.size() == 2 ? parts[1] : "";
  }
  return contract;
}

ContractChange CompareContracts(const Contract& locked, const Contract& now) {
  ContractChange change;
  for (const auto& [name, content] : locked) {
    const auto found = now.find(name);
    if (found == now.end()) {
      change.breaks.push_back(absl::StrCat(name, " (", content, ") is gone"));
    } else if (found->second != content && found->second != kReserved) {
      change.breaks.push_back(absl::StrCat(name, " was '", content,
                                           "' and is '", found->second, "'"));
    }
  }
  for (const auto& [name, content] : now) {
    const auto found = locked.find(name);
    const bool newly_reserved = content == kReserved && found != locked.end() &&
                                found->second != kReserved;
    if (found == locked.end() || newly_reserved) {
      change.additions.push_back(name);
    }
  }
  return change;
}

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The contract may grow, never break. Additions are written into the lock with
//   FROSTLINE_UPDATE_LOCK=1 ctest -R proto_contract
// which refuses when something broke.

constexpr char kHead[] =
    "# The wire contract, one fact a line. Written by the test proto_contract\n"
    "# with FROSTLINE_UPDATE_LOCK=1; a line here may never change or go.\n";

std::filesystem::path SourceFolder() {
  return std::getenv("FROSTLINE_SOURCE_DIR");
}

const std::vector<const pb::FileDescriptor*>& OurFiles() {
  static const auto* files = new std::vector<const pb::FileDescriptor*>{
      v1::Rule::descriptor()->file(),
      pb::DescriptorPool::generated_pool()->FindFileByName(
          "frostline/v1/served.proto"),
      v1::Study::descriptor()->file(),
      v1::Trial::descriptor()->file(),
      v1::TrialTable::descriptor()->file(),
      v1::Worker::descriptor()->file(),
      v1::ErrorInfo::descriptor()->file(),
      v1::ImportanceReport::descriptor()->file(),
      v1::Frontier::descriptor()->file(),
      v1::TrialComparison::descriptor()->file(),
      v1::GetStudyRequest::descriptor()->file(),
      v1::AcquireRequest::descriptor()->file(),
      v1::GetReportRequest::descriptor()->file(),
      v1::GetInfoRequest::descriptor()->file()};
  return *files;
}

Contract Today() {
  Contract contract;
  for (const auto* file : OurFiles()) AddFile(*file, &contract);
  return contract;
}

TEST(ProtoContractTest, CoversEveryFileOfTheFolder) {
  std::set<std::string> on_disk, compiled;
  for (const auto& entry : std::filesystem::directory_iterator(
           SourceFolder() / "proto/frostline/v1")) {
    on_disk.insert("frostline/v1/" + entry.path().filename().string());
  }
  for (const auto* file : OurFiles()) compiled.insert(file->name());
  EXPECT_EQ(compiled, on_disk);
}

TEST(ProtoContractTest, BreaksNoClient) {
  const auto path = SourceFolder() / "proto/frostline.v1.lock";
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const ContractChange change =
      CompareContracts(ParseContract(text.str()), Today());
  ASSERT_THAT(change.breaks, IsEmpty());
  if (std::getenv("FROSTLINE_UPDATE_LOCK") != nullptr) {
    std::ofstream(path) << kHead << FormatContract(Today());
    return;
  }
  EXPECT_THAT(change.additions, IsEmpty())
      << "run this test with FROSTLINE_UPDATE_LOCK=1 and commit the lock";
}

// --- the check itself, with changes planted into trial.proto ---

void Build(const pb::FileDescriptorProto& file, pb::DescriptorPool* pool) {
  for (const auto& import : file.dependency()) {
    if (pool->FindFileByName(import) != nullptr) continue;
    pb::FileDescriptorProto imported;
    pb::DescriptorPool::generated_pool()->FindFileByName(import)->CopyTo(
        &imported);
    Build(imported, pool);
  }
  ASSERT_NE(pool->BuildFile(file), nullptr) << file.name();
}

using Plant = std::function<void(pb::FileDescriptorProto*)>;

ContractChange After(const Plant& plant) {
  const pb::FileDescriptor& file = *v1::Trial::descriptor()->file();
  pb::FileDescriptorProto changed;
  file.CopyTo(&changed);
  plant(&changed);
  pb::DescriptorPool pool;
  Build(changed, &pool);
  Contract locked, now;
  AddFile(file, &locked);
  AddFile(*pool.FindFileByName(file.name()), &now);
  return CompareContracts(locked, ParseContract(FormatContract(now)));
}

pb::DescriptorProto* Message(pb::FileDescriptorProto* file,
                             const std::string& name) {
  for (auto& message : *file->mutable_message_type()) {
    if (message.name() == name) return &message;
  }
  return nullptr;
}

pb::FieldDescriptorProto* Field(pb::FileDescriptorProto* file,
                                const std::string& message,
                                const std::string& name) {
  for (auto& field : *Message(file, message)->mutable_field()) {
    if (field.name() == name) return &field;
  }
  return nullptr;
}

// ModuleRate has the fields module = 1, rate = 2, rank = 3.
void DropRate(pb::FileDescriptorProto* file) {
  Message(file, "ModuleRate")->mutable_field()->DeleteSubrange(1, 1);
}

void Reserve(pb::DescriptorProto* message, int number) {
  auto* range = message->add_reserved_range();
  range->set_start(number);
  range->set_end(number + 1);
}

TEST(ContractCheckTest, SaysNothingWhenNothingChanged) {
  const ContractChange change = After([](auto*) {});
  EXPECT_THAT(change.breaks, IsEmpty());
  EXPECT_THAT(change.additions, IsEmpty());
}

TEST(ContractCheckTest, NamesARemovedField) {
  EXPECT_THAT(After(DropRate).breaks,
              ElementsAre("field frostline.v1.ModuleRate 2 (singular double "
                          "rate) is gone"));
}

TEST(ContractCheckTest, LetsAReservedFieldGo) {
  const ContractChange change = After([](auto* file) {
    DropRate(file);
    Reserve(Message(file, "ModuleRate"), 2);
  });
  EXPECT_THAT(change.breaks, IsEmpty());
  EXPECT_THAT(change.additions, ElementsAre("field frostline.v1.ModuleRate 2"));
}

TEST(ContractCheckTest, NeverGivesAReservedNumberAway) {
  const Contract locked = {{"field frostline.v1.X 2", "reserved"}};
  const Contract now = {{"field frostline.v1.X 2", "singular int32 y"}};
  EXPECT_THAT(CompareContracts(locked, now).breaks,
              ElementsAre(HasSubstr("was 'reserved'")));
  EXPECT_THAT(CompareContracts(locked, {}).breaks,
              ElementsAre(HasSubstr("is gone")));
}

TEST(ContractCheckTest, NamesARenumberedField) {
  const ContractChange change = After(
      [](auto* file) { Field(file, "ModuleRate", "rate")->set_number(4); });
  EXPECT_THAT(change.breaks, ElementsAre(HasSubstr("ModuleRate 2")));
}

TEST(ContractCheckTest, NamesARenamedField) {
  const ContractChange change = After([](auto* file) {
    Field(file, "ModuleRate", "rate")->set_name("speed");
    Field(file, "ModuleRate", "speed")->clear_json_name();
  });
  EXPECT_THAT(change.breaks, ElementsAre(HasSubstr("double speed")));
}

TEST(ContractCheckTest, NamesAFieldOfAnotherType) {
  const ContractChange change = After([](auto* file) {
    Field(file, "ModuleRate", "rate")
        ->set_type(pb::FieldDescriptorProto::TYPE_FLOAT);
  });
  EXPECT_THAT(change.breaks, ElementsAre(HasSubstr("float rate")));
}

TEST(ContractCheckTest, NamesAFieldThatBecameRepeated) {
  const ContractChange change = After([](auto* file) {
    Field(file, "ModuleRate", "rate")
        ->set_label(pb::FieldDescriptorProto::LABEL_REPEATED);
  });
  EXPECT_THAT(change.breaks, ElementsAre(HasSubstr("repeated double rate")));
}

TEST(ContractCheckTest, NamesARenumberedState) {
  const ContractChange change = After([](auto* file) {
    for (auto& item : *file->mutable_enum_type()) {
      if (item.name() != "TrialState") continue;
      item.mutable_value()->rbegin()->set_number(99);
    }
  });
  EXPECT_THAT(change.breaks,
              ElementsAre(HasSubstr("value frostline.v1.TrialState 7")));
}

TEST(ContractCheckTest, NamesARemovedMessageAndMethod) {
  const Contract locked = {{"message frostline.v1.Gone", ""},
                           {"method frostline.v1.S.Gone", "A -> B"}};
  EXPECT_THAT(CompareContracts(locked, {}).breaks,
              ElementsAre(HasSubstr("message frostline.v1.Gone"),
                          HasSubstr("method frostline.v1.S.Gone")));
}

TEST(ContractCheckTest, CallsANewFieldAnAddition) {
  const ContractChange change = After([](auto* file) {
    auto* field = Message(file, "ModuleRate")->add_field();
    field->set_name("reason");
    field->set_number(4);
    field->set_type(pb::FieldDescriptorProto::TYPE_STRING);
    field->set_label(pb::FieldDescriptorProto::LABEL_OPTIONAL);
  });
  EXPECT_THAT(change.breaks, IsEmpty());
  EXPECT_THAT(change.additions, ElementsAre("field frostline.v1.ModuleRate 4"));
}

}  // namespace
}  // namespace frostline::proto
