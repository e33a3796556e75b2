#include "src/dispatch/choose.h"

#include "src/dispatch/products.h"
#include "tilewright/family/matmul/family.h"
#include "tilewright/launch/as_read.h"

namespace tw {

namespace {

struct Products : DescribedProducts<matmul_instances, whole_product> {
  // Who declares weights constant lets launches overlap. Others run amid foreign kernels.
  static Situation situation(const Checked& problem) {
    const bool overlaps = problem.as<MatmulFamily::Problem>().b_is_constant != 0;
    return overlaps ? Situation::Following : Situation::Amid;
  }
  static MatmulProblem matmul(const Instance& instance, const Checked& problem) {
    MatmulProblem product = as_read(problem, product_facts(instance));
    product.b_is_constant = problem.as<MatmulFamily::Problem>().b_is_constant != 0;
    return product;
  }
};

}  // namespace

std::vector<Choice> candidates(const Checked& problem, const DispatchRequest& request,
                               std::vector<Rejection>* rejections) {
  return launches_of<Products>(problem, request, rejections);
}

Status choose(Choice& choice, const Checked& problem, const DispatchRequest& request,
              std::vector<Rejection>* rejections) {
  return choose_launch<Products>(choice, problem, request, rejections);
}

}  // namespace tw
