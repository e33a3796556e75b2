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

// A Family has
//   description, instances()
//   random(Case&, Random&)              any problem that the case's instance takes
// and, of a product,
//   as_product(MatmulData&, problem)    changes A and B into those whose plain product D is made of
// or otherwise
//   reference(const Checked& on_host)   computes the outputs straight from the definition.
// It may have adopt, settle, fill, answer, list and tracks, as Trial says.
template <class Family>
Trial trial_of() {
  using Problem = typename Family::Problem;
  Trial trial = {};
  trial.description = &Family::description;
  trial.instances = [] { return std::span<const Instance>(Family::instances()); };
  trial.random = Family::random;
  trial.adopt = [](void*, const Instance&, const std::function<bool(const char*)>&) {};
  trial.fill = detail::fill_inputs;
  if constexpr (requires { Family::adopt; }) trial.adopt = Family::adopt;
  if constexpr (requires { Family::settle; }) trial.settle = Family::settle;
  if constexpr (requires { Family::fill; }) trial.fill = Family::fill;
  if constexpr (requires { Family::list; }) trial.list = Family::list;
  if constexpr (requires { Family::tracks; }) trial.tracks = Family::tracks;
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
