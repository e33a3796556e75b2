// Measurements that nobody made.
#pragma once

#include <gtest/gtest.h>

#include "src/bench/harness/forms.h"
#include "src/bench/harness/report.h"

namespace tw::bench::tests {

inline Measurement took(const char* name, double us) {
  Measurement result;
  result.name = name;
  result.median_us = us;
  result.low_us = 0.9 * us;
  result.high_us = 1.1 * us;
  result.reading = {1500, 690, 60};
  return result;
}

inline Measurement refused(const char* name) {
  Measurement result;
  result.name = name;
  result.refused = "It cannot.";
  return result;
}

inline Shape product(std::int64_t m, std::int64_t n, std::int64_t k) {
  MeasuredCase made;
  EXPECT_TRUE(make_case(made, matmul_form, {m, n, k}, ElementType::Bf16, {}).is_good());
  return made.shape;
}

inline ShapeResult beside(std::int64_t m, std::int64_t n, std::int64_t k, double peer_us,
                          double own_us) {
  ShapeResult result;
  result.shape = product(m, n, k);
  result.peer = took("cublaslt#3", peer_us);
  result.own = {took("bf16_64x64", own_us)};
  return result;
}

// Also with a foreign kernel, which takes 2 us, between launches.
inline ShapeResult in_company(std::int64_t m, std::int64_t n, std::int64_t k, double peer_us,
                              double own_us, double peer_between_us, double own_between_us) {
  ShapeResult result = beside(m, n, k, peer_us, own_us);
  result.peer_tried = 16;
  result.foreign_us = 2;
  result.peer->between_us = peer_between_us;
  result.peer_between = result.peer;
  result.own[0].between_us = own_between_us;
  return result;
}

inline RunFacts facts() {
  RunFacts facts;
  facts.family = "matmul";
  facts.type = "bf16";
  facts.suite = "bench/suites/matmul-bf16.json";
  facts.date = "2026-11-15 10:00:00 UTC";
  facts.device = "NVIDIA H200";
  facts.driver = "580.0";
  facts.command = "./tw bench matmul --suite bf16";
  facts.rounds = 11;
  facts.slice_milliseconds = 30;
  return facts;
}

}  // namespace tw::bench::tests
