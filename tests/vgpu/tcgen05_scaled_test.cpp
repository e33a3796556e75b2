// Block-scaled tcgen05 products by one CTA and by a pair: every format, exact against number/, and
// who may overwrite the scales when.
#include "tilewright/isa/ptx/tcgen05_scaled.h"

#include <bit>
#include <cstring>
#include <random>

#include "tests/vgpu/support.h"
#include "tilewright/base/require.h"
#include "tilewright/isa/ptx/cluster_memory.h"
#include "tilewright/isa/ptx/tcgen05_descriptor.h"
#include "tilewright/number/narrow_float.h"
#include "tilewright/number/ue8m0.h"
#include "vgpu/data/tcgen05.h"

namespace tw::test {
namespace {

using isa::OperandMajor;
using isa::ScaleFormat;
using Kind = ScaledMmaKind;

constexpr unsigned threads = 160;  // warps 0 to 3 read the sums, warp 4 multiplies
constexpr unsigned rows = 128;     // rows of A in a CTA
constexpr unsigned steps = 4;      // steps of k in a line of 128 bytes
constexpr unsigned a_at = 0, b_at = 16 << 10, scales_at = 48 << 10, barrier_at = 60 << 10;
constexpr unsigned second_barrier_at = barrier_at + 8, address_slot = barrier_at + 64;
constexpr unsigned scale_block = 512;  // 128 rows by four scales
constexpr unsigned all_columns = 512, scale_columns = 256;

// The formats of mxf8f6f4 by their code in the instruction descriptor.
struct Format {
  std::uint8_t code;
  unsigned bits;
  float (*value)(std::uint8_t);
};
template <class T>
float value_of(std::uint8_t bits) {
  return static_cast<float>(T::from_bits(bits));
}
constexpr Format e4m3 = {0, 8, value_of<E4m3>}, e5m2 = {1, 8, value_of<E5m2>},
                 e2m3 = {3, 6, value_of<E2m3>}, e3m2 = {4, 6, value_of<E3m2>},
                 e2m1 = {5, 4, value_of<E2m1>};
constexpr Format every_format[] = {e4m3, e5m2, e2m3, e3m2, e2m1};

// An operand of one CTA in 128 bytes of k: its values, and its bytes in shared memory as lines of
// 128 bytes that are not swizzled yet.
struct Operand {
  Operand(std::mt19937& random, const Format& format, unsigned count, bool packed,
          OperandMajor major = OperandMajor::K)
      : k(packed ? 256 : 128), values(count * k), lines(major == OperandMajor::K ? count : k) {
    bytes.assign(lines * 128, 0xFF);  // padding that must not matter
    for (unsigned row = 0; row < count; ++row) {
      for (unsigned i = 0; i < k; ++i) {
        const std::uint8_t code = small_code(random, format);
        values[row * k + i] = format.value(code);
        if (major == OperandMajor::MN) {
          bytes[i * 128 + row] = code;
        } else {
          const unsigned piece = packed ? 32 : 16;
          put(row * 1024 + i / piece * 128 + i % piece * format.bits, code, format.bits);
        }
      }
    }
  }
  void put(unsigned bit, std::uint8_t code, unsigned width) {
    for (unsigned i = 0; i < width; ++i) {
      std::uint8_t& byte = bytes[(bit + i) / 8];
      const unsigned mask = 1u << (bit + i) % 8;
      byte = static_cast<std::uint8_t>((byte & ~mask) | (code >> i & 1 ? mask : 0));
    }
  }
  // Sixteenths up to 4: sums of their products are exact in float32.
  static std::uint8_t small_code(std::mt19937& random, const Format& format) {
    for (;;) {
      const auto code = static_cast<std::uint8_t>(random() % (1u << format.bits));
      const float value = format.value(code);
      if (value >= -4 && value <= 4 &&
          value * 16 == static_cast<float>(static_cast<int>(value * 16)))
        return code;
    }
  }
  unsigned k;
  std::vector<float> values;  // (row, k)
  unsigned lines;
  std::vector<std::uint8_t> bytes;
};

// The scales of `count` rows, `per_line` for each, in blocks of 128 rows by four: byte
// 16 (r % 32) + 4 (r / 32) + s of a block, the blocks of 128 rows after each other for each four s.
struct Scales {
  Scales(std::mt19937& random, ScaleFormat format, unsigned count, unsigned per_line)
      : per_row(per_line), row_blocks((count + 127) / 128), values(count * per_line) {
    bytes.assign(per_line / 4 * row_blocks * scale_block, 0);
    for (unsigned row = 0; row < count; ++row) {
      for (unsigned s = 0; s < per_line; ++s) {
        std::uint8_t code = static_cast<std::uint8_t>(126 + random() % 3);  // 1/2, 1 or 2
        if (format == ScaleFormat::Ue4m3) {
          code = Ue4m3(0.5f * static_cast<float>(1 + random() % 6)).bits;
        }
        values[row * per_line + s] =
            format == ScaleFormat::Ue8m0 ? value_of<Ue8m0>(code) : value_of<Ue4m3>(code);
        bytes[(s / 4 * row_blocks + row / 128) * scale_block + 16 * (row % 32) +
              4 * (row % 128 / 32) + s % 4] = code;
      }
    }
  }
  unsigned per_row, row_blocks;
  std::vector<float> values;
  std::vector<std::uint8_t> bytes;
};

struct Planted {
  bool one_slot = false;          // scales are copied again while the products read them
  bool waits = false;             // but the commit of those products is waited for
  bool fences = false;            // the fence behind the wait is there, too
  bool no_copy = false;           // the scales of B are never copied
  bool scales_of_before = false;  // the products are of the next k-tile
};

// A product of 128 bytes of k, as one CTA or a pair computes it.
struct Case {
  Kind kind;
  Format a, b;
  unsigned n;
  unsigned group = 1;
  OperandMajor a_major = OperandMajor::K, b_major = OperandMajor::K;
  ScaleFormat format = ScaleFormat::Ue8m0;

