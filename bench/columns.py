"""Ratios of measured shapes in two columns, by class: what src/bench/harness/classes.cpp says of C++'s, for programs in Python.

A row is a dictionary: shape, m or kind, peer_us, own_us, peer_between_us, own_between_us (0: not measured), foreign_us.
"""
import math
import statistics

LONG_US = 12  # where launches take so long, what surrounds a kernel hardly counts
ROWS = (('m <= 16', 1, 16), ('m 17 to 64', 17, 64), ('m 65 to 256', 65, 256), ('m 257 to 1024', 257, 1024),
        ('m > 1024', 1025, 1 << 62))
COLUMNS = ('alone', 'between', 'between_less_foreign')


def times_of(row, column):
    """The peer's and ours; None where one was not measured."""
    prefix, less = ('', 0) if column == 'alone' else ('between_', row['foreign_us'] if column == COLUMNS[2] else 0)
    peer, own = row[f'peer_{prefix}us'], row[f'own_{prefix}us']
    return (peer - less, own - less) if peer > less and own > less else None


def column_of(rows, column):
    measured = [(*times, row['shape']) for row in rows if (times := times_of(row, column))]
    if not measured:
        return None
    ratios = [peer / own for peer, own, _ in measured]
    worst = min(range(len(ratios)), key=ratios.__getitem__)
    return {'shapes': len(ratios), 'geometric_mean': math.exp(statistics.fmean(map(math.log, ratios))),
            'median': statistics.median_low(ratios),
            'sum_of_times': sum(peer for peer, _, _ in measured) / sum(own for _, own, _ in measured),
            'worst': {'shape': measured[worst][2], 'value': ratios[worst]}}


def classes_of(rows):
    """All first; a class in which nothing was compared is left out."""
    classes = [('all', rows)]
    classes += [(name, [row for row in rows if low <= row.get('m', 0) <= high]) for name, low, high in ROWS]
    kinds = dict.fromkeys(row['kind'] for row in rows if 'kind' in row)
    classes += [(kind, [row for row in rows if row.get('kind') == kind]) for kind in kinds]
    classes += [(f'peer < {LONG_US} us', [row for row in rows if 0 < row['peer_us'] < LONG_US]),
                (f'peer >= {LONG_US} us', [row for row in rows if row['peer_us'] >= LONG_US])]
    made = [{'class': name, **{column: column_of(of, column) for column in COLUMNS}} for name, of in classes]
    return [one for one in made if one['alone']]


def text_of(classes):
    """The same table as C++'s."""
    if not classes:
        return ''
    columns = [column for column in COLUMNS if classes[0][column]]
    text = ('Launch behind launch; then a foreign kernel between launches; then the same, less that kernel\'s own time.\n\n'
            if len(columns) > 1 else '\n')
    text += '| class | shapes |' + ' mean | median | sum of times | worst |' * len(columns) + '\n'
    text += '|---|---|' + '---|---|---|---|' * len(columns) + '\n'
    for one in classes:
        text += f"| {one['class']} | {one['alone']['shapes']} |"
        for column in columns:
            of = one[column]
            text += (f" {of['geometric_mean']:.3f} | {of['median']:.3f} | {of['sum_of_times']:.3f} | "
                     f"{of['worst']['value']:.2f} ({of['worst']['shape']}) |" if of else ' | | | |')
        text += '\n'
    return text
