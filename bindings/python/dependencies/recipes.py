# SPDX-License-Identifier: Apache-2.0
"""The dependencies for an old glibc, static where the licence is a permissive one: what is built of each, and with which options.

Knows which part of each dependency the libraries use; all that is left out would only be more to keep up to date. There
is one folder per dependency, version and recipe, so that a change builds again only what it touches.
"""
import hashlib
import inspect
import os
import pathlib
import shutil
import subprocess
import time

import debian

GLIBC = "2.28"  # what everything is compiled for, and what the tag of the wheel says

# What they read comes from the network: hardened as our own code is.
HARDENED = "-O2 -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -D_FORTIFY_SOURCE=2"
# Certificates and keys of every kind that an API server may show stay (RSA, EC, Ed25519), and the ciphers of TLS 1.2 and
# 1.3. It reads no configuration of the machine, which was written for another build of it.
OPENSSL = """no-shared no-module no-dso no-tests no-fips no-legacy no-engine no-static-engine no-afalgeng no-async
    no-autoload-config no-comp no-ui-console
    no-ssl3 no-tls1 no-tls1_1 no-dtls no-nextprotoneg no-srp no-srtp no-psk no-ct no-ts no-cms no-cmp no-ssl-trace
    no-aria no-bf no-blake2 no-camellia no-cast no-des no-dsa no-ec2m no-gost no-idea no-md4 no-mdc2 no-ocb no-rc2 no-rc4
    no-rmd160 no-scrypt no-seed no-siphash no-sm2 no-sm3 no-sm4 no-whirlpool no-rfc3779 enable-ec_nistp_64_gcc_128""".split()
# libcurl asks OpenSSL for its default places where it is given no certificates; which these are is said by lib/http.
CURL = """-DBUILD_CURL_EXE=OFF -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF -DENABLE_MANUAL=OFF -DHTTP_ONLY=ON
    -DCURL_USE_OPENSSL=ON -DCURL_DISABLE_OPENSSL_AUTO_LOAD_CONFIG=ON -DUSE_NGHTTP2=ON -DENABLE_THREADED_RESOLVER=ON
    -DCURL_ZLIB=ON -DCURL_BROTLI=OFF -DCURL_ZSTD=OFF -DUSE_LIBIDN2=OFF -DCURL_USE_LIBSSH2=OFF -DCURL_USE_LIBPSL=OFF
    -DCURL_USE_GSSAPI=OFF -DENABLE_UNIX_SOCKETS=ON -DCURL_DISABLE_ALTSVC=ON -DCURL_DISABLE_HSTS=ON -DCURL_DISABLE_NTLM=ON
    -DCURL_DISABLE_COOKIES=ON -DCURL_DISABLE_DOH=ON -DCURL_CA_BUNDLE=none -DCURL_CA_PATH=none -DCURL_CA_FALLBACK=ON""".split()
MICROHTTPD = """--enable-static --disable-shared --with-pic --disable-https --disable-doc --disable-examples --disable-curl
    --disable-postprocessor --disable-bauth --disable-dauth --disable-nls""".split()


