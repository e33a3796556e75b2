"""attention and attention_paged: softmax(q k^T) v, of keys that lie in sequences or in pages."""
from .._arrays import MUST_BE, Buffer, View, dense_strides, empty_like_kind, is_numpy, is_torch, view_of
from .._described import problem_by_description
from .._library import Invalid, check, integer, library, new_options
from .._problem import check_on_host, fill_vector, output_type
from .._values import flag, real
from .._with_torch import with_torch

__all__ = ['attention', 'attention_paged']

MUST_BE.update(dict.fromkeys(('query_ends', 'key_ends', 'key_lengths', 'page_table', 'range_begins', 'range_ends'), 'int32'),
               **dict.fromkeys(('sinks', 'q_scales', 'k_scales', 'v_scales'), 'float32'))
SCALES = ('q_scales', 'k_scales', 'v_scales')
RANGES = ('range_begins', 'range_ends')
SCALARS = ('causal', 'window', 'scale', 'softcap', 'sums_join_every', 'values_in_keys', 'keys')  # the last is there where keys are in pages
EXTENTS = '[sequences, tokens, heads, columns]'


def _goes_on(extents, strides, along):
    """Whether one sequence (or page) follows the other as its tokens (along 1) or heads (along 2) do."""
    return extents[0] <= 1 or extents[along] <= 1 or strides[0] == extents[along] * strides[along]


def _tokens_go_on(tensors):
    """Of (name, extents, strides): whether the tokens of all sequences are rows of the same matrices. Otherwise every
    sequence has heads of its own. Memory allows the one or the other in all tensors; nothing is copied."""
    apart = [tensor for tensor in tensors if not _goes_on(*tensor[1:], 1)]
    if apart and not all(_goes_on(extents, strides, 2) for _, extents, strides in tensors):
        name, extents, strides = apart[0]
        raise Invalid(f'{name} has shape {extents} and strides {strides}: either the tokens of one sequence (or page) must follow '
                      'those of the one before in all tensors, or the heads must. Make a contiguous copy.')
    return not apart


def _matrices(extents, strides, by_tokens):
    """Extents and strides of (head, token, column)."""
    if len(extents) == 3:
        tokens, heads, columns = extents
        return (heads, tokens, columns), (strides[1], strides[0], strides[2])
    sequences, tokens, heads, columns = extents
    whole, row, head, column = strides
    if by_tokens:
        return (heads, sequences * tokens, columns), (head, whole if tokens <= 1 else row, column)
    return (sequences * heads, tokens, columns), (whole if heads <= 1 else head, row, column)


