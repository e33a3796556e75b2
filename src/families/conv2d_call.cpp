// Convolutions, behind the functions of tilewright.h.
#include "src/families/conv2d_choice.h"

#include "src/dispatch/choose.h"
#include "src/library/described.h"
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

constexpr Dispatcher dispatcher_of_convolutions = {conv2d_candidates, choose_conv2d};

struct Convolutions : DispatchedFamily<Conv2dFamily, conv2d_instances, choose_conv2d> {
  static constexpr const Dispatcher* dispatcher() { return &dispatcher_of_convolutions; }
  struct Choice : DescribedChoice {
    bool of_product = false;  // the kernel is a matmul's
  };

  // The convolution, or the product that it is; it may live no longer than what it is made of.
  class Stated {
   public:
    Stated(const Checked& convolution, bool as_product) : stated_(&convolution) {
      if (!as_product) return;
      given_ = product_of(convolution.as<tw_conv2d_problem>());
      status_ = check(product_, MatmulFamily::description, &given_);
      stated_ = &product_;
    }
    Stated(const Stated&) = delete;
    Stated& operator=(const Stated&) = delete;
    operator const Checked&() const { return *stated_; }
    bool is_product() const { return stated_ == &product_; }
    const Status& status() const { return status_; }

   private:
    tw_matmul_problem given_;
    Checked product_;
    const Checked* stated_;
    Status status_ = Status::good();
  };
  static Stated stated(const Checked& problem, const Choice& choice) {
    return {problem, choice.of_product};
  }

  // A kernel of convolutions, or a matmul's where that is expected to be faster, or where tables
  // know the product and not the convolution.
  static Choice decide(const Checked& problem, const DispatchRequest& request) {
    Choice choice, product;
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

  // The words that tables know it by.
  static std::string call(const Stated& problem) {
    const Checked& checked = problem;
    return problem.is_product() ? call_of(checked) : call_of(checked.as<tw_conv2d_problem>());
  }

 private:
  static bool has_product(Choice& choice, const Checked& problem, const DispatchRequest& request) {
    const Stated product(problem, true);
    choice.of_product = true;
    return product.status().is_good() && ask(choice, product, request, choose).is_good();
  }
};
const Registered registered_conv2d(Calls<Convolutions>::table);

}  // namespace

}  // namespace tw::library
