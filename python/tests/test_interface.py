"""The ctypes structs are those of include/tilewright.h; the library is found; errors are raised."""
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import support
import tilewright
from tilewright import _library

HEADER = support.ROOT / 'include' / 'tilewright.h'


def made_headers():
    """The folder of the headers that the library's build made."""
    builds = [pathlib.Path(name).parents[2] for name in [os.environ.get('TILEWRIGHT_LIBRARY')] if name]
    return next(build / 'include' for build in [*builds, *sorted((support.ROOT / 'build').glob('*'))]
                if (build / 'include/tilewright/families.h').exists())


def header(path=HEADER):
    """The header's text and that of the headers that it includes, without comments."""
    text = path.read_text()
    others = re.findall(r'#include "(.+)"', text)
    text = ''.join(header(HEADER.parent / name if (HEADER.parent / name).exists() else made_headers() / name)
                   for name in others) + text
    return re.sub(r'/\*.*?\*/', '', text, flags=re.DOTALL)


def struct_fields(name):
    body = re.search(r'typedef struct ' + name + r' \{(.*?)\} ' + name + ';', header(),
                     re.DOTALL).group(1)
    fields = []
    for declaration in body.split(';'):
        names = re.sub(r'^\s*(const\s+)?\w+\s*\*?', '', declaration)
        fields += [field.strip() for field in names.split(',') if field.strip()]
    return fields


class Header(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        tilewright.library()  # which describes the structs

    def test_names_of_fields(self):
        for name, struct in _library.STRUCTS.items():
            self.assertEqual(struct_fields(name), [field for field, _ in struct._fields_], name)

    def test_every_struct_is_here(self):
        self.assertEqual(set(re.findall(r'typedef struct (\w+) \{', header())),
                         set(_library.STRUCTS))

    def test_every_function_is_here(self):
        self.assertEqual(set(re.findall(r'^TW_API [^;(]*?(\w+)\(', header(), re.MULTILINE)),
                         set(_library.FUNCTIONS))

    def test_enumerators(self):
        values = {name: int(value) for name, value in re.findall(r'TW_(\w+) = (\d+)', header())}
        enums = json.loads(tilewright.library().tw_describe(None))['enums']
        self.assertEqual({name.upper(): value for enum in enums.values() for name, value in enum.items()},
                         values)
        types = list(enums['tw_type'])
        self.assertEqual(types[:len(_library.TYPES)], list(_library.TYPES))
        # Elements below a byte, of which arrays have the bytes.
        self.assertEqual(types[len(_library.TYPES):], list(_library.PACKED_BITS))
        self.assertEqual({name: enums['tw_type'][name] for name in _library.PACKED_BITS}, _library.PACKED_CODES)
        self.assertEqual(list(enums['tw_activation']), list(_library.ACTIVATIONS))
        for enum in enums.values():
            self.assertEqual(list(enum.values()), list(range(len(enum))))
        statuses = {name.upper(): value for name, value in enums['tw_status'].items()}
        self.assertEqual(statuses, {name: getattr(_library, name) for name in statuses})
        self.assertEqual(set(_library.ERRORS), set(statuses.values()) - {_library.OK})

    def test_version(self):
        version = '.'.join(re.findall(r'#define TW_VERSION_\w+ (\d+)', header()))
        self.assertEqual(tilewright.__version__, version)
        self.assertIn(f'version = "{version}"',
                      (support.ROOT / 'python' / 'pyproject.toml').read_text())
        self.assertEqual(tilewright.library().tw_version().decode(), version)

    def test_sizes_and_offsets(self):
        compiler = os.environ.get('CC') or next(
            filter(None, map(shutil.which, ('cc', 'gcc', 'clang', 'g++', 'c++'))), None)
        if compiler is None:
            self.skipTest('there is no C compiler')
        lines = []
        for name, struct in _library.STRUCTS.items():
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            lines += [f'printf("{name}.{field} %zu\\n", offsetof({name}, {field}));'
                      for field, _ in struct._fields_]
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder, 'offsets.c'), pathlib.Path(folder, 'offsets')
            source.write_text('#include <stdio.h>\n#include "tilewright.h"\nint main(void) {\n'
                              + '\n'.join(lines) + '\nreturn 0;\n}\n')
            subprocess.run([compiler, f'-I{HEADER.parent}', f'-I{made_headers()}', source, '-o', program], check=True)
            printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        numbers = dict(line.split() for line in printed.splitlines())
        for name, struct in _library.STRUCTS.items():
            self.assertEqual(int(numbers.pop(name)), ctypes.sizeof(struct), name)
            for field, _ in struct._fields_:
                self.assertEqual(int(numbers.pop(f'{name}.{field}')),
                                 getattr(struct, field).offset, f'{name}.{field}')
        self.assertEqual(numbers, {})


