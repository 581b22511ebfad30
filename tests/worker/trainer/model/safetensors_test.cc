// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/safetensors.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/temp_folder.h"
#include "worker/trainer/model/limits.h"
#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/parameters.h"

namespace frostline::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The kind of fault that a header meets before so many bytes of data.
FaultKind FileFaultOf(const std::string& header, std::uint64_t data_bytes) {
  const Expected<SafetensorsHeader> parsed =
      ParseSafetensorsHeader(header, data_bytes);
  EXPECT_FALSE(parsed.ok()) << header;
  return parsed.ok() ? FaultKind::kMisuse : parsed.fault().kind;
}

std::string Entry(const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":[)" + shape +
         R"(],"data_offsets":[)" + offsets + "]}";
}

std::string One(const std::string& dtype, const std::string& shape,
                const std::string& offsets) {
  return R"({"a":)" + Entry(dtype, shape, offsets) + "}";
}

TEST(SafetensorsHeaderParse, KnowsEveryTypeOfOurs) {
  const std::string header = R"({"__metadata__":{"format":"pt"},"h":)" +
                             Entry("F16", "3", "4,10") + R"(,"f":)" +
                             Entry("F32", "1", "0,4") + R"(,"b":)" +
                             Entry("BOOL", "", "10,11") + R"(,"e":)" +
                             Entry("I64", "0,5", "11,11") + "}   ";
  const Expected<SafetensorsHeader> parsed = ParseSafetensorsHeader(header, 11);
  ASSERT_TRUE(parsed.ok()) << parsed.fault().cause;
  const std::vector<StoredTensor>& tensors = parsed.value().tensors;
  ASSERT_EQ(tensors.size(), 4U);
  EXPECT_EQ(tensors[0].name, "f");  // in the order of the data
  EXPECT_EQ(tensors[1].dtype, Dtype::kF16);
  EXPECT_EQ(tensors[2].bytes(), 1U);  // a scalar
  EXPECT_THAT(tensors[3].shape, ElementsAre(0, 5));
  EXPECT_EQ(parsed.value().metadata.at("format"), "pt");
}

// 2^32 x 2^32 x 4 bytes is 0 in 64 bits: the product must be checked.
TEST(SafetensorsHeaderParse, RefusesAShapeWhoseSizeOverflows) {
  EXPECT_EQ(FileFaultOf(One("F32", "4294967296,4294967296", "0,0"), 0),
            FaultKind::kInconsistent);
  EXPECT_EQ(FileFaultOf(One("F32", "4611686018427387904,4", "0,0"), 0),
            FaultKind::kInconsistent);
}

TEST(SafetensorsHeaderParse, RefusesOffsetsThatDoNotFit) {
  for (const char* offsets :
       {"0,7", "0,9", "8,0", "0,16", "-8,0", "0,8.0", "0,1e1", "0", "0,8,8",
        "0,18446744073709551616"}) {
    EXPECT_EQ(FileFaultOf(One("F32", "2", offsets), 8),
              FaultKind::kInconsistent)
        << offsets;
  }
}

TEST(SafetensorsHeaderParse, RefusesHolesOverlapsAndRests) {
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":)" + Entry("U8", "4", first) + R"(,"b":)" +
           Entry("U8", "4", second) + "}";
  };
  EXPECT_TRUE(ParseSafetensorsHeader(two("0,4", "4,8"), 8).ok());
  EXPECT_EQ(FileFaultOf(two("0,4", "5,9"), 9), FaultKind::kInconsistent);
  EXPECT_EQ(FileFaultOf(two("0,4", "3,7"), 7), FaultKind::kInconsistent);
  EXPECT_EQ(FileFaultOf(two("0,4", "0,4"), 4), FaultKind::kInconsistent);
  EXPECT_EQ(FileFaultOf(two("0,4", "4,8"), 9), FaultKind::kInconsistent);
  EXPECT_EQ(FileFaultOf(two("1,5", "5,9"), 9), FaultKind::kInconsistent);
}

