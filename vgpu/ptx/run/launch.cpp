#include "vgpu/ptx/run/launch.h"

#include <fmt/format.h>

#include <cstdlib>
#include <deque>
#include <new>

#include "vgpu/machine/engine.h"
#include "vgpu/machine/tensor_state.h"
#include "vgpu/ptx/run/spaces.h"
#include "vgpu/ptx/run/special.h"

namespace tw::vgpu::ptx {
namespace {

constexpr std::size_t most_alignment = 1024;

struct FreeAligned {
  void operator()(std::byte* memory) const {
    ::operator delete[](memory, std::align_val_t{most_alignment});
  }
};
using AlignedBytes = std::unique_ptr<std::byte[], FreeAligned>;

AlignedBytes make_bytes(std::size_t bytes) {
  AlignedBytes made(new (std::align_val_t{most_alignment}) std::byte[bytes + 1]);
  std::memset(made.get(), 0, bytes);
  return made;
}

// Threads take their words from here and give them back; those of a run that was abandoned end with
// it.
class FramePool {
 public:
  explicit FramePool(const Code& code) : code_(code) {}

  struct Storage {
    Frame frame;
    std::vector<std::uint32_t> words;
    std::vector<std::byte> local;
  };
  Storage& take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<Storage>());
      free_.push_back(all_.back().get());
    }
    Storage& storage = *free_.back();
    free_.pop_back();
    storage.words = code_.image;
    storage.local.assign(code_.local_bytes, std::byte{0xff});
    return storage;
  }
  void give_back(Storage& storage) { free_.push_back(&storage); }

 private:
  const Code& code_;
  std::vector<std::unique_ptr<Storage>> all_;
  std::vector<Storage*> free_;
};

class Run {
 public:
  Run(const Code& code, const Request& request) : code_(code), request_(request), frames_(code) {
    parameters_ = make_bytes(code.parameter_bytes);
    std::memcpy(parameters_.get(), request.parameters.data(), request.parameters.size());
    loaded_ = make_bytes(code.loaded_bytes);
    running_ = {&code, &request, parameters_.get(), loaded_.get()};
    for (std::size_t i = 0; i < code.module->variables.size(); ++i) {
      initialise(code.module->variables[i], code.placed_globally[i]);
    }
    for (std::size_t i = code.function->parameters; i < code.function->variables.size(); ++i) {
      initialise(code.function->variables[i], code.placed[i]);
    }
  }

  Report launch(std::span<const GlobalRange> memory, const Options& options) {
    std::vector<GlobalRange> ranges(memory.begin(), memory.end());
    const auto add = [&](const Variable& variable, const Placed& placed) {
      if (variable.space != Space::Global && variable.space != Space::Constant) return;
      if (placed.bytes == 0) return;
      const bool is_constant = variable.space == Space::Constant;
      ranges.push_back({loaded_.get() + placed.offset, placed.bytes, variable.name.c_str(), true,
                        !is_constant, is_constant});
    };
    for (std::size_t i = 0; i < code_.module->variables.size(); ++i) {
      add(code_.module->variables[i], code_.placed_globally[i]);
    }
    for (std::size_t i = code_.function->parameters; i < code_.function->variables.size(); ++i) {
      add(code_.function->variables[i], code_.placed[i]);
    }
    Launch launch;
    launch.ctas = static_cast<unsigned>(request_.grid.count());
    launch.cluster_size = static_cast<unsigned>(request_.cluster.count());
    launch.threads = static_cast<unsigned>(request_.block.count());
    launch.shared_bytes = shared_bytes();
    launch.thread_body = [this] { run_thread(); };
    launch.dependent_launch = request_.dependent_launch;
    launch.registers = request_.registers;
    launch.place = [this] { return place(); };
    return vgpu::run(launch, ranges, options);
  }

 private:
  // Dynamic shared memory begins where the variable without a size that is aligned most does.
  std::size_t shared_bytes() const {
    std::uint64_t end = code_.static_shared_bytes;
    const auto look = [&](const Variable& variable, const Placed& placed) {
      if (variable.space == Space::Shared && placed.bytes == 0) end = std::max(end, placed.offset);
    };
    for (std::size_t i = 0; i < code_.placed_globally.size(); ++i) {
      look(code_.module->variables[i], code_.placed_globally[i]);
    }
    for (std::size_t i = 0; i < code_.placed.size(); ++i) {
      look(code_.function->variables[i], code_.placed[i]);
    }
    return static_cast<std::size_t>(end) + request_.dynamic_shared;
  }

