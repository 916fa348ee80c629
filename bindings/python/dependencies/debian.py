# SPDX-License-Identifier: Apache-2.0
"""Sources of the dependencies, from Debian's source packages.

Knows how apt is asked without changing this machine: the list of sources is made from the machine's own (the same mirrors,
keys and proxies), lists and archives go to a folder of ours, nothing is installed. apt checks the signatures; dpkg-source
unpacks and applies Debian's patches.
"""
import functools
import pathlib
import re
import shutil
import subprocess


class Unavailable(Exception):
    """This machine, or the network, does not give what is needed."""


def release():
    """Code name of the Debian release that this machine runs."""
    try:
        text = pathlib.Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        text = ""
    found = re.search(r'^VERSION_CODENAME="?(\w+)', text, re.M)
    if not found or not re.search(r"^ID=\"?debian", text, re.M):
        raise Unavailable("sources come from Debian's archive, and this machine is no Debian")
    return found.group(1)


def source_entries(folder, name):
    """Yield each entry of the machine's lists that belongs to the release itself, as one of sources."""
    for file in sorted([folder / "sources.list", *folder.glob("sources.list.d/*.sources"),
                        *folder.glob("sources.list.d/*.list")]):
        if not file.is_file():
            continue
        text = file.read_text(encoding="utf-8")
        if file.suffix != ".sources":
            for line in text.splitlines():
                if re.match(rf"deb\s(\[.*?\]\s*)?\S+\s+{name}\S*\s", line):
                    yield "list", line.replace("deb", "deb-src", 1) + "\n"
            continue
        for entry in re.split(r"\n\s*\n", text):
            suites = re.search(r"^Suites:(.*)$", entry, re.M | re.I)
            types = re.search(r"^Types:\s*(.*)$", entry, re.M | re.I)
            if suites and types and "deb" in types.group(1).split() and \
                    all(suite.startswith(name) for suite in suites.group(1).split()):
                entry = re.sub(r"^Types:.*$", "Types: deb-src", entry.strip("\n"), flags=re.M | re.I)
                yield "sources", entry + "\n\n"


class Archive:
    """Debian's archive as this machine reaches it; `folder` holds lists and what was downloaded."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for tool in ("apt-get", "apt-cache", "dpkg", "dpkg-source", "patch"):
            if not shutil.which(tool):
                raise Unavailable(f"{tool} is missing (packages apt, dpkg-dev, patch)")
        self.name = release()
        self.updated = False

    def apt(self, tool, *words, cwd=None):
        """Run an apt tool on our own folders; give back its output, or None when it fails."""
        settings = {"Dir::Etc::sourcelist": "/dev/null", "Dir::Etc::sourceparts": self.folder / "sources",
                    "Dir::State::Lists": self.folder / "lists", "Dir::Cache": self.folder / "cache",
                    "APT::Get::Only-Source": "true", "APT::Sandbox::User": "root", "Debug::NoLocking": "true",
                    "Acquire::Retries": "2", "APT::Update::Error-Mode": "any"}
        options = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
        done = subprocess.run([tool, "-q", *options, *words], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        self.last = done.stderr.strip()
        return done.stdout if done.returncode == 0 else None

    def update(self):
        """Bring the lists of source packages."""
        if self.updated:
            return
        shutil.rmtree(self.folder / "sources", ignore_errors=True)
        for part in ("sources", "lists/partial", "cache/archives/partial", "downloads"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        entries = 0
        for kind, text in source_entries(pathlib.Path("/etc/apt"), self.name):
            with open(self.folder / f"sources/machine.{kind}", "a", encoding="utf-8") as out:
                out.write(text)
            entries += 1
        if not entries:
            raise Unavailable(f"no list of this machine's apt names the release {self.name}")
        if self.apt("apt-get", "update") is None:
            raise Unavailable(f"the lists of source packages cannot be had: {self.last.splitlines()[-1]}")
        self.updated = True

    def versions(self, package):
        """Versions of a source package that the archive announces, newest first."""
        self.update()
        text = self.apt("apt-cache", "showsrc", package) or ""
        found = {match.group(1) for entry in text.split("\n\n") if re.search(rf"^Package: {package}$", entry, re.M)
                 for match in [re.search(r"^Version: (\S+)$", entry, re.M)] if match}

        def order(left, right):
            return -1 if subprocess.run(["dpkg", "--compare-versions", left, "gt", right], check=False).returncode == 0 else 1
        return sorted(found, key=functools.cmp_to_key(order))

    def download(self, package, say):
        """Bring the newest version whose files can be had; give back the version and its .dsc."""
        versions = self.versions(package)
        for version in versions:
            file = self.folder / "downloads" / f"{package}_{version.split(':')[-1]}.dsc"
            if file.exists() or self.apt("apt-get", "source", "--download-only", f"{package}={version}",
                                         cwd=self.folder / "downloads") is not None:
                return version, file
            say(f"warning: the archive announces {package} {version} but does not give its files")
        raise Unavailable(f"no version of {package} can be had from Debian's archive: {self.last[-300:]}")


def unpack(dsc, target):
    """Unpack a source package, Debian's patches applied."""
    done = subprocess.run(["dpkg-source", "--no-copy", "-x", str(dsc), str(target)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"dpkg-source fails on {dsc}:\n{done.stdout[-2000:]}")
