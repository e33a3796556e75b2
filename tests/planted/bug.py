"""What a planted bug is, and the instances in which bugs are planted."""
import dataclasses
import re

# What the comparison of results says where no checker does; it knows neither role nor stage.
WRONG_RESULT = 'wrong-result'
# The virtual GPU refuses to go on with what it does not know, and says so.
STOPPED = 'stopped'

# What follows from bugs, and is rightly reported beside them.
CONSEQUENCES = {
    'deadlock': 'the signal never comes, or comes too often: whoever waits for it hangs',
    'arrival-count': 'who goes too early arrives too early, and a barrier gets too many arrivals',
    'transaction-bytes': 'copies that were issued wait for ever, and their bytes with them',
    'barrier-life': 'bytes that nobody expected are left on a barrier at the end',
    'phase-skipped': 'a barrier that gets too many arrivals runs ahead of who waits for it',
    'overwrite-while-read': 'who goes too early writes over what others read',
    'missing-proxy-fence': 'reads before a fence that is gone are unordered with the async proxy',
    'race': 'who goes too early writes where others write',
    'read-before-full': 'who goes too early reads what has not landed',
    'race': 'who goes too early reads what others write, and nothing orders the two',
    'wrong-step': 'who goes too early reads what came a lap before',
    'global-race': 'tiles at an edge that reach back store rows twice, and no longer the same',
    'operand-in-flight': 'products that nobody waits for read registers that the next block fills',
    'uninitialised': 'what was written elsewhere, or later, is missing where it is read',
    'in-flight-at-exit': 'what nobody waits for may be in flight at the end',
    'tensor-memory-life': 'what nobody waits for may be in flight when tensor memory is freed',
    'tensor-memory-bounds': 'tensor memory that was freed early is still accessed',
}


@dataclasses.dataclass
class Config:
    """One kernel instance."""
    target: str
    header: str
    page: str
    fields: str  # fields of the family's config
    family: str = 'matmul'
    recipe: str = ''
    options: str = ''  # options of ./tw run, for every problem

    def source(self, root):
        """As the families' instances are made, with a table of this one."""
        streams = self.family.endswith('quantise') or self.family in ('combine', 'rms_norm', 'rotary', 'route') or self.recipe == 'DepthwiseRecipe' or self.page.startswith('Rows<')
        values = {'NAME': 'planted', 'FAMILY': self.family, 'ARCH': self.page, 'CONFIG': self.fields,
                  'KIND': ''.join(word.capitalize() for word in self.family.split('_')),
                  'BOUND': ', '.join(filter(None, [self.page, self.recipe, 'planted'])),
                  'SKELETON_TYPE': 'Streaming' if streams else 'WarpSpecialized', 'WITH_DEVICE': '0', 'WITH_VGPU': '1', 'FOLDER': 'family', 'TYPE': 'Instance',
                  'DECLARATIONS': '', 'ENTRIES': 'instances::make_planted(),'}
        text = ''.join((root / 'src' / name).read_text() for name in ('instances/instance.cpp.in', 'instances/table.cpp.in'))
        text = text.replace('tilewright/@PAGE_FOLDER@/@PAGE@.h', self.header)
        text = re.sub('@([A-Z_]+)@', lambda name: values[name[1]], text)
        return text + f"""namespace tw {{
struct Trial;
extern const Trial {self.family}_trial;
namespace planted {{
extern const Trial& trial;
const Trial& trial = {self.family}_trial;
}}  // namespace planted
}}  // namespace tw
"""


def fields_of(tiling, others):
    """Fields of MatmulConfig, of which some are its tiling's."""
    return ', '.join(filter(None, [f'.tiling = {{{tiling}}}' if tiling else '', others]))


def ampere(page, others=''):
    return Config('sm_80', 'tilewright/arch/sm80.h', page,
                  fields_of('.m = 64, .n = 64', f'.multiply_groups = 1{others}'))


def cdna(page, number):
    return Config(f'gfx{number}', f'tilewright/arch/gfx{number}.h', page,
                  fields_of('.m = 64, .n = 64', '.multiply_groups = 1'))


def hopper(tiling, others=''):
    return Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90', fields_of(tiling, others))


def blackwell(others='', tiling=''):
    return Config('sm_100a', 'tilewright/arch/sm100.h', 'Sm100',
                  fields_of(f'.n = 64{tiling}', f'.multiply_groups = 1{others}'))