  void initialise(const Variable& variable, const Placed& placed) {
    const unsigned bytes = bytes_of_type(variable.type);
    if (variable.space != Space::Global && variable.space != Space::Constant) return;
    for (const Initial& initial : variable.initial) {
      std::uint64_t value = static_cast<std::uint64_t>(initial.value.value);
      if (initial.value.kind == Operand::Global || initial.value.kind == Operand::Variable) {
        const bool is_global = initial.value.kind == Operand::Global;
        const auto& placed_all = is_global ? code_.placed_globally : code_.placed;
        value += reinterpret_cast<std::uintptr_t>(loaded_.get()) +
                 placed_all[initial.value.index].offset;
      }
      std::memcpy(loaded_.get() + placed.offset + initial.element * bytes, &value,
                  std::min<std::size_t>(bytes, sizeof value));
    }
  }

  void run_thread() {
    Thread* const thread = &engine().current();
    if (engine().timeline != nullptr) thread->role = warp_name(thread->index / warp_lanes);
    FramePool::Storage& storage = frames_.take();
    Frame& frame = storage.frame;
    frame = {};
    frame.words = storage.words.data();
    frame.local = storage.local.data();
    frame.local_bytes = static_cast<std::uint32_t>(storage.local.size());
    frame.running = &running_;
    current_[thread] = &frame;
    fill(frame, *thread);
    execute(frame);
    current_.erase(thread);
    frames_.give_back(storage);
  }

  void execute(Frame& frame) const {
    const Step* const steps = code_.steps.data();
    const auto count = static_cast<std::uint32_t>(code_.steps.size());
    while (frame.next < count) {
      frame.here = frame.next;
      const Step& step = steps[frame.next++];
      if (step.guard != no_slot_here && get_predicate(frame, step.guard) == step.guard_negated) {
        continue;
      }
      for (std::uint32_t i = 0; i < step.owned_count; ++i) {
        const std::uint32_t* const word = frame.words + step.owned[i];
        if (code_.loads_tensor_memory) {
          model::tcgen05_register_access(word);
        } else {
          model::fragment_access(word, 1);
        }
      }
      step.execute(frame, step);
    }
  }

  // Timelines have a track for each role; nobody says roles in PTX.
  const char* warp_name(unsigned warp) {
    while (warp_names_.size() <= warp) {
      warp_names_.push_back(fmt::format("warp {}", warp_names_.size()));
    }
    return warp_names_[warp].c_str();
  }

  // Where the running thread is, for findings.
  std::string place() const {
    const auto found = current_.find(&engine().current());
    return found == current_.end() ? "" : code_.place_of(found->second->here);
  }

  const Code& code_;
  const Request& request_;
  AlignedBytes parameters_, loaded_;
  Running running_;
  FramePool frames_;
  std::unordered_map<const Thread*, Frame*> current_;
  std::deque<std::string> warp_names_;
};

Status check(const Code& code, const Request& request) {
  if (request.parameters.size() != code.parameter_bytes) {
    return Status::refused(fmt::format("{} takes {} bytes of parameters, and not {}.",
                                       code.function->name, code.parameter_bytes,
                                       request.parameters.size()));
  }
  if (request.grid.count() == 0 || request.grid.count() > 1u << 30) {
    return Status::refused("A grid has 1 to 1073741824 CTAs.");
  }
  if (request.block.count() == 0 || request.block.count() > 1024) {
    return Status::refused("A CTA has 1 to 1024 threads.");
  }
  const Extent& cluster = request.cluster;
  if (cluster.count() == 0 || cluster.count() > 16) {
    return Status::refused("A cluster has 1 to 16 CTAs.");
  }
  if (request.grid.x % cluster.x != 0 || request.grid.y % cluster.y != 0 ||
      request.grid.z % cluster.z != 0) {
    return Status::refused(fmt::format(
        "A grid of {} x {} x {} CTAs does not consist of whole clusters of {} x {} x {}.",
        request.grid.x, request.grid.y, request.grid.z, cluster.x, cluster.y, cluster.z));
  }
  return check_specials(code);
}

}  // namespace

Request request_of(const Launch& launch) {
  Request request;
  request.grid.x = launch.ctas;
  request.block.x = launch.threads;
  request.cluster.x = launch.cluster_size;
  request.dynamic_shared = launch.shared_bytes;
  request.parameters = launch.parameters;
  request.dependent_launch = launch.dependent_launch;
  request.registers = launch.registers;
  return request;
}

void stop_incomplete(const Frame& frame, const char* why) {
  const Code& code = *frame.running->code;
  const Instruction& instruction = code.function->instructions[frame.here];
  Engine& machine = engine();
  machine.findings.add_incomplete(fmt::format("The {} stopped at {}: {} {}.",
                                              who(machine.current()), code.place_of(frame.here),
                                              instruction.form, why));
  machine.abandon();
}

Report run(const Code& code, const Request& request, std::span<const GlobalRange> memory,
           const Options& options) {
  const Status status = check(code, request);
  if (!status.is_good()) {
    Report report;
    report.incomplete.push_back(status.sentence());
    return report;
  }
  return Run(code, request).launch(memory, options);
}

}  // namespace tw::vgpu::ptx
