# Validates a list of crates against the official schema.

import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

with open(sys.argv[1], encoding="utf-8") as file:
    problem = JsonStrictValidator(SchemaVersion.V1_5).validate_str(file.read())
sys.exit(problem and str(problem))
