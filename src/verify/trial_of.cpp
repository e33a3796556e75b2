#include "src/verify/trial_of.h"

namespace tw::detail {

void fill_inputs(HostProblem& data, const Case& of) {
  const Description& description = data.description();
  if (description.product != nullptr) {
    take_product(data, make_matmul_data(product_shape(of), of.fill, of.seed));
  }
  Random random(of.seed + 1);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < description.tensors.size(); ++i) {
    const ProductField* const product = description.product;
    const bool is_operand = product != nullptr && (i == product->a || i == product->b);
    if (data.is_written(i) || is_operand || !data.tensor(i).exists()) continue;
    data.tensor(i).fill([&](std::int64_t batch, std::int64_t row, std::int64_t column) -> double {
      if (of.fill == Fill::Normal) return normal(random);
      if (of.fill == Fill::Integers) return static_cast<double>(random() % 17) - 8;
      return static_cast<double>((batch * 101 + row * 31 + column * 7) % 251 - 125);
    });
  }
}

std::shared_ptr<const Answer> product_answer(const Case& of, const HostProblem& given,
                                             const std::function<void(MatmulData&)>& as_product) {
  MatmulData data = product_data(given, of.fill);
  as_product(data);
  return std::make_shared<ProductAnswer>(reference_on_host(data, product_shape(of)), of.fill,
                                         ProductAnswer::Judge());
}

}  // namespace tw::detail
