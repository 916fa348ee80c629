# SPDX-License-Identifier: Apache-2.0
"""Launch commands and ranks. That the commands start what they say is tried in tests/local/test-launch, under every MPI."""
import os
import pathlib
import subprocess
import sys
import unittest

import mpijob
from mpijob import launch, rank

SOURCE = pathlib.Path(os.environ.get("MPIJOB_SOURCE") or pathlib.Path(__file__).resolve().parents[3])


def pi(mpi="OpenMPI"):
    job = mpijob.load(SOURCE / "examples/pi/pi.yaml")
    job.spec.mpi_implementation = mpi
    return job.default()


class Commands(unittest.TestCase):
    def test_a_command_goes_into_the_job(self):
        job = pi()
        command = launch.mpirun(job, ["python", "x.py"], env={"A": "b c"}, bind_to="none", ranks_per_host=1)
        self.assertEqual(command, ["mpirun", "--allow-run-as-root", "-np", "2", "--bind-to", "none", "--map-by", "ppr:1:node", "-x",
                                   "A=b c", "python", "x.py"])
        self.assertEqual((command.ranks, command.findings), (2, []))
        container = job.spec.mpi_replica_specs["Launcher"].template["spec"]["containers"][0]
        container["command"] = command
        del container["args"]
        self.assertEqual([f for f in job.validate() if f.severity != "info"], [])
        self.assertEqual(job.render().find("Job")["spec"]["template"]["spec"]["containers"][0]["command"], list(command))

    def test_tools(self):
        self.assertEqual(launch.mpirun(pi("Intel"), "p"), ["mpiexec.hydra", "-n", "4", "p"])
        self.assertEqual(launch.mpiexec(pi("MPICH"), "p", env=["Q"]), ["mpiexec", "-n", "4", "-genvall", "p"])
        self.assertEqual(launch.mpiexec(pi(), "p", allow_run_as_root=False, executable="/m"), ["/m", "-np", "4", "p"])
        self.assertEqual(launch.mpirun(pi("MPICH"), "p", env=["Q", "R_*"], env_only=True, known=["R_A", "R_B=1"]),
                         ["mpirun", "-n", "4", "-genvlist", "Q,R_A,R_B", "p"])
        self.assertEqual(launch.horovodrun(pi(), ["p"], args=["--tcp"], log_level="INFO"),
                         ["horovodrun", "-np", "4", "--hostfile", "/etc/mpi/hostfile", "--log-level", "INFO", "--tcp", "p"])
        self.assertEqual(launch.horovodrun(pi("Intel"), "p", elastic=True, max_np=8, elastic_timeout=60),
                         ["horovodrun", "-np", "4", "--min-np", "2", "--max-np", "8", "--host-discovery-script",
                          "/etc/mpi/discover_hosts.sh", "--slots-per-host", "2", "--elastic-timeout", "60", "p"])
        self.assertEqual(launch.deepspeed(pi(), ["x.py", "--lr", "1"]),
                         ["deepspeed", "--hostfile", "/etc/mpi/hostfile", "x.py", "--lr", "1"])

    def test_what_cannot_be_is_an_exception(self):
        with self.assertRaises(mpijob.UnsupportedError) as caught:
            launch.mpirun(pi(), "p", np=5, map_by="node", ranks_per_host=2)
        self.assertEqual(caught.exception.findings[0].id, "launch-option")
        with self.assertRaises(mpijob.UnsupportedError):
            launch.deepspeed(pi("MPICH"), "p")
        with self.assertRaises(mpijob.UsageError):
            launch.mpirun(pi(), [])
        with self.assertRaises(TypeError):
            launch.mpirun(pi(), "p", env="A")
        self.assertEqual([f.id for f in launch.mpirun(pi(), "p", env=["A_*"]).findings], ["nothing-forwarded"])

    def test_text_that_is_not_ascii(self):
        self.assertEqual(launch.mpirun(pi(), ["p", "ä\N{SNOWMAN}"], env={"A": "é"})[-4:], ["-x", "A=é", "p", "ä\N{SNOWMAN}"])


class Ranks(unittest.TestCase):
    def test_each_source(self):
        pmi = {"PMI_RANK": "3", "PMI_SIZE": "4", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"}
        self.assertEqual(rank.read(pmi), (3, 4, 1, 2, "hydra", "PMI_RANK"))
        self.assertEqual(rank.read({"PMIX_RANK": "3"}), (3, None, None, None, "pmix", "PMIX_RANK"))
        self.assertEqual(rank.read({}), (0, 1, 0, 1, "none", None))
        self.assertTrue(rank.read({}).is_first)
        self.assertFalse(rank.read(pmi).is_first)
        for wrong in ({**pmi, "PMI_SIZE": "2"}, {**pmi, "OMPI_COMM_WORLD_RANK": "0"}, {"PMI_RANK": "x"}):
            with self.assertRaises(mpijob.SpecError) as caught:
                rank.read(wrong)
            self.assertEqual(caught.exception.findings[0].id, "rank-variable")

    def test_the_process_itself_without_the_other_libraries(self):
        code = ("import sys, mpijob.rank, mpijob.launch; print(mpijob.rank.read().rank); "
                "print(any(name in open('/proc/self/maps').read() for name in ('mpijob-http', 'mpijob-local')), "
                "'asyncio' in sys.modules)")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                              env={**os.environ, "OMPI_COMM_WORLD_RANK": "7"})
        self.assertEqual(done.stdout.split(), ["7", "False", "False"])


if __name__ == "__main__":
    unittest.main()
