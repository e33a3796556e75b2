// Grouped matmul, as a caller states it, what it must satisfy, and its plan: that of a batch whose
// matrices share A and D.
#pragma once

#include "tilewright/family/grouped.h"
#include "tilewright/host/blockwise_fp8.h"
#include "tilewright/host/matmul.h"

namespace tw {

// Row i of D is made of row index[i] of A, on the device and one for each row of D; zero where A,
// which has `a_rows`, has no such row.
struct RowGather {
  const std::int32_t* index = nullptr;
  std::int64_t a_rows = 0;
};

// D[row] = epilogue(A[row] B[group of the row]^T). Rows of no group are left alone.
struct GroupedProblem {
  // m counts the rows of all groups, batch the groups. Batch pitches are of B only.
  MatmulProblem matmul;
  // On the device, where no host looks: one for each group. Groups lie one behind the other, and
  // this is the row behind its last; or each has `capacity` rows, and this is how many are there.
  const std::int32_t* rows = nullptr;
  std::int64_t capacity = 0;  // 0: one behind the other
  RowGather gather = {};      // without an index row i of D is made of row i of A
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
  if (!status.is_good() || std::min({one.m, one.n, groups}) == 0) return status;
  if (one.k > 0) {
    const bool by_k = one.b.major == Major::K;
    status = detail::check_matrix("B", one.b.data, by_k ? one.n : one.k, by_k ? one.k : one.n,
                                  one.b.pitch, groups, one.b.batch_pitch, one.b.type);
    if (!status.is_good()) return status;
  }
  status = detail::check_matrix("the groups' rows", problem.rows, 1, groups, groups, 1, 0,
                                ElementType::S32);
  if (!status.is_good()) return status;
  const std::int64_t capacity = problem.capacity;
  if (capacity < 0 || capacity > one.m || (capacity > 0 && capacity * groups != one.m)) {
    return Status::refused("m is " + std::to_string(one.m) + ", but must be the capacity, " +
                           std::to_string(capacity) + " rows, times the number of groups, " +
                           std::to_string(groups) + ".");
  }
  const auto& [index, a_rows] = problem.gather;
  if (index == nullptr && a_rows == 0) return Status::good();
  if (a_rows < 1 || a_rows >= std::int64_t{1} << 31) {
    return Status::refused("Rows are gathered from " + std::to_string(a_rows) +
                           " rows of A, but must be from at least 1 and below 2^31.");
  }
  return detail::check_matrix("the row index", index, 1, one.m, one.m, 1, 0, ElementType::S32);
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
template <class Side>
constexpr unsigned rows_of_scale = 0;
template <Tiling tiling, unsigned b_rows>
constexpr unsigned rows_of_scale<ScaleLoader<tiling, b_rows>> = b_rows;

// All groups share the scales of A; those of B are as many matrices as there are groups.
inline Status check_scales(const GroupedProblem& problem, unsigned b_scale_rows) {
  MatmulProblem one = problem.matmul;
  one.batch = 1;
  const std::int64_t pitch = problem.b_scales.tensor.batch_pitch, groups = problem.matmul.batch;
  if (pitch < 0 || pitch * groups >= std::int64_t{1} << 31) {
    return Status::refused("The scales of B of " + std::to_string(groups) + " groups are " +
                           std::to_string(pitch) +
                           " elements apart, but must reach over less than 2^31 elements.");
  }
  return check(BlockwiseProblem{one, problem.a_scales, problem.b_scales}, b_scale_rows);
}
// family blockwise: end

template <class Parts>
constexpr bool gathers_rows = requires(typename Parts::Loader::Params params) {
  params.index;
};

template <class Parts, class Encode>
Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
            const GroupedProblem& problem, const MatmulOrder& order, unsigned max_clusters,
            const Workspace& workspace, const Encode& encode) {
  params.schedule.rows = problem.rows;
  params.schedule.capacity = static_cast<int>(problem.capacity);
  constexpr bool gathers = gathers_rows<Parts>;
  if (gathers != (problem.gather.index != nullptr)) {
    return Status::refused(gathers ? "This kernel gathers rows of A, but there is no row index."
                                   : "This kernel takes rows of A as they lie: no row index.");
  }
  const MatmulProblem batch = as_batch(problem);
  // family blockwise: begin
  constexpr unsigned scale_rows = rows_of_scale<typename Parts::Side>;
  if constexpr (scale_rows > 0) {
    Status scales = check_scales(problem, scale_rows);
    if (!scales.is_good()) return scales;
    const ScaleTensor &a = problem.a_scales, &b = problem.b_scales;
    params.side = {detail::view_of(a.tensor, batch, a.rows),
                   detail::view_of(b.tensor, batch, b.rows)};
    params.side.a.batch_stride = 0;
  }
  // family blockwise: end
  Status planned = plan<Parts>(params, grid, batch, order, max_clusters, workspace, encode);
  if constexpr (gathers) {
    params.loader.index = problem.gather.index;
    params.loader.a.rows = static_cast<int>(problem.gather.a_rows);
  }
  return planned;
}

}  // namespace tw
