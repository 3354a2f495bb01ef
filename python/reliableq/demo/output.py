"""The files that the pipeline leaves."""

import os
import shutil
from pathlib import Path
from urllib.parse import quote


class Output:
    """Their places, empty. Only what an earlier run left there is removed, whatever else the folder holds."""

    def __init__(self, folder: Path) -> None:
        folder = folder.absolute()
        self.file = folder / "shop.rq"
        self.url = f"file:{quote(str(self.file))}"
        self.parquet = folder / "totals.parquet"
        self.picture = folder / "orders.png"
        self.log = folder / "spark.log"
        folder.mkdir(parents=True, exist_ok=True)
        for directory in (self.file, self.parquet):
            shutil.rmtree(directory, ignore_errors=True)
        for file in (self.picture, self.log):
            file.unlink(missing_ok=True)


def shown(path: Path) -> str:
    """A path as a user types it here."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
