// Loads and stores, and the addresses that they take.
#include "tilewright/isa/model/counter.h"
#include "tilewright/isa/model/shared_memory.h"
#include "vgpu/ptx/run/access_types.h"
#include "vgpu/ptx/run/operation.h"
#include "vgpu/ptx/run/spaces.h"

namespace tw::vgpu::ptx {
namespace {

// What the form says: bytes of an element, how many of them, and whether a wider register gets its
// sign.
constexpr std::uint32_t detail_of(unsigned bytes, unsigned count, bool is_signed) {
  return bytes | count << 8 | (is_signed ? 1u << 16 : 0);
}
unsigned bytes_in(std::uint32_t detail) { return detail & 0xff; }
unsigned count_in(std::uint32_t detail) { return detail >> 8 & 0xff; }
bool is_signed(std::uint32_t detail) { return (detail >> 16 & 1) != 0; }

constexpr unsigned most_bytes = 32;

void put_elements(Frame& frame, const Step& step, const std::byte* loaded) {
  const unsigned bytes = bytes_in(step.detail);
  if (bytes == 16) {
    std::memcpy(frame.words + step.slots[0], loaded, bytes);
    return;
  }
  for (unsigned i = 0; i < count_in(step.detail); ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, loaded + i * bytes, bytes);
    if (is_signed(step.detail)) {
      const unsigned unused = 64 - 8 * bytes;
      value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
    }
    put_extended(frame, step.slots[i], step.is_wide, value);
  }
}
void get_elements(const Frame& frame, const Step& step, std::byte* stored) {
  const unsigned bytes = bytes_in(step.detail);
  for (unsigned i = 0; i < count_in(step.detail); ++i) {
    std::memcpy(stored + i * bytes, frame.words + step.slots[i], bytes);
  }
}

template <class Load>
void load_by(Frame& frame, const Step& step, const Load& load) {
  std::byte loaded[most_bytes];
  load(loaded, address_of(frame, step.addresses[0]), bytes_in(step.detail) * count_in(step.detail));
  put_elements(frame, step, loaded);
}
template <class Store>
void store_by(Frame& frame, const Step& step, const Store& store) {
  std::byte stored[most_bytes];
  get_elements(frame, step, stored);
  store(address_of(frame, step.addresses[0]), stored,
        bytes_in(step.detail) * count_in(step.detail));
}

void ld_global(Frame& frame, const Step& step) { load_by(frame, step, load_global); }
void st_global(Frame& frame, const Step& step) { store_by(frame, step, store_global); }
void ld_shared(Frame& frame, const Step& step) {
  load_by(frame, step, [](void* value, std::uint64_t address, unsigned bytes) {
    model::load_shared(value, static_cast<SharedAddress>(address), bytes);
  });
}
void st_shared(Frame& frame, const Step& step) {
  store_by(frame, step, [](std::uint64_t address, const void* value, unsigned bytes) {
    model::store_shared(static_cast<SharedAddress>(address), value, bytes);
  });
}
void ld_cluster(Frame& frame, const Step& step) {
  load_by(frame, step, [](void* value, std::uint64_t address, unsigned bytes) {
    model::load_cluster(value, static_cast<SharedAddress>(address), bytes);
  });
}
void st_cluster(Frame& frame, const Step& step) {
  store_by(frame, step, [](std::uint64_t address, const void* value, unsigned bytes) {
    model::store_cluster(static_cast<SharedAddress>(address), value, bytes);
  });
}
void ld_local(Frame& frame, const Step& step) {
  load_by(frame, step, [&](void* value, std::uint64_t address, unsigned bytes) {
    load_local(frame, value, address, bytes);
  });
}
void st_local(Frame& frame, const Step& step) {
  store_by(frame, step, [&](std::uint64_t address, const void* value, unsigned bytes) {
    store_local(frame, address, value, bytes);
  });
}
void ld_generic(Frame& frame, const Step& step) {
  load_by(frame, step, [&](void* value, std::uint64_t address, unsigned bytes) {
    load_generic(frame, value, address, bytes);
  });
}
void st_generic(Frame& frame, const Step& step) {
  store_by(frame, step, [&](std::uint64_t address, const void* value, unsigned bytes) {
    store_generic(frame, address, value, bytes);
  });
}
void ld_param(Frame& frame, const Step& step) {
  load_by(frame, step, [&](void* value, std::uint64_t address, unsigned bytes) {
    load_parameter(frame, value, address, bytes);
  });
}

template <std::uint64_t window>
void to_generic(Frame& frame, const Step& step) {
  put<std::uint64_t>(frame, step.slots[0], get<std::uint64_t>(frame, step.slots[1]) | window);
}
void parameter_to_generic(Frame& frame, const Step& step) {
  const auto address = get<std::uint64_t>(frame, step.slots[1]);
  // Those of functions lie in local memory.
  put(frame, step.slots[0],
      address < parameter_begin ? address | generic_local : generic_parameter(frame, address));
}
void from_generic(Frame& frame, const Step& step) {
  put<std::uint64_t>(frame, step.slots[0],
                     get<std::uint64_t>(frame, step.slots[1]) & ~generic_mask);
}

// st.async: the barrier stands in the second brackets.
void st_async(Frame& frame, const Step& step) {
  std::byte stored[most_bytes];
  get_elements(frame, step, stored);
  model::store_async(shared_address_of(frame, step.addresses[0]), stored,
                     bytes_in(step.detail) * count_in(step.detail),
                     shared_address_of(frame, step.addresses[1]));
}

void prefetch(Frame&, const Step&) {}

// A policy is a hint: any value serves.
void create_policy(Frame& frame, const Step& step) { put<std::uint64_t>(frame, step.slots[0], 0); }

struct Instructions {
  const char* space;
  Execute load, store;
};
constexpr Instructions spaces[] = {
    {"", ld_generic, st_generic},           {".global", ld_global, st_global},
    {".const", ld_global, nullptr},         {".shared", ld_shared, st_shared},
    {".shared::cta", ld_shared, st_shared}, {".shared::cluster", ld_cluster, st_cluster},
    {".local", ld_local, st_local},         {".param", ld_param, st_local},
    {".param::entry", ld_param, nullptr},   {".param::func", ld_param, st_local}};

}  // namespace

