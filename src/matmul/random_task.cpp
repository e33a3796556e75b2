#include "src/matmul/random_task.h"

#include "src/matmul/random_epilogue.h"

namespace tw {

MatmulTask random_task(const Instance& instance, int largest, std::mt19937_64& random) {
  Dice dice(random);
  MatmulTask task;
  task.instance = &instance;
  task.fill = dice.one_in(5) ? Fill::Position : Fill::Integers;
  task.seed = random() % 1000000;
  MatmulShape& shape = task.shape = usual_shape(instance);
  shape.m = dice.extent(fitting_rows(instance, largest));
  shape.n = dice.extent(largest);
  shape.k = dice.extent(largest);
  if (dice.one_in(4)) shape.batch = 1 + dice.up_to(2);
  shape.shared_b = shape.batch > 1 && dice.one_in(3);
  shape.unaligned = product_facts(instance).any_alignment && dice.one_in(2);
  if (product_facts(instance).any_layout) {
    constexpr Major majors[] = {Major::K, Major::MN};
    shape.a_major = dice.one_of(majors);
    shape.b_major = dice.one_of(majors);
  }
  shape.epilogue = random_epilogue(dice);
  if (config_of(instance).c_stages != 0) {
    shape.epilogue.source_type = shape.d_type;
    if (shape.epilogue.beta != 0.0f) shape.epilogue.gated = false;
  }
  if (shape.epilogue.gated) shape.n -= shape.n % 2;
  shape.epilogue.output_scale = fitting_output_scale(shape, task.fill);
  task.order = usual_order(instance);
  task.order.group = static_cast<int>(random() % 5);
  task.order.raster = dice.one_in(2) ? Raster::AlongM : Raster::AlongN;
  if (config_of(instance).split == Split::Parts) {
    int& parts = task.order.split_k = static_cast<int>(dice.up_to(6));
    // Large problems have no room to count that many.
    while (parts > 1 && !serves(instance, shape, task.order).is_good()) --parts;
  }
  return task;
}

}  // namespace tw
