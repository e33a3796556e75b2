// Names: what the kernel told us, and how reports say it.
#include <fmt/format.h>

#include "vgpu/machine/engine.h"

namespace tw::vgpu {

std::string who(const char* role, unsigned thread, unsigned cta) {
  if (role == nullptr) return fmt::format("thread {} of CTA {}", thread, cta);
  return fmt::format("{} role (thread {} of CTA {})", role, thread, cta);
}

std::string who(const Thread& thread) { return who(thread.role, thread.index, thread.cta->index); }

std::string place_name(const Cta& cta, std::uint32_t offset) {
  const Region* region = cta.regions.find(offset);
  if (region == nullptr) {
    return fmt::format("shared memory at byte {} of CTA {}", offset, cta.index);
  }
  return fmt::format("{} stage {} (byte {} of CTA {})", region->name, region->stage, offset,
                     cta.index);
}

int place_stage(const Cta& cta, std::uint32_t offset) {
  const Region* region = cta.regions.find(offset);
  return region == nullptr ? -1 : region->stage;
}

const void* place_subject(const Cta& cta, std::uint32_t offset) {
  const Region* region = cta.regions.find(offset);
  return region == nullptr ? nullptr : region->name;
}

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void describe_role(const char* role) {
  engine().current().role = role;
  poison_below();  // what calls before the role's own left there
}

void describe_barrier(SharedAddress barrier, const char* name, unsigned stage) {
  const auto place = engine().resolve(barrier, 4, "describe_barrier");
  const auto counter = place.cta->counters.find(place.offset);
  if (counter != place.cta->counters.end()) {
    counter->second.name = name;
    counter->second.stage = static_cast<int>(stage);
    return;
  }
  Mbarrier& entry = place.cta->mbarriers.find_or_create(*place.cta, place.offset);
  entry.name = name;
  entry.stage = static_cast<int>(stage);
}

void describe_shared(SharedAddress begin, unsigned bytes, const char* name, unsigned stage) {
  const auto place = engine().resolve(begin, bytes, "describe_shared");
  place.cta->regions.describe({place.offset, place.offset + bytes, name, static_cast<int>(stage)});
}

void describe_step(unsigned step) { engine().current().step = step; }
void describe_no_step() { engine().current().step = no_step; }

}  // namespace tw::model
