# SPDX-License-Identifier: Apache-2.0
"""A recording of an embedded cluster, asked again: what its client asked, and what it changed by itself as requests."""
import collections
import copy
import json
import subprocess

ADDED, MODIFIED, DELETED = 1, 2, 3
KEPT = ("ownerReferences", "labels", "finalizers")  # what controllers change in metadata


class Asker:
    """A client of libmpijob, line by line."""

    def __init__(self, argv, environment=None):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def line(self, **line):
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise AssertionError(f"the client ended at {line}")
        return json.loads(answer)

    def request(self, method, path, body=None, kind=None):
        """The status and the text of an answer."""
        line = {"method": method, "path": path}
        if body:
            line.update(body=body if isinstance(body, str) else json.dumps(body),
                        type=kind or ("application/merge-patch+json" if method == "PATCH" else "application/json"))
        answer = self.line(**line)
        return answer["status"], answer["body"]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(30)


def path_of(plural, item):
    group = {"jobs": "apis/batch/v1", "mpijobs": "apis/kubeflow.org/v2beta1"}.get(plural, "api/v1")
    return f"/{group}/namespaces/{item['metadata']['namespace']}/{plural}"


def version(item):
    return item["metadata"]["resourceVersion"]


def is_end(line, path):
    """Whether a change is a deletion, or its begin, of what is at PATH."""
    item = line["object"]
    return path_of(line["plural"], item) + "/" + item["metadata"]["name"] == path and (
        line["change"] == DELETED or "deletionTimestamp" in item["metadata"])


def read(path):
    """The lines of a tape; each has "own" set when it is a change that no request made."""
    with open(path) as file:
        lines = [json.loads(line) for line in file]
    for line in lines:
        line["own"] = "change" in line
    for number, line in enumerate(lines[1:], 1):
        before = lines[number - 1]
        if line.get("method") in ("POST", "PUT", "PATCH") and line["status"] < 300 and before["own"]:
            before["own"] = version(before["object"]) != version(json.loads(line["data"]))
        elif line.get("method") == "DELETE" and line["status"] < 300:
            while before["own"] and is_end(before, line["path"]):  # of a pod, two things are told
                before["own"] = False
                number -= 1
                before = lines[number - 1]
    return lines


