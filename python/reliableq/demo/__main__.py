"""Shows both parts, or the one that is named."""

import argparse
import sys
from pathlib import Path

from reliableq.demo import pipeline, story

PARTS = ("story", "pipeline")


def main(arguments: list[str] | None = None) -> None:
    """Ends the process with an error when something does not go as told."""
    parser = argparse.ArgumentParser(prog="python -m reliableq.demo", description="Shows what reliableq does.")
    parser.add_argument("part", nargs="?", choices=PARTS, help="one part alone")
    parser.add_argument(
        "--output", type=Path, default=Path("demo-output"), help="where the pipeline leaves its files (%(default)s)"
    )
    asked = parser.parse_args(arguments)
    if asked.part != "pipeline":
        story.main()
    if asked.part is None:
        print("\n")
    if asked.part != "story":
        pipeline.main(asked.output)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
