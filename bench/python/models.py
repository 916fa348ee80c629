# SPDX-License-Identifier: Apache-2.0
"""The SDK's half of bench/python/run: jobs and objects as calls of constructors, written out and compiled beforehand."""
import json
import re
import sys
import time

KINDS = {"Service": "V1Service", "ConfigMap": "V1ConfigMap", "Secret": "V1Secret", "Pod": "V1Pod", "Job": "V1Job",
         "MPIJob": "V2beta1MPIJob"}


def written(value, kind, names, shared):
    """The expression that makes a model of a class, or a list or dict of models, from what JSON calls it."""
    inner = re.match(r"(?:list\[(.*)\]|dict\(str, (.*)\))$", kind)
    if inner and isinstance(value, list):
        return "[" + ", ".join(written(v, inner.group(1), names, shared) for v in value) + "]"
    if inner and isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {written(v, inner.group(2), names, shared)}" for k, v in value.items()) + "}"
    if kind not in names or not isinstance(value, dict):
        return repr(value)
    model = names[kind]
    attributes = {key: attribute for attribute, key in model.attribute_map.items()}
    words = [f"{attributes[k]}={written(v, model.openapi_types[attributes[k]], names, shared)}"
             for k, v in value.items() if v is not None]
    return f"{kind}({', '.join(words + (['local_vars_configuration=CONFIGURATION'] if shared else []))})"


def compiled(value, names, shared=False):
    """A function that makes the model of an object anew."""
    return eval("lambda: " + written(value, KINDS[value["kind"]], names, shared), names)  # pylint: disable=eval-used


def without_nulls(value):
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    return [without_nulls(v) for v in value] if isinstance(value, list) else value


def main():
    begun = time.perf_counter()
    import kubernetes.client
    import mpijob
    spent = time.perf_counter() - begun
    shared, what = sys.argv[1] == "shared", sys.argv[2]
    if what == "import":
        print(spent * 1000)
        return
    with open(sys.argv[3], encoding="utf-8") as file:
        wanted = json.load(file)
    with open(sys.argv[4], encoding="utf-8") as file:
        objects = json.load(file)
    names = {**vars(mpijob), **vars(kubernetes.client), "CONFIGURATION": kubernetes.client.Configuration()}
    job = compiled(wanted, names, shared)
    children = [compiled(value, names, shared) for value in objects]
    client = kubernetes.client.ApiClient()

    def checked():
        return client.sanitize_for_serialization(job())

    def rendered():
        checked()
        return [client.sanitize_for_serialization(child()) for child in children]

    if what == "compare":
        if checked() != wanted or rendered() != without_nulls(objects):
            sys.exit("the models do not give the same JSON")
        print(len(objects))
        return
    calls = {"check": lambda: json.dumps(checked()), "render": lambda: json.dumps(rendered()), "dicts": rendered}
    from ours import rate
    print(rate(calls[what], int(sys.argv[5]) / 1000))


if __name__ == "__main__":
    main()
