// Products of described families: their epilogues, data and answers are those of matmul.
#pragma once

#include "src/verify/case.h"
#include "src/verify/reference.h"

namespace tw {

// The epilogue's tensors, behind those of a description.
inline constexpr HostMatrix MatmulData::*epilogue_tensors[] = {
    &MatmulData::source,       &MatmulData::column_bias, &MatmulData::row_bias,
    &MatmulData::column_scale, &MatmulData::row_scale,   &MatmulData::auxiliary,
    &MatmulData::amax};

// Parts that the shape has get an address that is not null.
void set_epilogue(tw_epilogue& epilogue, const EpilogueShape& shape);

// The shape of the sums that the epilogue sees. The case is settled.
MatmulShape product_shape(const Case& of);

// Whether several matrices of B may be one. The case is settled.
bool has_batches_of_b(const Case& of);

// Sets the types that a kernel multiplies and stores, where the caller leaves them open.
void adopt_types(void* problem, const Description& description, const Instance& instance,
                 const IsGiven& is_given);

// A line of sums: a row of a matrix of A, or zeros where it is -1, times a matrix of B.
struct ProductLine {
  std::int64_t a_matrix, a_row, b_matrix;
};
// Straight from the definition. A's rows are of k, B's of n; either may have scales of blocks, one
// for each 128 of k of a row of A, and of one or 128 columns of B.
MatmulSums sums_of_lines(const std::vector<ProductLine>& lines, const HostMatrix& a,
                         const HostMatrix& b, const HostMatrix& a_scales,
                         const HostMatrix& b_scales);

// The same memory as a matrix whose rows are the other's columns.
HostMatrix transposed(HostMatrix matrix);

// The epilogue's tensors without memory, and their places in a problem.
std::vector<HostMatrix> outline_of_epilogue(const MatmulShape& shape);
void place_epilogue(tw_epilogue& epilogue, const HostMatrix* tensors,
                    const std::function<void*(std::size_t tensor)>& address);

// A, B and D of a product, and what its epilogue has; a kernel's B is n by k.
MatmulData product_data(const HostProblem& from, Fill fill);
void take_product(HostProblem& to, MatmulData&& data);

// Within derived bounds. `judge` may be null: it changes what a kernel must have left alone to what
// the reference has there.
class ProductAnswer : public Answer {
 public:
  using Judge = std::function<void(MatmulData& ran)>;
  ProductAnswer(MatmulReference reference, Fill fill, Judge judge)
      : reference_(std::move(reference)), fill_(fill), judge_(std::move(judge)) {}
  Comparison compare(const HostProblem& ran) const override;

 private:
  MatmulReference reference_;
  Fill fill_;
  Judge judge_;
};

}  // namespace tw