TEST(SafetensorsHeaderParse, RefusesOtherTypesByName) {
  for (const char* dtype : {"F64", "F8_E4M3", "I16", "f32", ""}) {
    EXPECT_EQ(FileFaultOf(One(dtype, "1", "0,8"), 8), FaultKind::kUnsupported);
  }
}

TEST(SafetensorsHeaderParse, RefusesWhatIsNotStrictJson) {
  for (const char* header : {"", " {}", "[]", "{", "{}x", "{\"\xff\":1}"}) {
    EXPECT_EQ(FileFaultOf(header, 0), FaultKind::kSyntax) << header;
  }
  for (const char* header :
       {R"({"a":1})", R"({"a":{"dtype":"F32"}})", R"({"a":1,"a":1})",
        R"({"__metadata__":[]})", R"({"__metadata__":{"a":1}})",
        R"({"":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
        R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":0}})"}) {
    EXPECT_EQ(FileFaultOf(header, 0), FaultKind::kInconsistent) << header;
  }
}

TEST(SafetensorsHeaderParse, RefusesTooManyDimensionsAndTensors) {
  EXPECT_EQ(FileFaultOf(One("U8", "1,1,1,1,1,1,1,1,1", "0,1"), 1),
            FaultKind::kTooLarge);
  std::string many = "{";
  for (std::size_t i = 0; i <= kMaxTensors; ++i) {
    if (i > 0) many += ',';
    many += "\"" + std::to_string(i) + "\":" + Entry("U8", "0", "0,0");
  }
  EXPECT_EQ(FileFaultOf(many + "}", 0), FaultKind::kTooLarge);
}

class SafetensorsFile : public testing::Test {
 protected:
  FaultKind OpenBytes(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    const Expected<Safetensors> file = Safetensors::Open(path_);
    EXPECT_FALSE(file.ok());
    return file.ok() ? FaultKind::kMisuse : file.fault().kind;
  }

  static std::string Length(std::uint64_t length) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) {
      bytes += static_cast<char>(length >> (8 * i) & 0xFF);
    }
    return bytes;
  }

  TempFolder folder_;
  std::string path_ = folder_.File("w.safetensors");
};

TEST_F(SafetensorsFile, IsRefusedWhenItsLengthLies) {
  EXPECT_EQ(OpenBytes(""), FaultKind::kInconsistent);
  EXPECT_EQ(OpenBytes("1234567"), FaultKind::kInconsistent);
  EXPECT_EQ(OpenBytes(Length(3) + "{}"), FaultKind::kInconsistent);
  EXPECT_EQ(OpenBytes(Length(kMaxHeaderBytes + 1) + "{}"),
            FaultKind::kTooLarge);
  EXPECT_EQ(OpenBytes(Length(~std::uint64_t{0}) + "{}"), FaultKind::kTooLarge);
  EXPECT_EQ(OpenBytes(Length(2) + "{}x"), FaultKind::kInconsistent);
}

TEST_F(SafetensorsFile, NamesItselfInAFault) {
  std::ofstream(path_, std::ios::binary) << Length(2) << "{}x";
  EXPECT_THAT(Safetensors::Open(path_).fault().cause,
              HasSubstr("w.safetensors: 1 bytes at the end"));
}

TEST_F(SafetensorsFile, CutOffAnywhereIsRefused) {
  const std::array<float, 2> values = {1.0F, 2.0F};
  ASSERT_TRUE(
      WriteSafetensors(path_, {{"a", Dtype::kF32, {2}, values.data()}}, {})
          .ok());
  const std::string whole = ReadWholeFile(path_, 1000).value();
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    OpenBytes(whole.substr(0, cut));
  }
}

