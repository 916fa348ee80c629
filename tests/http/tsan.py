# SPDX-License-Identifier: Apache-2.0
"""Building a program together with rooms of the library under ThreadSanitizer, and running it.

The sources are compiled here, since ThreadSanitizer does not go together with the sanitizers of the build. It is proved first
that a race is noticed.
"""
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from harness import SOURCE, check, skip

FLAGS = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-D_DEFAULT_SOURCE", "-fsanitize=thread", "-g", "-O1", "-I", str(SOURCE / "include"),
         "-I", str(SOURCE / "lib")]
RACE = ("#include <pthread.h>\nstatic int n;\nstatic void *f(void *u)\n{\n\tn++;\n\treturn u;\n}\nint main(void)\n{\n\tpthread_t t;\n"
        "\tpthread_create(&t, 0, f, 0);\n\tn++;\n\treturn pthread_join(t, 0);\n}\n")
# Libraries that were not compiled for it synchronise in ways that it does not see. And libcurl tells of a socket that it has
# closed already, whose number may be another thread's by then: taking that number out of our own epoll set does nothing.
SUPPRESSIONS = ("called_from_lib:libcrypto.so\ncalled_from_lib:libssl.so\ncalled_from_lib:libcurl.so\n"
                "race:^unwatch$\n")


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **options)


def compiler(folder):
    """One whose ThreadSanitizer notices races."""
    cc = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None) or skip("no C compiler")
    source, program = folder / "race.c", folder / "race"
    source.write_text(RACE)
    if run(cc, "-fsanitize=thread", "-g", source, "-o", program).returncode:
        skip("this compiler has no ThreadSanitizer")
    done = run(program, env={"TSAN_OPTIONS": "exitcode=66"})
    if "unexpected memory mapping" in done.stderr or "ASLR" in done.stderr:
        skip("ThreadSanitizer does not run on this kernel")
    check(done.returncode == 66, "a race is noticed", done.stderr[-300:])
    return cc


def build(folder, source, rooms):
    cc = compiler(folder)

    def compile_one(path):
        target = folder / f"{path.parent.name}-{path.stem}.o"
        done = run(cc, *FLAGS, "-c", path, "-o", target)
        if done.returncode:
            sys.exit(f"{path} does not compile\n{done.stderr}")
        return target
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, [source, *(path for room in rooms for path in sorted((SOURCE / "lib" / room).glob("*.c")))]))
    program = folder / source.stem
    done = run(cc, *FLAGS, *objects, "-lcurl", "-lcrypto", "-lyaml", "-lpthread", "-o", program)
    if done.returncode:
        sys.exit(done.stderr)
    return program


def environment(folder):
    suppressions = folder / "suppressions"
    suppressions.write_text(SUPPRESSIONS)
    return {"TSAN_OPTIONS": f"exitcode=66:suppressions={suppressions}", "KUBECONFIG": "/dev/null", "PATH": os.environ["PATH"]}
