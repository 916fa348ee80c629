# SPDX-License-Identifier: Apache-2.0
"""An API server that is played: enough of one for the command's tests, without a control plane, and with any answer."""
import copy
import datetime
import http.server
import json
import re
import threading
import urllib.parse

LOG = re.compile(r"/api/v1/namespaces/([^/]+)/pods/([^/]+)/log$")
PATH = re.compile(r"/(?:api|apis/([^/]+))/([^/]+)(?:/namespaces/([^/]+))?/([a-z]+)(?:/([^/]+))?$")
KINDS = {"mpijobs": "MPIJob", "pods": "Pod", "configmaps": "ConfigMap", "namespaces": "Namespace", "secrets": "Secret",
         "serviceaccounts": "ServiceAccount", "services": "Service", "jobs": "Job", "events": "Event"}


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def merge(target, patch):
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict) and isinstance(target.get(key), dict):
            merge(target[key], value)
        else:
            target[key] = value


def json_patch(document, operations):
    """Apply a JSON patch of test, add, replace and remove; None when a test fails."""
    for one in operations:
        *folders, last = [part.replace("~1", "/").replace("~0", "~") for part in one["path"].split("/")[1:]]
        place = document
        for folder in folders:
            place = place[int(folder)] if isinstance(place, list) else place.get(folder, {})
        if one["op"] == "test":
            if place.get(last) != one["value"]:
                return None
        elif one["op"] == "remove":
            place.pop(last, None)
        else:
            place[last] = one["value"]
    return document