TEST_F(SafetensorsFile, ThatShrinksAfterItWasOpenedIsAFault) {
  const std::array<float, 2> values = {1.0F, 2.0F};
  ASSERT_TRUE(
      WriteSafetensors(path_, {{"a", Dtype::kF32, {2}, values.data()}}, {})
          .ok());
  const Expected<Safetensors> file = Safetensors::Open(path_);
  ASSERT_TRUE(file.ok());
  std::filesystem::resize_file(path_, 20);
  std::array<float, 2> read = {};
  const StoredTensor* tensor = file.value().Find("a");
  EXPECT_EQ(file.value().Read(*tensor, read.data()).fault().kind,
            FaultKind::kUnreadable);
}

TEST_F(SafetensorsFile, GivesBackWhatWasWritten) {
  const std::array<float, 4> floats = {1.5F, -2.0F, 0.0F, 3e38F};
  const std::int64_t whole = -7;
  const std::array<std::uint8_t, 3> bytes = {1, 2, 255};
  ASSERT_TRUE(WriteSafetensors(path_,
                               {{"bytes \"q\"", Dtype::kU8, {3}, bytes.data()},
                                {"z", Dtype::kF32, {2, 2}, floats.data()},
                                {"scalar", Dtype::kI64, {}, &whole}},
                               {{"by", "a\ntest"}})
                  .ok());
  const Expected<Safetensors> file = Safetensors::Open(path_);
  ASSERT_TRUE(file.ok()) << file.fault().cause;
  EXPECT_EQ(file.value().metadata().at("by"), "a\ntest");
  EXPECT_EQ(file.value().tensors()[0].name, "scalar");  // the widest first
  std::array<float, 4> read = {};
  const StoredTensor* z = file.value().Find("z");
  ASSERT_NE(z, nullptr);
  EXPECT_THAT(z->shape, ElementsAre(2, 2));
  ASSERT_TRUE(file.value().Read(*z, read.data()).ok());
  EXPECT_EQ(read, floats);
  EXPECT_NE(file.value().Find("bytes \"q\""), nullptr);
  EXPECT_EQ(file.value().Find("y"), nullptr);
}

TEST_F(SafetensorsFile, PutsTheDataOnAMultipleOfEight) {
  const float one = 1.0F;
  ASSERT_TRUE(WriteSafetensors(path_, {{"a", Dtype::kF32, {}, &one}}, {}).ok());
  EXPECT_EQ((ReadWholeFile(path_, 1000).value().size() - sizeof one) % 8, 0U);
}

TEST_F(SafetensorsFile, IsNotTouchedByAWriteThatFails) {
  const float one = 1.0F;
  const TensorBytes tensor = {"a", Dtype::kF32, {}, &one};
  ASSERT_TRUE(WriteSafetensors(path_, {tensor}, {}).ok());
  const std::string before = ReadWholeFile(path_, 1000).value();
  EXPECT_EQ(WriteSafetensors(path_, {tensor, tensor}, {}).fault().kind,
            FaultKind::kMisuse);
  EXPECT_EQ(ReadWholeFile(path_, 1000).value(), before);
}