  bool packed() const { return kind != Kind::Mxf8f6f4; }
  unsigned per_line() const { return steps * scales_per_row(kind); }
  std::uint32_t instruction(unsigned step) const {
    const unsigned id = step * scales_per_row(kind) % 4;
    return isa::tcgen05_scaled_instruction_descriptor(
        {.m = rows * group,
         .n = n,
         .a_code = packed() ? std::uint8_t{1} : a.code,
         .b_code = packed() ? std::uint8_t{1} : b.code,
         .scale = format,
         .a_scale_id = id,
         .b_scale_id = id,
         .a_major = a_major,
         .b_major = b_major});
  }
};

template <unsigned group>
class Product {
 public:
  Product(const Case& given, std::uint32_t seed) : given_(given) {
    std::mt19937 random(seed);
    for (unsigned cta = 0; cta < group; ++cta) {
      a_.emplace_back(random, given.a, rows, given.packed(), given.a_major);
      b_.emplace_back(random, given.b, given.n / group, given.packed(), given.b_major);
      a_scales_.emplace_back(random, given.format, rows, given.per_line());
    }
    b_scales_.emplace_back(random, given.format, given.n, given.per_line());
  }

  Report run(vgpu::Options options = {}, const Planted& planted = {}) {
    Kernel kernel{.threads = threads,
                  .ctas = group,
                  .cluster_size = group,
                  .shared_bytes = 61 << 10,
                  .options = options};
    return kernel.run([&] { body(planted); });
  }

 private:
  float expected(unsigned rank, unsigned row, unsigned column) const {
    const Operand& a = a_[rank];
    const Operand& b = b_[column / (given_.n / group)];
    const unsigned in_b = column % (given_.n / group), block = a.k / given_.per_line();
    double sum = 0;
    for (unsigned k = 0; k < a.k; ++k) {
      sum += double{a.values[row * a.k + k]} * b.values[in_b * a.k + k] *
             a_scales_[rank].values[row * given_.per_line() + k / block] *
             b_scales_[0].values[column * given_.per_line() + k / block];
    }
    return static_cast<float>(sum);
  }

