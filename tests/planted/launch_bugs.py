"""Bugs of a launch: what overlaps the grid before, registers that change hands, and where tensor maps lie."""
from bug import Bug, Site, SHORT, TENSOR_SHORT, TWO_CTAS

# No products: D is C alone.
NO_PRODUCT = (128, 256, 0, 1, 1, 1)
TWO_TILES = (24, 128, 192, 0, 1, 1)
# The same for a cluster of two.
TWO_FEATURE_TILES = (24, 128, 192, 0, 2, 1)
ONE_IMAGE = (1, 64, 64, 1, 8, 3, 1, 1, 1, 1, 8, 3, 1, 1, 1, 1, 1)

WAIT = 'if constexpr (Kernel::dependent_launch && !loads_wait) isa::griddepcontrol_wait();'
DECREASE = 'if constexpr (roles.shifts_registers()) isa::setmaxnreg_decrease<roles.load.registers>();'

BUGS = [
    Bug('nobody_waits_for_earlier_grids',
        'operands are loaded while the grid before may still write them',
        'kernel/warp_specialized.h', WAIT, '',
        [Site('overlapping', SHORT, 'early-access', 'load', -1),
         Site('tensor_overlapping', TENSOR_SHORT, 'early-access', 'load', -1)]),
    # The first warpgroup loads on sm_90a, and stores on sm_100a.
    Bug('first_warpgroup_waits_alone',
        'sums begin at a C, or operands are loaded, that the grid before may still write',
        'kernel/warp_specialized.h', WAIT,
        'if constexpr (Kernel::dependent_launch && !loads_wait) { if (thread < 128) isa::griddepcontrol_wait(); }',
        [Site('conv2d_first', ONE_IMAGE, 'early-access', 'multiply 0', -1),
         Site('overlapping', NO_PRODUCT, 'early-access', 'multiply 0', -1),
         Site('tensor_overlapping', TENSOR_SHORT, 'early-access', 'load', -1)]),
    Bug('first_warpgroup_does_not_wait',
        'operands are loaded while the grid before may still write them',
        'kernel/warp_specialized.h', WAIT,
        'if constexpr (Kernel::dependent_launch && !loads_wait) { if (thread >= 128) isa::griddepcontrol_wait(); }',
        [Site('overlapping', SHORT, 'early-access', 'load', -1)]),
    Bug('loading_role_never_waits',
        'behind the weights it loads what the grid before may still write',
        'kernel/warp_specialized.h', 'isa::griddepcontrol_wait();', '',
        [Site('weights_first', TWO_TILES, 'early-access', 'load', -1)]),
    # Between a CTA's arrival and its cluster's meeting.
    Bug('others_get_copies_before_they_met',
        'the barriers of a CTA that has not met may not be initialised',
        'io/tma_loader.h', 'load_parts<a_is_own, b_is_own>(stage, tile, k);', 'load_parts<true, true>(stage, tile, k);',
        [Site('cooperative_2x1', TWO_CTAS, 'barrier-life', 'load', -1, stops=True)]),
    Bug('another_thread_begins',
        'nothing orders the signals that one thread initialises before the copies of another',
        'kernel/warp_specialized.h', 'if (thread == 0) begun = begin_alone(params, storage);',
        'if (thread == 1) begun = begin_alone(params, storage);',
        [Site('cooperative_2x1', TWO_CTAS, 'barrier-life', 'load', 0, also=('overwrite-while-read', 'transaction-bytes'))]),
    Bug('begins_before_earlier_grids_end',
        'the first copies read what the grid before may still write',
        'kernel/warp_specialized.h', 'if (!waits || !tile.weights_are_constant) isa::griddepcontrol_wait();', '',
        [Site('overlapping_2x1', TWO_CTAS, 'early-access', 'load', -1)]),
    Bug('weights_begin_that_are_not_constant',
        'the first copies read weights that the grid before may still write',
        'kernel/warp_specialized.h', 'if (!waits || !tile.weights_are_constant) isa::griddepcontrol_wait();',
        'if (!waits) isa::griddepcontrol_wait();',
        [Site('weights_first_2x1', TWO_FEATURE_TILES, 'early-access', 'load', -1)]),
    Bug('stages_begun_are_forgotten',
        'what was copied before the meeting is copied again, over what may have been read',
        'kernel/warp_specialized.h', 'if constexpr (leads && begins_alone) loads.go_on(begun);', '',
        [Site('cooperative_2x1', TWO_CTAS, 'overwrite-while-read', 'load', 0, also=('transaction-bytes', 'barrier-life'))]),
    Bug('stream_does_not_wait',
        'rows are read while the grid before may still write them',
        'kernel/streaming.h', 'isa::griddepcontrol_wait();', '',
        [Site('rms_norm_overlapping', (3, 520, 1), 'early-access', 'stream', -1)]),
    Bug('helpers_keep_their_registers',
        'the multiplying warps wait for ever for registers that nobody lets go of',
        'kernel/warp_specialized.h', DECREASE, '',
        [Site('cooperative', SHORT, 'register-budget', 'load', -1)]),
    Bug('one_warp_lets_registers_go',
        'a warpgroup executes setmaxnreg as one',
        'kernel/warp_specialized.h', DECREASE,
        'if constexpr (roles.shifts_registers()) { if (warp == 0) isa::setmaxnreg_decrease<roles.load.registers>(); }',
        [Site('cooperative', SHORT, 'register-budget', 'load', -1)]),
    Bug('registers_for_two_kernels',
        'a CTA does not have so many',
        'kernel/warp_specialized.h',
        'if constexpr (roles.shifts_registers()) isa::setmaxnreg_increase<roles.multiply.registers>();',
        'if constexpr (roles.shifts_registers()) isa::setmaxnreg_increase<256>();',
        [Site('cooperative', SHORT, 'register-budget', 'multiply 0', -1)]),
    Bug('map_on_the_stack',
        "the copy engine does not read a thread's local memory",
        'io/tma_loader.h', 'CopyB::load(stage.tensors().b, &params_.b, stage.full(), column, first_k, batch,',
        'const TensorMap local = params_.b; CopyB::load(stage.tensors().b, &local, stage.full(), column, first_k, batch,',
        [Site('cooperative', SHORT, 'bounds', 'load', -1, text='a tensor map in local memory', stops=True),
         Site('tensor', TENSOR_SHORT, 'bounds', 'load', -1, text='a tensor map in local memory', stops=True)]),
    Bug('map_at_16_of_64_bytes',
        'tensor maps are 64-byte aligned',
        'io/tma_loader.h', 'CopyA::load(stage.tensors().a, &params_.a, stage.full(), row, first_k, batch,',
        'CopyA::load(stage.tensors().a, reinterpret_cast<const TensorMap*>(reinterpret_cast<const char*>(&params_.a) + 16), '
        'stage.full(), row, first_k, batch,',
        [Site('cooperative', SHORT, 'alignment', 'load', -1, text='a tensor map 16 bytes behind', stops=True)]),
]
