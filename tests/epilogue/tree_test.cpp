// Trees that are fixed at compile time. Each says what EpilogueArguments compute the same, so that
// one reference serves.
#include <gtest/gtest.h>

#include "tests/epilogue/kernel.h"
#include "tests/vgpu/support.h"
#include "tilewright/epilogue/source.h"
#include "tilewright/isa/ptx/threads.h"

namespace tw::tests {
namespace {

using namespace node;
using test::clean;

int asked;
std::uint32_t asked_amax;

GlobalMatrix matrix_of(const PaddedMatrix& matrix) {
  return {matrix.data(), matrix.pitch, matrix.batch_pitch};
}

// Nearly everything: scales, source, biases, auxiliary, silu, amax, quantisation.
struct Everything {
  using Linear = Add<Add<Add<Multiply<Multiply<Scale<Sum>, RowScale>, ColumnScale>,
                             Scale<Source<ElementType::Bf16>>>,
                         ColumnBias<ElementType::Fp16>>,
                     RowBias<ElementType::Fp16>>;
  using Root = Quantise<Amax<Silu<StoreAuxiliary<ElementType::Fp32, Linear>>>>;
  static void ask(EpilogueCase& problem) {
    EpilogueArguments& arguments = problem.arguments;
    problem.exact = false;
    arguments.alpha = 0.7f;
    arguments.beta = -1.3f;
    arguments.output_scale = 0.4f;
    arguments.source = arguments.column_bias = arguments.row_bias = &asked;
    arguments.column_scale = arguments.row_scale = reinterpret_cast<float*>(&asked);
    arguments.auxiliary = &asked;
    arguments.amax = &asked_amax;
    arguments.bias_type = ElementType::Fp16;
    arguments.auxiliary_type = ElementType::Fp32;
    arguments.activation = Activation::Silu;
  }
  static Root::Params params(const EpilogueData& data) {
    const EpilogueArguments& arguments = data.arguments;
    const Linear::Params linear = {
        {{{{{arguments.alpha, {}}, {arguments.row_scale}}, {arguments.column_scale}},
          {arguments.beta, matrix_of(data.source)}},
         {arguments.column_bias}},
        {arguments.row_bias}};
    return {arguments.output_scale, {arguments.amax, {{matrix_of(data.auxiliary), linear}}}};
  }
};

// SwiGLU with a residual behind it.
struct Gated {
  using Root = Add<Gate<formula::Silu, Add<Scale<Sum>, ColumnBias<ElementType::Fp32>>>,
                   Scale<Source<ElementType::Fp16>>>;
  static void ask(EpilogueCase& problem) {
    EpilogueArguments& arguments = problem.arguments;
    problem.exact = false;
    arguments.alpha = 0.3f;
    arguments.beta = 2.5f;
    arguments.source = arguments.column_bias = &asked;
    arguments.source_type = ElementType::Fp16;
    arguments.bias_type = ElementType::Fp32;
    arguments.activation = Activation::Silu;
    arguments.gated = true;
  }
  static Root::Params params(const EpilogueData& data) {
    const EpilogueArguments& arguments = data.arguments;
    return {{{{arguments.alpha, {}}, {arguments.column_bias}}},
            {arguments.beta, matrix_of(data.source)}};
  }
};

template <template <class> class Function, Activation activation>
struct Activated {
  using Root = Function<Scale<Sum>>;
  static void ask(EpilogueCase& problem) {
    problem.exact = activation == Activation::Relu;
    problem.arguments.alpha = -0.5f;
    problem.arguments.activation = activation;
  }
  static typename Root::Params params(const EpilogueData& data) {
    return {{data.arguments.alpha, {}}};
  }
};

struct Clamped {
  using Root = Clamp<Sum>;
  static void ask(EpilogueCase& problem) {
    problem.arguments.activation = Activation::Clamp;
    problem.arguments.clamp_low = -3.0f;
    problem.arguments.clamp_high = 1.0f;
  }
  static Root::Params params(const EpilogueData& data) {
    return {{data.arguments.clamp_low, data.arguments.clamp_high}, {}};
  }
};

template <class Example>
class EpilogueTree : public ::testing::Test {};
using Examples =
    ::testing::Types<Everything, Gated, Activated<Relu, Activation::Relu>,
                     Activated<Gelu, Activation::Gelu>, Activated<Tanh, Activation::Tanh>, Clamped>;
TYPED_TEST_SUITE(EpilogueTree, Examples);

template <ElementType output, class Example, class Sums>
void expect_right(const EpilogueCase& problem) {
  EpilogueData data(problem);
  const vgpu::Report report =
      run_stored<output, Tree<typename Example::Root>, Sums>(data, Example::params(data));
  ASSERT_TRUE(clean(report)) << problem.name();
  ASSERT_EQ(data.complaint(), "") << problem.name();
}

template <ElementType output, class Example>
void expect_right_everywhere() {
  std::uint64_t seed = 0;
  for (const bool aligned : {true, false}) {
    for (const Mechanism mechanism : {Mechanism::Staged, Mechanism::Direct}) {
      EpilogueCase problem;
      problem.m = 150;
      problem.n = aligned ? 256 : 202;
      problem.batch = 2;
      problem.group_ends = {30, 140};
      problem.output = output;
      problem.mechanism = mechanism;
      problem.aligned = problem.aligned_operands = aligned;
      problem.seed = ++seed;
      Example::ask(problem);
      ASSERT_NO_FATAL_FAILURE((expect_right<output, Example, MatrixFloats>(problem)));
      problem.held = Held::Row;
      ASSERT_NO_FATAL_FAILURE((expect_right<output, Example, RowIntegers>([&] {
        EpilogueCase integers = problem;
        integers.integer_sums = true;
        return integers;
      }())));
    }
  }
}

TYPED_TEST(EpilogueTree, ComputesWhatItSays) {
  ASSERT_NO_FATAL_FAILURE((expect_right_everywhere<ElementType::Bf16, TypeParam>()));
  ASSERT_NO_FATAL_FAILURE((expect_right_everywhere<ElementType::Fp32, TypeParam>()));
  ASSERT_NO_FATAL_FAILURE((expect_right_everywhere<ElementType::E4m3, TypeParam>()));
}

// The bare sum of integers is stored as it is.
TEST(Tree, PassesIntegersThroughExactly) {
  EpilogueCase problem;
  problem.m = 65;
  problem.n = 71;
  problem.output = ElementType::S32;
  problem.integer_sums = true;
  EpilogueData data(problem);
  for (std::size_t i = 0; i < data.sums.size(); ++i) {
    data.sums[i] = -2147483648.0 + 3 * static_cast<double>(i);
  }
  ASSERT_TRUE(clean(run_stored<ElementType::S32, Tree<Sum>, MatrixIntegers>(data, {})));
  EXPECT_EQ(data.complaint(), "");
}

// The group itself plays the role that brings the source's chunks to shared memory.
struct StagedRun : PlainRun {
  struct Supply {
    const PaddedMatrix& from;
    int batch;
    unsigned char* buffer;
    int rows;
    int columns;

