// tw_touch, for hostile calls from Python: touches all memory that a problem names, as a kernel
// would. The library around it is compiled with the address sanitizer, device and kernels are
// stand-ins: arrays that are smaller than the problem says, or gone, show here.
#include <sanitizer/asan_interface.h>

#include <algorithm>

#include "src/library/apart.h"
#include "src/library/checks.h"
#include "src/library/described.h"
#include "src/library/families.h"
#include "tests/library/stand_in.h"

namespace tw::library {

namespace {

// Lines of larger tensors are touched at their ends.
constexpr std::int64_t most_lines = 4096;

void touch(const Memory& memory, bool is_written) {
  if (memory.data == nullptr || memory.line <= 0 || memory.lines <= 0 || memory.batch <= 0) return;
  const auto one = [&](std::int64_t batch, std::int64_t line) {
    char* const first = static_cast<char*>(const_cast<void*>(memory.data)) +
                        batch * memory.batch_pitch + line * memory.pitch;
    const auto bytes = static_cast<std::size_t>(memory.line);
    if (void* const bad = __asan_region_is_poisoned(first, bytes)) {
      throw Failure{TW_FOUND,
                    fmt::format("Byte {} of line {} of matrix {} of {} is not the caller's.",
                                static_cast<char*>(bad) - first, line, batch, memory.name)};
    }
    for (char* const at : {first, first + bytes - 1}) {
      volatile char& byte = *at;  // where there is no memory at all, this ends the process
      const char value = byte;
      if (is_written) byte = value;
    }
  };
  const std::int64_t lines = std::min(memory.lines, most_lines);
  for (std::int64_t batch = 0; batch < std::min(memory.batch, most_lines / lines + 1); ++batch) {
    for (std::int64_t line = 0; line < lines; ++line) one(batch, line);
  }
  one(memory.batch - 1, memory.lines - 1);
}

void touch_epilogue(const MatmulProblem& problem) {
  const EpilogueArguments& epilogue = problem.epilogue;
  const std::int64_t m = problem.m, n = problem.n, batch = problem.batch;
  const std::int64_t columns = epilogue.gated ? n / 2 : n;
  touch(memory_of("the auxiliary output", epilogue.auxiliary, epilogue.auxiliary_type, m, n,
                  epilogue.auxiliary_pitch, batch, epilogue.auxiliary_batch_pitch),
        true);
  touch(vector_of("amax", epilogue.amax, ElementType::Fp32, 1), true);
  if (epilogue.beta != 0.0f) {
    touch(memory_of("the source", epilogue.source, epilogue.source_type, m, columns,
                    epilogue.source_pitch, batch, epilogue.source_batch_pitch),
          false);
  }
  touch(vector_of("the column bias", epilogue.column_bias, epilogue.bias_type, n), false);
  touch(vector_of("the row bias", epilogue.row_bias, epilogue.bias_type, m), false);
  touch(vector_of("the column scale", epilogue.column_scale, ElementType::Fp32, n), false);
  touch(vector_of("the row scale", epilogue.row_scale, ElementType::Fp32, m), false);
}

}  // namespace

}  // namespace tw::library

extern "C" TW_API tw_status tw_touch(const void* problem) {
  using namespace tw::library;
  tw::tests::stand_in().records = false;
  return guarded([&] {
    const tw::Description& description = *family_of(problem).description;
    const tw::Checked all = checked(description, problem);
    if (all.is_empty()) return;
    for (std::size_t i = 0; i < description.tensors.size(); ++i) {
      const tw::TensorField& tensor = description.tensors[i];
      const tw::TensorLines& lines = all.tensor(i);
      touch(memory_of(tensor.title, lines.data, lines.type, lines.lines, lines.length, lines.pitch,
                      lines.batch, lines.batch_pitch),
            tensor.flow == tw::TensorField::Flow::Written);
    }
    if (description.product != nullptr) touch_epilogue(all.product());
  });
}