class Layout:
    """What a call's tensors say, each as (extents, strides): the output's shape, and how heads lie in memory. `out` may be
    None. Packed sequences have ends; pages are keys and values in pages. v is None where values are the first `values_in_keys`
    columns of k."""

    def __init__(self, q, k, v, out=None, packed=False, pages=False, values_in_keys=0):
        if values_in_keys and v is not None:
            raise Invalid(f'values_in_keys is {values_in_keys}: values are columns of k, but v is given.')
        if values_in_keys:
            v = ((*k[0][:-1], values_in_keys), k[1])
        tensors = [(name, *tensor) for name, tensor in (('q', q), ('k', k), ('v', v), ('out', out)) if tensor is not None]
        of_queries = 3 if packed else 4 if pages else len(q[0])
        for name, extents, _ in tensors:
            of_pages = pages and name in ('k', 'v')
            rank = 4 if of_pages else of_queries
            if len(extents) != rank or rank not in (3, 4):
                kind = ', of pages,' if of_pages or pages and not packed else ', of packed sequences,' if packed else ''
                raise Invalid(f'{name}{kind} has shape {extents}, but must be {EXTENTS[:1] + EXTENTS[12:] if rank == 3 else EXTENTS}.')
        self.queries, self.keys, values = q[0], k[0], v[0]
        if values_in_keys > self.keys[-1]:
            raise Invalid(f'values_in_keys is {values_in_keys}, but k has {self.keys[-1]} columns.')
        together = len(self.queries) == 4 and not pages
        if self.keys[:-1] != values[:-1] or self.keys[-1] != self.queries[-1] or together and self.keys[0] != self.queries[0]:
            raise Invalid(f'q has shape {self.queries}, k has shape {self.keys} and v has shape {values}: k and v must have as '
                          f'many tokens and heads, q and k as many columns{", and all as many sequences" * together}.')
        self.output = (*self.queries[:-1], values[-1])
        if out is not None and out[0] != self.output:
            raise Invalid(f'out has shape {out[0]}, but the output has shape {self.output}.')
        self.has_sequences = of_queries == 4
        self.by_tokens = self.keys_by_tokens = True
        if pages:
            self.by_tokens = packed or _tokens_go_on([tensors[0], *tensors[3:]])
            self.keys_by_tokens = _tokens_go_on(tensors[1:3])
            if not self.by_tokens:
                raise Invalid(f'q has shape {self.queries}, but heads of one sequence follow those of the one before; where keys '
                              'are in pages, tokens must. Make a contiguous copy.')
        elif self.has_sequences:
            self.by_tokens = self.keys_by_tokens = _tokens_go_on(tensors)

    def output_strides(self):
        if self.by_tokens:
            return dense_strides(self.output)
        _, tokens, heads, columns = self.output
        return heads * tokens * columns, columns, tokens * columns, 1

    def log_sums(self):
        """The extents of the matrix (head, token); those that it has for the caller, and their order there."""
        matrix = _matrices(self.queries, (0,) * len(self.queries), self.by_tokens)[0][:2]
        if not self.has_sequences:
            return matrix, matrix, (0, 1)
        sequences, tokens, heads, _ = self.queries
        return (matrix, *(((heads, sequences, tokens), (1, 0, 2)) if self.by_tokens
                          else ((sequences, heads, tokens), (0, 1, 2))))

    def numbers(self):
        """By their names in tw_describe."""
        sequences = self.queries[0] if self.has_sequences else 1
        alike, apart = (sequences, 1) if self.by_tokens else (1, sequences)
        return dict(sequences=alike, queries=self.queries[-3], keys=self.keys[-3], heads=self.queries[-2] * apart,
                    key_heads=self.keys[-2] * (apart if self.keys_by_tokens == self.by_tokens else 1),
                    head_size=self.queries[-1], value_size=self.output[-1])


def _memory(view):
    return None if view is None else (view.shape, view.strides)


def _argument(name, paged):
    """What a caller calls a tensor of tw_describe."""
    return 'out' if name == 'output' else 'key_lengths' if name == 'key_ends' and paged else name


