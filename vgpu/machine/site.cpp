#include "vgpu/machine/site.h"

#include <fmt/format.h>

#include <iterator>

namespace tw::vgpu {
namespace {

// What both aarch64 and x86-64 leave on a stack for each call.
struct FrameRecord {
  const FrameRecord* outer;
  void* return_address;
};

bool lies_on(const Stack& stack, const FrameRecord* frame) {
  const auto* const place = reinterpret_cast<const std::byte*>(frame);
  return place >= stack.top - stack.bytes && place + sizeof(FrameRecord) <= stack.top &&
         reinterpret_cast<std::uintptr_t>(frame) % alignof(FrameRecord) == 0;
}

}  // namespace

std::string step_words(const Site& site) {
  return site.step == Site::no_step ? "" : fmt::format(" at k-tile {}", unsigned{site.step});
}

Site numbered_site(unsigned number, std::uint64_t step) {
  Site site;
  if (step < Site::no_step) site.step = static_cast<std::uint32_t>(step);
  if (number <= Site::most_calls) site.calls = number;
  return site;
}

Site CallSites::here(const Stack& stack, std::uint64_t step) {
  // Where code is not optimised, an access lies deep below what is of interest; elsewhere
  // everything is one frame.
  constexpr int most_frames = 12;
  Frames frames;
  std::uint64_t hash = 0;
  const auto* frame = static_cast<const FrameRecord*>(__builtin_frame_address(0));
  while (frames.count < most_frames && lies_on(stack, frame)) {
    frames.addresses[frames.count++] = frame->return_address;
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(frame->return_address)) * 0x9e3779b97f4a7c15;
    // Code without frame pointers has other things there; stacks grow downwards.
    if (frame->outer <= frame) break;
    frame = frame->outer;
  }
  Site site;
  if (step < Site::no_step) site.step = static_cast<std::uint32_t>(step);
  Recent& recent = recent_[hash >> 56];
  if (recent.number == 0 || recent.hash != hash) {
    const auto next = static_cast<std::uint32_t>(known_.size() + 1);
    const auto [number, is_new] = numbers_.try_emplace(hash, next);
    if (is_new) known_.push_back(frames);
    recent = {hash, number->second};
  }
  if (recent.number <= Site::most_calls) site.calls = recent.number;
  return site;
}

Frames CallSites::frames(const Site& site) const {
  return site.calls == 0 ? Frames{} : known_[site.calls - 1];
}

}  // namespace tw::vgpu
