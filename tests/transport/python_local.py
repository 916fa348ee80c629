# SPDX-License-Identifier: Apache-2.0
"""The suite over transports that are written in Python, of both kinds, with the embedded cluster behind them; and over one
that answers nothing, which must fail at all checks but the one that asks nothing."""
import sys

import python_suite as suite


def main():
    silent = suite.run("silence", suite.Silent(), quiet=True)
    print(f"a transport that answers nothing: {silent} faults", flush=True)
    faults = silent != suite.count() - 1
    faults += suite.run("python", suite.Forwarding())
    faults += suite.run("python-blocking", suite.ForwardingByCalls())
    faults += suite.unneeded("python, python-blocking")
    print(f"{suite.count()} checks, {faults} faults")
    return faults != 0


if __name__ == "__main__":
    sys.exit(main())
