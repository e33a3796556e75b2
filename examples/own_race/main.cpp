// A race of one's own: 128 threads add up numbers in shared memory, each step by half as many. A
// barrier stands between the steps; HALF_THE_BARRIERS leaves out every second one.
#include <tilewright/isa/shared_memory.h>
#include <tilewright/isa/threads.h>
#include <tilewright/layout/text.h>
#include <tilewright/layout/tile_tensor.h>
#include <vgpu/schedules.h>
#include <vgpu/simulate.h>

#include <numeric>

using namespace tw::literals;

struct AddUp {
  static constexpr unsigned threads = 128;
  struct Storage {
    float values[threads];
  };
  struct Params {
    const float* source;
    float* sum;
  };
  static TW_DEVICE void run(const Params& params) {
    using namespace tw;
    Storage& storage = *static_cast<Storage*>(isa::dynamic_shared());
    const TileTensor<float, Space::Shared, "128:1"_layout> values(storage.values);
    const unsigned thread = isa::thread_index();
    isa::describe_role(thread < threads / 2 ? "lower half" : "upper half");
    values.store(load_element<Space::Global>(params.source + thread), thread);
    for (unsigned half = threads / 2, step = 0; half > 0; half /= 2, ++step) {
#ifdef HALF_THE_BARRIERS
      if (step % 2 == 0)
#endif
        isa::barrier_sync(1, threads);
      if (thread < half) values.store(values.load(thread) + values.load(thread + half), thread);
    }
    if (thread == 0) store_element<Space::Global>(params.sum, values.load(0u));
  }
};

int main() {
  float source[AddUp::threads], sum;
  std::iota(std::begin(source), std::end(source), 1.0f);
  const AddUp::Params params = {source, &sum};
  const tw::vgpu::GlobalRange memory[] = {{source, sizeof source, "the numbers", true, false},
                                          {&sum, sizeof sum, "the sum", false, true}};
  unsigned wrong = 0;
  const int status = tw::vgpu::check_schedules(40, [&](const auto& options, auto& report) {
    sum = -1;
    report = tw::simulate<AddUp>(params, 1, memory, options);
    if (sum != 128 * 129 / 2) ++wrong;
    return sum == 128 * 129 / 2;
  });
  std::printf("%u of 40 sums are wrong\n", wrong);
  return status;
}
