"""Makes the wheel: what pip asks of a backend (PEP 517, PEP 660), by the standard library alone.

Where TILEWRIGHT_LIBRARY is set, that libtilewright.so goes into the wheel, and so does TILEWRIGHT_PTX_LIBRARY.
"""
import base64
import hashlib
import os
import pathlib
import re
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def _field(name):
    text = (HERE / 'pyproject.toml').read_text()
    return re.search(rf'^{name} = "(.*)"$', text, re.MULTILINE).group(1)


NAME, VERSION = 'tilewright', _field('version')
INFO = f'{NAME}-{VERSION}.dist-info'
METADATA = (f'Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n'
            f'Summary: {_field("description")}\nRequires-Python: {_field("requires-python")}\n'
            'License: Apache-2.0\n')


def _write(folder, files, tag='py3-none-any'):
    wheel = f'Wheel-Version: 1.0\nGenerator: tilewright\nRoot-Is-Purelib: true\nTag: {tag}\n'
    files = {**files, f'{INFO}/METADATA': METADATA.encode(), f'{INFO}/WHEEL': wheel.encode()}
    record = ''
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
        record += f'{name},sha256={digest},{len(content)}\n'
    files[f'{INFO}/RECORD'] = (record + f'{INFO}/RECORD,,\n').encode()
    path = pathlib.Path(folder) / f'{NAME}-{VERSION}-{tag}.whl'
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return path.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    sources = sorted((HERE / NAME).rglob('*.py'))
    files = {path.relative_to(HERE).as_posix(): path.read_bytes() for path in sources}
    library = os.environ.get('TILEWRIGHT_LIBRARY')
    if not library:
        return _write(wheel_directory, files)
    files[f'{NAME}/libtilewright.so'] = pathlib.Path(library).read_bytes()
    if ptx := os.environ.get('TILEWRIGHT_PTX_LIBRARY'):
        files[f'{NAME}/libtilewright_ptx.so'] = pathlib.Path(ptx).read_bytes()
    platform = re.sub(r'[^a-z0-9]', '_', sysconfig.get_platform())
    return _write(wheel_directory, files, f'py3-none-{platform}')


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write(wheel_directory, {f'{NAME}.pth': f'{HERE}\n'.encode()})


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError('The source distribution is the repository.')
