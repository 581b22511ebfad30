// SPDX-License-Identifier: Apache-2.0
#include "base/secret.h"

#include <ostream>
#include <type_traits>

#include "gtest/gtest.h"

namespace frostline {
namespace {

TEST(Secret, ComparesByContent) {
  EXPECT_TRUE(SecretString("abc") == SecretString("abc"));
  EXPECT_FALSE(SecretString("abc") == SecretString("abd"));
  EXPECT_FALSE(SecretString("abc") == SecretString("abcd"));
  EXPECT_TRUE(SecretString().empty());
}

template <typename T>
concept Printable = requires(std::ostream& out, T value) { out << value; };

TEST(Secret, CannotBePrintedOrConverted) {
  EXPECT_FALSE(Printable<SecretString>);
  EXPECT_FALSE((std::is_convertible_v<SecretString, std::string>));
}

}  // namespace
}  // namespace frostline