class Builder:
    """Builds into folders under `root` with the compiler `cc`."""

    def __init__(self, root, cc, key, say):
        self.root, self.cc, self.key, self.say = pathlib.Path(root), pathlib.Path(cc), key, say
        self.prefixes = {}
        self.jobs = str(len(os.sched_getaffinity(0)))

    def run(self, folder, *command, **environment):
        """Run a step; what it printed goes to a log, whose end is shown when it fails."""
        with open(self.log, "ab") as log:
            log.write(f"\n$ {' '.join(map(str, command))}\n".encode())
            log.flush()
            done = subprocess.run([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL, stdout=log,
                                  stderr=subprocess.STDOUT, check=False,
                                  env={**os.environ, "CC": str(self.cc), "LC_ALL": "C", "SOURCE_DATE_EPOCH": "0",
                                       **environment})
        if done.returncode:
            tail = self.log.read_text(encoding="utf-8", errors="replace")[-3000:]
            raise RuntimeError(f"a step failed; the whole log is {self.log}:\n{tail}")

    def cmake(self, source, *options, target=None):
        """Configure and build with CMake, seeing only the compiler and what was built before; give back the folder."""
        build = source / "our-build"
        prefixes = ";".join(map(str, self.prefixes.values()))
        self.run(source, "cmake", "-G", "Ninja", "-S", ".", "-B", build, f"-DCMAKE_C_COMPILER={self.cc}",
                 "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_C_FLAGS_RELEASE={HARDENED} -DNDEBUG",
                 "-DCMAKE_POSITION_INDEPENDENT_CODE=ON", f"-DCMAKE_INSTALL_PREFIX={self.prefix}",
                 "-DCMAKE_INSTALL_LIBDIR=lib", f"-DCMAKE_FIND_ROOT_PATH={prefixes}", f"-DCMAKE_PREFIX_PATH={prefixes}",
                 "-DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY", "-DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY",
                 "-DOPENSSL_USE_STATIC_LIBS=ON", *options, PKG_CONFIG_LIBDIR="/nowhere")
        self.run(source, "cmake", "--build", build, *(("--target", target) if target else ()))
        return build

    def install(self, build, *files):
        """Put files of the build into the prefix: (from, folder)."""
        for file, folder in files:
            (self.prefix / folder).mkdir(parents=True, exist_ok=True)
            shutil.copy(build / file, self.prefix / folder)

    def pkg_config(self, name, version, libs):
        """Say to pkg-config where it is; the folder may be moved as a whole."""
        folder = self.prefix / "lib/pkgconfig"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.pc").write_text(
            f"prefix=${{pcfiledir}}/../..\nName: {name}\nDescription: {name}, static\nVersion: {version}\n"
            f"Libs: -L${{prefix}}/lib {libs}\nCflags: -I${{prefix}}/include\n", encoding="utf-8")

    def provide(self, recipe, version, fetch):
        """Have one dependency; `fetch` gives the .dsc of its version."""
        needs = [str(self.prefixes[name].name) for name in recipe.needs]
        words = [self.key, HARDENED, version, inspect.getsource(recipe), repr(recipe.options), *needs]
        key = hashlib.sha256("\0".join(words).encode()).hexdigest()[:8]
        folder = self.root / f"{recipe.package}-{version.split(':')[-1]}-{key}"
        stamp, stamp_text = folder / "complete", f"{version} {folder}\n"  # what CMake installs cannot be moved
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != stamp_text:
            started = time.monotonic()
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            work = self.root / "work" / recipe.package
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(parents=True)
            self.prefix, self.log = folder, folder / "log"
            debian.unpack(fetch(), work / "source")
            recipe(self).build(work / "source", version.split(":")[-1].split("-")[0].split(".dfsg")[0])
            self.install(work / "source", ("debian/copyright", "."), *((file, ".") for file in recipe.licences))
            shutil.rmtree(work)
            stamp.write_text(stamp_text, encoding="utf-8")
            self.say(f"{recipe.package} {version}: built in {time.monotonic() - started:.0f} s")
        self.prefixes[recipe.package] = folder
        return folder


class Recipe:
    package = ""
    needs: tuple = ()
    options: list = []
    licences: tuple = ()  # texts that Debian's description of the licence does not hold

    def __init__(self, builder):
        self.on = builder


class Yaml(Recipe):
    package = "libyaml"

    def build(self, source, version):
        build = self.on.cmake(source, "-DBUILD_SHARED_LIBS=OFF", "-DBUILD_TESTING=OFF", target="yaml")
        self.on.install(build, ("libyaml.a", "lib"))
        self.on.install(source, ("include/yaml.h", "include"))
        self.on.pkg_config("yaml-0.1", version, "-lyaml")


class Zlib(Recipe):
    package = "zlib"

    def build(self, source, version):
        self.on.run(source, "./configure", "--static", CFLAGS=f"{HARDENED} -fPIC")
        self.on.run(source, "make", f"-j{self.on.jobs}", "libz.a")
        self.on.install(source, ("libz.a", "lib"), ("zconf.h", "include"), ("zlib.h", "include"))


