// SPDX-License-Identifier: Apache-2.0
//
// The file beside the programs, read as a tool reads it that knows nothing
// else.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::proto {
namespace {

namespace pb = google::protobuf;
using ::testing::HasSubstr;

class DescriptorSetTest : public ::testing::Test {
 protected:
  // Its files stand after what they import, else they cannot be built.
  void SetUp() override {
    const std::string path =
        std::string(std::getenv("FROSTLINE_BIN_DIR")) + "/frostline.v1.binpb";
    std::ifstream file(path, std::ios::binary);
    pb::FileDescriptorSet set;
    ASSERT_TRUE(set.ParseFromIstream(&file)) << path;
    for (const auto& one : set.file()) {
      ASSERT_NE(pool_.BuildFile(one), nullptr) << one.name();
    }
  }

  pb::DescriptorPool pool_;
};

TEST_F(DescriptorSetTest, HasEveryMethod) {
  for (const auto* file : {v1::GetStudyRequest::descriptor()->file(),
                           v1::AcquireRequest::descriptor()->file(),
                           v1::GetReportRequest::descriptor()->file(),
                           v1::GetInfoRequest::descriptor()->file()}) {
    const auto& ours = *file->service(0);
    const auto* theirs = pool_.FindServiceByName(ours.full_name());
    ASSERT_NE(theirs, nullptr) << ours.full_name();
    EXPECT_EQ(theirs->DebugString(), ours.DebugString());
  }
}

TEST_F(DescriptorSetTest, HasTheCommentsToo) {
  const auto* method =
      pool_.FindMethodByName("frostline.v1.StudyService.WatchStudy");
  ASSERT_NE(method, nullptr);
  pb::SourceLocation where;
  ASSERT_TRUE(method->GetSourceLocation(&where));
  EXPECT_THAT(where.leading_comments, HasSubstr("Ordered changes"));
}

}  // namespace
}  // namespace frostline::proto