def conv2d(tiling):
    return Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90', fields_of(tiling, '.multiply_groups = 1'), 'conv2d',
                  'Conv2dRecipe')


def conv2d_copies(number, tiling):
    return Config(f'sm_{number}a' if number >= 90 else f'sm_{number}',
                  f'tilewright/arch/sm{number}.h', f'Sm{number}',
                  fields_of(tiling, '.multiply_groups = 1'), 'conv2d', 'Conv2dByThreads')


FP8 = '.a_type = ElementType::E4m3, .b_type = ElementType::E4m3'


def blockwise(target, page, tile, others=''):
    return Config(target, f'tilewright/arch/{page.lower()}.h', page,
                  fields_of(f'{tile}, {FP8}{others}', '.multiply_groups = 1, .promote_every = 1'), 'blockwise',
                  'ScaledBy<128>')


def scaled(tiling=''):
    return Config('sm_100a', 'tilewright/arch/sm100_scaled.h', 'Sm100Scaled',
                  fields_of(f'.n = 128, {FP8}{tiling}', '.d_type = ElementType::Fp32, .multiply_groups = 1'),
                  'block_scaled', 'BlockScaledBy<ScaleType::Ue8m0>')


def grouped(target, page, tiling, others='', recipe='MatmulRecipe'):
    return Config(target, f'tilewright/arch/{page.lower()}.h', page,
                  fields_of(tiling, f'.multiply_groups = 1{others}'), 'grouped', recipe)


def quantise(target, page, scale_rows):
    return Config(target, f'tilewright/arch/{page.lower()}.h', page, f'.scale_rows = {scale_rows}', 'quantise')


