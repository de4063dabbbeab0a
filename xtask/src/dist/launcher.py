"""Runs the command `servlet`, which is next to the script `mcp-servlet`."""

import os
import subprocess
import sys


def main():
    folder = os.path.dirname(os.path.abspath(sys.argv[0]))
    program = os.path.join(folder, "servlet")
    if os.name == "nt":
        sys.exit(subprocess.call([program + ".exe", *sys.argv[1:]]))
    os.execv(program, [program, *sys.argv[1:]])
