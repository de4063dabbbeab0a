"""Validates a catalog and an OpenAPI document: SCHEMA CATALOG DOCUMENT.

Prints how many paths the document must have for what the catalog lists, and how many it has."""

import json
import sys

from jsonschema.validators import validator_for
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing.exceptions import Unresolvable


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def fail(path, errors):
    """Exits with all errors, each on one line."""
    try:
        messages = [error.message.splitlines()[0][:200] for error in errors]
    except Unresolvable as error:
        messages = [f"{error.ref} leads nowhere"]
    if messages:
        sys.exit("\n".join(f"{path}: {message}" for message in messages))


def main(schema, catalog, document):
    schema, listed, described = read(schema), read(catalog), read(document)
    validator = validator_for(schema)
    validator.check_schema(schema)
    fail(catalog, validator(schema).iter_errors(listed))
    fail(document, OpenAPIV31SpecValidator(described).iter_errors())
    kinds = [item["type"] for item in listed["items"]]
    expected = kinds.count("tool") + kinds.count("prompt")
    if "resource" in kinds or "resource-template" in kinds:
        expected += 1
    print(json.dumps({"expected": expected, "paths": len(described["paths"])}))


main(*sys.argv[1:])
