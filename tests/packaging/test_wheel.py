"""The wheel that `make wheel` leaves in dist/, in a virtualenv of its own."""

import re
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULE = "reliableq/librq_module.so"


@pytest.fixture(scope="module")
def wheel() -> Path:
    wheels = list((ROOT / "dist").glob("reliableq-*.whl"))
    assert len(wheels) == 1, f"one wheel expected in dist/, found {len(wheels)}: run `make wheel`"
    return wheels[0]


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtualenv with the wheel and nothing else, made without a network."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    run(folder, "python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel))
    return folder


@pytest.fixture
def with_dependencies(environment: Path) -> Iterator[Path]:
    """The virtualenv while it sees the packages of this one, but not the package of the clone: .pth files of a folder
    that is itself named by one are not followed."""
    (packages,) = environment.glob("lib/python*/site-packages")
    link = packages / "dependencies.pth"
    link.write_text(sysconfig.get_path("purelib"))
    yield environment
    link.unlink()


def run(folder: Path, program: str, *arguments: str) -> str:
    """Runs a program of the virtualenv outside the clone, so that only the wheel is seen."""
    return subprocess.check_output([f"{folder}/bin/{program}", *arguments], cwd=folder, text=True)


def test_one_wheel_for_every_python(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name


def test_package_is_imported_from_the_wheel_without_its_dependencies(environment: Path) -> None:
    found = run(environment, "python", "-c", "import reliableq, reliableq._native; print(reliableq.__file__)")
    assert Path(found.strip()).is_relative_to(environment)


def test_module_path_names_a_file_of_the_wheel(with_dependencies: Path) -> None:
    path = Path(run(with_dependencies, "reliableq", "module-path").strip())
    assert path.is_file()
    assert path.is_relative_to(with_dependencies / "lib")


def test_wheel_carries_the_module_that_was_built(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read(MODULE) == (ROOT / "target" / "release" / "librq_module.so").read_bytes()


def test_wheel_claims_no_older_libc_than_its_module_needs(wheel: Path) -> None:
    claimed = re.search(r"manylinux_2_(\d+)", wheel.name)
    if claimed is None:
        return  # made for this machine only
    with zipfile.ZipFile(wheel) as archive:
        needed = re.findall(rb"GLIBC_2\.(\d+)", archive.read(MODULE))
    assert max(map(int, needed)) <= int(claimed[1])


def test_wheel_is_licensed_typed_and_found_by_spark(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert "reliableq/py.typed" in names
    assert "pyspark_reliableq/__init__.py" in names, "Spark finds the source by this"
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