void add_memory(FormTable& table) {
  for (const AccessType& element : access_types) {
    // A narrow element may stand in any register.
    const std::string letter = element.bytes == 16 ? "f" : element.bytes == 8 ? "8" : "r";
    for (const unsigned count : {1u, 2u, 4u, 8u}) {
      if (element.bytes * count > (element.bytes == 16 ? 16 : most_bytes) ||
          (count == 8 && element.bytes < 4))
        continue;
      std::string vector, registers = letter;
      if (count > 1) {
        vector = ".v" + std::to_string(count);
        registers = "{";
        for (unsigned i = 0; i < count; ++i) registers += letter;
        registers += "}";
      }
      const std::uint32_t detail = detail_of(element.bytes, count, element.is_signed);
      for (const Instructions& space : spaces) {
        const std::string end = std::string(space.space) + vector + element.name;
        table.add("ld" + end, registers + "A", space.load, detail);
        if (space.store != nullptr) table.add("st" + end, "A" + registers, space.store, detail);
        if (count > 1) continue;
        // A vector of one is no other value.
        table.add("ld" + end, "{" + letter + "}A", space.load, detail);
        if (space.store != nullptr) table.add("st" + end, "A{" + letter + "}", space.store, detail);
      }
      table.add("st.async.shared::cluster.mbarrier::complete_tx::bytes" + vector + element.name,
                "A" + registers + "A", st_async, detail);
    }
  }
  table.add("cvta.param.u64", "88", parameter_to_generic);
  table.add("cvta.to.param.u64", "88", to_generic<0>);
  for (const std::string space : {"global", "const"}) {
    table.add("cvta." + space + ".u64", "88", to_generic<0>);
    table.add("cvta.to." + space + ".u64", "88", to_generic<0>);
  }
  for (const std::string shared : {"shared", "shared::cta", "shared::cluster"}) {
    table.add("cvta." + shared + ".u64", "88", to_generic<generic_shared>);
    table.add("cvta.to." + shared + ".u64", "88", from_generic);
  }
  table.add("cvta.local.u64", "88", to_generic<generic_local>);
  table.add("cvta.to.local.u64", "88", from_generic);
  for (const std::string policy :
       {"evict_first", "evict_last", "evict_normal", "evict_unchanged"}) {
    const std::string form = "createpolicy.fractional.L2::" + policy;
    table.add(form + ".b64", "8", create_policy);
    table.add(form + ".b64", "84", create_policy);
    table.add(form + ".L2::evict_unchanged.b64", "84", create_policy);
  }
  for (const std::string level : {"L1", "L2"}) {
    table.add("prefetch.global." + level, "A", prefetch);
    table.add("prefetch." + level, "A", prefetch);
    table.add("prefetch.global." + level + "::evict_last", "A", prefetch);
    table.add("prefetch.global." + level + "::evict_normal", "A", prefetch);
  }
}

}  // namespace tw::vgpu::ptx
