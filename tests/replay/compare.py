# SPDX-License-Identifier: Apache-2.0
"""What two clusters answered, side by side: which uids and versions stand for each other, and what else differs."""
import json
import re

ABSENT = "(absent)"
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Names:
    """What of the embedded cluster (ours) is what of the server (theirs), one to one."""

    def __init__(self):
        self.ours, self.theirs = {}, {}

    def same(self, ours, theirs):
        """Whether both may be one: each is known as the other, or none is known yet, and then they are from now on."""
        if ours in self.ours or theirs in self.theirs:
            return self.ours.get(ours) == theirs and self.theirs.get(theirs) == ours
        self.ours[ours], self.theirs[theirs] = theirs, ours
        return True


class Pairing:
    """The uids and the resourceVersions of two clusters."""

    def __init__(self):
        self.uids, self.versions = Names(), Names()
        self.lists = {}  # a list's version is that of the whole server: only requests need it

    def text(self, text):
        """TEXT for the server: with its uids."""
        return UID.sub(lambda match: self.uids.ours.get(match[0], match[0]), text)

    def version(self, version):
        return self.versions.ours.get(version) or self.lists.get(version) or version

    def body(self, node, key=None):
        """A request's body for the server."""
        if isinstance(node, dict):
            return {name: self.body(value, name) for name, value in node.items()}
        if isinstance(node, list):
            return [self.body(value) for value in node]
        if isinstance(node, str):
            return self.version(node) if key == "resourceVersion" else self.text(node)
        return node

    def path(self, path):
        return re.sub(r"(?<=[?&]resourceVersion=)\d+", lambda match: self.version(match[0]), self.text(path))


def differences(pairing, ours, theirs, path=""):
    """Each (path, ours, theirs) in which two answers are not alike; paths have [] for any index."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs)):
            below = f"{path}.{key}" if path else key
            if key not in ours or key not in theirs:
                yield below, ours.get(key, ABSENT), theirs.get(key, ABSENT)
            else:
                yield from differences(pairing, ours[key], theirs[key], below)
        return
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for one, other in zip(ours, theirs):
            yield from differences(pairing, one, other, path + "[]")
        return
    if not same(pairing, ours, theirs, path):
        yield path, ours, theirs


def same(pairing, ours, theirs, path):
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, str) and re.search(r"(^|\.)(metadata|involvedObject|preconditions)\.resourceVersion$", path):
        return pairing.versions.same(ours, theirs)
    if isinstance(ours, str) and path.endswith("uid") and UID.fullmatch(ours) and UID.fullmatch(theirs):
        return pairing.uids.same(ours, theirs)
    if isinstance(ours, str) and TIME.match(ours):
        return bool(TIME.match(theirs)) and len(ours) == len(theirs)
    return (pairing.text(ours) if isinstance(ours, str) else ours) == theirs


def name_of(item):
    metadata = item["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def list_differences(pairing, ours, theirs):
    """The same for lists: items are paired by their names; the version is that of the whole server."""
    mine, other = ({name_of(item): item for item in one["items"]} for one in (ours, theirs))
    for name in sorted(set(mine) | set(other)):
        if name in mine and name in other:
            yield from differences(pairing, mine[name], other[name], "items[]")
        else:
            yield f"items.{'/'.join(name)}", mine.get(name, ABSENT), other.get(name, ABSENT)
    order = [[name_of(item) for item in one["items"] if name_of(item) in mine and name_of(item) in other]
             for one in (ours, theirs)]
    if order[0] != order[1]:
        yield "items.order", order[0], order[1]
    heads = [{key: value for key, value in one.items() if key != "items"} for one in (ours, theirs)]
    versions = [one.get("metadata", {}).get("resourceVersion") for one in heads]
    if all(versions):
        pairing.lists[versions[0]] = versions[1]
        heads = [dict(one, metadata={key: value for key, value in one["metadata"].items() if key != "resourceVersion"})
                 for one in heads]
    yield from differences(pairing, *heads)


def answer_differences(pairing, ours, theirs):
    """The same for the text of two answers."""
    try:
        ours, theirs = json.loads(ours), json.loads(theirs)
    except ValueError:
        if ours != theirs:
            yield "text", ours, theirs
        return
    if isinstance(ours.get("items"), list) and isinstance(theirs.get("items"), list):
        yield from list_differences(pairing, ours, theirs)
    else:
        yield from differences(pairing, ours, theirs)


def events(text):
    """The events of a watch: those of each object in order, and the bookmark after the first ones."""
    objects, end = {}, None
    for line in text.splitlines():
        event = json.loads(line)
        item = event["object"]
        if event["type"] == "BOOKMARK":
            if item["metadata"].get("annotations"):
                end = end or item
        elif event["type"] == "ERROR":
            objects.setdefault(("", "ERROR"), []).append(event)
        else:
            objects.setdefault(name_of(item), []).append(event)
    return objects, end


def watch_differences(pairing, ours, theirs, skipped):
    """The same for two watches. SKIPPED are versions of the server that one change of ours took two requests for."""
    (mine, my_end), (other, other_end) = events(ours), events(theirs)
    for name in sorted(set(mine) | set(other)):
        lists = [mine.get(name, []), [event for event in other.get(name, [])
                                      if event["object"].get("metadata", {}).get("resourceVersion") not in skipped]]
        types = [[event["type"] for event in one] for one in lists]
        if types[0] != types[1]:
            yield f"events.{'/'.join(name)}", types[0], types[1]
            continue
        for one, theirs_ in zip(*lists):
            yield from differences(pairing, one["object"], theirs_["object"], "object")
    for one in (my_end, other_end):
        if one:
            one["metadata"].pop("resourceVersion")
    yield from differences(pairing, my_end or {}, other_end or {}, "bookmark")
