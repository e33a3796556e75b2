// libtilewright for C++17 and later: any problem of tilewright.h, by its type. What the library
// refuses is thrown as tw::Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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

  static MatrixView row_major(const void* data, std::int64_t rows, std::int64_t columns,
                              tw_type type) {
    return {const_cast<void*>(data), rows, columns, type, columns, 1};
  }
  static MatrixView column_major(const void* data, std::int64_t rows, std::int64_t columns,
                                 tw_type type) {
    return row_major(data, columns, rows, type).transposed();
  }
  MatrixView transposed() const {
    return {data, columns, rows, type, column_stride, row_stride, batch, batch_stride};
  }
  MatrixView batched(std::int64_t count, std::int64_t stride) const {
    return {data, rows, columns, type, row_stride, column_stride, count, stride};
  }
  operator tw_matrix() const {
    return {data, row_stride, column_stride, batch > 1 ? batch_stride : 0, type};
  }
  operator tw_scales() const {
    return {data, rows, columns, row_stride, column_stride, batch > 1 ? batch_stride : 0, type};
  }
};

// Memory of the caller's that a call may use.
struct WorkspaceView {
  void* data = nullptr;
  std::size_t bytes = 0;
};

namespace detail {

inline void must(tw_status status) {
  if (status != TW_OK) throw Error(status, tw_message());
}

inline std::string extents_text(std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  const std::string matrix = std::to_string(rows) + " x " + std::to_string(columns);
  return batch == 1 ? matrix : std::to_string(batch) + " x " + matrix;
}

// Well-formed where TW_FAMILY has declared the type as a family's problem.
template <class Problem>
using FamilyOf = decltype(tw_family_of(static_cast<const Problem*>(nullptr)));

}  // namespace detail

// tw_init's: what is not zero in a problem before anything is said.
template <class Problem, class = detail::FamilyOf<Problem>>
Problem initial() {
  Problem problem;
  detail::must(tw_init(tw_family_of(&problem), &problem, sizeof problem, nullptr));
  return problem;
}
template <class Problem, class = detail::FamilyOf<Problem>>
tw_options initial_options() {
  tw_options options;
  const Problem* none = nullptr;
  detail::must(tw_init(tw_family_of(none), nullptr, 0, &options));
  return options;
}

// Throws where matrices have other extents than the problem's tensors. They come in the order of
// tw_describe, each with the name that a sentence has for it; those without an address are not
// compared, and a single matrix may serve a whole batch.
template <class Problem, class = detail::FamilyOf<Problem>>
void check_shapes(const Problem& problem,
                  std::initializer_list<std::pair<const char*, MatrixView>> matrices) {
  std::vector<std::int64_t> extents(3 * matrices.size());
  detail::must(tw_extents(extents.data(), matrices.size(), &problem));
  const std::int64_t* next = extents.data();
  for (const auto& [name, given] : matrices) {
    const std::int64_t batch = *next++, rows = *next++, columns = *next++;
    const bool fits = given.rows == rows && given.columns == columns &&
                      (given.batch == batch || given.batch == 1);
    if (fits || given.data == nullptr) continue;
    throw Error(TW_INVALID, std::string("The extents of ") + name + " are " +
                                detail::extents_text(given.batch, given.rows, given.columns) +
                                ", but must be " + detail::extents_text(batch, rows, columns) +
                                ".");
  }
}

// False: the problem is sound, but no kernel computes it; tw_message() says why. Here and below,
// null `options` are tw_init's.
template <class Problem, class = detail::FamilyOf<Problem>>
bool supported(const Problem& problem, const tw_options* options = nullptr) {
  const tw_status status = tw_supported(&problem, options);
  if (status != TW_UNSUPPORTED) detail::must(status);
  return status == TW_OK;
}

template <class Problem, class = detail::FamilyOf<Problem>>
std::size_t workspace_size(const Problem& problem, const tw_options* options = nullptr) {
  std::size_t bytes = 0;
  detail::must(tw_workspace_size(&bytes, &problem, options));
  return bytes;
}

// Enqueues the problem on `stream`, a cudaStream_t.
template <class Problem, class = detail::FamilyOf<Problem>>
void run(const Problem& problem, WorkspaceView workspace = {}, void* stream = nullptr,
         const tw_options* options = nullptr) {
  detail::must(tw_run(&problem, options, workspace.data, workspace.bytes, stream));
}

// Computes the problem on the virtual GPU, in host memory; returns when the result is there.
template <class Problem, class = detail::FamilyOf<Problem>>
void simulate(const Problem& problem, const tw_options* options = nullptr) {
  detail::must(tw_simulate(&problem, options));
}

// A plan keeps what was decided from the shape. Many threads may use one at once.
template <class Problem, class = detail::FamilyOf<Problem>>
class Plan {
 public:
  explicit Plan(const Problem& problem, const tw_options* options = nullptr) {
    tw_plan* plan = nullptr;
    detail::must(tw_plan_create(&plan, &problem, options));
    plan_.reset(plan);
  }
  std::size_t workspace_size() const { return tw_plan_workspace_size(plan_.get()); }
  const char* command() const { return tw_plan_command(plan_.get()); }
  void run(const Problem& problem, WorkspaceView workspace = {}, void* stream = nullptr) const {
    detail::must(tw_plan_run(plan_.get(), &problem, workspace.data, workspace.bytes, stream));
  }

 private:
  struct Destroy {
    void operator()(tw_plan* plan) const { tw_plan_destroy(plan); }
  };
  std::unique_ptr<tw_plan, Destroy> plan_;
};

// Plans of problems of any families, each behind the one before on a stream, which one call
// enqueues. Many threads may use one at once.
class Sequence {
 public:
  template <class... Problems, class = decltype((tw_family_of(std::declval<Problems*>()), ...))>
  explicit Sequence(const tw_options* options, const Problems&... problems) {
    const void* const all[] = {&problems...};
    tw_sequence* sequence = nullptr;
    detail::must(tw_sequence_create(&sequence, all, sizeof...(Problems), options));
    sequence_.reset(sequence);
  }
  std::size_t workspace_size() const { return tw_sequence_workspace_size(sequence_.get()); }
  template <class... Problems, class = decltype((tw_family_of(std::declval<Problems*>()), ...))>
  void run(WorkspaceView workspace, void* stream, const Problems&... problems) const {
    const void* const all[] = {&problems...};
    detail::must(tw_sequence_run(sequence_.get(), all, sizeof...(Problems), workspace.data,
                                 workspace.bytes, stream));
  }

 private:
  struct Destroy {
    void operator()(tw_sequence* sequence) const { tw_sequence_destroy(sequence); }
  };
  std::unique_ptr<tw_sequence, Destroy> sequence_;
};

}  // namespace tw
