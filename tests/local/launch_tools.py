# SPDX-License-Identifier: Apache-2.0
"""horovodrun and deepspeed without what they train with: their own code, run by tests/local/test-launch-tools.

    launch_tools.py FOLDER             what they make of words, files and scripts: reads JSON lines of [tool, hostfile, script,
                                       [words]] and prints one for each
    launch_tools.py FOLDER TOOL ...    is the tool: starts ranks

FOLDER holds their sources.
"""
import importlib.abc
import importlib.machinery
import json
import sys
from unittest import mock

FOLDER = sys.argv[1]


class Pretend(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Any module of deepspeed outside of its launcher is there, and does nothing."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != "deepspeed" or name.startswith("deepspeed.launcher"):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = mock.MagicMock(name=spec.name)
        module.__path__ = [f"{FOLDER}/deepspeed"] if spec.name == "deepspeed" else []
        module.__spec__ = spec
        return module

    def exec_module(self, module):
        module.TORCH_DISTRIBUTED_DEFAULT_PORT = 29500


def horovodrun(words, hostfile, script):
    from horovod.runner import launch
    from horovod.runner.elastic.discovery import HostDiscoveryScript
    sys.argv = words
    args = launch.parse_args()
    hosts = launch.hosts.parse_host_files(hostfile) if args.hostfile else None
    found = HostDiscoveryScript(script, args.slots).find_available_hosts_and_slots() if args.host_discovery_script else None
    return {"np": args.num_proc, "min": args.min_num_proc, "max": args.max_num_proc, "slots": args.slots, "hosts": hosts, "found": found,
            "elastic_timeout": args.elastic_timeout, "reset_limit": args.reset_limit, "start_timeout": args.start_timeout,
            "nics": sorted(args.nics or []), "verbose": args.verbose, "log_level": args.log_level, "gloo": args.use_gloo,
            "mpi": args.use_mpi, "binding": args.binding_args, "hostfile": args.hostfile, "script": args.host_discovery_script,
            "command": args.command}


def deepspeed(words, hostfile, _):
    from deepspeed.launcher import multinode_runner, runner
    args = runner.parse_args(words[1:])
    hosts = runner.fetch_hostfile(hostfile)
    told = args.hostfile
    command = None
    if args.launcher == "openmpi":
        mpirun = multinode_runner.OpenMPIRunner(args, "world", hosts)
        mpirun.validate_args()
        command = mpirun.get_cmd({}, hosts)
    return {"hosts": hosts, "hostfile": told, "launcher": args.launcher, "num_gpus": args.num_gpus, "force_multi": args.force_multi,
            "bind": args.bind_cores_to_rank, "script": [args.user_script, *args.user_args], "command": command}


def run_horovodrun(words):
    from horovod.runner import launch
    launch.gloo_built = lambda verbose=False: True
    launch.mpi_built = lambda verbose=False: False
    sys.argv = words
    launch.run_commandline()


def run_deepspeed(words):
    from deepspeed.launcher import runner
    accelerator = runner.get_accelerator.return_value
    accelerator.visible_devices_envs.return_value = ["VISIBLE_DEVICES"]
    accelerator.export_envs.return_value = ["NCCL"]
    runner.main(words[1:])


sys.path.insert(0, FOLDER)
sys.meta_path.insert(0, Pretend())
if __name__ == "__main__" and len(sys.argv) > 2: # horovodrun's helpers import this file again
    globals()[f"run_{sys.argv[2]}"](sys.argv[2:])
elif __name__ == "__main__":
    for line in sys.stdin:
        tool, hostfile_, script_, words_ = json.loads(line)
        print(json.dumps(globals()[tool](words_, hostfile_, script_)), flush=True)
