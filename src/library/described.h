// What the library asks of a description and of the kernels behind it. What is wrong is thrown.
#pragma once

#include "src/dispatch/choose_launch.h"
#include "src/instances/instance.h"
#include "src/library/device.h"
#include "src/library/families.h"

namespace tw::library {

// Sets what is not zero in a problem of zeros, but for its size and family.
void initialise(const Description& description, void* problem);

// Keeps its description, and no two tensors overlap of which one is written.
Checked checked(const Description& description, const void* problem);

// Writes batch, rows and columns of each tensor, where its numbers, rules and types are sound.
void tell_extents(std::span<std::int64_t> extents, const Family& family, const void* problem);

// The words of 8 bytes in which a problem has addresses.
std::vector<std::size_t> address_words(const Description& description);

DispatchRequest request_of(const tw_options& options, const Device& device);

// The first kernel of the device that takes the problem.
Choice first_that_serves(const Checked& problem, std::span<const Instance> instances,
                         const DispatchRequest& request);
using Choose = decltype(Dispatcher::choose);
// What the dispatcher says, which the log may show; and the same, or what is wrong is thrown.
Status ask(Choice& choice, const Checked& problem, const DispatchRequest& request, Choose choose);
Choice chosen(const Checked& problem, const DispatchRequest& request, Choose choose);

// What a build (TW_COMPILED=some) has no image for is refused.
Status ask_workspace_of(std::size_t& bytes, const Checked& problem, const Choice& choice);
Status launch_kernel(const Checked& problem, const Choice& choice, const Workspace& workspace,
                     void* stream);

// A family may state another product than its own as the one whose cost is asked for.
template <class Described, std::span<const Instance> (*all)()>
struct PricedProducts : DescribedProducts<all> {
  static MatmulProblem priced(const Instance& instance, const KernelProblem& problem) {
    MatmulProblem product = problem.product;
    const TensorExtents sums = Described::priced(problem.checked.as<typename Described::Problem>());
    product.batch = sums.batch;
    product.m = sums.rows;
    product.n = sums.columns;
    if (config_of(instance).tiling.swap_ab != 0) std::swap(product.m, product.n);
    return product;
  }
};

// A family without a file of its own, src/families/NAME_call.cpp: where it multiplies, its kernels
// are chosen by their cost.
template <class Described, std::span<const Instance> (*all)()>
constexpr Family usual_family() {
  if constexpr (requires { &Described::priced; }) {
    using Products = PricedProducts<Described, all>;
    return {&Described::description, all, {launches_of<Products>, choose_launch<Products>}};
  } else if constexpr (requires { Described::product; }) {
    using Products = DescribedProducts<all>;
    return {&Described::description, all, {launches_of<Products>, choose_launch<Products>}};
  } else {
    return {&Described::description, all};
  }
}

}  // namespace tw::library