  static void fill(unsigned at, const std::vector<std::uint8_t>& bytes, bool swizzles) {
    for (unsigned i = isa::thread_index(); i < bytes.size() / 4; i += threads) {
      const unsigned place = swizzles ? 4 * i ^ (4 * i >> 7 & 7) << 4 : 4 * i;
      std::uint32_t word;
      std::memcpy(&word, &bytes[4 * i], 4);
      store_shared(shared_at<std::uint32_t>(at + place), word);
    }
  }
  static std::uint64_t operand(unsigned at, OperandMajor major, unsigned step) {
    if (major == OperandMajor::K) {
      return isa::tcgen05_k_major_descriptor(address_at(at + 32 * step),
                                             isa::OperandSwizzle::Bytes128);
    }
    return isa::tcgen05_mn_major_descriptor(address_at(at + 32 * 128 * step), 16,
                                            isa::OperandSwizzle::Bytes128);
  }
  void copy_scales(TensorAddress to, unsigned from, unsigned count) const {
    for (unsigned block = 0; block < count; ++block) {
      isa::tcgen05_cp_32x128b_warpx4<group>(
          to + 4 * block, isa::tcgen05_matrix_descriptor(address_at(from + block * scale_block), 16,
                                                         128, isa::OperandSwizzle::None));
    }
  }
  unsigned b_scales_at() const {
    return scales_at + static_cast<unsigned>(a_scales_[0].bytes.size());
  }

  void multiply(TensorAddress base, const Planted& planted) const {
    const unsigned four = given_.per_line() / 4, wide = b_scales_[0].row_blocks;
    const TensorAddress sfa = base + scale_columns, sfb = sfa + 4 * four;
    isa::describe_step(0);
    copy_scales(sfa, scales_at, four);
    if (!planted.no_copy) copy_scales(sfb, b_scales_at(), four * wide);
    if (planted.scales_of_before) isa::describe_step(1);
    for (unsigned step = 0; step < steps; ++step) {
      const unsigned word = step * scales_per_row(given_.kind) / 4;
      const auto issue = [&]<Kind kind>() {
        isa::tcgen05_mma_scaled<kind, group>(
            base, operand(a_at, given_.a_major, step), operand(b_at, given_.b_major, step),
            given_.instruction(step), sfa + 4 * word, sfb + 4 * wide * word, step > 0);
      };
      if (given_.kind == Kind::Mxf8f6f4) issue.template operator()<Kind::Mxf8f6f4>();
      if (given_.kind == Kind::Mxf4) issue.template operator()<Kind::Mxf4>();
      if (given_.kind == Kind::Mxf4nvf4) issue.template operator()<Kind::Mxf4nvf4>();
    }
    commit(barrier_at);
    if (!planted.one_slot) return;
    if (planted.waits) wait(address_at(barrier_at), 0);
    if (planted.fences) isa::tcgen05_fence_after_thread_sync();
    copy_scales(sfa, scales_at, four);
    commit(second_barrier_at);
  }
  static void commit(unsigned barrier) {
    if constexpr (group == 1)
      isa::tcgen05_commit<1>(address_at(barrier));
    else
      isa::tcgen05_commit_multicast<2>(address_at(barrier), 3);
  }
  static void meet() {
    isa::barrier_sync(0, threads);
    if constexpr (group == 2) {
      isa::cluster_arrive_release();
      isa::cluster_wait();
    }
  }

