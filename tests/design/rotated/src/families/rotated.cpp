#include "src/verify/trial_of.h"
#include "tilewright/family/rotated/family.h"

namespace tw {

std::span<const Instance> rotated_instances();  // by src/instances/table.cpp.in

struct RotatedTrial : RotatedFamily, UsualTrial {
  static std::span<const Instance> instances() { return rotated_instances(); }
  static void random(Case& made, Random& random) {
    Problem& problem = made.as<Problem>();
    problem.matmul.m = between(random, 1, 300);
    problem.matmul.n = between(random, 1, 200);
    problem.matmul.k = between(random, 1, 200);
    problem.shift = between(random, 0, problem.matmul.m - 1);
  }
  // The plain product of these has the right sums.
  static void as_product(MatmulData& data, const Problem& problem) {
    data.a.fill([&, a = data.a](auto batch, auto row, auto column) {
      return a.at(batch, (row + problem.shift) % problem.matmul.m, column);
    });
  }
};

extern const Trial rotated_trial;
const Trial rotated_trial = trial_of<RotatedTrial>();

}  // namespace tw
