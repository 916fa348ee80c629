# SPDX-License-Identifier: Apache-2.0
"""What the public headers declare, for generated tests: functions with the types and texts of their parameters, and structs.

The headers keep to a form that is simple to read: one declaration after its comment, no function pointer in a parameter list.
"""
import re
from dataclasses import dataclass, field


@dataclass
class Param:
    type: str  # without the name: "const char *"
    name: str
    text: str  # of @param; "" when the comment has none

    @property
    def pointer(self):
        return self.type.endswith("*") or self.type.endswith("_fn")


@dataclass
class Function:
    name: str
    returns: str
    text: str  # the whole comment
    header: str
    params: list = field(default_factory=list)


@dataclass
class Member:
    type: str
    name: str
    text: str


def squeeze(text):
    return " ".join(re.sub(r"^\s*\*+ ?", "", text, flags=re.M).split())


def split_param(text):
    match = re.fullmatch(r"(.*?[\s*])(\w+)", " ".join(text.split()))
    return match.group(1).strip(), match.group(2)


def functions(header, text):
    """The functions of one header, inline ones too."""
    found = []
    comment_at = re.compile(r"/\*\*((?:(?!\*/).)*)\*/\s*(?:MPIJOB_API|static inline)\s+([^;{]*?)\b(mpijob_\w+)\s*\(([^;{]*)\)\s*[;{]", re.S)
    for comment, returns, name, params in comment_at.findall(text):
        texts = {}
        for part in re.split(r"@(?=param|return|since)", comment):
            match = re.match(r"param\s+(\w+)\s+(.*)", part, flags=re.S)
            if match:
                texts[match.group(1)] = squeeze(match.group(2))
        function = Function(name, " ".join(returns.split()), squeeze(comment), header)
        if params.strip() != "void":
            for param in params.split(","):
                kind, word = split_param(param)
                function.params.append(Param(kind, word, texts.get(word, "")))
        found.append(function)
    return found


def structs(text):
    """The structs of one header: {name: [members]}, callbacks left out."""
    found = {}
    for name, body in re.findall(r"^struct (mpijob_\w+) \{(.*?)^\};", text, flags=re.S | re.M):
        body = re.sub(r"/\*\*(?!<).*?\*/", "", body, flags=re.S)
        rows = re.findall(r"^\t([^;\n/(]*?)(\w+)(?:\[\d+\])?;[ \t]*(?:/\*\*<(.*?)\*/)?", body, flags=re.M | re.S)
        found[name] = [Member(kind.strip(), member, squeeze(note)) for kind, member, note in rows]
    return found


def libraries(source):
    """{library: its public headers}: those that CMakeLists.txt names, and for libmpijob mpijob.h and what it includes."""
    calls = re.findall(r"mpijob_library\(([\w-]+)([^)]*)\)", (source / "CMakeLists.txt").read_text(encoding="utf-8"))
    umbrella = (source / "include/mpijob/mpijob.h").read_text(encoding="utf-8")
    found = {}
    for name, words in calls:
        headers = re.search(r"\bHEADERS((?:\s+[a-z_]+)+)", words)
        found[f"lib{name}"] = ({f"{word}.h" for word in headers.group(1).split()} if headers else
                               {"mpijob.h", *re.findall(r"^#include <mpijob/(\w+\.h)>", umbrella, flags=re.M)})
    return found


def read(include):
    """(functions, structs) of all headers."""
    every, shapes = [], {}
    for path in sorted((include / "mpijob").glob("*.h")):
        text = path.read_text(encoding="utf-8")
        every += functions(path.name, text)
        shapes.update(structs(text))
    return every, shapes
