"""Whether time depends on secrets: `make test-ct`.

    check.py BINARY

BINARY is the example `constant_time` of the kernels. It runs under valgrind with secrets that count as
undefined, and its machine code is followed by `rows`. Both have to find the leaks that the example contains.
"""

import re
import subprocess
import sys

import rows

# All that valgrind 3.19 can run. If it learns more, this fails and should be made longer.
UNDER_VALGRIND = "aesni,avx2,portable"


def valgrind(*command: str) -> subprocess.CompletedProcess[str]:
    # Not `--error-exitcode`: the example counts the reports itself, since openings have exactly one each.
    options = ["--quiet", "--error-limit=no", "--num-callers=1"]
    return subprocess.run(["valgrind", *options, *command], capture_output=True, text=True)


def main(binary: str) -> int:
    done = subprocess.run([binary, "secrets", UNDER_VALGRIND], capture_output=True, text=True)
    assert done.returncode, "it does not notice that valgrind is missing"
    assert "without valgrind" in done.stderr, done.stderr
    for how in ("branch", "address"):
        done = valgrind(binary, "leak", how)
        assert done.returncode, f"a leaking {how} is not found"
        assert "DEPENDS ON SECRETS" in done.stdout, f"{done.stdout} {done.stderr}"
        print(f"valgrind, the example that leaks by {how}: found")
    done = subprocess.run([binary, "rows"], capture_output=True, text=True, check=True)
    source = {f"{table.split('::')[1]} {row}" for table, _, names in rows.tables() for row in names}
    assert source == set(done.stdout.splitlines()), f"not in the example: {source} {done.stdout}"
    done = valgrind(binary, "secrets", UNDER_VALGRIND)
    print(done.stdout, end="")
    places = set(re.findall(r"==\s+at 0x\w+: (.+) \(in ", done.stderr))
    print("valgrind's reports are all in:", *sorted(places))
    # That a message opened is public, and `open` branches on it. Nothing else does.
    opens = re.compile(r"<kernels::\w+::\w+( as constant_time::sealing::Sealing)?>::open$")
    bad = done.returncode != 0 or any(not opens.match(place) for place in places)
    if bad:
        print(done.stderr[-4000:])
    findings = rows.check(binary)
    print(*findings, f"{len(findings)} findings in the machine code", sep="\n")
    return 1 if bad or findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
