"""Runs the command `servlet`, which the wheel of this module installs."""

import os
import subprocess
import sys
import sysconfig


def program():
    name = "servlet.exe" if os.name == "nt" else "servlet"
    # Next to the script that runs, or else where this Python has its scripts. The script may be a link to the real one.
    folders = [os.path.dirname(os.path.realpath(sys.argv[0])), sysconfig.get_path("scripts")]
    paths = [os.path.join(folder, name) for folder in folders]
    return next((path for path in paths if os.path.isfile(path)), name)


def main():
    command = [program(), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execvp(command[0], command)
