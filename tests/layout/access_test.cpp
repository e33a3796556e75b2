// The virtual GPU must see every access, before it happens, in the right memory.
#include "tilewright/layout/access.h"

#include <gtest/gtest.h>

#include <vector>

#include "tilewright/layout/text.h"
#include "tilewright/layout/tile_tensor.h"
#include "tilewright/number/narrow_float.h"

namespace tw {
namespace {

struct Access {
  bool is_write;
  Space space;
  const void* address;
  unsigned bytes;
  friend bool operator==(const Access&, const Access&) = default;
};
std::vector<Access> seen;

const AccessObserver observer = {
    [](Space space, const void* address, unsigned bytes, unsigned /*alignment*/, bool /*wanted*/) {
      seen.push_back({false, space, address, bytes});
    },
    [](Space space, const void* address, const void* /*value*/, unsigned bytes,
       unsigned /*alignment*/) {
      seen.push_back({true, space, address, bytes});
    },
};

class AccessTest : public testing::Test {
 protected:
  AccessTest() {
    seen.clear();
    access_observer = &observer;
  }
  ~AccessTest() override { access_observer = nullptr; }
};

TEST_F(AccessTest, OneForEachElement) {
  float data[64] = {};
  TileTensor<float, Space::Shared, "Sw<3,0,3> o (8,8):(8,1)"_layout> tensor(data);
  tensor.store(1.0f, 5, 0);
  tensor.load(5, 1);
  tensor.load_if(false, 5, 2);
  tensor.store_if(false, 1.0f, 5, 2);
  std::vector<Access> expected = {{true, Space::Shared, data + 45, 4},
                                  {false, Space::Shared, data + 44, 4}};
  EXPECT_EQ(seen, expected);
}

TEST_F(AccessTest, OneForAVector) {
  alignas(16) float data[64] = {};
  TileTensor<const float, Space::Global, "(8,8):(8,1)"_layout> tensor(data);
  tensor.vectorize<Facts{16, 0, 0}, 1, 4>().load(3, 1);
  std::vector<Access> expected = {{false, Space::Global, data + 28, 16}};
  EXPECT_EQ(seen, expected);
}

TEST_F(AccessTest, BytesOfPackedElements) {
  std::uint8_t data[48] = {};
  TileTensor<E2m1, Space::Shared, "64:1"_layout> fp4(data);
  fp4.store(E2m1::from_bits(5), 3);
  std::vector<Access> expected = {{false, Space::Shared, data + 1, 1},
                                  {true, Space::Shared, data + 1, 1}};
  EXPECT_EQ(seen, expected);
  seen.clear();
  // Element 1 of fp6 lies in bits 6 to 11.
  TileTensor<E3m2, Space::Shared, "64:1"_layout>(data).load(1);
  expected = {{false, Space::Shared, data, 1}, {false, Space::Shared, data + 1, 1}};
  EXPECT_EQ(seen, expected);
  seen.clear();
  TileTensor<E3m2, Space::Shared, "64:1"_layout>(data).load(3);
  expected = {{false, Space::Shared, data + 2, 1}};
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace tw