def problem_of(views, scalars):
    """The tw_attention_problem of Views by their names in tw_describe; `scalars` are in the order of SCALARS."""
    table, ends = views.get('page_table'), views.get('query_ends')
    *scalars, values_in_keys, most_keys = scalars
    layout = Layout(*(_memory(views.get(name)) for name in ('q', 'k', 'v', 'output')), packed=ends is not None,
                    pages=table is not None, values_in_keys=values_in_keys)
    numbers = {**layout.numbers(), 'values_in_keys': values_in_keys > 0}
    if ends is not None:
        numbers['sequences'] = ends.shape[0] if ends.shape else 0
    if table is not None:
        pages, page_size = layout.keys[:2]
        if len(table.shape) != 2 or table.strides[1] != 1 and table.shape[1] > 1 or table.type != 's32':
            raise Invalid(f'page_table has shape {table.shape}, strides {table.strides} and type {table.type}, but must be int32 '
                          '[sequences, pages], rows contiguous.')
        pitch = table.strides[0] if table.shape[0] > 1 and table.shape[1] > 0 else table.shape[1]
        numbers.update(page_size=page_size, pages=pages, table_pitch=pitch, heads_in_pages=not layout.keys_by_tokens,
                       keys=table.shape[1] * page_size if most_keys is None else most_keys)
        if table.shape[0] != numbers['sequences']:
            raise Invalid(f'page_table has {table.shape[0]} rows, but q has {numbers["sequences"]} sequences.')
        if numbers['keys'] > table.shape[1] * page_size:
            raise Invalid(f'keys is {numbers["keys"]}, but page_table has room for {table.shape[1]} pages of {page_size}.')
        if pitch < table.shape[1]:
            raise Invalid(f'page_table has shape {table.shape} and strides {table.strides}, but its rows must lie one behind the '
                          'other.')
        # No kernel reads what lies between the rows of the caller's table.
        views = {**views, 'page_table': View(table.address, (table.shape[0] * pitch,), (1,), table.type, False, table.owner)}
    if not layout.by_tokens and views.get('sinks') is not None:
        raise Invalid('sinks are given, but heads of one sequence follow those of the one before; with sinks, tokens must. '
                      'Make contiguous copies.')
    if not layout.by_tokens and any(views.get(name) is not None for name in SCALES):
        raise Invalid('Scales are given, but heads of one sequence follow those of the one before; with scales, tokens must. '
                      'Make contiguous copies.')
    if not layout.by_tokens and any(views.get(name) is not None for name in RANGES):
        raise Invalid('Ranges are given, but heads of one sequence follow those of the one before; with ranges, tokens must. '
                      'Make contiguous copies.')
    # A range for each query, as q has them: [sequences, tokens], or [tokens] of packed sequences.
    rows = numbers['queries'] * (numbers['sequences'] if ends is None else 1)
    for name in RANGES:
        view = views.get(name)
        if view is not None and layout.has_sequences and view.shape == layout.queries[:2] and view.strides == dense_strides(view.shape):
            views = {**views, name: View(view.address, (rows,), (1,), view.type, view.writable, view.owner)}
    numbers['rows'] = rows
    for name, length, type in (('query_ends', 'sequences', 's32'), ('key_ends', 'sequences', 's32'), ('sinks', 'heads', 'fp32'),
                               *((name, 'key_heads', 'fp32') for name in SCALES), *((name, 'rows', 's32') for name in RANGES)):
        if views.get(name) is not None:
            fill_vector(_argument(name, table is not None), views[name], numbers[length], (type,))
    del numbers['rows']
    given = dict(views)
    for name in ('q', 'k', 'v', 'output'):
        if (view := views.get(name)) is None:
            continue
        by_tokens = layout.keys_by_tokens if name in 'kv' else layout.by_tokens
        given[name] = View(view.address, *_matrices(view.shape, view.strides, by_tokens), view.type, view.writable, view.owner)
    given.update(zip(SCALARS, scalars))
    return problem_by_description('attention', {**given, **numbers}, lambda name, view, type: view)


def _new(example, extents, strides, type):
    """Memory of the example's kind without gaps, in the order of the strides."""
    order = sorted(range(len(extents)), key=lambda i: -strides[i])
    made = empty_like_kind(example, tuple(extents[i] for i in order), type)
    if is_numpy(made):
        return made.transpose([order.index(i) for i in range(len(order))])
    return Buffer(made.data, extents, type, strides, made.offset)


def _on_host(arrays, scalars, log_sums, stream, options):
    """`arrays` by their names in tw_describe; where there is no output, one is made."""
    check_on_host(stream)
    paged, values_in_keys = 'page_table' in arrays, scalars[SCALARS.index('values_in_keys')]
    views = {name: view_of(_argument(name, paged), array) for name, array in arrays.items()
             if array is not None or name in ('q', 'k', 'page_table') or paged and name == 'key_ends'
             or name == 'v' and not values_in_keys}
    layout = Layout(*(_memory(views.get(name)) for name in 'qkv'), _memory(views.get('output')),
                    packed='query_ends' in views, pages=paged, values_in_keys=values_in_keys)
    out = arrays['output']
    if out is None:
        type = output_type(views['q'].type)
        out = _new(arrays['q'], layout.output, layout.output_strides(), type)
        views['output'] = view_of('out', out, type)
    sums = None
    if log_sums:
        matrix, seen, order = layout.log_sums()
        flat = empty_like_kind(arrays['q'], matrix, 'fp32')
        views['log_sums'] = view_of('log_sums', flat)
        if is_numpy(flat):
            sums = flat.reshape(seen).transpose(order)
        else:
            steps = dense_strides(seen)
            sums = Buffer(flat.data, [seen[i] for i in order], 'fp32', [steps[i] for i in order], flat.offset)
    check(library().tw_simulate(problem_of(views, scalars), new_options(*options)))
    return (out, sums) if log_sums else out


