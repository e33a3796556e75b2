#include "vgpu/machine/tensor_order.h"

#include <fmt/format.h>

namespace tw::vgpu {
namespace {

bool covers(const Clock* clock, Slot slot, Epoch epoch) {
  return clock != nullptr && slot != no_slot && clock->covers(slot, epoch);
}

// How far an earlier operation is ordered before an access.
enum class Standing { Ordered, AfterFenceMissing, BeforeFenceMissing, WaitMissing, Unordered };

Standing standing_of(const TensorTrack& track, Epoch epoch, const Clock* known,
                     const Clock* heard) {
  const auto slot = [&](TensorNews news) { return track.slots[static_cast<unsigned>(news)]; };
  if (covers(known, slot(TensorNews::Fenced), epoch)) return Standing::Ordered;
  if (covers(heard, slot(TensorNews::Fenced), epoch)) return Standing::AfterFenceMissing;
  if (covers(heard, slot(TensorNews::Waited), epoch)) return Standing::BeforeFenceMissing;
  if (covers(heard, slot(TensorNews::Issued), epoch)) return Standing::WaitMissing;
  return Standing::Unordered;
}

Standing standing_of_warp(Warp& warp, TensorTrack& track, Epoch epoch, const TensorAccess& access) {
  const bool own = access.warp == &warp ||
                   (access.pipeline != nullptr && access.pipeline->thread->warp == &warp);
  if (own) return track.waited >= epoch ? Standing::Ordered : Standing::WaitMissing;
  return standing_of(track, epoch, access.known, access.heard);
}

// Copies before products, and products of one shape on one accumulator, keep their order.
bool is_pipelined(const TensorCell& cell, const TensorAccess& access) {
  if (access.use != TensorUse::Product) return false;
  return cell.write_use == TensorUse::Copy || cell.shape == access.shape;
}

Standing standing_of_pipeline(const TensorCell& cell, const TensorAccess& access,
                              std::vector<TensorOp::After>* after) {
  const TensorPipeline& writer = *cell.pipeline;
  const bool pipelined = is_pipelined(cell, access);
  if (&writer == access.pipeline && (pipelined || access.in_order)) return Standing::Ordered;
  if (covers(access.known, writer.done, cell.write_epoch)) return Standing::Ordered;
  if (pipelined && covers(access.known, writer.ordered, cell.write_epoch)) {
    after->push_back({cell.pipeline, cell.write_epoch});
    return Standing::Ordered;
  }
  const bool heard = covers(access.heard, writer.done, cell.write_epoch) ||
                     (pipelined && covers(access.heard, writer.ordered, cell.write_epoch));
  return heard ? Standing::AfterFenceMissing : Standing::Unordered;
}

const Thread& any_thread(const Warp& warp) { return warp.cta->threads[warp.first_thread]; }

std::string missing(Standing standing, const std::string& other, const char* wait) {
  switch (standing) {
    case Standing::AfterFenceMissing:
      return fmt::format(
          "after {}: a barrier orders the two, but tcgen05.fence::after_thread_sync is missing "
          "after the barrier",
          other);
    case Standing::BeforeFenceMissing:
      return fmt::format(
          "after {}: a barrier orders the two, but tcgen05.fence::before_thread_sync is missing "
          "before the barrier",
          other);
    case Standing::WaitMissing:
      return fmt::format("while {} may still be on its way: {} is missing", other, wait);
    default: return fmt::format("and nothing orders it after {}", other);
  }
}

void report(Engine& machine, const TensorRegion& region, const TensorAccess& access,
            unsigned column, Checker checker, const std::string& why, Site other = {}) {
  const Thread& thread = machine.current();
  machine.report_two(thread.role, checker, -1, access.what, other, [&] {
    const std::string step =
        thread.step == no_step ? "" : fmt::format(" at k-tile {}", thread.step);
    return fmt::format("The {}{}: {} {} {}, {}.", who(thread), step, access.what,
                       access.writes ? "writes" : "reads", tensor_place(*region.cta, column), why);
  });
}

Checker checker_of(Standing standing, Checker unordered) {
  const bool fence =
      standing == Standing::AfterFenceMissing || standing == Standing::BeforeFenceMissing;
  return fence ? Checker::MissingTensorFence : unordered;
}

void judge_write(Engine& machine, const TensorRegion& region, const TensorAccess& access,
                 const TensorCell& cell, unsigned column, std::vector<TensorOp::After>* after) {
  if (cell.pipeline != nullptr) {
    const Standing standing = standing_of_pipeline(cell, access, after);
    if (standing == Standing::Ordered) return;
    const std::string other = fmt::format(
        "{} of the {}{}", cell.write_use == TensorUse::Copy ? "tcgen05.cp" : "tcgen05.mma",
        who(*cell.pipeline->thread), step_words(cell.write_site));
    const Checker unordered = access.writes ? Checker::Race : Checker::ReadBeforeFull;
    report(machine, region, access, column, checker_of(standing, unordered),
           missing(standing, other, ""), cell.write_site);
  } else if (cell.warp != nullptr) {
    const Standing standing =
        standing_of_warp(*cell.warp, cell.warp->tensor.stores, cell.write_epoch, access);
    if (standing == Standing::Ordered) return;
    const std::string other = fmt::format("tcgen05.st of the {}{}", who(any_thread(*cell.warp)),
                                          step_words(cell.write_site));
    const Checker unordered = access.writes ? Checker::Race : Checker::ReadBeforeFull;
    report(machine, region, access, column, checker_of(standing, unordered),
           missing(standing, other, "tcgen05.wait::st"), cell.write_site);
  }
}

void judge_loads(Engine& machine, const TensorRegion& region, const TensorAccess& access,
                 const TensorCell& cell, unsigned band, unsigned column) {
  for (unsigned group = 0; group < cell.load_epochs.size(); ++group) {
    const Epoch epoch = cell.load_epochs[group];
    if (epoch == 0) continue;
    Warp& warp = region.cta->warps[4 * group + band / 2];
    const Standing standing = standing_of_warp(warp, warp.tensor.loads, epoch, access);
    if (standing == Standing::Ordered) continue;
    report(machine, region, access, column, checker_of(standing, Checker::OverwriteWhileRead),
           missing(standing,
                   fmt::format("tcgen05.ld of the {}{}", who(any_thread(warp)),
                               step_words(cell.load_sites[group])),
                   "tcgen05.wait::ld"),
           cell.load_sites[group]);
  }
}

// A product that reads scales, or its A, is over when a commit says so.
Standing standing_of_reader(const TensorCell& cell, const TensorAccess& access) {
  if (cell.reader == access.pipeline && access.in_order) return Standing::Ordered;
  if (covers(access.known, cell.reader->done, cell.read_epoch)) return Standing::Ordered;
  return covers(access.heard, cell.reader->done, cell.read_epoch) ? Standing::AfterFenceMissing
                                                                  : Standing::Unordered;
}

void judge_reader(Engine& machine, const TensorRegion& region, const TensorAccess& access,
                  const TensorCell& cell, unsigned column) {
  const Standing standing = standing_of_reader(cell, access);
  if (standing == Standing::Ordered) return;
  const std::string other = fmt::format("tcgen05.mma of the {}, which reads scales there{}",
                                        who(*cell.reader->thread), step_words(cell.read_site));
  report(machine, region, access, column, checker_of(standing, Checker::OverwriteWhileRead),
         missing(standing, other, ""), cell.read_site);
}

void note(TensorCell& cell, const TensorAccess& access, Site site) {
  if (access.writes) {
    cell.reader = nullptr;
    cell.step = access.step;
    cell.pipeline = access.pipeline;
    cell.warp = access.warp;
    cell.write_epoch = access.epoch;
    cell.write_site = site;
    cell.write_use = access.use;
    cell.shape = access.shape;
    cell.written = true;
    if (cell.was_loaded) cell.load_epochs = {};
    cell.was_loaded = false;
  } else if (access.pipeline != nullptr) {
    cell.reader = access.pipeline;
    cell.read_epoch = access.epoch;
    cell.read_site = site;
  } else {
    cell.load_epochs[access.warp->index / 4] = access.epoch;
    cell.load_sites[access.warp->index / 4] = site;
    cell.was_loaded = true;
  }
}

}  // namespace

const ClockRef& fenced_knowledge(const Engine& machine, const Thread& thread) {
  return machine.launch.place ? thread.view.known : thread.tensor_known;
}

std::string tensor_place(const Cta& cta, unsigned column) {
  return fmt::format("column {} of the tensor memory of CTA {}", column, cta.index);
}

TensorPipeline& pipeline_of(Engine& machine, Thread& thread) {
  if (thread.tensor_pipeline == nullptr) {
    thread.tensor_pipeline = std::make_unique<TensorPipeline>();
    thread.tensor_pipeline->thread = &thread;
  }
  TensorPipeline& pipeline = *thread.tensor_pipeline;
  if (machine.order.enabled()) {
    Cluster& cluster = *thread.cta->cluster;
    machine.order.agent(cluster, AgentKind::TensorProducts, &thread, pipeline.done);
    machine.order.agent(cluster, AgentKind::TensorNews, &thread, pipeline.ordered);
  }
  return pipeline;
}

void spread(Engine& machine, Thread& thread, TensorTrack& track, TensorNews news, Epoch epoch) {
  if (!machine.order.enabled() || epoch == 0) return;
  const auto index = static_cast<unsigned>(news);
  const Slot slot =
      machine.order.agent(*thread.cta->cluster, AgentKind::TensorNews, &thread, track.slots[index]);
  machine.order.learn(thread, track.memory[index], slot, epoch);
}

TensorMemory& tensor_memory(Engine& machine, Cta& cta, unsigned cta_group,
                            const char* instruction) {
  if (cta.tensor == nullptr) cta.tensor = std::make_unique<TensorMemory>();
  TensorMemory& memory = *cta.tensor;
  if (memory.cta_group == 0) memory.cta_group = cta_group;
  if (cta_group != 0 && memory.cta_group != cta_group) {
    machine.report(Checker::Divergence, -1, instruction, [&] {
      return fmt::format(
          "The {} executes {} with cta_group {}, but the kernel has used cta_group {}: all tcgen05 "
          "instructions must agree.",
          who(machine.current()), instruction, cta_group, memory.cta_group);
    });
    machine.abandon();
  }
  return memory;
}

void check_allocated(Engine& machine, const TensorRegion& region, const char* instruction) {
  TensorMemory& memory = *region.cta->tensor;
  if (memory.owns(region.column, region.columns)) return;
  machine.report(Checker::TensorMemoryBounds, -1, instruction, [&] {
    return fmt::format("The {} gives {} columns {} to {} of the tensor memory of CTA {}, which {}.",
                       who(machine.current()), instruction, region.column,
                       region.column + region.columns - 1, region.cta->index,
                       memory.was_ever_allocated(region.column)
                           ? "are not, or no longer, all allocated"
                           : "were never allocated");
  });
  machine.abandon();
}

void judge(Engine& machine, const TensorRegion& region, const TensorAccess& access,
           std::vector<TensorOp::After>* after) {
  if (!machine.order.enabled()) return;
  TensorMemory& memory = *region.cta->tensor;
  const Site site = machine.site_of(machine.current());
  for (unsigned band = 0; band < tensor_bands; ++band) {
    if ((region.bands >> band & 1) == 0) continue;
    for (unsigned column = region.column; column < region.column + region.columns; ++column) {
      TensorCell& cell = memory.cell(band, column);
      if (access.reads && !cell.written) {
        report(machine, region, access, column, Checker::Uninitialised,
               access.writes ? "adding to what nobody has written: the first product must not "
                               "accumulate"
                             : "which nobody has written");
      } else if (cell.written) {
        judge_write(machine, region, access, cell, column, after);
      }
      if (access.writes && cell.was_loaded) {
        judge_loads(machine, region, access, cell, band, column);
      }
      if (access.writes && cell.reader != nullptr) {
        judge_reader(machine, region, access, cell, column);
      }
      note(cell, access, site);
    }
  }
}

void check_quiet(Engine& machine, const TensorRegion& region, const ClockRef& known,
                 const char* instruction) {
  if (!machine.order.enabled()) return;
  TensorMemory& memory = *region.cta->tensor;
  // Synchronous: it needs no fence, but all that touched the columns must be known to be over.
  TensorAccess access{instruction, TensorUse::Store, false, true};
  access.known = access.heard = known.get();
  access.warp = machine.current().warp;
  std::string user;
  for_each_cell(memory, region, [&](TensorCell& cell, unsigned band) {
    const auto is_over = [](Standing standing) {
      return standing == Standing::Ordered || standing == Standing::BeforeFenceMissing;
    };
    if (cell.pipeline != nullptr &&
        standing_of_pipeline(cell, access, nullptr) != Standing::Ordered) {
      user = "tcgen05 products of the " + who(*cell.pipeline->thread);
    } else if (cell.warp != nullptr &&
               !is_over(standing_of_warp(*cell.warp, cell.warp->tensor.stores, cell.write_epoch,
                                         access))) {
      user = "tcgen05.st of the " + who(any_thread(*cell.warp));
    }
    if (cell.reader != nullptr && standing_of_reader(cell, access) != Standing::Ordered) {
      user = "tcgen05 products of the " + who(*cell.reader->thread);
    }
    for (unsigned group = 0; group < cell.load_epochs.size(); ++group) {
      if (cell.load_epochs[group] == 0) continue;
      Warp& warp = region.cta->warps[4 * group + band / 2];
      if (!is_over(standing_of_warp(warp, warp.tensor.loads, cell.load_epochs[group], access))) {
        user = "tcgen05.ld of the " + who(any_thread(warp));
      }
    }
  });
  if (user.empty()) return;
  machine.report(Checker::TensorMemoryLife, -1, instruction, [&] {
    return fmt::format(
        "The {} frees columns {} to {} of tensor memory while {} may still use them.",
        who(machine.current()), region.column, region.column + region.columns - 1, user);
  });
}

void check_tensor_exit(Engine& machine, Cta& cta) {
  if (cta.tensor != nullptr && cta.tensor->allocated_columns() != 0) {
    machine.report_about(nullptr, Checker::TensorMemoryLeak, -1, nullptr, [&] {
      return fmt::format(
          "CTA {} ended with {} columns of tensor memory allocated: the next CTA there will wait "
          "for them for ever.",
          cta.index, cta.tensor->allocated_columns());
    });
  }
  for (Thread& thread : cta.threads) {
    const TensorPipeline* pipeline = thread.tensor_pipeline.get();
    if (pipeline == nullptr || pipeline->issued == 0) continue;
    bool seen = pipeline->landed == pipeline->issued;
    if (machine.order.enabled()) {
      seen = false;
      for (const auto& other : cta.cluster->ctas) {
        for (const Thread& waiter : other->threads) {
          seen = seen || covers(waiter.view.known.get(), pipeline->done, pipeline->issued);
        }
      }
    }
    if (seen) continue;
    machine.report_about(thread.role, Checker::InFlightAtExit, -1, "tcgen05", [&] {
      return fmt::format(
          "CTA {} ended, and nobody has waited for a commit of the last tcgen05 product or copy of "
          "the {}.",
          cta.index, who(thread));
    });
  }
}

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void tcgen05_fence_before_thread_sync() {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  WarpTensorState& tensor = thread.warp->tensor;
  spread(machine, thread, tensor.loads, TensorNews::Fenced, tensor.loads.waited);
  spread(machine, thread, tensor.stores, TensorNews::Fenced, tensor.stores.waited);
  TensorPipeline* pipeline = thread.tensor_pipeline.get();
  if (pipeline != nullptr && pipeline->issued != 0 && machine.order.enabled()) {
    machine.order.learn(thread, pipeline->ordered_memory, pipeline->ordered, pipeline->issued);
  }
}

void tcgen05_fence_after_thread_sync() {
  Thread& thread = engine().enter();
  thread.tensor_known = thread.view.known;
}

}  // namespace tw::model