CONFIGS = {
    # Six stages of 64 by 64, cp.async by four warps; or other copies, or other signals.
    'copies': ampere('Sm80'),
    'plain_copies': ampere('Sm80Plain'),
    'single_counters': ampere('Sm80SingleCounters'),
    'split_counters': ampere('Sm80SplitCounters'),
    'copies_in_parts': ampere('Sm80', ', .split = Split::Parts'),
    # Three stages of 64 by 64, counted by waves of 64 lanes; of gfx950 nine.
    'waves': cdna('Gfx942', 942),
    'waves_950': cdna('Gfx950', 950),
    # The same, loaded straight to LDS.
    'waves_lds': cdna('Gfx942Lds', 942),
    # Four stages of 128 by 128, in turns.
    'waves_in_turns': Config('gfx950', 'tilewright/arch/gfx950.h', 'Gfx950PingPong',
                             fields_of('.n = 128', '.multiply_groups = 1')),
    'blockwise_in_turns': Config('gfx950', 'tilewright/arch/gfx950.h', 'Gfx950PingPong',
                                 fields_of(f'.n = 128, {FP8}', '.multiply_groups = 1, .promote_every = 1'), 'blockwise', 'HalvesScaledBy<128>'),
    'conv2d_in_turns': Config('gfx950', 'tilewright/arch/gfx950.h', 'Gfx950PingPong', fields_of('.n = 128', '.multiply_groups = 1'),
                              'conv2d', 'Conv2dByHalves'),
    # Four stages, but ping_pong: five.
    'cooperative': hopper('.cluster = {1, 1}'),
    'cooperative_2x1': hopper('.cluster = {2, 1}'),
    'cooperative_1x2': hopper('.cluster = {1, 2}'),
    'mn_major_2x1': hopper('.n = 128, .a_major = Major::MN, .b_major = Major::MN, .cluster = {2, 1}'),
    'narrow': hopper('.n = 128, .cluster = {1, 1}'),
    # Operands and D of any alignment: threads store what they staged.
    'lines': Config('sm_90a', 'tilewright/arch/sm90_lines.h', 'Sm90PlainLines', fields_of('.m = 64, .n = 192', '.multiply_groups = 1'),
                    options='--unaligned'),
    'ping_pong': hopper('.m = 64, .cluster = {1, 1}', '.consumers = Consumers::PingPong'),
    'one_group_in_parts': hopper('.m = 64, .n = 64', '.multiply_groups = 1, .split = Split::Parts'),
    'shares': hopper('.m = 64, .n = 64', '.multiply_groups = 1, .split = Split::Parts, .finishers = 2'),
    'wide_in_parts': hopper('.m = 64, .n = 128', '.multiply_groups = 1, .split = Split::Parts'),
    'one_group_1x1x2': hopper('.m = 64, .n = 64, .cluster = {1, 1, 2}',
                              '.multiply_groups = 1, .split = Split::Cluster'),
    # Buffers for two tiles, each of which is stored at once.
    'whole_tiles': hopper('.m = 64, .n = 128', '.output_buffers = 4, .multiply_groups = 1'),
    # Six stages, of which 16 rows of A are loaded; rows of 64 bytes are stored.
    'few_rows': hopper('.m = 64, .n = 224, .loaded_rows = 16', '.multiply_groups = 1'),
    'few_rows_2x1': hopper('.m = 64, .n = 96, .cluster = {2, 1}, .loaded_rows = 16', '.multiply_groups = 1'),
    # 18 stages; rows are D's columns, and there is a bias for each.
    'swap_ab': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90',
                        fields_of('.m = 64, .n = 24, .swap_ab = 1', '.multiply_groups = 1'), options='--epilogue bias'),
    # The same, whose weights come before the earlier grid has ended.
    'weights_first': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90',
                            fields_of('.m = 64, .n = 24, .swap_ab = 1, .weights_first = 1',
                                      '.multiply_groups = 1, .dependent_launch = 1'), options='--b-is-constant'),
    # Weights that an earlier grid may write: no part of them comes before the cluster has met, nor before that grid has ended.
    'weights_first_2x1': hopper('.m = 64, .n = 32, .cluster = {2, 1}, .swap_ab = 1, .weights_first = 1', '.multiply_groups = 1, .dependent_launch = 1'),
    # Launches that overlap the grid before; of the convolution, sums begin at C.
    'overlapping': hopper('.cluster = {1, 1}', '.dependent_launch = 1'),
    'overlapping_2x1': hopper('.cluster = {2, 1}', '.dependent_launch = 1'),
    'tensor_overlapping': blackwell(', .dependent_launch = 1'),
    'conv2d_first': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90',
                           fields_of('.m = 64, .n = 64', '.multiply_groups = 1, .initial_c = 1, .dependent_launch = 1'), 'conv2d',
                           'Conv2dRecipe', options='--beta 1 --epilogue bias'),
    'rms_norm_overlapping': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90', '.dependent_launch = true', 'rms_norm'),
    'dynamic': hopper('.m = 64, .n = 64', '.multiply_groups = 1, .scheduling = Scheduling::Dynamic'),
    'source': hopper('.m = 64, .n = 128', '.multiply_groups = 1, .c_stages = 2'),
    'fenced_copies': Config('sm_90a', 'tests/planted/fenced_page.h', 'planted_pages::FencedCopies',
                            fields_of('.m = 64, .n = 64', '.multiply_groups = 1')),
    'shifted_copies': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90Plain',
                             fields_of('.m = 64, .n = 64', '.multiply_groups = 1'), options='--unaligned'),
    # Eight stages of 128 by 64; a pair: nine.
    'tensor': blackwell(),
    'tensor_2x1': blackwell(tiling=', .cluster = {2, 1}'),
    'tensor_mn_major_2x1': blackwell(tiling=', .a_major = Major::MN, .b_major = Major::MN, .cluster = {2, 1}'),
    'tensor_pair': blackwell(tiling=', .cluster = {2, 1}, .group = 2'),
    'tensor_dynamic': blackwell(', .scheduling = Scheduling::Dynamic'),
    'tensor_pair_dynamic': blackwell(', .scheduling = Scheduling::Dynamic', tiling=', .cluster = {2, 1}, .group = 2'),
    'tensor_in_parts': blackwell(', .split = Split::Parts'),
    # Parts that are asked for: who comes last finishes.
    'tensor_parts_asked': blackwell(', .split = Split::Parts, .scheduling = Scheduling::Dynamic'),
    'tensor_1x1x2': blackwell(', .split = Split::Cluster', tiling=', .cluster = {1, 1, 2}'),
    'tensor_source': blackwell(', .c_stages = 2'),
    # Nine stages; rows are D's columns. The same with a gate.
    'tensor_swap_ab': Config('sm_100a', 'tilewright/arch/sm100.h', 'Sm100',
                             fields_of('.n = 32, .swap_ab = 1', '.multiply_groups = 1'), options='--epilogue bias'),
    'tensor_swap_ab_gated': Config('sm_100a', 'tilewright/arch/sm100.h', 'Sm100',
                                   fields_of('.n = 32, .swap_ab = 1', '.multiply_groups = 1'),
                                   options='--epilogue gate'),
    # Five stages of 128 by 128; of 128 columns, two sums share 64.
    'tensor_overlapped': Config('sm_100a', 'tilewright/arch/sm100.h', 'Sm100Overlapped',
                                fields_of('.n = 128', '.multiply_groups = 1')),
    # Convolutions, the loader's half of A for itself or for its cluster.
    'conv2d': conv2d('.m = 64, .n = 64'),
    # Gradients, of the image and of the filter.
    'dgrad': conv2d('.m = 64, .n = 64, .b_major = Major::MN'),
    'wgrad': conv2d('.m = 64, .n = 64, .a_major = Major::MN, .b_major = Major::MN, '
                    '.cluster = {2, 1}'),
    'conv2d_1x2': conv2d('.m = 64, .n = 64, .cluster = {1, 2}'),
    # Convolutions whose operands threads copy: six stages, and of sm_90a 13, of sm_100a 8.
    'conv2d_copies': conv2d_copies(80, '.m = 64, .n = 64'),
    'dgrad_copies': conv2d_copies(80, '.m = 64, .n = 64, .b_major = Major::MN'),
    'wgrad_copies': conv2d_copies(80, '.m = 64, .n = 64, .a_major = Major::MN, '
                                      '.b_major = Major::MN'),
    'conv2d_copies_90': conv2d_copies(90, '.m = 64, .n = 64'),
    'conv2d_copies_100': conv2d_copies(100, '.n = 64'),
    'conv2d_pieces': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90Cached',
                            fields_of('.m = 64, .n = 64', '.multiply_groups = 1'), 'conv2d', 'Conv2dByPieces'),
    'conv2d_blocks': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90',
                            fields_of('.m = 64, .n = 64', '.multiply_groups = 1'), 'conv2d', 'Conv2dSharedGroups'),
    'conv2d_channels': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90',
                              fields_of('.m = 64, .n = 64', '.multiply_groups = 1'), 'conv2d', 'Conv2dByChannels'),
    'conv2d_line_channels': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90',
                                   fields_of('.m = 64, .n = 64', '.multiply_groups = 1'), 'conv2d', 'Conv2dByLineChannels'),
    'conv2d_lines': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90',
                           fields_of('.m = 64, .n = 64', '.multiply_groups = 1'), 'conv2d', 'Conv2dByLines'),
    # Convolutions of single channels, which stream.
    'rows': Config('sm_90a', 'tilewright/arch/sm90.h', 'Rows<Sm90>',
                   fields_of('.m = 32, .n = 8, .swap_ab = 1', '.multiply_groups = 1'), options='--unaligned'),
    'depthwise': Config('sm_80', 'tilewright/arch/sm80.h', 'Sm80', '', 'conv2d', 'DepthwiseRecipe'),
    # FP8 with scales in every stage.
    'blockwise': blockwise('sm_90a', 'Sm90', '.m = 64, .n = 64'),
    'blockwise_halves': blockwise('sm_90a', 'Sm90', '.m = 64, .n = 128'),
    'swap_ab_blockwise': blockwise('sm_90a', 'Sm90', '.m = 64, .n = 24', ', .swap_ab = 1'),
    'blockwise_copies': blockwise('sm_80', 'Sm80', '.m = 64, .n = 64'),
    'blockwise_tensor': blockwise('sm_100a', 'Sm100', '.n = 64'),
    # A pair: five stages of operands, eight of scales.
    'blockwise_pair': Config('sm_100a', 'tilewright/arch/sm100.h', 'Sm100Promoting',
                             fields_of(f'{FP8}, .cluster = {{2, 1}}, .group = 2',
                                       '.multiply_groups = 1, .promote_every = 1, .scheduling = Scheduling::Dynamic'), 'blockwise',
                             'ScaledApart<128>'),
    # MXFP8, the scales in tensor memory: six stages.
    'scaled': scaled(),
    'scaled_pair': scaled(', .cluster = {2, 1}, .group = 2'),
    # The same of float32 scales that are powers of two.
    'exponents': Config('sm_100a', 'tilewright/arch/sm100_scaled.h', 'Sm100Scaled',
                        fields_of(f'.n = 128, {FP8}', '.multiply_groups = 1'), 'blockwise', 'ScaledByExponents<128>'),
    # Weights of four bits: 17 stages of 64 features by 128 of k, and tiles of 16 rows of A.
    'four_bit': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90',
                       fields_of('.m = 64, .n = 16, .spans = 2, .swap_ab = 1, .weights_first = 1',
                                 '.multiply_groups = 1, .dependent_launch = 1'), 'four_bit',
                       'FourBitBy<WeightFormat::Mxfp4, 32>'),
    'four_bit_groups': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90',
                              fields_of('.m = 64, .n = 16, .spans = 2, .swap_ab = 1', '.multiply_groups = 1, .dependent_launch = 1'),
                              'four_bit', 'GroupedBy<FourBitBy<WeightFormat::Mxfp4, 32>>'),
    # Rows of activations are gathered.
    'four_bit_gather': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90',
                              fields_of('.m = 64, .n = 16, .spans = 2, .swap_ab = 1', '.multiply_groups = 1, .dependent_launch = 1'),
                              'four_bit', 'GroupedBy<GatheredBy<FourBitBy<WeightFormat::Mxfp4, 32>>>'),
    # The same by activations of e4m3.
    'four_bit_e4m3': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90',
                            fields_of(f'.m = 64, .n = 16, {FP8}, .swap_ab = 1, .weights_first = 1', '.multiply_groups = 1, .dependent_launch = 1'),
                            'four_bit', 'FourBitBy<WeightFormat::Mxfp4, 32>'),
    # Threads unpack the weights.
    'four_bit_copies': Config('sm_80', 'tilewright/arch/sm80.h', 'Sm80',
                              fields_of('.m = 64, .n = 64, .spans = 2', '.multiply_groups = 1'), 'four_bit',
                              'UnpackedBy<WeightFormat::Mxfp4, 32>'),
    # Those that have a scale for each 128 of k.
    'four_bit_blocks': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90',
                              fields_of(f'.m = 64, .n = 16, {FP8}, .swap_ab = 1', '.multiply_groups = 1, .promote_every = 1, .dependent_launch = 1'),
                              'four_bit', 'ScaledFourBitBy<WeightFormat::Mxfp4, 32>'),
    # Four warpgroups that share k.
    'along_k': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90',
                      fields_of('.m = 64, .n = 16, .spans = 2, .swap_ab = 1, .weights_first = 1',
                                '.consumers = Consumers::AlongK, .multiply_groups = 4, .dependent_launch = 1'), 'four_bit',
                      'FourBitBy<WeightFormat::Mxfp4, 32>'),
    # Groups of rows.
    'grouped': grouped('sm_90a', 'Sm90', '.m = 64, .n = 64'),
    'grouped_copies': grouped('sm_80', 'Sm80', '.m = 64, .n = 64'),
    'grouped_tensor': grouped('sm_100a', 'Sm100', '.n = 64'),
    'grouped_asked': grouped('sm_100a', 'Sm100', '.n = 64', ', .scheduling = Scheduling::Dynamic'),
    'grouped_fp8': grouped('sm_90a', 'Sm90', f'.m = 64, .n = 64, {FP8}', ', .promote_every = 1',
                           'ScaledBy<128>'),
    # Their rows are gathered of 100.
    'gather': grouped('sm_90a', 'Sm90', '.m = 64, .n = 64', recipe='GatheredRecipe<MatmulRecipe>'),
    'gather_copies': grouped('sm_80', 'Sm80', '.m = 64, .n = 64', recipe='GatheredRecipe<MatmulRecipe>'),
    'gather_fp8': grouped('sm_90a', 'Sm90', f'.m = 64, .n = 64, {FP8}', ', .promote_every = 1',
                          'GatheredRecipe<ScaledBy<128>>'),
    # Scales of one row, or of 128.
    'quantise_rows': quantise('sm_80', 'Sm80', 1),
    'copy': dataclasses.replace(quantise('sm_80', 'Sm80', 0), options='--unaligned-source'),
    'quantise_blocks': quantise('sm_90a', 'Sm90', 128),
    'rms_norm': Config('sm_80', 'tilewright/arch/sm80.h', 'Sm80', '', 'rms_norm'),
    'rotary': Config('sm_80', 'tilewright/arch/sm80.h', 'Sm80', '', 'rotary'),
    'route': Config('sm_80', 'tilewright/arch/sm80.h', 'Sm80', '', 'route'),
    'combine': Config('sm_80', 'tilewright/arch/sm80.h', 'Sm80', '', 'combine'),
    # The same by waves of 64 lanes.
    'rms_norm_waves': Config('gfx942', 'tilewright/arch/gfx942.h', 'Gfx942', '', 'rms_norm'),
    'to_mxfp8_waves': Config('gfx942', 'tilewright/arch/gfx942.h', 'Gfx942',
                             '.element_type = ElementType::E4m3, .scale_type = ScaleType::Ue8m0', 'block_quantise'),
    'from_blocks_waves': Config('gfx950', 'tilewright/arch/gfx950.h', 'Gfx950', '', 'block_dequantise'),
    # Two warpgroups, blocks of 64 keys, two tiles of queries.
    'attention': Config('sm_90a', 'tilewright/family/attention/sm90.h', 'Sm90Attention',
                        fields_of('.m = 128, .n = 64', '.keys = 64'), 'attention'),
    # Two waves, of which each has blocks of 128 columns.
    'requantised_waves': Config('gfx942', 'tilewright/family/requantised/gfx942.h', 'Gfx942Rows',
                                fields_of(f'.m = 64, .n = 128, {FP8}',
                                          '.d_type = ElementType::E4m3, .multiply_groups = 1, .promote_every = 1'),
                                'requantised', 'WaveScaledBy<128>'),
    # Rows in groups; blocks of columns are gate and up in turns.
    'gated_blocks': Config('sm_90a', 'tilewright/arch/sm90.h', 'Sm90',
                           fields_of(f'.m = 64, .n = 256, {FP8}',
                                     '.d_type = ElementType::E4m3, .consumers = Consumers::PingPong, .promote_every = 1'),
                           'requantised', 'GroupedBy<GatedBy<ScaledBy<128>>>'),
    # The same by waves, two groups of two.
    'attention_waves': Config('gfx942', 'tilewright/family/attention/gfx942.h', 'Gfx942Attention',
                              fields_of('.m = 128, .n = 64', '.keys = 64'), 'attention'),
    'attention_waves_950': Config('gfx950', 'tilewright/family/attention/gfx950.h', 'Gfx950Attention',
                                  fields_of('.m = 128, .n = 64', '.keys = 64'), 'attention'),
    'decode_waves': Config('gfx950', 'tilewright/family/attention/gfx950.h', 'Gfx950Attention',
                           fields_of('.m = 64, .n = 128', '.keys = 32, .part_blocks = 2'), 'attention'),
    # Blocks of 96 keys, whose values are transposed.
    'attention_fp8': Config('sm_90a', 'tilewright/family/attention/sm90.h', 'Sm90Attention',
                            fields_of('.m = 128, .n = 128', '.keys = 96, .from_e4m3 = 1, .e4m3_products = 1'), 'attention'),
    # The same of 64 columns, in lines of 64 bytes; sums of two blocks join in shared memory.
    'attention_fp8_joined': Config('sm_90a', 'tilewright/family/attention/sm90.h', 'Sm90Attention',
                                   fields_of('.m = 128, .n = 64', '.keys = 96, .from_e4m3 = 1, .e4m3_products = 1, .summed_blocks = 2'),
                                   'attention'),
    # Each query says which keys it sees.
    'ranged': Config('sm_90a', 'tilewright/family/attention/sm90.h', 'Sm90Attention',
                     fields_of('.m = 128, .n = 64', '.keys = 64, .ranges = 1'), 'attention'),
    'decode': Config('sm_90a', 'tilewright/family/attention/sm90.h', 'Sm90Attention',
                     fields_of('.m = 64, .n = 64', '.keys = 64, .part_blocks = 2'), 'attention'),
    # Queries are columns; three stages of keys and of values.
    'swapped': Config('sm_90a', 'tilewright/family/attention/sm90.h', 'Sm90Attention',
                      fields_of('.m = 8, .n = 256', '.keys = 64, .part_blocks = 2, .swapped = 1'), 'attention'),
    # CTAs of a cluster join parts of the keys.
    'clusters': Config('sm_90a', 'tilewright/family/attention/sm90.h', 'Sm90Attention',
                       fields_of('.m = 8, .n = 64', '.keys = 64, .part_blocks = 2, .swapped = 1, .residents = 2, .parts_in_cluster = 1'), 'attention'),
    # Keys and values are e4m3, which become bf16 in registers.
    'swapped_bytes': Config('sm_90a', 'tilewright/family/attention/sm90.h', 'Sm90Attention',
                            fields_of('.m = 8, .n = 128', '.e4m3_keys = 1, .part_blocks = 4, .swapped = 1'), 'attention'),
    # Values are two of the three slices of keys, whose ring holds less than two blocks.
    'latent': Config('sm_90a', 'tilewright/family/attention/sm90.h', 'Sm90Attention',
                     fields_of('.m = 8, .n = 128', '.keys = 64, .head = 192, .key_stages = 5, .part_blocks = 2, '
                                                   '.swapped = 1, .values_in_keys = 1, .key_slices = 3'), 'attention'),
    # Keys are e4m3, two slices of them, which are converted.
    'latent_bytes': Config('sm_90a', 'tilewright/family/attention/sm90.h', 'Sm90Attention',
                           fields_of('.m = 8, .n = 128', '.keys = 64, .head = 192, .e4m3_keys = 1, .key_stages = 3, .value_stages = 2, '
                                                         '.part_blocks = 2, .swapped = 1, .values_in_keys = 1, .key_slices = 2'), 'attention'),
    # The same for two groups of 32 queries.
    'latent_groups': Config('sm_90a', 'tilewright/family/attention/sm90.h', 'Sm90Attention',
                            fields_of('.m = 64, .n = 128', '.keys = 64, .head = 192, .key_stages = 5, .part_blocks = 2, '
                                                           '.swapped = 1, .values_in_keys = 1, .key_slices = 3'), 'attention'),
    # Two tiles of 128 queries, blocks of 32 keys.
    'tensor_attention': Config('sm_100a', 'tilewright/family/attention/sm100.h', 'Sm100Attention',
                               fields_of('.m = 256, .n = 64', '.keys = 32'), 'attention'),
}
# Lines of memory that lie otherwise: beyond 2^31 elements, at multiples of 4 or 8 bytes only, or with gaps.
for name, usual, options in (
        ('one_group', hopper('.m = 64, .n = 64', '.multiply_groups = 1'), ''),
        ('far', hopper('.m = 64, .n = 64', '.multiply_groups = 1'), '--spacing far'),
        ('far_copies', CONFIGS['copies'], '--spacing far'),
        ('far_rms_norm', CONFIGS['rms_norm'], '--spacing far'),
        ('copies_at_four', CONFIGS['copies'], '--spacing four'),
        ('copies_at_eight', CONFIGS['copies'], '--spacing eight'),
        ('lines_at_four', CONFIGS['lines'], '--spacing four'),
        ('batches', CONFIGS['copies'], '--batch 2 --spacing far'),
        ('gaps', CONFIGS['source'], '--spacing gaps'),
        ('capped', CONFIGS['attention'], '--softcap 2 --data normal')):
    CONFIGS[name] = dataclasses.replace(usual, options=options)