class Library(unittest.TestCase):
    def fresh(self, **environment):
        """What another process says to the first use of the library."""
        program = ('import tilewright\n'
                   'try:\n  print(tilewright.library().path)\n'
                   'except tilewright.LibraryNotFound as error:\n  print("refused:", error)\n')
        variables = {**os.environ, 'PYTHONPATH': str(support.ROOT / 'python'), **environment}
        return subprocess.run([sys.executable, '-c', program], env=variables, text=True,
                              capture_output=True, check=True).stdout.strip()

    def test_environment_comes_first(self):
        path = tilewright.library().path
        self.assertEqual(self.fresh(TILEWRIGHT_LIBRARY=path), path)

    def test_not_there(self):
        self.assertRegex(self.fresh(TILEWRIGHT_LIBRARY='/nowhere/libtilewright.so'),
                         r'^refused: /nowhere/libtilewright.so cannot be loaded: .*\.$')

    def test_no_candidates(self):
        with mock.patch.object(_library, 'candidates', return_value=[]):
            with self.assertRaisesRegex(tilewright.LibraryNotFound, 'TILEWRIGHT_LIBRARY is not'):
                _library._load()

    def test_another_library(self):
        libc = ctypes.util.find_library('c')
        if libc is None:
            self.skipTest('there is no libc to load')
        with mock.patch.object(_library, 'candidates', return_value=[libc]):
            with self.assertRaisesRegex(tilewright.LibraryNotFound, 'another version'):
                _library._load()


class Descriptions(unittest.TestCase):
    def test_every_family(self):
        described = json.loads(tilewright.library().tw_describe(None))
        problems = {name for name in described['structs'] if name.endswith('_problem')}
        self.assertEqual({f'tw_{family}_problem' for family in described['families']}, problems)
        for family in described['families']:
            with self.subTest(family):
                self.fields_lie_where_they_are(_library.describe(family))

    def fields_lie_where_they_are(self, described):
        """The offset of each path is ctypes'; first values are those that tw_init writes."""
        problem = _library.new_problem(described['family'])
        self.assertEqual(described['bytes'], ctypes.sizeof(problem))
        for field in described['fields']:
            self.assertEqual(self.offset(type(problem), field['path']), field['offset'], field)
        for number in described.get('numbers', []):
            value = problem
            for name in number['field']['path'].split('.'):
                value = getattr(value, name)
            self.assertEqual(value, number['initial'], number)
            self.assertLess(number['low'], number['limit'])

    def offset(self, struct, path):
        offset = 0
        for name in path.split('.'):
            field = getattr(struct, name)
            offset, struct = offset + field.offset, dict(struct._fields_)[name]
        return offset

    def test_an_unknown_family(self):
        with self.assertRaisesRegex(tilewright.Invalid, "There is no family 'attend'; there are "):
            _library.describe('attend')


class Families(unittest.TestCase):
    def test_are_found(self):
        """A family's file is all that the package knows of it: another one is taken up, and one that is gone is not missed."""
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, 'tilewright')
            shutil.copytree(support.ROOT / 'python/tilewright', package, ignore=shutil.ignore_patterns('__pycache__', '*.so*'))
            (package / 'families/rotary.py').unlink()
            (package / 'families/another.py').write_text("__all__ = ['another']\n\n\ndef another():\n    return 'found'\n")
            program = ('import tilewright\n'
                       'assert "rotary" not in tilewright.__all__ and not hasattr(tilewright, "rotary")\n'
                       'print(callable(tilewright.matmul), tilewright.another(), "another" in dir(tilewright))\n')
            printed = subprocess.run([sys.executable, '-c', program], env={**os.environ, 'PYTHONPATH': folder}, text=True,
                                     capture_output=True, check=True).stdout
        self.assertEqual(printed, 'True found True\n')


class Errors(unittest.TestCase):
    def test_classes(self):
        self.assertTrue(issubclass(tilewright.Invalid, ValueError))
        self.assertTrue(issubclass(tilewright.Unsupported, NotImplementedError))
        for status, error in _library.ERRORS.items():
            self.assertTrue(issubclass(error, tilewright.Error))
            self.assertEqual(error.status, status)

    def test_sentence_is_the_librarys(self):
        problem = _library.new_problem()
        problem.size = 1
        with self.assertRaises(tilewright.Invalid) as caught:
            _library.check(tilewright.library().tw_simulate(problem, None))
        self.assertIn('size of the problem is 1', str(caught.exception))
        self.assertEqual(caught.exception.status, 1)


if __name__ == '__main__':
    unittest.main(verbosity=2)
