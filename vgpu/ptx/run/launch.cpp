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

// Calls take their words from here and give them back; those of a run that was abandoned end with
// it.
class FramePool {
 public:
  struct Storage {
    Frame frame;
    std::vector<std::uint32_t> words;
    std::vector<std::byte> local;  // an entry's: its thread's
  };
  Storage& take(const Body& body, const Running& running) {
    if (free_.empty()) {
      all_.push_back(std::make_unique<Storage>());
      free_.push_back(all_.back().get());
    }
    Storage& storage = *free_.back();
    free_.pop_back();
    storage.words = body.image;
    storage.frame = {};
    storage.frame.body = &body;
    storage.frame.words = storage.words.data();
    storage.frame.running = &running;
    return storage;
  }
  // What writes registers later may still do so: those words are not used again.
  void give_back(Storage& storage) {
    if (!storage.frame.body->writes_later || storage.frame.caller == nullptr) {
      free_.push_back(&storage);
    }
  }

 private:
  std::vector<std::unique_ptr<Storage>> all_;
  std::vector<Storage*> free_;
};

// "line 12 (kernel.cu:7), called at line 40 (kernel.cu:22)".
std::string place_of(const Code& code, const Frame& frame) {
  std::string place;
  for (const Frame* at = &frame; at != nullptr; at = at->caller) {
    place += (place.empty() ? "" : ", called at ") + code.place_of(*at->body->function, at->here);
  }
  return place;
}

constexpr std::uint32_t local_alignment = 128;
// Frames of the host lie on the thread's stack, too.
constexpr unsigned most_calls = 64;

class Run {
 public:
  Run(const Code& code, const Request& request) : code_(code), request_(request) {
    parameters_ = make_bytes(code.parameter_bytes);
    std::memcpy(parameters_.get(), request.parameters.data(), request.parameters.size());
    loaded_ = make_bytes(code.loaded_bytes);
    running_ = {&code,
                &request,
                parameters_.get(),
                loaded_.get(),
                [this](Frame& caller, const Body& body, const Slot* parameters) {
                  call(caller, body, parameters);
                },
                [this](const std::string& text) { print(text); }};
    code.each_variable(
        [&](const Variable& variable, const Placed& placed) { initialise(variable, placed); });
  }

  Report launch(std::span<const GlobalRange> memory, const Options& options) {
    std::vector<GlobalRange> ranges(memory.begin(), memory.end());
    code_.each_variable([&](const Variable& variable, const Placed& placed) {
      if (variable.space != Space::Global && variable.space != Space::Constant) return;
      if (placed.bytes == 0) return;
      const bool is_constant = variable.space == Space::Constant;
      ranges.push_back({loaded_.get() + placed.offset, placed.bytes, variable.name.c_str(), true,
                        !is_constant, is_constant});
    });
    Launch launch;
    launch.ctas = static_cast<unsigned>(request_.grid.count());
    launch.cluster_size = static_cast<unsigned>(request_.cluster.count());
    launch.threads = static_cast<unsigned>(request_.block.count());
    launch.shared_bytes = shared_bytes();
    launch.thread_body = [this] { run_thread(); };
    launch.dependent_launch = request_.dependent_launch;
    launch.registers = request_.registers;
    launch.place = [this] { return place(); };
    launch.site = [] {
      const Frame* const frame = current_frame();
      return frame == nullptr ? 0u : unsigned{frame->body->steps[frame->here].site};
    };
    launch.place_of_site = [this](unsigned site) {
      const Code::SitePlace& at = code_.sites[site - 1];
      return code_.place_of(*at.function, at.instruction);
    };
    return vgpu::run(launch, ranges, options);
  }

 private:
  // Dynamic shared memory begins where the variable without a size that is aligned most does.
  std::size_t shared_bytes() const {
    std::uint64_t end = code_.static_shared_bytes;
    code_.each_variable([&](const Variable& variable, const Placed& placed) {
      if (variable.space == Space::Shared && placed.bytes == 0) end = std::max(end, placed.offset);
    });
    return static_cast<std::size_t>(end) + request_.dynamic_shared;
  }

  void initialise(const Variable& variable, const Placed& placed) {
    const unsigned bytes = bytes_of_type(variable.type);
    if (variable.space != Space::Global && variable.space != Space::Constant) return;
    for (const Initial& initial : variable.initial) {
      std::uint64_t value = static_cast<std::uint64_t>(initial.value.value);
      if (initial.value.kind == Operand::Global) {
        value += reinterpret_cast<std::uintptr_t>(loaded_.get()) +
                 code_.placed_globally[initial.value.index].offset;
      } else if (initial.value.kind == Operand::Function) {
        value = function_begin + initial.value.index;
      }
      std::memcpy(loaded_.get() + placed.offset + initial.element * bytes, &value,
                  std::min<std::size_t>(bytes, sizeof value));
    }
  }

