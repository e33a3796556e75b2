// TmaLoader and WgmmaOp together: every type, major, cluster and promotion, from matrices in global
// memory to sums in registers.
#include <cstring>
#include <random>

#include "tests/vgpu/support.h"
#include "tilewright/io/tma_loader.h"
#include "tilewright/op/wgmma.h"
#include "vgpu/tensor_map.h"

namespace tw::test {
namespace {

constexpr unsigned stages = 3;

template <Tiling tiling>
struct LoadedStage {
  static constexpr unsigned bytes = sizeof(OperandTiles<tiling>);
  // One object for both ends of a ring of this test.
  using Fills = LoadedStage;
  struct Reads {
    struct Payload {
      using RingTensors = OperandTensors<tiling, bytes>;
    };
  };
  SharedAddress first;
  unsigned index;
  SharedAddress barriers;
  unsigned slot() const { return index; }
  OperandTensors<tiling> tensors() const { return OperandTensors<tiling>(first + index * bytes); }
  SharedAddress full() const { return barriers + 8 * index; }
};

struct TileIndex {
  int m, n, batch;
  int first_row(unsigned rows) const { return m * static_cast<int>(rows); }
  int first_column(unsigned columns) const { return n * static_cast<int>(columns); }
};

// A matrix of a batch: element (row, k) of small integers, in memory along k or along the rows.
class Operand {
 public:
  Operand(ElementType type, Major major, unsigned rows, unsigned k, unsigned batch, bool shared,
          unsigned seed)
      : type_(type), major_(major), rows_(rows), k_(k), batch_(batch), shared_(shared) {
    std::mt19937 random(seed);
    const unsigned inner = major == Major::K ? k : rows;
    pitch_ = (inner * bytes_of(type) + 15) / 16 * 16 + 16;
    const unsigned lines = major == Major::K ? rows : k;
    matrix_bytes_ = lines * pitch_;
    bytes_.resize(std::size_t{matrix_bytes_} * (shared ? 1 : batch));
    values_.resize(std::size_t{rows} * k * (shared ? 1 : batch));
    for (unsigned b = 0; b < (shared ? 1 : batch); ++b) {
      for (unsigned row = 0; row < rows; ++row) {
        for (unsigned at = 0; at < k; ++at) {
          const int value = static_cast<int>(random() % 9) - 4;
          values_[(std::size_t{b} * rows + row) * k + at] = value;
          put(b, row, at, value);
        }
      }
    }
  }

  int value(unsigned b, unsigned row, unsigned at) const {
    return values_[(std::size_t{shared_ ? 0 : b} * rows_ + row) * k_ + at];
  }
  TensorMap map(TmaBox box) const {
    const MatrixBox described = {.base = bytes_.data(),
                                 .type = type_,
                                 .inner = major_ == Major::K ? k_ : rows_,
                                 .outer = major_ == Major::K ? rows_ : k_,
                                 .batch = batch_,
                                 .pitch_bytes = pitch_,
                                 .batch_pitch_bytes = shared_ ? 0 : std::int64_t{matrix_bytes_},
                                 .box_inner = box.inner,
                                 .box_outer = box.outer};
    TensorMap map;
    const Status status = encode_for_virtual(map, described);
    EXPECT_TRUE(status.is_good()) << status.sentence();
    return map;
  }
  vgpu::GlobalRange range(const char* name) const { return range_of(bytes_, name, true, false); }

 private:
  template <class T>
  void put_as(std::size_t at, int value) {
    const T element(static_cast<float>(value));
    std::memcpy(&bytes_[at], &element, sizeof element);
  }
  void put(unsigned b, unsigned row, unsigned k, int value) {
    const unsigned line = major_ == Major::K ? row : k, column = major_ == Major::K ? k : row;
    const std::size_t at =
        std::size_t{b} * matrix_bytes_ + line * pitch_ + column * bytes_of(type_);
    switch (type_) {
      case ElementType::Bf16: return put_as<Bf16>(at, value);
      case ElementType::Fp16: return put_as<Fp16>(at, value);
      case ElementType::Tf32: return put_as<float>(at, value);
      case ElementType::E4m3: return put_as<E4m3>(at, value);
      case ElementType::E5m2: return put_as<E5m2>(at, value);
      default: bytes_[at] = static_cast<std::uint8_t>(value);
    }
  }

