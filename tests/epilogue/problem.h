// One epilogue problem on the host: its data, what it must give, and how far off it may be.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/epilogue/arguments.h"
#include "tilewright/epilogue/fragment.h"
#include "vgpu/machine/machine.h"

namespace tw::tests {

enum class Mechanism { Staged, Direct };
// By a warpgroup, by one in tiles that are stored in narrow chunks, by single warps side by side,
// or by rows. Single warps have no staging.
enum class Held { Matrix, Narrow, Warps, Row };

// What is asked for. Everything random follows from `seed`.
struct EpilogueCase {
  int m = 1;
  int n = 1;
  int batch = 1;
  // Rows are cut here: m_end. What lies behind the last is not stored. Empty: at m alone.
  std::vector<int> group_ends;
  ElementType output = ElementType::Bf16;
  bool integer_sums = false;
  bool exact = true;             // small integers and powers of two; no gelu, silu, tanh
  bool aligned = true;           // D suits TMA
  bool aligned_operands = true;  // source and auxiliary may be accessed in pairs
  Mechanism mechanism = Mechanism::Staged;
  Held held = Held::Matrix;
  EpilogueArguments arguments;  // pointers are flags: not null asks for the operand
  vgpu::Landing landing = vgpu::Landing::Random;
  std::uint64_t seed = 1;

  int stored_rows() const { return group_ends.empty() ? m : group_ends.back(); }
  int output_columns() const { return arguments.gated ? n / 2 : n; }
  std::string name() const;
};

// A batch of matrices in memory, with padding all around that must not be touched.
struct PaddedMatrix {
  PaddedMatrix() = default;
  PaddedMatrix(int batch, int rows, int columns, ElementType type, bool aligned);

  std::size_t index(int batch_index, int row, int column) const {
    return static_cast<std::size_t>(batch_index * batch_pitch + row * pitch + column);
  }
  double get(int batch_index, int row, int column) const;
  void set(int batch_index, int row, int column, double value);
  unsigned char* data() { return storage.data() + begin; }
  const unsigned char* data() const { return storage.data() + begin; }

  ElementType type = ElementType::Bf16;
  int batch = 0, rows = 0, columns = 0;
  std::int64_t pitch = 0, batch_pitch = 0;
  std::size_t begin = 0;
  std::vector<unsigned char> storage;  // poisoned
};

// What a value must be: within `error` of `value` before it is rounded to its type.
struct Expected {
  double value;
  double error;
};

class EpilogueData {
 public:
  explicit EpilogueData(const EpilogueCase& problem);
  EpilogueData(const EpilogueData&) = delete;

  // Empty if everything is right; else what is wrong first, and how much.
  std::string complaint() const;

  EpilogueCase problem;
  EpilogueArguments arguments;  // with real pointers
  std::vector<double> sums;
  PaddedMatrix d;
  PaddedMatrix source;
  PaddedMatrix auxiliary;
  PaddedMatrix column_bias, row_bias, column_scale, row_scale;
  std::uint32_t amax = 0;
  std::vector<TileOrigin> tiles(int tile_rows, int tile_columns) const;
  std::vector<vgpu::GlobalRange> ranges() const;

 private:
  // Before the activation; and at an output column, before output_scale.
  Expected before(int batch, int row, int column) const;
  Expected after(int batch, int row, int column) const;
};

}  // namespace tw::tests
