"""Reads JUnit XML from stdin: what the schemas below a folder have against it, and
what `junitparser` makes of it, as JSON."""

import io
import json
import pathlib
import sys
import xml.etree.ElementTree as etree

import xmlschema
from junitparser import xunit2

TRIES = {"flakyFailure", "rerunFailure"}


def without_places(root):
    """The schema with Surefire's tries does not know where tests are."""
    for case in root.iter("testcase"):
        del case.attrib["file"], case.attrib["line"]


def without_tries(root):
    """The schema with the places of tests does not know Surefire's tries."""
    for case in root.iter("testcase"):
        for child in [child for child in case if child.tag in TRIES]:
            case.remove(child)


def problems(path, text):
    schema = xmlschema.XMLSchema(str(path))
    root = etree.fromstring(text)
    knows_tries = "flakyFailure" in schema.elements
    (without_places if knows_tries else without_tries)(root)
    return [f"{error.path}: {error.reason}" for error in schema.iter_errors(root)]


def case_to_json(suite, case):
    results = [
        {"kind": type(it).__name__, "message": it.message, "text": it.text} for it in case.result
    ]
    return {
        "name": case.name,
        "classname": case.classname,
        "suite": suite.name,
        "file": case._elem.get("file"),
        "line": case._elem.get("line"),
        "time": case.time,
        "results": results,
        "interim": [[type(it).__name__, it.message] for it in case.interim_result],
        "out": case.system_out,
        "err": case.system_err,
    }


def main():
    text = sys.stdin.buffer.read()
    found = sorted(pathlib.Path(sys.argv[1]).glob("**/junit-10.xsd"))
    report = xunit2.JUnitXml.fromroot(etree.fromstring(text))
    suites = list(report)
    counts = {
        name: sum(getattr(suite, name) for suite in suites)
        for name in ["tests", "failures", "skipped", "errors"]
    }
    assert not suites or counts["tests"] == report.tests
    answer = {
        "schemas": {path.parent.name: problems(path, text) for path in found},
        "counts": counts,
        "tests": [case_to_json(suite, case) for suite in suites for case in suite],
    }
    json.dump(answer, sys.stdout)


main()
