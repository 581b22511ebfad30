// SPDX-License-Identifier: Apache-2.0
//
// The contract may grow, never break. Additions are written into the lock with
//   FROSTLINE_UPDATE_LOCK=1 ctest -R proto_contract
// which refuses when something broke.
#include "tests/proto/contract.h"

#include <google/protobuf/descriptor.pb.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/errors.pb.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/served.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::proto {
namespace {

namespace pb = google::protobuf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kHead[] =
    "# The wire contract, one fact a line. Written by the test proto_contract\n"
    "# with FROSTLINE_UPDATE_LOCK=1; a line here may never change or go.\n";

std::filesystem::path SourceFolder() {
  return std::getenv("FROSTLINE_SOURCE_DIR");
}

const std::vector<const pb::FileDescriptor*>& OurFiles() {
  static const auto* files = new std::vector<const pb::FileDescriptor*>{
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

// ModuleRate has the fields module = 1, rate = 2.
void DropRate(pb::FileDescriptorProto* file) {
  Message(file, "ModuleRate")->mutable_field()->RemoveLast();
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
      [](auto* file) { Field(file, "ModuleRate", "rate")->set_number(3); });
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
    field->set_number(3);
    field->set_type(pb::FieldDescriptorProto::TYPE_STRING);
    field->set_label(pb::FieldDescriptorProto::LABEL_OPTIONAL);
  });
  EXPECT_THAT(change.breaks, IsEmpty());
  EXPECT_THAT(change.additions, ElementsAre("field frostline.v1.ModuleRate 3"));
}

}  // namespace
}  // namespace frostline::proto
