"""A reader of GDT 2.1 by the rules alone, which knows nothing of docsyncd: prints the fields of a file as JSON, or ends with what is wrong."""

import json
import sys

CODECS = {b"1": "ascii", b"2": "cp437", b"3": "cp1252"}


def lines(content: bytes):
    """The fields, each by the length that its line says."""
    while content:
        said = content[:3]
        assert len(said) == 3 and said.isdigit(), f"no length: {said!r}"
        line, content = content[: int(said)], content[int(said) :]
        assert len(line) == int(said) and line.endswith(b"\r\n"), f"a line does not end where its length says: {line!r}"
        field, value = line[3:7], line[7:-2]
        assert len(field) == 4 and field.isdigit(), f"no field: {line!r}"
        assert b"\r" not in value and b"\n" not in value, f"a line end in a value: {line!r}"
        yield field, value


def read(content: bytes) -> list[tuple[str, str]]:
    fields = list(lines(content))
    names = [field for field, _ in fields]
    assert names[:2] == [b"8000", b"8100"], f"it begins with {names[:2]}"
    assert names.count(b"8100") == 1 and names.count(b"9206") == 1, "8100 and 9206 stand there once"
    assert fields[1][1] == b"%05d" % len(content), f"8100 is {fields[1][1]!r} of {len(content)} bytes"
    codec = CODECS[dict(fields)[b"9206"]]
    return [(field.decode("ascii"), value.decode(codec)) for field, value in fields]


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        print(json.dumps(read(file.read())))