class Player:
    """Asks the server what a tape says, and hands each pair of answers to REPORT(what, kind, ours, theirs)."""

    def __init__(self, asker, pairing, report):
        self.asker, self.pairing, self.report = asker, pairing, report
        self.ours, self.theirs = {}, {}
        self.watches = collections.defaultdict(list)
        self.skipped, self.gone = set(), {}

    def play(self, lines):
        for line in lines:
            if "begin" in line:
                number = self.asker.line(open=self.pairing.path(line["begin"]))["number"]
                self.watches[line["begin"]].append(number)
            elif "watch=1" in line.get("path", ""):
                self.end_watch(line)
            elif "change" in line:
                if line["own"]:
                    self.change(line)
                self.keep(line)
            else:
                self.ask(line)

    def keep(self, line):
        item = line["object"]
        key = line["plural"], item["metadata"]["name"]
        if line["change"] == DELETED:
            self.ours.pop(key, None)
        else:
            self.ours[key] = item

    def ask(self, line):
        body = line["body"] and json.dumps(self.pairing.body(json.loads(line["body"])))
        status, text = self.asker.request(line["method"], self.pairing.path(line["path"]), body)
        self.report(f"{line['method']} {line['path']}", "exchange", (line["status"], line["data"]), (status, text))

    def end_watch(self, line):
        number = self.watches[line["path"]].pop(0)
        got = self.asker.line(close=number, events=line["data"].count("\n") - max(0, line["data"].count('"type":"BOOKMARK"') - 1))
        self.report(f"GET {line['path']}", "watch", (200, line["data"]), (got["status"], got["body"]), self.skipped)

    # What nobody asked for

    def change(self, line):
        plural, item = line["plural"], line["object"]
        collection = path_of(plural, item)
        path = f"{collection}/{item['metadata']['name']}"
        if line["change"] == ADDED:
            got = self.asker.request("POST", collection, self.pairing.body(new(item)))
        elif line["change"] == DELETED and path in self.gone:
            got = self.gone.pop(path)
        elif line["change"] == DELETED:
            if item["metadata"].get("finalizers"):  # the last one was struck
                got = self.asker.request("PATCH", path, {"metadata": {"finalizers": None}})
                self.report(f"own end of {path}", "own", (200, ""), (got[0], "" if got[0] < 300 else got[1]))
                return
            options = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
            got = self.asker.request("DELETE", path, self.delete_options(item, options))
            self.report(f"own DELETE {path}", "own", (200, ""), (got[0], "" if got[0] < 300 else got[1]))
            return
        elif plural == "pods" and item["metadata"].get("deletionGracePeriodSeconds") == 0:
            # It has no time left: the same request makes an end of it, and its answer is of the end.
            options = self.delete_options(item, {"gracePeriodSeconds": 0})
            self.gone[path] = self.asker.request("DELETE", path, options)
            return
        else:
            got = self.modify(plural, path, item)
        self.report(f"own change of {path}", "own", (got[0] if got[0] < 300 else 200, json.dumps(item)), got)

    def delete_options(self, item, options):
        return dict(options, kind="DeleteOptions", apiVersion="v1",
                    preconditions={"uid": self.pairing.text(item["metadata"]["uid"])})

    def modify(self, plural, path, item):
        """The requests by which a kubelet, a scheduler and controllers make an object what ITEM is; the last answer."""
        before = self.ours[plural, item["metadata"]["name"]]
        wanted = self.pairing.body(item)
        asked = []
        if item["metadata"].get("deletionTimestamp") and not before["metadata"].get("deletionTimestamp"):
            policy = "Foreground" if "foregroundDeletion" in item["metadata"].get("finalizers", ()) else "Background"
            asked.append(("DELETE", path, self.delete_options(item, {
                "propagationPolicy": policy, "gracePeriodSeconds": item["metadata"]["deletionGracePeriodSeconds"]})))
        if item.get("spec", {}).get("nodeName") != before.get("spec", {}).get("nodeName"):
            asked.append(("POST", path + "/binding", {
                "apiVersion": "v1", "kind": "Binding", "metadata": {"name": item["metadata"]["name"]},
                "target": {"apiVersion": "v1", "kind": "Node", "name": item["spec"]["nodeName"]}}))
        if item.get("status") != before.get("status"):
            asked.append(("PUT", path + "/status", wanted))
        if not asked and any(item["metadata"].get(key) != before["metadata"].get(key) for key in KEPT):
            asked.append(("PUT", path, wanted))
        if not asked:
            raise AssertionError(f"a change of {path} that is not understood: {json.dumps(before)}\n{json.dumps(item)}")
        for number, (method, where, body) in enumerate(asked):
            if method == "PUT":
                body = self.over_theirs(path, body, "status" in where)
            got = self.asker.request(method, where, body)
            if got[0] >= 300:
                return got
            if number + 1 < len(asked):
                self.skipped.add(version(json.loads(self.asker.request("GET", path)[1])))
        return got if method != "POST" else self.asker.request("GET", path)

    def over_theirs(self, path, wanted, is_status):
        """Their object with what is ours: writers send back what they read."""
        item = json.loads(self.asker.request("GET", path)[1])
        if is_status:
            item["status"] = wanted["status"]
        else:
            item["metadata"].update({key: wanted["metadata"].get(key) for key in KEPT})
        return item


def new(item):
    """An object before it was created."""
    item = copy.deepcopy(item)
    for key in ("uid", "resourceVersion", "creationTimestamp", "generation"):
        item["metadata"].pop(key, None)
    item.pop("status", None)
    return item