  void body(const Planted& planted) const {
    const unsigned rank = group == 1 ? 0 : isa::cluster_rank();
    const bool reads = isa::thread_index() < 128;
    isa::describe_role(reads ? "epilogue" : "multiply");
    fill(a_at, a_[rank].bytes, true);
    fill(b_at, b_[rank].bytes, true);
    fill(scales_at, a_scales_[rank].bytes, false);
    fill(b_scales_at(), b_scales_[0].bytes, false);
    isa::fence_proxy_async();
    if (isa::thread_index() == 0) {
      isa::mbarrier_init(address_at(barrier_at), 1);
      isa::mbarrier_init(address_at(second_barrier_at), 1);
      isa::fence_mbarrier_init();
    }
    if (!reads) isa::tcgen05_alloc<group>(address_at(address_slot), all_columns);
    meet();
    const TensorAddress base = load_shared(shared_at<TensorAddress>(address_slot));
    if (isa::thread_index() == 128 && rank == 0) multiply(base, planted);
    wait(address_at(barrier_at), 0);
    if (planted.one_slot) wait(address_at(second_barrier_at), 0);
    isa::tcgen05_fence_after_thread_sync();
    for (unsigned first = 0; reads && first < given_.n; first += 8) {
      std::uint32_t values[8];
      isa::tcgen05_load(values, (base + first) | (isa::thread_index() / 32 * 32) << 16);
      isa::tcgen05_wait_load();
      for (unsigned i = 0; i < 8 && !planted.no_copy; ++i) {
        EXPECT_EQ(std::bit_cast<float>(values[i]), expected(rank, isa::thread_index(), first + i));
      }
    }
    meet();
    if (reads) return;
    isa::tcgen05_relinquish_alloc_permit<group>();
    isa::tcgen05_dealloc<group>(base, all_columns);
  }

