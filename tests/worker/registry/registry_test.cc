// SPDX-License-Identifier: Apache-2.0
#include "worker/registry/registry.h"

#include "base/plain/sums.h"
#include "tests/worker/registry/registry_fixture.h"

namespace frostline::registry {
namespace {

using Answer = KnownSums::Answer;

std::string SumOf(const std::string& text) {
  Sha256Sum sum;
  sum.Add(text);
  return sum.Finish();
}

class KnownSumsTest : public RegistryTest {
 protected:
  KnownSums sums_{folder_.path().string()};
};

TEST_F(KnownSumsTest, AFileIsReadOnceAndAgainWhenItChanged) {
  Write("a", "one");
  sums_.AllowToRead(100);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(sums_.Judge({"a", SumOf("one")}), Answer::kRight);
    EXPECT_EQ(sums_.Judge({"a", SumOf("two")}), Answer::kWrong);
  }
  EXPECT_EQ(sums_.computed(), 1);
  std::filesystem::remove(folder_.File("a"));
  Write("a", "two!");
  EXPECT_EQ(sums_.Judge({"a", SumOf("two!")}), Answer::kRight);
  EXPECT_EQ(sums_.computed(), 2);
}

TEST_F(KnownSumsTest, AfterEnoughBytesTheRestWaits) {
  Write("a", "12345678");
  Write("b", "12345678");
  const std::string sum = SumOf("12345678");
  sums_.AllowToRead(4);
  EXPECT_EQ(sums_.Judge({"a", sum}), Answer::kRight);  // one, however large
  EXPECT_EQ(sums_.Judge({"b", sum}), Answer::kLater);
  EXPECT_EQ(sums_.Judge({"b", ""}), Answer::kRight);
  sums_.AllowToRead(4);
  EXPECT_EQ(sums_.Judge({"b", sum}), Answer::kRight);
}

TEST_F(KnownSumsTest, OfAFileThatIsNotThereNothingIsKnown) {
  sums_.AllowToRead(4);
  EXPECT_EQ(sums_.Judge({"a", SumOf("x")}), Answer::kUnknown);
  EXPECT_EQ(sums_.Judge({"../a", SumOf("x")}), Answer::kUnknown);
}

}  // namespace
}  // namespace frostline::registry