def _scalars(causal, window, scale, softcap, sums_join_every, values_in_keys, keys):
    return (flag('causal', causal), integer('window', window), 0.0 if scale is None else real('scale', scale),
            real('softcap', softcap), integer('sums_join_every', sums_join_every), integer('values_in_keys', values_in_keys, 0),
            None if keys is None else integer('keys', keys, 0))


def _attend(arrays, scalars, log_sums, stream, batch_invariant, instance, target):
    log_sums, batch_invariant = flag('log_sums', log_sums), flag('batch_invariant', batch_invariant)
    if any([is_torch(arrays[name]) for name in 'qkv']):
        from .._torch_made import operators_of
        plain, paged = operators_of('attention')  # torch.compile takes no bool for an index
        return _of_tensors(paged if 'page_table' in arrays else plain, arrays, scalars, log_sums, stream,
                           dict(batch_invariant=batch_invariant, instance=instance, target=target))
    return _on_host(arrays, scalars, log_sums, stream, (batch_invariant, True, instance, target))


def attention(q, k, v, out=None, *, causal=False, window=0, scale=None, softcap=0.0, sinks=None, query_ends=None,
              key_ends=None, q_scales=None, k_scales=None, v_scales=None, values_in_keys=0, range_begins=None, range_ends=None,
              sums_join_every=0, log_sums=False, stream=None, batch_invariant=False, instance=None, target=None):
    """softmax(scale * q k^T) v for every sequence and head, in bf16, fp16 or e4m3 (whose result is bf16; few queries may be bf16
    where k and v are e4m3): q is [sequences, tokens, heads, columns], k and v have as many heads, or a divisor of it; the result
    is as q, with v's columns. Tensors of [sequences, heads, tokens, columns], as torch's scaled_dot_product_attention takes
    them, are x.transpose(1, 2): nothing is copied.

    query_ends, key_ends: int32 on the device, the running sums of lengths; q, k and v are then [tokens, heads, columns], with
        sequences one behind the other. No host reads the lengths.
    causal: a query sees no key behind its own place; the last query sees all.
    window: with causal, it sees the last so many of these; 0: all.
    scale: of the scores; None: 1 / sqrt(columns). softcap: scores are softcap * tanh(score / softcap); 0: as they are.
    sinks: float32, for every head a score that has no value.
    q_scales, k_scales, v_scales: float32, of e4m3: for every head of k, what elements are multiplied by.
    values_in_keys: values are the first so many columns of k, which is read once for both, and v is None (multi-head latent
        attention has 576 columns, of which 512 are values); 0: they are v.
    range_begins, range_ends: int32 on the device, [sequences, tokens] as q, or [tokens] of packed sequences: the first key that a
        query sees, and the one behind the last, counted from its sequence's first, for all heads. They are masks of their own:
        causal is False beside them. Ranges may be empty; what a sequence has not is taken as the nearest that it has.
    sums_join_every: of e4m3 on sm_90a: values of up to so many keys are added up by the tensor core, which keeps 13 bits of fraction,
        before their sum joins the others in float32; 0: 128. More lets kernels with larger blocks of keys be taken, and widens
        the bound of the error (docs/attention.md).
    log_sums: returns (result, log_sums): float32 logarithms of the sums of exponentials, [sequences, heads, tokens], or
        [heads, tokens] of packed sequences.
    batch_invariant: keys of few queries are cut where they stand, so that a row's bits depend on neither the batch nor the
        device; False: into as many parts as keep the device busy.
    All else is as for matmul. No gradient goes through it.
    """
    arrays = dict(q=q, k=k, v=v, output=out, query_ends=query_ends, key_ends=key_ends, sinks=sinks, q_scales=q_scales,
                  k_scales=k_scales, v_scales=v_scales, range_begins=range_begins, range_ends=range_ends)
    return _attend(arrays, _scalars(causal, window, scale, softcap, sums_join_every, values_in_keys, None), log_sums, stream,
                   batch_invariant, instance, target)


