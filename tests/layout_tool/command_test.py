"""The layout command as a user meets it: answers, exit statuses, and no file after a refusal."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

PROGRAM = ""
SWIZZLED = "compose(swizzle(3,3,3), (64,64):(64,1))"


def run(*arguments, cwd=None):
    return subprocess.run([PROGRAM, "layout", *arguments], capture_output=True, text=True, cwd=cwd)


class Answers(unittest.TestCase):
    def expect(self, expression, lines, *options):
        done = run(expression, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.splitlines(), lines)

    def test_values(self):
        self.expect("composition((6,2):(8,2), (4,3):(3,1))", ["((2,2),3):((24,2),8)"])
        self.expect("coalesce((2,1,6):(1,6,2))", ["12:1"])
        self.expect("size((4,8))", ["32"])

    def test_table(self):
        self.expect("(2,2):(2,1)", ["(2,2):(2,1)", " index  coordinate    offset",
                                    "     0  (0,0)              0", "     1  (1,0)              2",
                                    "     2  (0,1)              1", "     3  (1,1)              3"],
                    "--table")

    def test_conflicts(self):
        self.expect(SWIZZLED, ["Sw<3,3,3> o (64,64):(64,1)",
                               "ldmatrix: no conflict, 1 wavefront for each of 64 phases of 8 "
                               "lanes x 16 bytes, 64 in all"], "--access", "ldmatrix")
        self.expect("(64,64):(64,1)", ["(64,64):(64,1)",
                                       "ldmatrix: 8-way conflict, 8 wavefronts for each of 64 "
                                       "phases of 8 lanes x 16 bytes, 512 in all"],
                    "--access", "ldmatrix")

    def test_json_comes_last(self):
        done = run(SWIZZLED, "--access", "ldmatrix", "--json")
        answer = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(answer["expression"], SWIZZLED)
        self.assertEqual(answer["layout"], "Sw<3,3,3> o (64,64):(64,1)")
        self.assertEqual((answer["size"], answer["cosize"]), (4096, 4096))
        self.assertEqual(answer["access"]["conflicts"], 0)
        answer = json.loads(run("size((4,8))", "--json").stdout.splitlines()[-1])
        self.assertEqual(answer, {"expression": "size((4,8))", "value": 32})

    def test_says_what_it_wrote(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("(4,8):(8,1)", "-o", "x.svg", cwd=folder)
            self.assertEqual(done.stdout.splitlines(), ["(4,8):(8,1)", "x.svg shows it"])

    def test_pictures_are_well_formed(self):
        requests = [[SWIZZLED, "--access", "ldmatrix"], ["100:3"], ["(4,4):(-1,4)"], ["1:0"],
                    ["(64,64):(64,1)", "--banks", "amd", "--access", "mfma16"],
                    ["zipped_divide((9,(4,8)):(59,(13,1)), <3:3,(2,4):(1,8)>)"]]
        with tempfile.TemporaryDirectory() as folder:
            for request in requests:
                done = run(*request, "-o", "picture.svg", cwd=folder)
                self.assertEqual((done.returncode, done.stderr), (0, ""), request)
                self.assertEqual(os.listdir(folder), ["picture.svg"])
                picture = ElementTree.parse(os.path.join(folder, "picture.svg")).getroot()
                title = picture.find("{http://www.w3.org/2000/svg}title")
                self.assertEqual(title.text, request[0])


class Refusals(unittest.TestCase):
    def expect(self, arguments, sentence):
        with tempfile.TemporaryDirectory() as folder:
            done = run(*arguments, cwd=folder)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(done.stdout, "", arguments)
            self.assertIn(sentence, done.stderr)
            self.assertEqual(os.listdir(folder), [], arguments)

    def test_expressions(self):
        to_file = ["-o", "x.svg", "--table", "--json"]
        self.expect(["composition((6,2):(8,2), 4:4)", *to_file],
                    "tw: composition: the right operand straddles two left leaves\n"
                    "  composition((6,2):(8,2), 4:4)\n  ^\n")
        self.expect(["coalesce((2,1,6):(1,6,2)", *to_file],
                    "tw: ',' or ')' is expected in the arguments of coalesce, but the expression "
                    "ends.\n  coalesce((2,1,6):(1,6,2)\n                          ^\n")
        self.expect(["", *to_file], "is expected here, but the expression ends.")
        self.expect(["(4,8):(8,1", *to_file], "',' or ')' is expected here")
        self.expect(["\t(4,\n", *to_file], "An extent is expected here")

    def test_results_that_cannot_be_examined(self):
        for option in (["--table"], ["-o", "x.svg"], ["--access", "row"]):
            self.expect(["size((4,8))", *option], "need a layout, but this is a number.")
            self.expect(["<4,8>", *option], "need a layout, but this is a tiler.")
            self.expect(["(512,512)", *option], "262144 elements, too many to list or draw")
            self.expect(["(_,4):(4,1)", *option], "known only at run time")

    def test_options(self):
        layout = "(64,64):(64,1)"
        self.expect([layout, "-o", "x.png"], "-o is 'x.png', but must end in .svg.")
        self.expect([layout, "-o", "missing/x.svg"],
                    "'missing/x.svg' cannot be written: No such file or directory.")
        self.expect([layout, "--element-bytes", "3", "-o", "x.svg"],
                    "--element-bytes is 3, but must be 1, 2, 4, 8 or 16.")
        self.expect([layout, "--banks", "intel", "-o", "x.svg"],
                    "--banks is 'intel', but must be nvidia or amd.")
        self.expect([layout, "--access", "diagonal", "-o", "x.svg"],
                    "--access is 'diagonal', but must be one of ldmatrix,")
        self.expect([layout, "--access", "ldmatrix", "--banks", "amd", "-o", "x.svg"],
                    "--access ldmatrix is only known for --banks nvidia, not amd.")
        self.expect(["(64,64)", "--access", "ldmatrix", "-o", "x.svg"],
                    "ldmatrix reads 8 elements at once, but (0,0) lies at offset 0")
        self.expect([layout, "--element-bytes", "two"], "tw: ")
        self.expect([layout, "--colour"], "tw: ")
        self.expect([], "tw: ")

    def test_a_folder_in_the_way_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "x.svg"))
            done = run("(4,8)", "-o", "x.svg", cwd=folder)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("'x.svg' cannot be written: ", done.stderr)
            self.assertEqual(os.listdir(folder), ["x.svg"])

    def test_an_older_picture_survives_a_refusal(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.svg")
            with open(path, "w") as file:
                file.write("older")
            self.assertEqual(run("(4,8", "-o", path).returncode, 2)
            with open(path) as file:
                self.assertEqual(file.read(), "older")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    PROGRAM = parser.parse_args().program
    unittest.main(argv=[sys.argv[0]])
