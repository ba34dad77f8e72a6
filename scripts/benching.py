"""What the benchmarks beside other tools share: the load of others, texts of numbers, tables."""

import os
import re
import resource
import statistics
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = (ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "peers").resolve()


def busy_seconds():
    """Processor time of the whole machine since its start, idle time left out."""
    fields = [int(text) for text in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    user, nice, system, _idle, _wait, interrupts, softirqs, steal = fields
    return (user + nice + system + interrupts + softirqs + steal) / os.sysconf("SC_CLK_TCK")


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def other_load(work):
    """Does the work; returns how many processors something else took meanwhile."""
    start, busy, own = time.monotonic(), busy_seconds(), children_seconds()
    work()
    others = busy_seconds() - busy - (children_seconds() - own)
    return max(others, 0) / (time.monotonic() - start)


def with_range(values):
    return f"{short(statistics.median(values))} ({short(min(values))} to {short(max(values))})"


def short(value):
    """Three digits that count, and no exponent."""
    if value >= 100:
        return grouped(round(value))
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def grouped(number):
    return f"{number:,}".replace(",", " ")


def processor():
    """Its name, where the kernel says it."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return model[1] if model else os.uname().machine


def first_line(command):
    """What a program prints first; nothing where it is missing or fails."""
    try:
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
    return output.split("\n")[0]


def without_places(reason):
    """A reason without this machine's paths and the hosts that it asked."""
    reason = re.sub(r"\S*/\S*|\b[\w-]+\.(io|org)\b", "...", reason)
    return reason if len(reason) <= 120 else reason[:117] + "..."


def as_text(table):
    widths = [max(map(len, column)) for column in zip(*table)]
    lines = []
    for name, *cells in table:
        aligned = [cell.rjust(width) for cell, width in zip(cells, widths[1:])]
        lines.append("  ".join([name.ljust(widths[0]), *aligned]))
    return "\n".join(lines)


def as_markdown(table):
    heading, *body = ["| " + " | ".join(cells) + " |" for cells in table]
    rule = "|---" + "|---:" * (len(table[0]) - 1) + "|"
    return "\n".join([heading, rule, *body])


def write_between(document, begin, end, text):
    """Puts a text between two marks of a document, in place of what stands there."""
    before, rest = document.read_text().split(begin, 1)
    _, after = rest.split(end, 1)
    document.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")