def convolution(n, c, k, groups, *numbers):
    """Groups stand side by side in what the epilogue reads, too."""
    h, w, sms = numbers[:6], numbers[6:12], numbers[12]
    return (f'--n {n} --c {c} --k {k} --groups {groups} --h {h[0]} --r {h[1]} --w {w[0]} --s {w[1]} '
            f'--stride 1,{h[2]},{w[2]} --dilation 1,{h[3]},{w[3]} --pad 0,0,{h[4]},{h[5]},{w[4]},{w[5]} --sms {sms}'
            + (' --beta 1 --epilogue bias' if groups > 1 else ''))


def attention(queries, keys, heads, key_heads, causal, sms, alone=False):
    """Behind the sequence lies another without queries, or none. `causal` above 1 is also the window. `alone` above 1 is a
    number of sequences whose keys lie in pages of 16 tokens."""
    lengths = (f'--sequences {int(alone)} --queries {queries} --page-size 16 --key-lengths {",".join([str(keys)] * alone)}' if alone > 1
               else f'--sequences 1 --queries {queries} --keys {keys}' if alone
               else f'--query-lengths {queries},0 --key-lengths {keys},64')
    return (f'{lengths} --heads {heads} --key-heads {key_heads} --sms {sms}'
            + (' --causal' if causal else '') + (f' --window {causal}' if causal > 1 else ''))


