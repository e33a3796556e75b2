"""The planted bugs: one line each, in our own kernel or pipeline, and what must be said of them."""
import attention_bugs
import block_scaled_bugs
import blockwise_bugs
import conv2d_bugs
import conv2d_copy_bugs
import conv2d_piece_bugs
import depthwise_bugs
import four_bit_bugs
import swap_ab_bugs
import grouped_bugs
import launch_bugs
import layer_bugs
import memory_bugs
import moe_bugs
import operand_bugs
import output_bugs
import quantise_bugs
import ring_bugs
import rows_bugs
import tensor_attention_bugs
import tensor_bugs
import wave_bugs
import work_bugs

BUGS = [*ring_bugs.BUGS, *operand_bugs.BUGS, *tensor_bugs.BUGS, *wave_bugs.BUGS, *work_bugs.BUGS, *output_bugs.BUGS,
        *swap_ab_bugs.BUGS, *conv2d_bugs.BUGS, *conv2d_copy_bugs.BUGS, *conv2d_piece_bugs.BUGS, *depthwise_bugs.BUGS,
        *blockwise_bugs.BUGS, *block_scaled_bugs.BUGS, *four_bit_bugs.BUGS,
        *grouped_bugs.BUGS, *quantise_bugs.BUGS, *layer_bugs.BUGS, *moe_bugs.BUGS, *attention_bugs.BUGS, *rows_bugs.BUGS, *launch_bugs.BUGS,
        *memory_bugs.BUGS, *tensor_attention_bugs.BUGS]
