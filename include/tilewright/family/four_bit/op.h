// TileOps on Hopper: packed weights, converted on their way to the registers of A, by activations.
#pragma once

#include "tilewright/family/four_bit/fragments.h"
#include "tilewright/family/four_bit/stage.h"
#include "tilewright/isa/ptx/warp_matrix.h"
#include "tilewright/isa/ptx/wgmma_register.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/op/wgmma.h"

namespace tw {

// A thread of a warpgroup reads packed weights; the warpgroup has `rows` of the tile's features.
template <Tiling tiling, PackedWeights packed, unsigned rows, unsigned stage_bytes>
class PackedReader : public UsualOp {
 protected:
  static constexpr unsigned blocks = rows / 64;
  // Codes are converted a span of 64 of k at a time, of which activations of a byte have two to a
  // span of the stage.
  static constexpr unsigned spans = tiling.k() / PackedWeights::span_k;
  static constexpr unsigned steps = PackedWeights::span_k / packed.step_k();  // per span
  static constexpr unsigned stage_steps = tiling.span_k() / packed.step_k();  // per stage's span
  using Fragments = FourBitFragments<packed>;
  static_assert(rows % 64 == 0 && packed.activation == tiling.b_type,
                "A warpgroup multiplies blocks of 64 features, packed for these activations.");
  using Tensors = FourBitTensors<tiling, packed, stage_bytes>;

 public:
  using Accumulator = RegisterAccumulator<blocks, tiling.n>;
  static constexpr bool elected = false;
  // Every lane reads its codes itself.
  static constexpr Release release = Release::Warp;
  static constexpr unsigned releases = 4;  // arrivals by each group
  static TW_DEVICE unsigned speaker(unsigned thread) { return thread % 32; }
  static TW_DEVICE bool leads() { return true; }

 protected:
  TW_DEVICE PackedReader(const Tensors& stages, unsigned first_row, unsigned thread)
      : stages_(stages), first_block_(first_row / PackedWeights::rows), thread_(thread) {}

  // The thread's share of a stage, all of it before any is converted.
  struct Share {
    std::uint32_t words[spans][blocks][4];
    ScaleRecord<packed> records[spans / 2][blocks];

    // The registers of A of a product.
    TW_DEVICE void convert(std::uint32_t (&a)[4], unsigned span, unsigned block,
                           unsigned step) const {
      Fragments::convert(a, words[span][block] + step * Fragments::words, records[span / 2][block],
                         span % 2 * steps + step);
    }
  };
  TW_DEVICE void read(Share& share, unsigned slot) const {
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      TW_UNROLL
      for (unsigned span = 0; span < spans; ++span) {
        if (span % 2 == 0) {
          read_record(share.records[span / 2][block],
                      stages_.records.address(thread_ / 4, span / 2, first_block_ + block, slot));
        }
        isa::load_shared_16(share.words[span][block],
                            stages_.codes.address(thread_ + 128 * (span % 2), span / 2,
                                                  first_block_ + block, slot));
      }
    }
  }
  static TW_DEVICE void read_record(ScaleRecord<packed>& record, SharedAddress from) {
    constexpr unsigned words = ScaleRecord<packed>::words;
    if constexpr (words == 1) {
      record.word[0] = isa::load_shared_4(from);
    } else if constexpr (words == 2) {
      isa::load_shared_8(record.word, from);
    } else {
      static_assert(words == 4, "Scales of a block are 4, 8 or 16 bytes of a thread.");
      isa::load_shared_16(record.word, from);
    }
  }

  Tensors stages_;
  unsigned first_block_;
  unsigned thread_;  // in the warpgroup
};

// Products by wgmma: a span of 64 of k is converted while those of the one before run.
template <Tiling tiling, PackedWeights packed, unsigned rows, unsigned stage_bytes>
class FourBitOp : public PackedReader<tiling, packed, rows, stage_bytes> {
  using Reader = PackedReader<tiling, packed, rows, stage_bytes>;
  using Reader::blocks;
  using Reader::spans;
  using Reader::stage_steps;
  using Reader::steps;
  using typename Reader::Share;
  using typename Reader::Tensors;
  using BlocksB = OperandBlocks<typename Tensors::B, Major::K, tiling.n, packed.step_k()>;
  static constexpr std::uint64_t b_descriptor = wgmma_descriptor(BlocksB::layout);

 public:
  using typename Reader::Accumulator;
  // The products of the newest stage are still reading it when multiply() returns.
  static constexpr unsigned stages_held = 1;

  TW_DEVICE FourBitOp(const Tensors& stages, unsigned first_row, unsigned thread)
      : Reader(stages, first_row, thread), b_(isa::shuffle(in_descriptor(stages.b.address()), 0)) {}

  template <StageToRead Stage>
  TW_DEVICE void multiply(Accumulator& sum, const Stage& stage) {
    static_assert(is_stage_of<Stage, Tensors>,
                  "The stage is of another ring than this TileOp was made for.");
    Share share;
    this->read(share, stage.slot());
    const std::uint64_t b = b_descriptor + b_ + BlocksB::units(0, 0, 0, stage.slot());
    TW_UNROLL
    for (unsigned span = 0; span < spans; ++span) {
      convert(share, span);
      issue(sum, span, b);
      reuse(span + 1);
    }
  }

  // After the last stage: the sums are in the registers.
  TW_DEVICE void finish(Accumulator& sum) {
    isa::wgmma_wait_group<0>();
    keep(a_[1]);
    if (!sum.started()) sum.clear();
  }

