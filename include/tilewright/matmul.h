// Matrix products of device matrices: C++ over the C interface of tilewright.h, for C++17 and
// later. What the library refuses is thrown as tw::Error.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "tilewright.h"

namespace tw {

class Error : public std::runtime_error {
 public:
  Error(tw_status status, const std::string& sentence)
      : std::runtime_error(sentence), status_(status) {}
  tw_status status() const { return status_; }

 private:
  tw_status status_;
};

// `batch` matrices in memory of the caller's. Strides count elements.
struct MatrixView {
  void* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  tw_type type = TW_BF16;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  std::int64_t batch = 1;
  std::int64_t batch_stride = 0;

  MatrixView transposed() const {
    return {data, columns, rows, type, column_stride, row_stride, batch, batch_stride};
  }
  MatrixView batched(std::int64_t count, std::int64_t stride) const {
    return {data, rows, columns, type, row_stride, column_stride, count, stride};
  }
  operator tw_matrix() const {
    return {data, row_stride, column_stride, batch > 1 ? batch_stride : 0, type};
  }
};

inline MatrixView row_major(const void* data, std::int64_t rows, std::int64_t columns,
                            tw_type type) {
  return {const_cast<void*>(data), rows, columns, type, columns, 1};
}

inline MatrixView column_major(const void* data, std::int64_t rows, std::int64_t columns,
                               tw_type type) {
  return {const_cast<void*>(data), rows, columns, type, 1, rows};
}

// As tw_matmul_init leaves them, and no workspace.
struct MatmulOptions {
  MatmulOptions() {
    tw_matmul_problem problem;
    tw_matmul_init(&problem, &choice);
    epilogue = problem.epilogue;
  }
  tw_epilogue epilogue;
  tw_matmul_options choice;
  bool b_is_constant = false;  // as in tw_matmul_problem
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

namespace detail {

inline void must(tw_status status) {
  if (status != TW_OK) throw Error(status, tw_message());
}

inline void must_agree(const char* what, std::int64_t value, const char* other,
                       std::int64_t expected) {
  if (value == expected) return;
  throw Error(TW_INVALID, std::string(what) + " is " + std::to_string(value) + ", but " + other +
                              " is " + std::to_string(expected) + ".");
}

// What is decided from the shape, decided once; used from many threads at once.
template <class Problem>
class Plan {
 public:
  explicit Plan(const Problem& problem, const MatmulOptions& options = {}) {
    tw_plan* plan = nullptr;
    must(tw_plan_create(&plan, &problem, &options.choice));
    plan_.reset(plan);
  }
  std::size_t workspace_bytes() const { return tw_plan_workspace_size(plan_.get()); }
  const char* command() const { return tw_plan_command(plan_.get()); }
  void run(void* stream, const Problem& problem, void* workspace = nullptr,
           std::size_t bytes = 0) const {
    must(tw_plan_run(plan_.get(), &problem, workspace, bytes, stream));
  }

 private:
  struct Destroy {
    void operator()(tw_plan* plan) const { tw_plan_destroy(plan); }
  };
  std::unique_ptr<tw_plan, Destroy> plan_;
};

}  // namespace detail

// D = epilogue(A B). A and B of a single matrix serve D's whole batch.
inline tw_matmul_problem matmul_problem(const MatrixView& a, const MatrixView& b,
                                        const MatrixView& d, const MatmulOptions& options = {}) {
  tw_matmul_problem problem;
  tw_matmul_init(&problem, nullptr);
  problem.m = a.rows;
  problem.n = b.columns;
  problem.k = a.columns;
  problem.batch = d.batch;
  const bool gated = options.epilogue.gated != 0;
  detail::must_agree("The number of B's rows", b.rows, "that of A's columns", a.columns);
  detail::must_agree("The number of D's rows", d.rows, "that of A's rows", a.rows);
  detail::must_agree("The number of D's columns", d.columns,
                     gated ? "half that of B's columns" : "that of B's columns",
                     gated ? b.columns / 2 : b.columns);
  if (a.batch != 1) detail::must_agree("The batch of A", a.batch, "that of D", d.batch);
  if (b.batch != 1) detail::must_agree("The batch of B", b.batch, "that of D", d.batch);
  problem.a = a;
  problem.b = b;
  problem.d = d;
  problem.epilogue = options.epilogue;
  problem.b_is_constant = options.b_is_constant;
  return problem;
}

// On `stream`, a cudaStream_t.
inline void matmul(void* stream, const MatrixView& a, const MatrixView& b, const MatrixView& d,
                   const MatmulOptions& options = {}) {
  const tw_matmul_problem problem = matmul_problem(a, b, d, options);
  detail::must(
      tw_matmul(&problem, &options.choice, options.workspace, options.workspace_bytes, stream));
}

// What options.workspace must have.
inline std::size_t matmul_workspace_bytes(const MatrixView& a, const MatrixView& b,
                                          const MatrixView& d, const MatmulOptions& options = {}) {
  const tw_matmul_problem problem = matmul_problem(a, b, d, options);
  std::size_t bytes = 0;
  detail::must(tw_matmul_workspace_size(&bytes, &problem, &options.choice));
  return bytes;
}

// On the virtual GPU, in host memory; returns when D is there.
inline void matmul_on_virtual_gpu(const MatrixView& a, const MatrixView& b, const MatrixView& d,
                                  const MatmulOptions& options = {}) {
  const tw_matmul_problem problem = matmul_problem(a, b, d, options);
  detail::must(tw_matmul_simulate(&problem, &options.choice));
}

using MatmulPlan = detail::Plan<tw_matmul_problem>;

}  // namespace tw
