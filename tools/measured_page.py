#!/usr/bin/env python3
"""One page in Markdown of what bench/measure_all.sh measured. usage: measured_page.py FOLDER

FOLDER has a JSON file for each set, of ./tw bench --json or of bench/beside_torch.py --json.
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'bench'))
sys.dont_write_bytecode = True
import columns  # noqa: E402

SETS = (('bf16', 'bf16, held out', 'cuBLASLt'), ('e4m3', 'e4m3, held out', 'cuBLASLt'),
        ('blockwise', 'FP8 with scales of blocks, held out', 'cuBLASLt'), ('grouped', 'groups of bf16, held out', 'torch'),
        ('attention', 'attention, held out', 'flash, cuDNN, efficient'), ('conv2d', 'conv2d, held out', 'cuDNN'),
        ('suite-bf16', 'bf16 suite', 'cuBLASLt'), ('suite-fp8', 'fp8 suite', 'cuBLASLt'), ('suite-conv2d', 'conv2d suite', 'cuDNN'))


def cell(column):
    if not column:
        return '- | - |'
    return f"{column['geometric_mean']:.3f} | {column['worst']['value']:.2f} ({column['worst']['shape']}) |"


def page(reports):
    """Of reports by their names in SETS, in that order."""
    heads = {(report['driver'].split(',')[0], report['commit']) for report in reports.values()}
    text = '# Every row of the table, one run\n\n'
    for driver, commit in sorted(heads):
        text += f'Driver {driver}, commit {commit}.\n'
    text += ('\nRatios are the peer\'s time over ours: launch behind launch, and with a foreign kernel between launches, less that '
             'kernel\'s own time.\n\n| set | beside | shapes | mean | worst | sum | between: mean | worst | sum |\n'
             '|---|---|---|---|---|---|---|---|---|\n')
    for name, title, peer in SETS:
        if name not in reports or not reports[name]['classes']:
            continue
        all_ = reports[name]['classes'][0]
        alone, less = all_['alone'], all_['between_less_foreign']
        total = lambda column: f" {column['sum_of_times']:.3f} |" if column else ' - |'
        text += f"| {title} | {peer} | {alone['shapes']} | {cell(alone)}{total(alone)} {cell(less)}{total(less)}\n"
    for name, title, _ in SETS:
        if name not in reports:
            continue
        report, summary = reports[name], reports[name]['summary']
        text += f"\n## {title}\n\n{report['date']}, driver {report['driver']}, {report['rounds']} rounds of slices of " \
                f"{report['slice_ms']:g} ms:\n\n    {report['command']}\n\n{columns.text_of(report['classes'])}\n"
        if summary.get('foreign_us'):
            text += f"The foreign kernel takes {summary['foreign_us']:.2f} us.\n"
        if tried := summary.get('peer_tried'):
            text += f'The peer is the fastest of {min(tried)} to {max(tried)} that were tried.\n'
        if left_out := summary.get('left_out'):
            text += f"No time was left for {len(left_out)} shapes: {'; '.join(left_out)}.\n"
        for failed in summary.get('failed', []):
            text += f"Not computed, or wrong: {failed['shape'] if isinstance(failed, dict) else failed}.\n"
    return text


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    reports = {name: json.loads(path.read_text()) for name, _, _ in SETS if (path := folder / f'{name}.json').exists()}
    if not reports:
        sys.exit(f'{folder} has no reports.')
    print(page(reports), end='')


if __name__ == '__main__':
    main()
