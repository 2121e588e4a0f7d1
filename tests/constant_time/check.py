"""Tests that time does not depend on secrets (`make -C tests ct`).

    check.py BINARY

BINARY is the example `constant_time` of the kernels. It runs under valgrind with secrets that are declared
undefined, and `variants` analyses its machine code. Both must find the leaks that the example contains on
purpose.
"""

import re
import subprocess
import sys

import variants

# The variants that valgrind 3.19 can run. If a later version can run more, the check fails and this
# list must grow.
UNDER_VALGRIND = "aesni,avx2,portable"


def valgrind(*command: str) -> subprocess.CompletedProcess[str]:
    # `--error-exitcode` is not used, because the example counts the reports: each call of `open`
    # has one.
    options = ["--quiet", "--error-limit=no", "--num-callers=1"]
    return subprocess.run(["valgrind", *options, *command], capture_output=True, text=True)


# claim: timing-kernels, timing-tools, tested-secrets
def main(binary: str) -> int:
    done = subprocess.run([binary, "secrets", UNDER_VALGRIND], capture_output=True, text=True)
    assert done.returncode, "the example does not notice that it runs without valgrind"
    assert "without valgrind" in done.stderr, done.stderr
    for how in ("branch", "address"):
        done = valgrind(binary, "leak", how)
        assert done.returncode, f"the leak by {how} was not found"
        assert "DEPENDS ON SECRETS" in done.stdout, f"{done.stdout} {done.stderr}"
        print(f"valgrind, the example that leaks by {how}: found")
    done = subprocess.run([binary, "variants"], capture_output=True, text=True, check=True)
    source = {f"{table.split('::')[1]} {name}" for table, _, names in variants.tables() for name in names}
    assert source == set(done.stdout.splitlines()), f"expected the variants {source}, found {done.stdout}"
    done = valgrind(binary, "secrets", UNDER_VALGRIND)
    print(done.stdout, end="")
    places = set(re.findall(r"==\s+at 0x\w+: (.+) \(in ", done.stderr))
    print("functions with reports of valgrind:", *sorted(places))
    # The result of authentication is public, and only `open` and `open_on`, for threads, branch on
    # it.
    ours = r"kernels::(?:\w+::)+\w+|constant_time::sealing::\w+<.*>"
    opens = re.compile(rf"<({ours})( as constant_time::sealing::Sealing)?>::open(_on)?$")
    bad = done.returncode != 0 or any(not opens.match(place) for place in places)
    if bad:
        print(done.stderr[-4000:])
    findings = variants.check(binary)
    print(*findings, f"{len(findings)} findings in the machine code", sep="\n")
    return 1 if bad or findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