    StagedSource<128, 128> next(int row, int column) const {
      const unsigned bytes = bytes_of(from.type);
      isa::barrier_sync(2, 128);  // everybody has read the chunk before
      for (int i = static_cast<int>(isa::thread_index()); i < rows * columns; i += 128) {
        const int to_row = i / columns;
        const int to_column = i % columns;
        if (row + to_row >= from.rows || column + to_column >= from.columns) continue;
        const unsigned byte = static_cast<unsigned>(to_column) * bytes;
        unsigned char* const to = buffer + to_row * 128 + (byte ^ to_row % 8 * 16);
        const auto* const element =
            from.data() + from.index(batch, row + to_row, column + to_column) * bytes;
        const auto copy = [&](auto* typed) {
          using T = std::remove_pointer_t<decltype(typed)>;
          store_element<Space::Shared>(
              typed, load_element<Space::Global>(reinterpret_cast<const T*>(element)));
        };
        bytes == 2 ? copy(reinterpret_cast<std::uint16_t*>(to))
                   : copy(reinterpret_cast<std::uint32_t*>(to));
      }
      isa::barrier_sync(2, 128);
      return {isa::shared_address(buffer), row, column};
    }
  };

  const EpilogueData& data;
  int rows;
  int columns;

  template <class Loop, class Sums>
  void store(Loop& loop, const Sums& sum, const TileOrigin& place) const {
    auto* const buffer = static_cast<unsigned char*>(isa::dynamic_shared()) + (48 << 10);
    // Outside nobody has written; those values are not stored either, but they are read.
    for (unsigned at = isa::thread_index(); at < 16384 / 4; at += 128) {
      store_element<Space::Shared>(reinterpret_cast<std::uint32_t*>(buffer) + at, 0u);
    }
    Supply supply = {data.source, place.batch, buffer, rows, columns};
    loop.store(sum, place, supply);
  }
};

template <ElementType output, class Sums>
void expect_right_from_shared_memory(EpilogueCase problem) {
  problem.m = 150;
  problem.n = 202;
  problem.batch = 2;
  problem.output = output;
  problem.arguments.source = &asked;
  EpilogueData data(problem);
  using Store = StagedStore<output, Sums::block_rows, NoTrace>;
  const int columns = static_cast<int>(128 / bytes_of(output)) / (problem.arguments.gated ? 2 : 1);
  const StagedRun how = {{}, data, static_cast<int>(Sums::block_rows), columns};
  const vgpu::Report report = run_kernel<RuntimeEpilogue, Store, Sums>(data, data.arguments, how);
  ASSERT_TRUE(clean(report)) << problem.name();
  ASSERT_EQ(data.complaint(), "") << problem.name();
}

TEST(StagedSource, IsReadFromSharedMemory) {
  for (const bool gated : {false, true}) {
    const auto with = [gated](ElementType type) {
      EpilogueCase problem;
      problem.arguments.source_type = type;
      problem.arguments.beta = 2.0f;
      problem.arguments.gated = gated;
      return problem;
    };
    for (const ElementType type : {ElementType::Bf16, ElementType::Fp16}) {
      expect_right_from_shared_memory<ElementType::Bf16, MatrixFloats>(with(type));
      expect_right_from_shared_memory<ElementType::Fp32, RowFloats>(with(type));
    }
    expect_right_from_shared_memory<ElementType::Fp32, MatrixFloats>(with(ElementType::Fp32));
    expect_right_from_shared_memory<ElementType::Bf16, RowFloats>(with(ElementType::Bf16));
  }
}

// What ResidualProgram serves; an odd number of columns goes through the mix.
TEST(StagedSource, EndsALayer) {
  enum class Bias { None, Output, Wide };  // its type is the output's, or fp32
  const auto with = [](ElementType type, Bias bias, Activation activation) {
    EpilogueCase problem;
    problem.arguments.source_type = type;
    problem.arguments.beta = 1.0f;
    problem.arguments.bias_type = bias == Bias::Wide ? ElementType::Fp32 : type;
    problem.arguments.column_bias = bias != Bias::None ? &asked : nullptr;
    problem.arguments.activation = activation;
    return problem;
  };
  for (const Bias bias : {Bias::None, Bias::Output, Bias::Wide}) {
    for (const Activation activation : {Activation::None, Activation::Relu}) {
      const EpilogueCase bf16 = with(ElementType::Bf16, bias, activation);
      expect_right_from_shared_memory<ElementType::Bf16, MatrixFloats>(bf16);
      expect_right_from_shared_memory<ElementType::Bf16, RowFloats>(bf16);
      const EpilogueCase fp16 = with(ElementType::Fp16, bias, activation);
      expect_right_from_shared_memory<ElementType::Fp16, MatrixFloats>(fp16);
    }
  }
}

}  // namespace
}  // namespace tw::tests