def attention_paged(q, k, v, page_table, key_lengths, out=None, *, keys=None, query_ends=None, causal=False, window=0,
                    scale=None, softcap=0.0, sinks=None, q_scales=None, k_scales=None, v_scales=None, values_in_keys=0,
                    sums_join_every=0, log_sums=False, stream=None, batch_invariant=False, instance=None, target=None):
    """attention with keys and values in a cache of pages: q is [sequences, tokens, heads, columns], k and v are
    [pages, tokens of a page, heads, columns] (a cache by heads, [pages, heads, tokens of a page, columns], is x.transpose(1, 2)).

    page_table: int32 [sequences, pages of one], on the device. Entries behind a sequence's last page are not read.
    key_lengths: int32 [sequences], on the device: how many keys a sequence has. What lies behind them may be anything.
    query_ends: int32 [sequences], on the device: the running sums of the numbers of queries; q is then
        [tokens, heads, columns], with sequences one behind the other. bf16 of sm_90a, by the kernels for chunks of prompts.
    keys: the most that a sequence has; None: as many as the table has room for. It costs time where it is much too large.
    A row's bits do not depend on the order of pages. All else is as for attention.
    """
    arrays = dict(q=q, k=k, v=v, output=out, page_table=page_table, query_ends=query_ends, key_ends=key_lengths, sinks=sinks,
                  q_scales=q_scales, k_scales=k_scales, v_scales=v_scales)
    return _attend(arrays, _scalars(causal, window, scale, softcap, sums_join_every, values_in_keys, keys), log_sums, stream,
                   batch_invariant, instance, target)


def _tensor_layout(tensors):
    q, k, v, out = (None if tensor is None else (tuple(tensor.shape), tuple(tensor.stride()))
                    for tensor in (*(tensors[name] for name in 'qkv'), tensors.get('output')))
    return Layout(q, k, v, out, packed=tensors.get('query_ends') is not None, pages=tensors.get('page_table') is not None,
                  values_in_keys=tensors.get('values_in_keys', 0))


def _of_tensors(operators, arrays, scalars, log_sums, stream, options):
    if arrays['v'] is None and not scalars[SCALARS.index('values_in_keys')]:
        raise Invalid('v is None, but values_in_keys is 0.')
    given = {**dict(zip(SCALARS, scalars)), 'log_sums': log_sums, **options,
             **{name: tensor for name, tensor in arrays.items() if name != 'output'}}
    out, sums = operators(given, {'output': arrays['output'], 'log_sums': None}, stream)
    if not log_sums:
        return out
    _, seen, order = _tensor_layout({**arrays, **dict(zip(SCALARS, scalars)), 'output': out}).log_sums()
    return out, sums.view(seen).permute(order)


@with_torch('attention')
def _operators():
    """Without pages, and with them."""
    from .._library import describe
    from .._torch_operators import Operators
    from .._torch_schema import KERNEL, OPTIONS, number_schema, read_schema
    described = describe('attention')
    scalars = {**number_schema(described, {name: name for name in SCALARS[:-1]}), 'values_in_keys': 'SymInt'}

    def outputs(given):
        layout = _tensor_layout(given)
        return ((layout.output, layout.output_strides(), None),
                (layout.log_sums()[0], None, 'fp32') if given['log_sums'] else None)

    def problem(views, given):
        return problem_of(views, [given.get(name) for name in SCALARS])

    def made(name, tensors, more, called):
        return Operators(
            name, {**tensors, 'log_sums': 'bool', **scalars, **more,
                   'batch_invariant': OPTIONS['batch_invariant'], **KERNEL}, ('log_sums',),
            {'output': 'Tensor(a!)', 'log_sums': 'Tensor(b!)?'}, outputs, problem, called=called,
            mixed='{name} is a {type}, but another operand is a torch tensor.',
            no_gradient='{name} requires a gradient, and none goes through tilewright.{operator} yet; call with '
                        'torch.no_grad(), or give {name}.detach().')

    read = {**read_schema(described), 'v': 'Tensor?'}
    paged = {name: 'Tensor' if name in ('page_table', 'key_ends') else read[name]
             for name in ('q', 'k', 'v', 'page_table', 'key_ends', 'sinks', *SCALES, 'query_ends')}
    del read['page_table']
    return (made('attention', read, {}, {'output': 'out'}),
            made('attention_paged', paged, {'keys': 'SymInt?'}, {'output': 'out', 'key_ends': 'key_lengths'}))