def product(m, n, k, sms):
    return f'--m {m} --n {n} --k {k} --sms {sms}'


# Options of ./tw run that the numbers of a problem stand for.
OPTIONS = {
    'matmul': lambda m, n, k, beta, sms, parts: f'{product(m, n, k, sms)} --beta {beta} --split-k {parts}',
    'conv2d': convolution,
    'blockwise': product,
    'requantised': lambda m, n, k, sms, sizes='none': f'{product(m, n, k, sms)} --sizes {sizes}',
    'block_scaled': product,
    'four_bit': lambda m, n, k, sizes='none', a_rows=0: f'{product(m, n, k, 1)} --exponent 3 --sizes {sizes}' + (f' --a-rows {a_rows}' if a_rows else ''),
    # 70, 0, 130 and 9 rows, and 20 rows of nobody behind them; or each with room for so many.
    'grouped': lambda capacity, n, k, sms: f'--sizes 70,0,130,9 --spare {0 if capacity else 20} --capacity {capacity} '
                                           f'--n {n} --k {k} --sms {sms}',
    'quantise': lambda m, k, sms: f'--m {m} --k {k} --sms {sms} --data position',
    'block_quantise': lambda m, k, sms: f'--m {m} --k {k} --sms {sms} --data position',
    'block_dequantise': lambda m, k, sms: f'--m {m} --k {k} --sms {sms} --data position',
    'rms_norm': lambda m, k, sms: f'--m {m} --k {k} --sms {sms} --residual --data position',
    'rotary': lambda tokens, heads, key_heads, sms: f'--tokens {tokens} --heads {heads} --key-heads {key_heads} --sms {sms} '
                                                    '--positions --slots --data position',
    'route': lambda tokens, experts, k, sms: f'--tokens {tokens} --experts {experts} --k {k} --sms {sms}',
    'combine': lambda tokens, columns, k, sms: f'--tokens {tokens} --columns {columns} --k {k} --rows 9 --sms {sms} --weights --addend',
    'attention': attention,
}