  void run_thread() {
    Thread& thread = engine().current();
    if (engine().timeline != nullptr) thread.role = warp_name(thread.index / warp_lanes);
    FramePool::Storage& storage = frames_.take(*code_.entry, running_);
    storage.local.assign(code_.entry->local_bytes, std::byte{0xff});
    storage.frame.local = &storage.local;
    thread.program = &storage.frame;
    fill(storage.frame, thread);
    execute(storage.frame);
    thread.program = nullptr;
    frames_.give_back(storage);
    if (const auto left = printing_.find(&thread); left != printing_.end()) {
      show(thread, left->second);
      printing_.erase(left);
    }
  }

  // A caller's parameters are copied to where the callee has its own, and its results back.
  void call(Frame& caller, const Body& body, const Slot* parameters) {
    Thread& thread = engine().current();
    unsigned depth = 0;
    for (const Frame* at = &caller; at != nullptr; at = at->caller) ++depth;
    if (depth > most_calls) stop_incomplete(caller, "is deeper than 64 calls, which has no model");
    FramePool::Storage& storage = frames_.take(body, running_);
    Frame& frame = storage.frame;
    std::vector<std::byte>& local = *caller.local;
    const std::size_t room = local.size();
    frame.caller = &caller;
    frame.local = &local;
    frame.local_base = static_cast<std::uint32_t>((room + local_alignment - 1) / local_alignment *
                                                  local_alignment);
    local.resize(frame.local_base + body.local_bytes, std::byte{0xff});
    const Function& function = *body.function;
    const auto copy = [&](std::size_t i, bool is_result) {
      const Placed& placed = body.placed[i];
      const std::uint64_t theirs = get<std::uint64_t>(caller, parameters[i]) - local_begin;
      if (theirs > room || placed.bytes > room - theirs) {
        stop_incomplete(caller, "passes fewer bytes than the function takes");
      }
      std::byte* const inner = local.data() + frame.local_base + placed.offset;
      std::byte* const outer = local.data() + theirs;
      std::memcpy(is_result ? outer : inner, is_result ? inner : outer, placed.bytes);
    };
    for (std::size_t i = function.results; i < function.parameters; ++i) copy(i, false);
    fill(frame, thread);
    thread.program = &frame;
    execute(frame);
    thread.program = &caller;
    for (std::size_t i = 0; i < function.results; ++i) copy(i, true);
    local.resize(room);
    if (frame.exits) {
      caller.exits = true;
      caller.next = static_cast<std::uint32_t>(caller.body->steps.size());
    }
    caller.polled = nullptr;
    frames_.give_back(storage);
  }

  void print(const std::string& text) {
    if (!request_.print) return;
    Thread& thread = engine().current();
    std::string& line = printing_[&thread];
    for (const char c : text) {
      if (c != '\n') {
        line += c;
        continue;
      }
      show(thread, line);
      line.clear();
    }
  }
  void show(const Thread& thread, const std::string& line) {
    if (!line.empty()) {
      request_.print(fmt::format("CTA {}, thread {}: {}", thread.cta->index, thread.index, line));
    }
  }

  void execute(Frame& frame) const {
    const Body& body = *frame.body;
    const Step* const steps = body.steps.data();
    const auto count = static_cast<std::uint32_t>(body.steps.size());
    while (frame.next < count) {
      frame.here = frame.next;
      const Step& step = steps[frame.next++];
      if (step.guard != no_slot_here && get_predicate(frame, step.guard) == step.guard_negated) {
        continue;
      }
      for (std::uint32_t i = 0; i < step.owned_count; ++i) {
        const std::uint32_t* const word = frame.words + step.owned[i];
        if (body.loads_tensor_memory) {
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

  static const Frame* current_frame() {
    return static_cast<const Frame*>(engine().current().program);
  }
  // Where the running thread is, for findings.
  std::string place() const {
    const Frame* const frame = current_frame();
    return frame == nullptr ? "the end" : place_of(code_, *frame);
  }

  const Code& code_;
  const Request& request_;
  AlignedBytes parameters_, loaded_;
  Running running_;
  FramePool frames_;
  std::unordered_map<const Thread*, std::string> printing_;  // lines that have not ended
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
  const Instruction& instruction = frame.body->function->instructions[frame.here];
  Engine& machine = engine();
  machine.findings.add_incomplete(
      fmt::format("The {} stopped at {}: {} {}.", who(machine.current()),
                  place_of(*frame.running->code, frame), instruction.form, why));
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