TEST(AtomicFileCreate, LeavesNothingBehindWithoutACommit) {
  const TempFolder folder;
  {
    Expected<AtomicFile> file = AtomicFile::Create(folder.File("a"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file.value().Append("abc", 3).ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SourceFileOpen, RefusesWhatIsNoFile) {
  const TempFolder folder;
  EXPECT_FALSE(SourceFile::Open(folder.File("absent")).ok());
  EXPECT_FALSE(SourceFile::Open(folder.path().string()).ok());
  EXPECT_FALSE(SourceFile::Open("/dev/null").ok());
}

using testing::SizeIs;

class WeightFilesOpen : public testing::Test {
 protected:
  void Shard(const std::string& file, const std::string& tensor) {
    const float value = 1.0F;
    ASSERT_TRUE(WriteSafetensors(folder_.File(file),
                                 {{tensor, Dtype::kF32, {}, &value}}, {})
                    .ok());
  }

  void Index(const std::string& weight_map) {
    std::ofstream(folder_.File("model.safetensors.index.json"))
        << R"({"metadata": {}, "weight_map": )" << weight_map << "}";
  }

  Expected<WeightFiles> Open() {
    return WeightFiles::Open(folder_.path().string());
  }

  TempFolder folder_;
};

TEST_F(WeightFilesOpen, TakesTheSingleFile) {
  Shard("model.safetensors", "a");
  ASSERT_TRUE(Open().ok());
  EXPECT_THAT(Open().value().places(), SizeIs(1));
}

TEST_F(WeightFilesOpen, JoinsShards) {
  Shard("m-1.safetensors", "a");
  Shard("m-2.safetensors", "b");
  Index(R"({"a": "m-1.safetensors", "b": "m-2.safetensors"})");
  const Expected<WeightFiles> files = Open();
  ASSERT_TRUE(files.ok()) << files.fault().cause;
  const WeightFiles::Place& b = files.value().places().at("b");
  EXPECT_EQ(b.tensor->name, "b");
  EXPECT_THAT(files.value().file(b).path(), HasSubstr("m-2"));
}

TEST_F(WeightFilesOpen, RefusesAnIndexThatIsNotTrue) {
  Shard("m-1.safetensors", "a");
  Index(R"({"a": "m-1.safetensors", "b": "m-1.safetensors"})");
  EXPECT_EQ(Open().fault().kind, FaultKind::kInconsistent);
  Index(R"({"b": "m-1.safetensors"})");
  EXPECT_EQ(Open().fault().kind, FaultKind::kInconsistent);
  Index(R"({"a": "m-9.safetensors"})");
  EXPECT_EQ(Open().fault().kind, FaultKind::kUnreadable);
}

TEST_F(WeightFilesOpen, RefusesATensorInTwoShards) {
  Shard("m-1.safetensors", "a");
  Shard("m-2.safetensors", "a");
  Index(R"({"a": "m-1.safetensors"})");
  EXPECT_TRUE(Open().ok());  // a file that the index does not name is nothing
  Index(R"({"a": "m-1.safetensors", "b": "m-2.safetensors"})");
  EXPECT_EQ(Open().fault().kind, FaultKind::kInconsistent);
}

TEST_F(WeightFilesOpen, RefusesAnIndexThatLeadsElsewhere) {
  for (const char* file : {"../x.safetensors", "/x.safetensors",
                           ".x.safetensors", "x.bin", "", "a/b.safetensors"}) {
    Index(std::string(R"({"a": ")") + file + "\"}");
    EXPECT_EQ(Open().fault().kind, FaultKind::kInconsistent) << file;
  }
}

TEST_F(WeightFilesOpen, RefusesAPickleAndSaysHowToConvertIt) {
  std::ofstream(folder_.File("pytorch_model.bin")) << "x";
  const Expected<WeightFiles> files = Open();
  ASSERT_FALSE(files.ok());
  EXPECT_EQ(files.fault().kind, FaultKind::kUnsupported);
  EXPECT_THAT(files.fault().fix, HasSubstr("weights_only=True"));
  EXPECT_THAT(files.fault().fix, HasSubstr("model.safetensors"));
}

TEST_F(WeightFilesOpen, SaysWhatIsMissing) {
  EXPECT_EQ(Open().fault().kind, FaultKind::kUnreadable);
}

TEST(CurrentName, KnowsTheOldNames) {
  const ModelConfig bert;
  EXPECT_EQ(CurrentName("embeddings.LayerNorm.gamma", bert),
            "bert.embeddings.LayerNorm.weight");
  EXPECT_EQ(CurrentName("bert.encoder.layer.1.output.LayerNorm.beta", bert),
            "bert.encoder.layer.1.output.LayerNorm.bias");
  EXPECT_EQ(CurrentName("cls.gamma", bert), "cls.gamma");
  EXPECT_TRUE(IsLeftover("cls.predictions.bias", bert));
  EXPECT_TRUE(IsLeftover("bert.embeddings.position_ids", bert));
  EXPECT_FALSE(IsLeftover("bert.encoder.layer.9.output.dense.bias", bert));
}

}  // namespace
}  // namespace frostline::trainer
