// Grouped products with known answers, and their verified runs on the virtual GPU.
#pragma once

#include "src/grouped/instance.h"
#include "src/matmul/virtual.h"

namespace tw {

// What is computed, without the numbers.
struct GroupedShape {
  MatmulShape matmul;  // m counts the rows of all groups, and more; batch the groups
  std::vector<std::int32_t> sizes;
  std::int64_t capacity = 0;  // of each group; 0: they lie one behind the other
  std::int64_t a_rows = 0;    // of which rows are gathered; 0: A has its rows as they are needed
  std::int64_t b_scale_rows = 0;  // of B, that share a scale; 0: there are no scales of blocks
  bool column_scales = false;     // scales are column-major

  // The group of a row, or -1.
  int group_of(std::int64_t row) const;
  // Rows behind the last group, where there is no capacity.
  std::int64_t spare() const;
  void resize(const std::vector<std::int32_t>& new_sizes, std::int64_t spare);
  bool operator==(const GroupedShape&) const = default;
};
// As many groups as there are sizes, and `spare` rows behind the last where there is no capacity.
// An instance that gathers rows does so of 100.
GroupedShape shape_for(const GroupedInstance& instance, const std::vector<std::int32_t>& sizes,
                       std::int64_t spare, std::int64_t capacity);

struct GroupedData {
  MatmulData matmul;              // of one matrix with all rows; B has one for each group
  HostMatrix rows;                // one row of int32: what the kernel is told of the groups
  HostMatrix index;               // alike: of the rows of A, where they are gathered
  HostMatrix a_scales, b_scales;  // of blocks; of B for each group

  // The row of A that makes a row of D, or -1 where A has none.
  std::int64_t source_of(std::int64_t row) const;
};

// What lies in rows of no group must not matter: there A is infinite. Of gathered rows, some lie
// outside of A.
GroupedData make_grouped_data(const GroupedShape& shape, Fill fill, std::uint64_t seed);

// Straight from the definition: shares no code with the kernels.
MatmulReference direct_product(const GroupedData& data, const GroupedShape& shape);

// After a run: rows of no group that are still poison get what the reference has there, others
// anything else.
void judge_other_rows(GroupedData& data, const GroupedShape& shape);

// `address` tells where a matrix's first element is: in `data` itself, or in a copy on a GPU.
GroupedProblem grouped_at(GroupedData& data, const GroupedShape& shape,
                          const std::function<void*(HostMatrix&)>& address);
GroupedProblem grouped_on_host(GroupedData& data, const GroupedShape& shape);

// The answer to one problem, computed once for many schedules.
struct VerifiedGrouped {
  VerifiedGrouped(const GroupedShape& shape, Fill fill, std::uint64_t seed)
      : shape(shape),
        data(make_grouped_data(shape, fill, seed)),
        reference(direct_product(data, shape)) {}
  GroupedShape shape;
  GroupedData data;
  MatmulReference reference;
};

VirtualRun run_virtually(const GroupedInstance& instance, const VerifiedGrouped& problem,
                         const vgpu::Options& options);

// The words that repeat a run, but for its schedule: ./tw run grouped ...
std::string run_line(const GroupedInstance& instance, const GroupedShape& shape, Fill fill,
                     std::uint64_t seed);

}  // namespace tw