  ElementType type_;
  Major major_;
  unsigned rows_, k_, batch_;
  bool shared_;
  unsigned pitch_, matrix_bytes_;
  std::vector<std::uint8_t> bytes_;
  std::vector<int> values_;
};

// One cluster multiplies one tile for each CTA, of matrix 1 of a batch of 2; the last stage is
// ragged along k, and the last CTAs are along m and n. One warpgroup for each 64 rows.
template <Tiling tiling, unsigned promote_every = 0>
void expect_product(bool a_shared = false, vgpu::Landing landing = vgpu::Landing::Random) {
  constexpr unsigned stage_bytes = LoadedStage<tiling>::bytes;
  constexpr unsigned groups = tiling.m / 64, threads = 128 * groups;
  constexpr unsigned batch = 2, tile_batch = 1;
  constexpr unsigned m = tiling.m * tiling.cluster.m - 5, n = tiling.n * tiling.cluster.n - 3;
  constexpr unsigned k = stages * tiling.k() - 7;
  using Op = WgmmaOp<tiling, 64, stage_bytes, promote_every>;
  using Loader = TmaLoader<tiling>;
  const Operand a(tiling.a_type, tiling.a_major, m, k, batch, a_shared, 1);
  const Operand b(tiling.b_type, tiling.b_major, n, k, batch, false, 2);
  const typename Loader::Params params = {a.map(Loader::box_a()), b.map(Loader::box_b())};
  std::vector<double> sums(tiling.cluster.size() * tiling.m * tiling.n, -1.0);

  Kernel kernel{.threads = threads,
                .ctas = tiling.cluster.size(),
                .cluster_size = tiling.cluster.size(),
                .shared_bytes = stages * stage_bytes + 8 * stages,
                .memory = {a.range("A"), b.range("B")}};
  kernel.options.landing = landing;
  const Report report = kernel.run([&] {
    const unsigned rank = isa::cluster_rank();
    LoadedStage<tiling> stage = {address_at(0), 0, address_at(stages * stage_bytes)};
    if (isa::thread_index() == 0) {
      for (unsigned s = 0; s < stages; ++s) isa::mbarrier_init(stage.barriers + 8 * s, 1);
      isa::fence_mbarrier_init();
    }
    isa::cluster_arrive();
    isa::cluster_wait();
    const TileIndex tile = {static_cast<int>(tiling.cluster.row(rank)),
                            static_cast<int>(tiling.cluster.column(rank)), tile_batch};
    if (isa::thread_index() == 0) {
      Loader loader(params, 0);
      for (stage.index = 0; stage.index < stages; ++stage.index) {
        isa::mbarrier_arrive_expect_tx(stage.full(), stage_bytes);
        loader.load(stage, tile, static_cast<int>(stage.index));
      }
    }
    const unsigned group = isa::thread_index() / 128;
    Op op(OperandTensors<tiling, stage_bytes>(stage.first), 64 * group, isa::thread_index() % 128);
    {
      typename Op::Accumulator sum;
      for (stage.index = 0; stage.index < stages; ++stage.index) {
        wait(stage.full(), 0);
        op.multiply(sum, stage);
      }
      op.finish(sum);
      for (unsigned i = 0; i < Op::Accumulator::fragment_size; ++i) {
        const unsigned thread = isa::thread_index() % 128;
        const unsigned row = 64 * group + Op::Accumulator::row_of(thread, i);
        const unsigned column = Op::Accumulator::column_of(thread, i);
        sums[(rank * tiling.m + row) * tiling.n + column] = static_cast<double>(sum.value(0, i));
      }
    }
    isa::cluster_arrive();
    isa::cluster_wait();
  });
  ASSERT_TRUE(clean(report));
  for (unsigned rank = 0; rank < tiling.cluster.size(); ++rank) {
    for (unsigned row = 0; row < tiling.m; ++row) {
      for (unsigned column = 0; column < tiling.n; ++column) {
        const unsigned at_m = tiling.cluster.row(rank) * tiling.m + row;
        const unsigned at_n = tiling.cluster.column(rank) * tiling.n + column;
        int wanted = 0;  // outside the matrices everything is zero
        for (unsigned at = 0; at_m < m && at_n < n && at < k; ++at) {
          wanted += a.value(tile_batch, at_m, at) * b.value(tile_batch, at_n, at);
        }
        ASSERT_EQ(sums[(rank * tiling.m + row) * tiling.n + column], wanted)
            << "rank " << rank << ", row " << row << ", column " << column;
      }
    }
  }
}

using Type = ElementType;

TEST(Tiling, EveryType) {
  expect_product<Tiling{.m = 64, .n = 64}>();
  expect_product<Tiling{.m = 64, .n = 64, .a_type = Type::Fp16, .b_type = Type::Fp16}>();
  expect_product<Tiling{.m = 64, .n = 64, .a_type = Type::Tf32, .b_type = Type::Tf32}>();
  expect_product<Tiling{.m = 64, .n = 64, .a_type = Type::S8, .b_type = Type::S8}>();
  expect_product<Tiling{.m = 64, .n = 64, .a_type = Type::E4m3, .b_type = Type::E4m3}>();
  expect_product<Tiling{.m = 64, .n = 64, .a_type = Type::E4m3, .b_type = Type::E5m2}>();
  expect_product<Tiling{.m = 64, .n = 64, .a_type = Type::E5m2, .b_type = Type::E4m3}>();
  expect_product<Tiling{.m = 64, .n = 64, .a_type = Type::E5m2, .b_type = Type::E5m2}>();
}

TEST(Tiling, EveryMajor) {
  expect_product<Tiling{.m = 128, .n = 128, .a_major = Major::MN}>();
  expect_product<Tiling{.m = 64, .n = 192, .b_major = Major::MN}>();
  expect_product<Tiling{.m = 128, .n = 64, .a_major = Major::MN, .b_major = Major::MN}>();
  expect_product<Tiling{.m = 64,
                        .n = 128,
                        .a_type = Type::Fp16,
                        .b_type = Type::Fp16,
                        .a_major = Major::MN,
                        .b_major = Major::MN}>();
}

TEST(Tiling, NarrowTiles) {
  expect_product<Tiling{.m = 64, .n = 8}>();
  expect_product<Tiling{.m = 64, .n = 24, .a_type = Type::S8, .b_type = Type::S8}>();
}

TEST(Tiling, SeveralSpansInAStage) {
  expect_product<Tiling{.m = 128, .n = 64, .spans = 2}>();
  expect_product<Tiling{
      .m = 64, .n = 128, .spans = 2, .a_major = Major::MN, .b_major = Major::MN}>();
  expect_product<Tiling{
      .m = 64, .n = 64, .spans = 3, .a_type = Type::E4m3, .b_type = Type::E4m3}>();
}

// Shares of rows, of whole boxes, and of the lines of each box.
TEST(Tiling, SharedByAClusterKMajor) {
  for (vgpu::Landing landing : every_landing) {
    expect_product<Tiling{.m = 64, .n = 64, .cluster = {2, 2}}>(false, landing);
  }
  expect_product<Tiling{.m = 128, .n = 64, .spans = 2, .cluster = {1, 4}}>();
}
TEST(Tiling, SharedByAClusterMnMajor) {
  expect_product<Tiling{
      .m = 128, .n = 128, .a_major = Major::MN, .b_major = Major::MN, .cluster = {2, 2}}>();
  expect_product<Tiling{
      .m = 64, .n = 192, .a_major = Major::MN, .b_major = Major::MN, .cluster = {2, 2}}>();
  expect_product<Tiling{.m = 64, .n = 64, .spans = 2, .b_major = Major::MN, .cluster = {4, 1}}>();
}

TEST(Tiling, PromotesPartialSums) {
  constexpr Tiling fp8 = {.m = 64, .n = 64, .a_type = Type::E4m3, .b_type = Type::E4m3};
  expect_product<fp8, 1>();
  expect_product<fp8, 2>();
  expect_product<fp8, 3>();
  expect_product<fp8, 4>();
}

TEST(Tiling, ABatchMayShareAMatrix) {
  expect_product<Tiling{.m = 64, .n = 64}>(true);
  expect_product<Tiling{.m = 64, .n = 64, .a_major = Major::MN}>(true);
}

}  // namespace
}  // namespace tw::test
