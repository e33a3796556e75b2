#include "src/bench/peers/peer_library.h"

#include <gtest/gtest.h>

namespace tw::bench::tests {
namespace {

TEST(PeerLibrary, HasTheFunctionOfAFamily) {
  void* function = nullptr;
  ASSERT_TRUE(find_peer_function(function, TW_PEER_LIBRARY, "grouped").is_good());
  const auto call = reinterpret_cast<int (*)(int)>(function);
  EXPECT_EQ(call(4), 5);
}

TEST(PeerLibrary, IsRefusedWithoutTheFunctionAndWithoutTheFile) {
  void* function = nullptr;
  EXPECT_EQ(find_peer_function(function, TW_PEER_LIBRARY, "blockwise").sentence(),
            std::string("The file '") + TW_PEER_LIBRARY + "' has no function tw_peer_blockwise.");
  const std::string missing = find_peer_function(function, "no/such.so", "grouped").sentence();
  EXPECT_NE(missing.find("The file 'no/such.so' is no shared library that can be opened: "),
            std::string::npos)
      << missing;
  EXPECT_FALSE(find_peer_function(function, __FILE__, "grouped").is_good());
  EXPECT_EQ(function, nullptr);
}

}  // namespace
}  // namespace tw::bench::tests