  Case given_;
  std::vector<Operand> a_, b_;
  std::vector<Scales> a_scales_, b_scales_;
};

constexpr Case mxfp8 = {Kind::Mxf8f6f4, e4m3, e4m3, 32};
constexpr Case mxfp4 = {Kind::Mxf4, e2m1, e2m1, 32};
constexpr Case nvfp4 = {
    .kind = Kind::Mxf4nvf4, .a = e2m1, .b = e2m1, .n = 32, .format = ScaleFormat::Ue4m3};
constexpr Case wide(Case given, unsigned n, unsigned group = 1) {
  given.n = n;
  given.group = group;
  return given;
}

TEST(Tcgen05Scaled, MultipliesEveryMixOfFormats) {
  for (const Format& a : every_format) {
    for (const Format& b : every_format) {
      EXPECT_TRUE(clean(Product<1>({Kind::Mxf8f6f4, a, b, 32}, 8u * a.code + b.code).run()));
    }
  }
}

TEST(Tcgen05Scaled, MultipliesPackedFormats) {
  for (const Case& given : {mxfp4, nvfp4}) {
    for (const unsigned n : {8u, 72u, 128u, 256u}) {
      EXPECT_TRUE(clean(Product<1>(wide(given, n), n).run())) << n;
    }
  }
}

TEST(Tcgen05Scaled, MultipliesEveryWidth) {
  for (const unsigned n : {8u, 40u, 128u, 200u, 256u}) {
    EXPECT_TRUE(clean(Product<1>(wide(mxfp8, n), n).run())) << n;
  }
}

TEST(Tcgen05Scaled, MultipliesBytesThatAreMnMajor) {
  EXPECT_TRUE(clean(Product<1>({.kind = Kind::Mxf8f6f4,
                                .a = e4m3,
                                .b = e5m2,
                                .n = 128,
                                .a_major = OperandMajor::MN,
                                .b_major = OperandMajor::MN},
                               1)
                        .run()));
}

struct Tcgen05ScaledTest : ::testing::TestWithParam<Landing> {
  const vgpu::Options options = {.landing = GetParam(), .seed = 5};
};

TEST_P(Tcgen05ScaledTest, PairsScaleAllColumnsInBothCtas) {
  EXPECT_TRUE(clean(Product<2>(wide(mxfp8, 64, 2), 1).run(options)));
  EXPECT_TRUE(clean(Product<2>(wide(mxfp4, 256, 2), 2).run(options)));
  EXPECT_TRUE(clean(Product<2>(wide(nvfp4, 256, 2), 3).run(options)));
}

// PTX orders a copy before a product that follows, and no product before a copy.
TEST_P(Tcgen05ScaledTest, ScalesMustOutliveTheProductsThatReadThem) {
  for (const Case& given : {mxfp8, mxfp4, nvfp4}) {
    Product<1> product(given, 1);
    EXPECT_TRUE(found(product.run(options, {.one_slot = true}), Checker::OverwriteWhileRead,
                      "which reads scales there"));
    EXPECT_TRUE(found(product.run(options, {.one_slot = true, .waits = true}),
                      Checker::MissingTensorFence, "after_thread_sync is missing"));
    EXPECT_TRUE(clean(product.run(options, {.one_slot = true, .waits = true, .fences = true})));
  }
  EXPECT_TRUE(found(Product<2>(wide(mxfp8, 64, 2), 1).run(options, {.one_slot = true}),
                    Checker::OverwriteWhileRead, "which reads scales there"));
}

TEST_P(Tcgen05ScaledTest, ScalesThatNobodyCopiedAreFound) {
  EXPECT_TRUE(found(Product<1>(mxfp8, 1).run(options, {.no_copy = true}), Checker::Uninitialised,
                    "tcgen05.mma reads column 260"));
}

TEST_P(Tcgen05ScaledTest, ScalesOfAnotherStepAreNamed) {
  EXPECT_TRUE(found(Product<1>(mxfp8, 1).run(options, {.scales_of_before = true}),
                    Checker::WrongStep, "expecting k-tile 1, but those of k-tile 0"));
}

INSTANTIATE_TEST_SUITE_P(, Tcgen05ScaledTest, ::testing::ValuesIn(every_landing),
                         [](const auto& info) { return std::string(vgpu::name_of(info.param)); });

// What no instruction does is refused by its name.
std::string refusal(Kind kind, unsigned group, const isa::ScaledMmaFields& fields,
                    std::uint32_t more = 0) {
  try {
    vgpu::decode_scaled_product(kind, group,
                                isa::tcgen05_scaled_instruction_descriptor(fields) | more);
  } catch (const Refusal& refused) {
    return refused.what();
  }
  return "";
}

TEST(Tcgen05ScaledDescriptor, RefusesWhatNoInstructionDoes) {
  const auto says = [](const std::string& sentence, const char* words) {
    EXPECT_NE(sentence.find(words), std::string::npos) << "\"" << sentence << "\"";
  };
  constexpr auto mn = OperandMajor::MN;
  const isa::ScaledMmaFields good = {.m = 128, .n = 128, .a_code = 0, .b_code = 0};
  const isa::ScaledMmaFields fp4 = {.m = 128, .n = 128, .a_code = 1, .b_code = 1};
  EXPECT_EQ(refusal(Kind::Mxf8f6f4, 1, good), "");
  EXPECT_EQ(refusal(Kind::Mxf4, 1, fp4), "");
  const auto with = [](isa::ScaledMmaFields fields, auto change) {
    change(fields);
    return fields;
  };
  says(refusal(Kind::Mxf8f6f4, 1, with(good, [](auto& f) { f.n = 264; })), "multiple of 8");
  says(refusal(Kind::Mxf8f6f4, 1, with(good, [](auto& f) { f.m = 256; })), "256 x 128 by 1 CTA");
  says(refusal(Kind::Mxf8f6f4, 2, with(good, [](auto& f) { f.m = 256, f.n = 24; })),
       "multiple of 16");
  says(refusal(Kind::Mxf8f6f4, 2, good), "64 rows in each CTA");
  says(refusal(Kind::Mxf8f6f4, 1, with(good, [](auto& f) { f.a_code = 2; })), "formats 2 and 0");
  says(refusal(Kind::Mxf4, 1, good), "formats 0 and 0");
  says(refusal(Kind::Mxf4, 1, with(fp4, [](auto& f) { f.scale = ScaleFormat::Ue4m3; })), "ue4m3");
  says(refusal(Kind::Mxf4, 1, with(fp4, [](auto& f) { f.a_scale_id = 1; })), "a multiple of 2");
  says(refusal(Kind::Mxf4nvf4, 1, with(fp4, [](auto& f) { f.b_scale_id = 2; })), "multiple of 4");
  says(refusal(Kind::Mxf4, 1, with(fp4, [](auto& f) { f.a_major = mn; })), "K-major");
  says(refusal(Kind::Mxf8f6f4, 1, with(good, [](auto& f) { f.a_code = 5, f.a_major = mn; })),
       "4 and 6 bits are K-major");
  says(refusal(Kind::Mxf8f6f4, 1, good, 1u << 6), "reserved bits");
  says(refusal(Kind::Mxf4, 1, fp4, 1u << 31), "K = 96");
}

}  // namespace
}  // namespace tw::test
