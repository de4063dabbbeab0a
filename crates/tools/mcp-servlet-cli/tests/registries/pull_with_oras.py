"""Writes the layer of demo/greet:0.1.0 with oras: HOST CA FOLDER, and the password of ada in PASSWORD."""

import os
import sys

from oras.client import OrasClient

host, ca, folder = sys.argv[1:]
client = OrasClient(host, tls_verify=ca, auth_backend="basic")
client.auth.set_basic_auth("ada", os.environ["PASSWORD"])
client.pull(target=f"{host}/demo/greet:0.1.0", outdir=folder)
