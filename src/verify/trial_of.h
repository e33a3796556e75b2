// A Trial of a family that says about itself what its description does not.
#pragma once

#include "src/verify/case.h"
#include "src/verify/product.h"

namespace tw {

namespace detail {

// Inputs of a product are matmul's; others are integers from -8 to 8, normal, or tell their place.
void fill_inputs(HostProblem& data, const Case& of);

std::shared_ptr<const Answer> product_answer(const Case& of, const HostProblem& given,
                                             const std::function<void(MatmulData&)>& as_product);

}  // namespace detail

// What a Family has that does not say otherwise, as Trial says.
struct UsualTrial {
  static void adopt(void*, const Instance&, const std::function<bool(const char*)>&) {}
  static constexpr decltype(Trial::settle) settle = nullptr;
  static constexpr decltype(Trial::fill) fill = detail::fill_inputs;
  static constexpr decltype(Trial::list) list = nullptr;
  static constexpr decltype(Trial::tracks) tracks = nullptr;
};

// A Family is a UsualTrial, and has
//   description, instances()
//   random(Case&, Random&)              any problem that the case's instance takes
// and, of a product,
//   as_product(MatmulData&, problem)    changes A and B into those whose plain product D is made of
// or otherwise
//   reference(const Checked& on_host)   computes the outputs straight from the definition.
// It may have its own answer, as Trial says.
template <class Family>
Trial trial_of() {
  using Problem = typename Family::Problem;
  Trial trial = {};
  trial.description = &Family::description;
  trial.instances = [] { return std::span<const Instance>(Family::instances()); };
  trial.random = Family::random;
  trial.adopt = Family::adopt;
  trial.settle = Family::settle;
  trial.fill = Family::fill;
  trial.list = Family::list;
  trial.tracks = Family::tracks;
  if constexpr (requires { Family::answer; }) {
    trial.answer = Family::answer;
  } else if constexpr (requires { Family::as_product; }) {
    trial.answer = [](const Case& of, const HostProblem& given) {
      return detail::product_answer(
          of, given, [&](MatmulData& data) { Family::as_product(data, of.problem.as<Problem>()); });
    };
  } else {
    trial.answer = exactly<Family::reference>;
  }
  return trial;
}

}  // namespace tw