class Server(http.server.ThreadingHTTPServer):
    """Holds objects by (plural, namespace, name); `requests` has what was asked."""
    daemon_threads = True

    def __init__(self, items=()):
        self.changed = threading.Condition()
        self.version, self.objects, self.events, self.requests = 10, {}, [], []
        self.lose = None  # a function of (method, path): "work", and the answer is lost; "all", and so is the request
        self.logs = {}  # what pods print, by their names
        self.warn = self.refuse = None  # functions of (method, path): a text; (status, reason, message)
        super().__init__(("127.0.0.1", 0), Handler)
        for item in items:
            self.put("mpijobs", item, "ADDED")
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        """Who asks may go away at any time."""

    def put(self, plural, item, event):
        """Store an object, or with DELETED forget it, and tell who watches."""
        with self.changed:
            self.version += 1
            item["metadata"]["resourceVersion"] = str(self.version)
            key = plural, item["metadata"].get("namespace"), item["metadata"]["name"]
            if event == "DELETED":
                self.objects.pop(key, None)
            else:
                self.objects[key] = item
            self.events.append((self.version, plural, {"type": event, "object": copy.deepcopy(item)}))
            self.changed.notify_all()

    def set_status(self, name, namespace="default", **status):
        item = copy.deepcopy(self.objects["mpijobs", namespace, name])
        item["status"] = status
        self.put("mpijobs", item, "MODIFIED")

    def finish(self, name, kind, namespace="default"):
        self.set_status(name, namespace, conditions=[
            {"type": one, "status": "True", "reason": "MPIJob" + one, "message": f"it is {one}"} for one in ("Created", kind)])

    def close(self):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    """One request."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, document):
        if self.lost:
            self.close_connection = True
            return
        body = (document if isinstance(document, str) else json.dumps(document)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        text = self.server.warn and self.server.warn(self.command, self.path)
        if text:
            self.send_header("Warning", f'299 - "{text}"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def fail(self, status, reason, message):
        self.answer(status, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": status,
                             "reason": reason, "message": message})

    def handle_one(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        self.server.requests.append((self.command, url.path, query, body))
        self.lost = self.server.lose and self.server.lose(self.command, url.path)
        if self.lost == "all":
            self.close_connection = True
            return
        refused = self.server.refuse and self.server.refuse(self.command, self.path)
        found, log = PATH.match(url.path), LOG.match(url.path)
        if refused:
            self.fail(*refused)
        elif log:
            self.answer(200, self.server.logs[log.group(2)])
        elif not found:
            self.fail(404, "NotFound", "the server could not find the requested resource")
        else:
            group, version, namespace, plural, name = found.groups()
            self.versions = f"{group}/{version}" if group else version
            if plural == "namespaces" and not name:
                namespace = None
            getattr(self, self.command.lower())(plural, namespace, name, query, body)

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = handle_one

    def listed(self, plural, namespace, query):
        labels = dict(one.split("=", 1) for one in query.get("labelSelector", "").split(",") if "=" in one)
        wanted = re.match(r"metadata\.name=(.*)", query.get("fieldSelector", ""))

        def fits(item):
            has = item["metadata"].get("labels", {})
            return (namespace in (None, item["metadata"].get("namespace")) and all(has.get(key) == value for key, value
                    in labels.items()) and (not wanted or wanted.group(1) == item["metadata"]["name"]))
        return fits

    def get(self, plural, namespace, name, query, _body):
        if name:
            item = self.server.objects.get((plural, namespace, name))
            if item:
                self.answer(200, item)
            else:
                self.fail(404, "NotFound", f'{plural}.kubeflow.org "{name}" not found')
            return
        fits = self.listed(plural, namespace, query)
        if query.get("watch"):
            self.watch(plural, query, fits)
            return
        with self.server.changed:
            items = [item for (kind, _, _), item in self.server.objects.items() if kind == plural and fits(item)]
            version = str(self.server.version)
        self.answer(200, {"kind": KINDS.get(plural, "X") + "List", "apiVersion": self.versions,
                          "metadata": {"resourceVersion": version}, "items": items})

    def watch(self, plural, query, fits):
        if query.get("sendInitialEvents"):
            self.fail(422, "Invalid", "sendInitialEvents is forbidden here")
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        version = int(query.get("resourceVersion") or 0)
        while True:
            with self.server.changed:
                fresh = [(number, event) for number, kind, event in self.server.events
                         if number > version and kind == plural and fits(event["object"])]
                if not fresh:
                    self.server.changed.wait(0.5)
            for number, event in fresh:
                version = number
                self.wfile.write(json.dumps(event).encode() + b"\n")
            self.wfile.flush()

    def post(self, plural, namespace, _name, query, item):
        metadata = item["metadata"]
        if "name" not in metadata:
            metadata["name"] = metadata["generateName"] + "x7k2p"
        if (plural, namespace, metadata["name"]) in self.server.objects:
            self.fail(409, "AlreadyExists", f'{plural} "{metadata["name"]}" already exists')
            return
        if namespace:
            metadata.setdefault("namespace", namespace)
        metadata.update(uid=f"uid-{self.server.version}", creationTimestamp=now())
        if "dryRun" not in query:
            self.server.put(plural, item, "ADDED")
        self.answer(201, item)

    def patch(self, plural, namespace, name, query, body):
        item = copy.deepcopy(self.server.objects.get((plural, namespace, name)))
        if not item:
            self.fail(404, "NotFound", f'{plural}.kubeflow.org "{name}" not found')
            return
        if isinstance(body, list):
            item = json_patch(item, body)
        else:
            merge(item, body)
        if item is None:
            self.fail(422, "Invalid", "the server rejected our request due to an error in our request: testing value failed")
            return
        if "dryRun" not in query:
            self.server.put(plural, item, "MODIFIED")
        self.answer(200, item)

    def delete(self, plural, namespace, name, query, body):
        item = copy.deepcopy(self.server.objects.get((plural, namespace, name)))
        uid = ((body or {}).get("preconditions") or {}).get("uid")
        if not item:
            self.fail(404, "NotFound", f'{plural}.kubeflow.org "{name}" not found')
        elif uid and uid != item["metadata"]["uid"]:
            self.fail(409, "Conflict", "the UID in the precondition does not match the UID in record")
        else:
            if "dryRun" not in (query if body is None else body):  # options in a body are all that counts
                held = item["metadata"].get("finalizers")
                item["metadata"]["deletionTimestamp"] = now()
                self.server.put(plural, item, "MODIFIED" if held else "DELETED")
            self.answer(200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"})
