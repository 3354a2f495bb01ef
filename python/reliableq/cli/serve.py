"""`reliableq serve`: makes a place that others can connect to, and stays until it is asked to end."""

import click

from reliableq.cli import exits, place, serve_file, serve_server, show


@click.command(short_help="Serve queues: a file, or a server with the module.")
@click.option("--url", help="file:jobs.rq, redis://localhost:7000 or unix:///path. Before the subcommand or after it.")
@click.option("--server", metavar="PROGRAM", help="The server to run.  [default: redis-server or valkey-server]")
@click.option("--data", metavar="FOLDER", help="Where the server keeps its data.  [default: reliableq-PORT]")
@show.as_json
@click.argument("settings", metavar="[-- SETTING...]", nargs=-1)
def serve(url: str | None, server: str | None, data: str | None, as_json: bool, settings: tuple[str, ...]) -> int:
    """Serve queues at the URL until Ctrl-C or SIGTERM.

    For file:PATH, this process owns the file and answers all others that open it; while another one owns it, it says
    so and waits for a few seconds (?timeout= of the URL), then it fails. For redis://localhost:PORT
    or unix:///PATH, it is a redis-server or valkey-server with the module, which appends each change to a file; it
    takes further SETTINGs such as `-- --appendfsync always`. Without a URL, redis://127.0.0.1:6379.

    Its log goes to standard error. --json prints {"url", "pid"}, and for a server {"program", "data"}, when it starts.
    """
    wanted = url or place.of_group() or serve_server.DEFAULT
    if not wanted.startswith("file:"):
        serve_server.run(wanted, server, data, settings, as_json)
    if server or data or settings:
        raise click.UsageError("--server, --data and SETTINGs are for a server, not for a file")
    serve_file.run(wanted, as_json)
    return exits.DONE
