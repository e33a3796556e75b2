// Grouped matmul, as a caller states it, what it must satisfy, and its plan: that of a batch whose
// matrices share A and D.
#pragma once

#include <utility>

#include "tilewright/family/grouped.h"
#include "tilewright/host/blockwise_fp8.h"
#include "tilewright/host/matmul.h"

namespace tw {

// D[row] = epilogue(A[row] B[group of the row]^T). Rows of no group are left alone.
struct GroupedProblem {
  // m counts the rows of all groups, batch the groups. Batch pitches are of B only.
  MatmulProblem matmul;
  // On the device, where no host looks: one for each group. Groups lie one behind the other, and
  // this is the row behind its last; or each has `capacity` rows, and this is how many are there.
  const std::int32_t* rows = nullptr;
  std::int64_t capacity = 0;  // 0: one behind the other
  // Where A has rows of its own number, row i of D is made of row row_index[i] of A, or of zeros
  // where A has no such row: on the device, one for each row of D.
  const std::int32_t* row_index = nullptr;
  std::int64_t a_rows = 0;  // 0: row i of D is made of row i of A
  // family blockwise: begin
  ScaleTensor a_scales = {};  // of FP8 with scales of blocks: of all rows of A,
  ScaleTensor b_scales = {};  // and of each group's B, a batch pitch apart
  // family blockwise: end
};

inline Status check(const GroupedProblem& problem) {
  MatmulProblem one = problem.matmul;
  const std::int64_t groups = one.batch;
  // All groups share what has rows; a number of them that no batch can have is refused as such.
  if (groups > 0 && groups < (std::int64_t{1} << 31) - 256) one.batch = 1;
  Status status = check(one);
  if (!status.is_good()) return status;
  if (problem.capacity < 0 || problem.capacity >= std::int64_t{1} << 31) {
    return Status::refused("The capacity is " + std::to_string(problem.capacity) +
                           " rows, but must be at least 0 and below 2^31.");
  }
  if (std::min({one.m, one.n, groups}) == 0) return status;
  if (one.k > 0) {
    // One of them is good; the others are a batch pitch apart.
    status = detail::check_matrix("B", one.b.data, 1, 0, one.b.pitch, groups, one.b.batch_pitch,
                                  one.b.type);
    if (!status.is_good()) return status;
  }
  status = detail::check_matrix("the groups' rows", problem.rows, 1, groups, groups, 1, 0,
                                ElementType::S32);
  if (!status.is_good()) return status;
  const std::int64_t capacity = problem.capacity;
  if (capacity > one.m || (capacity > 0 && capacity * groups != one.m)) {
    return Status::refused("m is " + std::to_string(one.m) + ", but must be the capacity, " +
                           std::to_string(capacity) + " rows, times the number of groups, " +
                           std::to_string(groups) + ".");
  }
  if (problem.a_rows < 0 || problem.a_rows >= std::int64_t{1} << 31) {
    return Status::refused("Rows are gathered from " + std::to_string(problem.a_rows) +
                           " rows of A, but must be from at least 1 and below 2^31.");
  }
  if (problem.a_rows == 0) return Status::good();
  return detail::check_matrix("the row index", problem.row_index, 1, one.m, one.m, 1, 0,
                              ElementType::S32);
}

// A batch whose matrices share all that has rows.
inline MatmulProblem as_batch(const GroupedProblem& problem) {
  MatmulProblem batch = problem.matmul;
  batch.a.batch_pitch = batch.d.batch_pitch = 0;
  batch.epilogue.source_batch_pitch = batch.epilogue.auxiliary_batch_pitch = 0;
  return batch;
}

// family blockwise: begin
// Of B, that share a scale; 0: there are no scales.
template <class Scales>
constexpr unsigned rows_of_scale = 0;
template <class Scales>
requires(Scales::rows_of_scale >
         0) constexpr unsigned rows_of_scale<Scales> = Scales::rows_of_scale;

// All groups share the scales of A; those of B are as many matrices as there are groups.
inline Status check_scales(const GroupedProblem& problem, unsigned b_scale_rows) {
  MatmulProblem one = problem.matmul;
  one.batch = 1;
  if (problem.a_rows > 0) one.m = problem.a_rows;
  const std::int64_t pitch = problem.b_scales.tensor.batch_pitch, groups = problem.matmul.batch;
  if (pitch < 0 || static_cast<double>(pitch) * static_cast<double>(groups) >= 0x1p31) {
    return Status::refused("The scales of B of " + std::to_string(groups) + " groups are " +
                           std::to_string(pitch) +
                           " elements apart, but must reach over less than 2^31 elements.");
  }
  return check(BlockwiseProblem{one, problem.a_scales, problem.b_scales}, b_scale_rows);
}
// family blockwise: end

template <class Parts, class Encode>
Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
            const GroupedProblem& problem, const MatmulOrder& order, unsigned max_clusters,
            const Workspace& workspace, const Encode& encode) {
  params.schedule.rows = problem.rows;
  params.schedule.capacity = static_cast<int>(problem.capacity);
  constexpr bool gathers = requires { params.loader.index; };
  if (gathers != (problem.a_rows > 0)) {
    return Status::refused(gathers ? "This kernel gathers rows of A, but there is no row index."
                                   : "This kernel takes rows of A as they lie: no row index.");
  }
  const MatmulProblem batch = as_batch(problem);
  // family blockwise: begin
  constexpr unsigned scale_rows = rows_of_scale<typename Parts::Scales>;
  if constexpr (scale_rows > 0) {
    Status scales = check_scales(problem, scale_rows);
    if (!scales.is_good()) return scales;
    const ScaleTensor &a = problem.a_scales, &b = problem.b_scales;
    params.own = {detail::view_of(a.tensor, batch, a.rows),
                  detail::view_of(b.tensor, batch, b.rows)};
    params.own.a.batch_stride = 0;
    if constexpr (gathers) params.own.index = problem.row_index;
    if constexpr (Parts::config.tiling.exchanged != 0) std::swap(params.own.a, params.own.b);
  } else if (problem.a_scales.tensor.data != nullptr) {
    return Status::refused("This kernel takes no scales of blocks.");
  }
  // family blockwise: end
  Status planned = plan<Parts>(params, grid, batch, order, max_clusters, workspace, encode);
  if constexpr (gathers) {
    params.loader.index = problem.row_index;
    params.loader.a.rows = static_cast<int>(problem.a_rows);
  }
  return planned;
}

}  // namespace tw
