// Small kernels as lambdas, and what to expect of their reports.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/matrix.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/isa/ptx/tma.h"
#include "tilewright/isa/ptx/tma_store.h"
#include "tilewright/isa/ptx/wgmma.h"
#include "tilewright/isa/ptx/wgmma_register.h"
#include "tilewright/layout/access.h"
#include "vgpu/data/tile_map.h"
#include "vgpu/machine/machine.h"

namespace tw::test {

using vgpu::Checker;
using vgpu::Landing;
using vgpu::Report;

constexpr Landing every_landing[] = {Landing::Eager, Landing::Lazy, Landing::Random,
                                     Landing::Adversarial};

struct Kernel {
  unsigned threads = 128;
  unsigned ctas = 1;
  unsigned cluster_size = 1;
  std::size_t shared_bytes = 64 << 10;
  std::vector<vgpu::GlobalRange> memory = {};
  vgpu::Options options = {};
  unsigned lanes = 32;
  bool dependent_launch = false;
  unsigned registers = 0;

  Report run(std::function<void()> body) const {
    return vgpu::run({ctas, cluster_size, threads, shared_bytes, std::move(body), lanes,
                      dependent_launch, registers},
                     memory, options);
  }
};

inline std::string text_of(const Report& report) {
  std::string text;
  for (const auto& finding : report.findings) {
    text += finding.name + " [" + finding.role + ", " + std::to_string(finding.stage) + "] " +
            finding.text + "\n";
  }
  for (const auto& reason : report.incomplete) text += "incomplete: " + reason + "\n";
  return text;
}

inline const vgpu::Finding* find(const Report& report, Checker checker) {
  for (const auto& finding : report.findings) {
    if (finding.checker == checker) return &finding;
  }
  return nullptr;
}

// The checker found something, and says these words.
inline ::testing::AssertionResult found(const Report& report, Checker checker,
                                        const std::string& words = "") {
  for (const auto& finding : report.findings) {
    if (finding.checker == checker && finding.text.find(words) != std::string::npos) {
      return ::testing::AssertionSuccess();
    }
  }
  return ::testing::AssertionFailure()
         << "no " << vgpu::name_of(checker) << " with \"" << words << "\" in:\n"
         << text_of(report);
}

inline ::testing::AssertionResult clean(const Report& report) {
  if (report.verdict() == Report::Clean) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << text_of(report);
}

// Exactly when `planted`, the checker has a finding; otherwise the run is clean.
inline ::testing::AssertionResult found_if(bool planted, const Report& report, Checker checker,
                                           const std::string& words = "") {
  return planted ? found(report, checker, words) : clean(report);
}

template <class T = std::uint32_t>
T* shared_at(unsigned offset) {
  return reinterpret_cast<T*>(static_cast<std::byte*>(isa::dynamic_shared()) + offset);
}
inline SharedAddress address_at(unsigned offset) {
  return isa::shared_address(shared_at<std::byte>(offset));
}
template <class T>
T load_shared(const T* element) {
  return load_element<Space::Shared>(element);
}
template <class T>
void store_shared(T* element, T value) {
  store_element<Space::Shared>(element, value);
}
inline void wait(SharedAddress barrier, unsigned parity) {
  while (!isa::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

// Longer than a thread may run without giving way: the others have done their part by now, though
// nothing says so.
inline void stand_back() {
  for (unsigned i = 0; i < 10'000; ++i) isa::global_timer();
}

// Thread 0 initialises one barrier at `offset`, and all threads of the CTA meet.
inline void start_barrier(unsigned offset, unsigned arrivals, unsigned threads) {
  if (isa::thread_index() == 0) {
    isa::mbarrier_init(address_at(offset), arrivals);
    isa::describe_barrier(address_at(offset), "full", 3);
    isa::fence_mbarrier_init();
  }
  isa::barrier_sync(0, threads);
}

// A map over a row-major matrix of bytes, one box of box_rows x box_columns.
inline TensorMap byte_map(std::vector<std::uint8_t>& matrix, unsigned rows, unsigned columns,
                          unsigned box_rows, unsigned box_columns) {
  vgpu::TileMap map;
  map.base = matrix.data();
  map.element_bytes = 1;
  map.rank = 2;
  map.extents[0] = columns;
  map.extents[1] = rows;
  map.pitch_bytes[0] = columns;
  map.box[0] = box_columns;
  map.box[1] = box_rows;
  return vgpu::encode(map);
}

inline void load_box(unsigned offset, const TensorMap& map, unsigned barrier, int column, int row) {
  const int at[2] = {column, row};
  isa::cp_async_bulk_tensor_load(address_at(offset), &map, address_at(barrier), at,
                                 isa::CacheHint::EvictNormal);
}

inline vgpu::GlobalRange range_of(const std::vector<std::uint8_t>& bytes, const char* name,
                                  bool initialised = true, bool writable = true) {
  return {bytes.data(), bytes.size(), name, initialised, writable};
}

}  // namespace tw::test