class Openssl(Recipe):
    package = "openssl"
    options = OPENSSL

    def build(self, source, version):
        self.on.run(source, "perl", "Configure", "linux-x86_64", "--prefix=/usr", "--libdir=lib", "--openssldir=/etc/ssl",
                    *HARDENED.split(), "-fPIC", *OPENSSL, CC=self.on.cc.name, PATH=f"{self.on.cc.parent}:{os.environ['PATH']}")
        self.on.run(source, "make", f"-j{self.on.jobs}", "build_generated",
                    PATH=f"{self.on.cc.parent}:{os.environ['PATH']}")
        self.on.run(source, "make", f"-j{self.on.jobs}", "libcrypto.a", "libssl.a",
                    PATH=f"{self.on.cc.parent}:{os.environ['PATH']}")
        self.on.install(source, ("libcrypto.a", "lib"), ("libssl.a", "lib"))
        shutil.copytree(source / "include/openssl", self.on.prefix / "include/openssl",
                        ignore=shutil.ignore_patterns("*.in"))


class Nghttp2(Recipe):
    package = "nghttp2"

    def build(self, source, version):
        build = self.on.cmake(source, "-DENABLE_LIB_ONLY=ON", "-DENABLE_STATIC_LIB=ON", "-DENABLE_SHARED_LIB=OFF",
                              "-DENABLE_STATIC_CRT=OFF")
        self.on.install(build, ("lib/libnghttp2.a", "lib"), ("lib/includes/nghttp2/nghttp2ver.h", "include/nghttp2"))
        self.on.install(source, ("lib/includes/nghttp2/nghttp2.h", "include/nghttp2"))


class Curl(Recipe):
    package = "curl"
    needs = ("zlib", "openssl", "nghttp2")
    options = CURL

    def build(self, source, version):
        build = self.on.cmake(source, *CURL)
        self.on.run(source, "cmake", "--install", build)


class Microhttpd(Recipe):
    """A shared library of its own, which who gets the wheel may replace: its licence, the LGPL, wants that."""

    package = "libmicrohttpd"
    options = MICROHTTPD
    licences = ("COPYING",)
    soname = "libmpijob-microhttpd.so.12"  # not the name that a system's has

    def build(self, source, version):
        # What autoconf made is in the source; it must not be made again because of the patches' times.
        tools = [f"{name}=:" for name in ("ACLOCAL", "AUTOCONF", "AUTOMAKE", "AUTOHEADER", "MAKEINFO")]
        self.on.run(source, "./configure", "--host=x86_64-linux-gnu", f"CFLAGS={HARDENED}", *MICROHTTPD)
        self.on.run(source / "src/microhttpd", "make", f"-j{self.on.jobs}", *tools, "libmicrohttpd.la")
        self.on.run(source, self.on.cc, "-shared", "-o", self.soname, f"-Wl,-soname,{self.soname}", "-Wl,-z,relro", "-Wl,-z,now",
                    "-Wl,--whole-archive", "src/microhttpd/.libs/libmicrohttpd.a", "-Wl,--no-whole-archive", "-lpthread", "-s")
        self.on.install(source, (self.soname, "lib"), ("src/include/microhttpd.h", "include"))
        (self.on.prefix / "lib/libmicrohttpd.so").symlink_to(self.soname)
        self.on.pkg_config("libmicrohttpd", version, "-lmicrohttpd")


RECIPES = (Yaml, Zlib, Openssl, Nghttp2, Curl, Microhttpd)


def provide_all(root, cc, key, update, say):
    """Have all dependencies; give back {package: (version, folder)}. Debian is asked for versions the first time, and when
    `update` is set; later the versions stay that were built."""
    root = pathlib.Path(root)
    builder = Builder(root, cc, key, say)
    versions, found, archive = root / "versions", {}, None
    known = dict(line.split() for line in versions.read_text(encoding="utf-8").splitlines()) \
        if versions.exists() and not update else {}
    for recipe in RECIPES:
        name, dsc = recipe.package, None
        if name not in known:
            archive = archive or debian.Archive(root / "archive")
            known[name], dsc = archive.download(name, say)

        def fetch():
            nonlocal archive
            if dsc:
                return dsc
            archive = archive or debian.Archive(root / "archive")
            version, file = archive.download(name, say)
            if version != known[name]:
                raise debian.Unavailable(f"{name} {known[name]} is no longer in the archive: take the new one with --update")
            return file
        found[name] = (known[name], builder.provide(recipe, known[name], fetch))
        versions.write_text("".join(f"{key} {value}\n" for key, value in known.items()), encoding="utf-8")
    return found
