// Many rows of a reference, on all cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace tw {

// Calls body(begin, end) for parts of 0 .. count, on several threads where there is much to do.
template <class Body>
void in_parallel(std::int64_t count, double work, const Body& body) {
  const auto cores = static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  const std::int64_t parts = work < 1e8 ? 1 : std::min(cores, count);
  std::vector<std::thread> threads;
  for (std::int64_t part = 1; part < parts; ++part) {
    threads.emplace_back([=, &body] { body(count * part / parts, count * (part + 1) / parts); });
  }
  if (count > 0) body(0, count / std::max<std::int64_t>(parts, 1));
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tw