@dataclasses.dataclass
class Site:
    """An instance and a problem in which the bug shows, and what must be said of it there."""
    config: str
    # Numbers in the order of OPTIONS. An axis is extent, filter, stride, dilation, lower and upper padding.
    problem: tuple
    finding: str  # the name that the virtual GPU must give it
    role: str = ''
    stage: object = -1  # a number, -1 for none, or 'any'
    landing: str = 'lazy'
    seed: int = 1
    text: str = ''  # that the finding must contain
    # Checkers that rightly report what follows from the bug, too: CONSEQUENCES says why.
    also: tuple = ()
    stops: bool = False  # what the checker refuses cannot be executed: the run stops there

    def words(self):
        """The driver's."""
        config = CONFIGS[self.config]
        words = [config.family, '--instance', 'planted', *OPTIONS[config.family](*self.problem).split(),
                 *config.options.split(), '--landing', self.landing, '--seed', self.seed, '--schedule-seed', self.seed]
        return [str(word) for word in words]


@dataclasses.dataclass
class Bug:
    """One line changed."""
    name: str
    why: str  # it is a bug
    file: str  # under include/tilewright
    line: str  # the whole line, without its indent
    to: str
    sites: list
    of: int = 1  # how many such lines the file has
    occurrence: int = 0  # which of them is meant


