// What threads and warps have asked of tensor memory, and how far it is.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "vgpu/data/tcgen05.h"
#include "vgpu/machine/clock.h"
#include "vgpu/machine/wait.h"

namespace tw::vgpu {

struct Cta;
struct Mbarrier;
struct Thread;

// What others may hear about an operation, each later than the one before: it was issued, it was
// waited for, and tcgen05.fence::before_thread_sync came after that.
enum class TensorNews : std::uint8_t { Issued, Waited, Fenced };
constexpr unsigned tensor_news_count = 3;

// The tcgen05.ld of a warp, or its tcgen05.st, counted since it began.
struct TensorTrack {
  Epoch issued = 0;
  Epoch waited = 0;  // up to here a tcgen05.wait has covered them
  unsigned in_flight = 0;
  WaitList waiters;
  std::array<Slot, tensor_news_count> slots = {no_slot, no_slot, no_slot};
  std::array<ClockRef, tensor_news_count> memory;
};

struct WarpTensorState;

// Which words of tensor memory the lanes of a warp take. Those of 16 lanes are the fragments of
// matrix instructions.
enum class TensorAccessShape : std::uint8_t {
  Lanes32Bits32,
  Lanes16Bits64,
  Lanes16Bits128,
  Lanes16Bits256,
  Lanes16Bits32Twice,  // 16x32bx2: the upper lanes go on where the lower ones end
  Lanes32Halves        // 32x32b with .pack::16b: a word has the lower halves of two columns
};
struct TensorWord {
  unsigned lane, column;  // from where the access begins
};
// `word` of the lane's `words`.
constexpr TensorWord tensor_word(TensorAccessShape shape, unsigned lane, unsigned word,
                                 unsigned words) {
  switch (shape) {
    case TensorAccessShape::Lanes32Bits32: break;
    case TensorAccessShape::Lanes32Halves: return {lane, 2 * word};
    case TensorAccessShape::Lanes16Bits64:
      return {lane % 2 * 8 + lane / 4, 2 * word + lane / 2 % 2};
    case TensorAccessShape::Lanes16Bits128:
      return {lane / 4 + word % 2 * 8, word / 2 * 4 + lane % 4};
    case TensorAccessShape::Lanes16Bits256:
      return {lane / 4 + word / 2 % 2 * 8, word / 4 * 8 + lane % 4 * 2 + word % 2};
    case TensorAccessShape::Lanes16Bits32Twice: return {lane % 16, word + lane / 16 * words};
  }
  return {lane, word};
}
// Lanes and columns that an access of so many words a lane touches.
constexpr unsigned lanes_of(TensorAccessShape shape) {
  const bool all =
      shape == TensorAccessShape::Lanes32Bits32 || shape == TensorAccessShape::Lanes32Halves;
  return all ? 32 : 16;
}
constexpr unsigned columns_of(TensorAccessShape shape, unsigned words) {
  if (shape == TensorAccessShape::Lanes32Halves) return 2 * words;
  return words * 32 / lanes_of(shape);
}

// One tcgen05.ld or tcgen05.st of a warp between issue and landing, and until the wait.
struct TensorAccessOp {
  WarpTensorState* warp = nullptr;
  Cta* cta = nullptr;
  bool is_load = false;
  Epoch epoch = 0;
  unsigned lane = 0, column = 0, count = 0;
  std::uint64_t time = 0;
  TensorAccessShape shape = TensorAccessShape::Lanes32Bits32;
  std::uint32_t* registers[32] = {};                  // where a load writes
  std::array<std::vector<std::uint32_t>, 32> values;  // per lane
  unsigned delivered = 0;                             // lanes that have their registers
};

struct WarpTensorState {
  TensorTrack loads, stores;
  std::deque<std::unique_ptr<TensorAccessOp>> ops;  // loads nobody has waited for, stores in flight
  bool asks = false;                                // blocked in tcgen05.alloc or dealloc
  ClockRef answer;                                  // what the fulfilment published
  // What each lane brings to the instruction that the warp executes now.
  TensorAccessOp* landing = nullptr;
  std::array<std::uint32_t*, 32> registers;
  std::array<std::vector<std::uint32_t>, 32> values;
};

// Lanes that a product does not write, by bits: those of the even CTA, then of the odd one.
using LanesLeftOut = std::array<std::uint32_t, 8>;

struct TensorPipeline;

// What one thread has issued: a product, a copy, or a commit.
struct TensorOp {
  enum Kind : std::uint8_t { Product, Copy, Commit };
  Kind kind = Product;
  std::uint32_t column = 0, lane = 0;  // where the destination begins
  TensorProduct product;
  bool accumulate = false;
  LanesLeftOut left_out = {};
  TensorCopy form = {};
  unsigned cta_group = 1;
  OperandPlacement a, b;     // a copy's source is a
  bool a_is_tensor = false;  // A lies in tensor memory, from this column on
  std::uint32_t a_column = 0;
  std::uint32_t a_scales = 0, b_scales = 0;  // columns of a block-scaled product's scales
  std::uint64_t time = 0;
  std::vector<Mbarrier*> barriers;  // that a commit arrives at
  // What a commit's thread had waited for. Products that read what a copy brought are done, so the
  // copy is.
  ThreadView view;
  // Products may follow copies and products of other threads without waiting for them.
  struct After {
    TensorPipeline* pipeline;
    Epoch epoch;
  };
  std::vector<After> after;
};

// Products and copies of one thread, which land in the order of their issue. Epochs count them.
struct TensorPipeline {
  Thread* thread = nullptr;
  std::deque<TensorOp> ops;
  Epoch issued = 0;
  Epoch landed = 0;
  Slot done = no_slot;     // heard by those who wait for a commit
  Slot ordered = no_slot;  // heard after fence::before_thread_sync: issued, not done
  ClockRef ordered_memory;
};

}  // namespace tw::vgpu

namespace tw::model {

// Shapes that isa/ptx does not have; `count` words of each lane.
void tcgen05_load_shaped(std::uint32_t* values, unsigned count, TensorAddress source,
                         vgpu::TensorAccessShape shape);
void tcgen05_store_shaped(TensorAddress destination, const std::uint32_t* values, unsigned count,
                          vgpu::TensorAccessShape shape);
// tcgen05_mma_tensor_a and tcgen05_mma with a mask of lanes that are not written.
void tcgen05_mma_tensor_a(MmaKind kind, TensorAddress d, TensorAddress a, std::uint64_t b,
                          std::uint32_t instruction, bool accumulate,
                          const vgpu::LanesLeftOut& left_out);
void tcgen05_mma_masked(MmaKind kind, unsigned cta_group, TensorAddress d, std::uint64_t a,
                        std::uint64_t b, std::uint32_t instruction, bool accumulate,
                        const vgpu::LanesLeftOut& left_out);
// An instruction of a text is about to read or write a register that a load may still owe. ptxas
// knows such registers, and CUTLASS counts on that: the instruction waits for the load, and those
// before it.
void tcgen05_register_access(const std::uint32_t* word);

}  // namespace tw::model
