# SPDX-License-Identifier: Apache-2.0
"""Our half of bench/python/run."""
import json
import sys
import time


def main():
    begun = time.perf_counter()
    import mpijob
    mpijob.MPIJob("name")  # the library is loaded
    spent = time.perf_counter() - begun
    what = sys.argv[2]
    if what == "import":
        print(spent * 1000)
        return
    with open(sys.argv[3], encoding="utf-8") as file:
        wanted = json.load(file)
    if what == "make":
        objects = mpijob.MPIJob.from_dict(wanted).default().render(reference=True)
        with open(sys.argv[4], "w", encoding="utf-8") as file:
            json.dump(objects, file)
        print(len(objects))
        return

    def checked():
        job = mpijob.MPIJob.from_dict(wanted)
        job.default()
        if job.validate():
            raise ValueError("the job of this bench has findings")
        return job

    calls = {"check": lambda: checked().to_json(indent=False), "render": lambda: checked().manifests("compact"),
             "dicts": lambda: checked().render()}
    print(rate(calls[what], int(sys.argv[5]) / 1000))


def rate(call, seconds):
    """Calls for each second of processor time."""
    for _ in range(3):
        call()
    count, begun = 0, time.process_time()
    while time.process_time() - begun < seconds:
        call()
        count += 1
    return count / (time.process_time() - begun)


if __name__ == "__main__":
    main()