# On Hopper: one tile of one CTA, with two stages more than the ring has, so that stages are used
# again; the same in a cluster of two; and no stage used twice.
ONE_TILE = (128, 256, 384, 0, 1, 1)
TWO_CTAS = (256, 256, 384, 0, 2, 1)
SHORT = (128, 256, 192, 0, 1, 1)
# The same with few rows.
FEW_ROWS = (16, 224, 512, 0, 1, 1)
# The like on Ampere and on Blackwell.
COPIED = (64, 64, 512, 0, 1, 1)
COPIED_SHORT = (64, 64, 192, 0, 1, 1)
TENSOR = (128, 64, 640, 0, 1, 1)
TENSOR_SHORT = (128, 64, 192, 0, 1, 1)
# Four tiles for one CTA: each of two accumulators is used again.
TENSOR_TILES = (256, 128, 64, 0, 1, 1)
OVERLAPPED = (256, 256, 64, 0, 1, 1)
PAIR = (256, 64, 704, 0, 2, 1)
# Two rows and three columns of tiles.
COPIED_TILES = (128, 192, 64, 0, 2, 1)
TENSOR_GRID = (256, 192, 64, 0, 2, 1)
# Eight tiles that one CTA asks for.
ASKED = (512, 64, 64, 0, 1, 1)
TENSOR_ASKED = (1024, 64, 64, 0, 1, 1)
PAIR_ASKED = (2048, 64, 64, 0, 2, 1)
