// Convolutions, behind the functions of tilewright.h.
#include "src/dispatch/choose_launch.h"
#include "src/families/conv2d_choice.h"
#include "src/library/described.h"
#include "src/library/failure.h"
#include "tilewright/family/conv2d/family.h"
#include "tilewright/family/matmul/family.h"

namespace tw::library {

namespace {

// Whether each output meets one pixel, and each pixel one output: D = image * filter, as matrices.
bool is_product(const tw_conv2d_problem& problem) {
  const auto meets_each = [](const tw_conv2d_axis& axis) {
    return axis.filter == 1 && axis.stride == 1 && axis.pad_low == 0 && axis.pad_high == 0;
  };
  return problem.direction == TW_FORWARD && problem.groups == 1 && meets_each(problem.w) &&
         meets_each(problem.h) && meets_each(problem.depth);
}

tw_matmul_problem product_of(const tw_conv2d_problem& given) {
  tw_matmul_problem product = {};
  product.m = image_pixels(given);
  product.n = given.k;
  product.k = given.c;
  product.batch = 1;
  product.a = {const_cast<void*>(given.image), given.c, 1, 0, given.type};
  product.b = {const_cast<void*>(given.filter), 1, given.c, 0, given.type};
  product.d = {given.d, given.epilogue.gated != 0 ? given.k / 2 : given.k, 1, 0, given.d_type};
  product.epilogue = given.epilogue;
  return product;
}

void state_as_product(Rewritten& made, const library::Choice&, std::byte*) {
  made.state(MatmulFamily::description, product_of(made.given().as<tw_conv2d_problem>()));
}

// Priced as convolutions are, with which they are compared.
struct PointwiseProducts : DescribedProducts<matmul_instances> {
  static double microseconds(const PricedLaunch& launch) {
    return launch.microseconds(Situation::Amid);
  }
};

// The best kernel of a product that computes the convolution.
bool has_product(library::Choice& choice, const Checked& problem, const DispatchRequest& request) {
  choice.rewritten = 1;
  Rewritten product(problem);
  state_as_product(product, choice, nullptr);
  return product.status().is_good() &&
         ask(choice, product.stated(), request, choose_launch<PointwiseProducts>).is_good();
}

// A kernel of convolutions, or a matmul's where that is expected to be faster, or where tables
// know the product and not the convolution.
library::Choice convolution_or_product(const Checked& problem, const DispatchRequest& request) {
  library::Choice choice, product;
  const Status status = ask(choice, problem, request, choose_conv2d);
  const bool asks = request.instance == nullptr && is_product(problem.as<tw_conv2d_problem>());
  if (asks && has_product(product, problem, request)) {
    const bool is_better = product.measured != choice.measured
                               ? product.measured
                               : product.microseconds < choice.microseconds;
    if (!status.is_good() || is_better) return product;
  }
  if (!status.is_good()) throw Failure{TW_UNSUPPORTED, status.sentence()};
  return choice;
}

constexpr Family convolutions = {
    &Conv2dFamily::description,
    conv2d_instances,
    {conv2d_candidates, choose_conv2d},
    convolution_or_product,
    state_as_product,
    [](const Checked& problem) { return call_of(problem.as<tw_conv2d_problem>()); }};
const Registered registered_conv2d(convolutions);

}  // namespace

}  // namespace tw::library
