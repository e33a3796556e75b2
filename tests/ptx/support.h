// Small kernels in PTX, run on the virtual GPU.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "vgpu/ptx/read/module.h"
#include "vgpu/ptx/run/launch.h"

namespace tw::vgpu::ptx {

inline std::string text_of(const Report& report) {
  std::string text;
  for (const Finding& finding : report.findings) text += finding.name + ": " + finding.text + "\n";
  for (const std::string& reason : report.incomplete) text += "incomplete: " + reason + "\n";
  return text;
}

// The bytes of parameters, one behind the other, each aligned to its size.
class Parameters {
 public:
  template <class T>
  Parameters& add(const T& value) {
    while (bytes_.size() % sizeof(T) != 0) bytes_.push_back({});
    bytes_.resize(bytes_.size() + sizeof(T));
    std::memcpy(bytes_.data() + bytes_.size() - sizeof(T), &value, sizeof(T));
    return *this;
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Runs entry `k` of a module whose text stands behind the header: what `request` says, with these
// parameters.
inline Report run_text(const std::string& text, Request request, const Parameters& parameters,
                       std::span<const GlobalRange> memory, const Options& options = {}) {
  const std::string whole = ".version 9.0\n.target sm_90a\n.address_size 64\n" + text;
  const Result<Module> module = read(whole);
  Report report;
  if (!module.status.is_good()) {
    report.incomplete.push_back(module.status.sentence());
    return report;
  }
  const Result<Code> code = prepare(*module.value, "k");
  if (!code.status.is_good()) {
    report.incomplete.push_back(code.status.sentence());
    return report;
  }
  request.parameters = parameters.bytes();
  return run(*code.value, request, memory, options);
}

// What one thread computes: the body leaves 64 bits in %out, of inputs %a, %b and %c of 64 bits.
struct Computed {
  std::uint64_t value = 0;
  std::string trouble;  // empty: the run was clean
};
inline Computed compute(const std::string& body, std::uint64_t a = 0, std::uint64_t b = 0,
                        std::uint64_t c = 0) {
  std::vector<std::uint64_t> out(1, 0);
  const GlobalRange memory[] = {{out.data(), 8, "out", false, true}};
  const std::string text = R"(
.visible .entry k(.param .u64 to, .param .u64 pa, .param .u64 pb, .param .u64 pc)
{
  .reg .b64 %to, %a, %b, %c, %out, %x<8>;
  .reg .b32 %wa, %wb, %wc, %w<8>, %unused<3>;
  .reg .b16 %ha, %hb, %hc, %h<8>;
  .reg .pred %p<8>;
  ld.param.u64 %to, [to];
  ld.param.u64 %a, [pa];
  ld.param.u64 %b, [pb];
  ld.param.u64 %c, [pc];
  cvt.u32.u64 %wa, %a; cvt.u32.u64 %wb, %b; cvt.u32.u64 %wc, %c;
  cvt.u16.u64 %ha, %a; cvt.u16.u64 %hb, %b; cvt.u16.u64 %hc, %c;
)" + body + "\n  st.global.u64 [%to], %out;\n  ret;\n}\n";
  Parameters parameters;
  parameters.add(out.data()).add(a).add(b).add(c);
  const Report report = run_text(text, {}, parameters, memory);
  return {out[0], report.verdict() == Report::Clean ? "" : text_of(report)};
}

}  // namespace tw::vgpu::ptx
