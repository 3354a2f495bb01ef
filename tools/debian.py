"""Downloads packages of any Debian release, without root: through an apt of its own, with its own sources, lists and
cache. Nothing of the system's is touched."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Unavailable(Exception):
    """Something cannot be had, with the reason and the remedy."""


def say(text: str) -> None:
    print(f"reliableq: {text}", file=sys.stderr, flush=True)


def run(*command: str | Path) -> str:
    """Runs a command and returns its output."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-3:]
        raise Unavailable(f"'{command[0]}' failed: {' '.join(last)}")
    return done.stdout


def mirror() -> str:
    """The Debian mirror that this system's apt uses."""
    if chosen := os.environ.get("DEBIAN_MIRROR"):
        return chosen
    if shutil.which("apt-get") is None or platform.freedesktop_os_release().get("ID") != "debian":
        raise Unavailable("this is not Debian, so its apt knows no Debian mirror")
    sites = run("apt-get", "indextargets", "--format", "$(SITE)", "Component: main").split()
    sites = [site for site in sites if "security" not in site]
    if not sites:
        raise Unavailable("this system's apt knows no mirror")
    return max(sites, key=lambda site: site.rstrip("/").endswith("/debian"))


def download(package: str, release: str, scratch: Path) -> list[Path]:
    """Downloads a package and its dependencies into a folder, as if nothing were installed."""
    if not Path(KEYRING).exists():
        raise Unavailable("Debian's keys are missing: install the package debian-archive-keyring")
    for folder in ("lists/partial", "cache/archives/partial"):
        (scratch / folder).mkdir(parents=True)
    (scratch / "status").touch()
    (scratch / "sources.list").write_text(f"deb [signed-by={KEYRING}] {mirror()} {release} main\n")
    settings = {
        "Dir::Etc::SourceList": scratch / "sources.list",
        "Dir::Etc::SourceParts": "-",
        "Dir::Etc::Preferences": "-",
        "Dir::Etc::PreferencesParts": "-",
        "Dir::State::Lists": scratch / "lists",
        "Dir::State::Status": scratch / "status",
        "Dir::Cache": scratch / "cache",
        "APT::Sandbox::User": "",
        "APT::Install-Recommends": "false",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        "Debug::NoLocking": "true",
    }
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in settings.items())]
    run(*apt, "update")
    run(*apt, "install", "--yes", "--download-only", package)
    return sorted((scratch / "cache" / "archives").glob("*.deb"))