  // Promoted sums (bind/scaled_op.h) have a stage as one piece: this issues its products and waits
  // for none.
  using Piece = FourBitOp;
  template <StageToRead Stage>
  TW_DEVICE void issue(Accumulator& partial, const Stage& stage, unsigned /*row*/,
                       unsigned /*column*/) {
    Share share;
    this->read(share, stage.slot());
    const std::uint64_t b = b_descriptor + b_ + BlocksB::units(0, 0, 0, stage.slot());
    TW_UNROLL
    for (unsigned span = 0; span < spans; ++span) {
      reuse(span);
      convert(share, span);
      issue(partial, span, b);
    }
  }
  template <unsigned issued>
  TW_DEVICE void wait(Accumulator& partial) {
    isa::wgmma_wait_group<issued * spans>();
    if constexpr (issued == 0) {
      TW_UNROLL
      for (SpanRegisters& registers : a_) keep(registers);
    }
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      isa::wgmma_registers(partial.fragment(block));
    }
  }

 private:
  using SpanRegisters = std::uint32_t[blocks][steps][4];

  // The registers of a span are converted into next: products of all but the newest span are done.
  TW_DEVICE void reuse(unsigned span) {
    isa::wgmma_wait_group<1>();
    keep(a_[span % 2]);
  }

  TW_DEVICE void convert(const Share& share, unsigned span) {
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      TW_UNROLL
      for (unsigned step = 0; step < steps; ++step) {
        share.convert(a_[span % 2][block][step], span, block, step);
      }
    }
  }

  TW_DEVICE void issue(Accumulator& sum, unsigned span, std::uint64_t b) {
    isa::wgmma_fence();
    TW_UNROLL
    for (unsigned step = 0; step < steps; ++step) {
      const unsigned all = span * steps + step;
      TW_UNROLL
      for (unsigned block = 0; block < blocks; ++block) {
        isa::wgmma_register<tiling.b_type, tiling.n>(
            sum.fragment(block), a_[span % 2][block][step],
            b + BlocksB::units(0, all % stage_steps, all / stage_steps, 0),
            all > 0 || sum.started());
      }
    }
    isa::wgmma_commit_group();
    sum.start();
  }

  static TW_DEVICE void keep(SpanRegisters& registers) {
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      TW_UNROLL
      for (unsigned step = 0; step < steps; ++step) isa::wgmma_registers(registers[block][step]);
    }
  }

  std::uint32_t b_;  // units of 16 bytes
  SpanRegisters a_[2] = {};
};

// Products by mma.sync, for few rows: a warp waits neither for its own products nor for other
// warps, so that conversions and products of all warps run side by side. Sums lie as wgmma's do.
template <Tiling tiling, PackedWeights packed, unsigned rows, unsigned stage_bytes>
class FourBitWarpOp : public PackedReader<tiling, packed, rows, stage_bytes> {
  using Reader = PackedReader<tiling, packed, rows, stage_bytes>;
  using Reader::blocks;
  using Reader::steps;
  using typename Reader::Share;
  using typename Reader::Tensors;
  static constexpr unsigned columns = tiling.n;
  // One ldmatrix brings 16 columns of a step, or 8 of two steps.
  static constexpr unsigned loads = columns == 8 ? 1 : columns / 16;
  static constexpr unsigned load_steps = columns == 8 ? 2 : 1;
  static constexpr MmaType type = tiling.b_type == ElementType::Bf16 ? MmaType::Bf16 : MmaType::F16;
  static_assert(columns == 8 || columns % 16 == 0, "A warp multiplies by 8 columns, or by 16s.");

 public:
  using typename Reader::Accumulator;
  static constexpr unsigned stages_held = 0;  // fragments are in registers when multiply() returns

  TW_DEVICE FourBitWarpOp(const Tensors& stages, unsigned first_row, unsigned thread)
      : Reader(stages, first_row, thread) {}

  template <StageToRead Stage>
  TW_DEVICE void multiply(Accumulator& sum, const Stage& stage) {
    static_assert(is_stage_of<Stage, Tensors>,
                  "The stage is of another ring than this TileOp was made for.");
    if (!sum.started()) sum.clear();
    sum.start();
    Share share;
    this->read(share, stage.slot());
    TW_UNROLL
    for (unsigned span = 0; span < tiling.spans; ++span) {
      TW_UNROLL
      for (unsigned step = 0; step < steps; step += load_steps) {
        std::uint32_t b[loads][4];
        TW_UNROLL
        for (unsigned i = 0; i < loads; ++i) load(b[i], i, step, span, stage.slot());
        TW_UNROLL
        for (unsigned more = 0; more < load_steps; ++more) {
          TW_UNROLL
          for (unsigned block = 0; block < blocks; ++block) {
            std::uint32_t a[4];
            share.convert(a, span, block, step + more);
            TW_UNROLL
            for (unsigned i = 0; i < columns / 8; ++i) {
              const unsigned first = columns == 8 ? 2 * more : i % 2 * 2;
              const std::uint32_t of_b[2] = {b[i / 2][first], b[i / 2][first + 1]};
              float(&all)[columns / 2] = sum.fragment(block);
              isa::mma_sync<type>(reinterpret_cast<float(&)[4]>(all[4 * i]), a, of_b);
            }
          }
        }
      }
    }
  }

  TW_DEVICE void finish(Accumulator& sum) {
    if (!sum.started()) sum.clear();
  }

 private:
  TW_DEVICE void load(std::uint32_t (&b)[4], unsigned index, unsigned step, unsigned span,
                      unsigned slot) const {
    const unsigned lane = this->thread_ % 32;
    const unsigned row = columns == 8 ? lane % 8 : 16 * index + lane / 16 * 8 + lane % 8;
    const unsigned chunk = columns == 8 ? lane / 8 : lane / 8 % 2;
    const auto chunks = this->stages_.b.template chunks<16>();
    isa::ldmatrix_x4(b, chunks.address(row, 2 * step + chunk, span, slot));
  }
};

}  // namespace tw
