"""A data-flow analysis of secrets in x86-64 machine code, as objdump prints it.

A finding is a conditional jump whose flags may depend on a secret, an address whose registers may depend on
one, a division with such an operand, or a call from a loop. The code is not run, so the machine need not
support its instructions.

The analysis assigns a kind to every value. Where two paths meet, the value has the worse kind:

    int     the stack pointer at entry plus this number
    STACK   the stack pointer plus an unknown public number, which is an address in an array on the stack
    PLAIN   a pointer to public data: the two addresses and the length in `InOut`, or constants
    PUBLIC  a length, or a pointer to data. Values loaded through it are secret
    SECRET  any other value

Code that the rules do not cover is an error and is never skipped. The rules depend on memory safety: a value
loaded through a pointer to public data is public, for any public number that was added to the pointer.
"""

import heapq
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

PLAIN, STACK, PUBLIC, SECRET = "plain", "stack", "public", "secret"
Kind = int | str

# ---- registers and instructions ------------------------------------------------------------------

ARGUMENTS = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"]
WHOLE = {f"r{n}{size}": f"r{n}" for n in range(8, 16) for size in ("", "d", "w", "b")}
for x in "abcd":
    WHOLE |= dict.fromkeys([f"r{x}x", f"e{x}x", f"{x}x", f"{x}l", f"{x}h"], f"r{x}x")
for x in ("si", "di", "bp", "sp"):
    WHOLE |= dict.fromkeys([f"r{x}", f"e{x}", x, f"{x}l"], f"r{x}")
GENERAL_NAMES = set(WHOLE)
WHOLE |= {f"{size}mm{n}": f"v{n}" for n in range(32) for size in "xyz"} | {f"k{n}": f"k{n}" for n in range(8)}
# Writing one of these does not change the rest of the register.
NARROW = re.compile(r"([abcd]x|[abcd][lh]|[sd]il?|[sb]pl?|r\d+[wb])$")
# These 8 bits have a kind of their own, because of `set`.
LOWEST = re.compile(r"([abcd]l|[sd]il|[sb]pl|r\d+b)$")
SIZES = {"BYTE": 1, "WORD": 2, "DWORD": 4, "QWORD": 8, "XMMWORD": 16, "YMMWORD": 32, "ZMMWORD": 64}

NOTHING = {"nop", "data16", "cs", "endbr64", "vzeroupper", "int3", "ud2", "lfence"}
# Instructions that write their first operand without reading it, and no flags …
MOVES = {"mov", "movabs", "movzx", "movsx", "movsxd", "rorx", "shlx", "shrx", "sarx"}
# … or all flags.
FRESH = {"andn", "bzhi", "lzcnt", "tzcnt", "popcnt", "bextr", "blsr", "blsi", "blsmsk"}
CHANGES = {"add", "sub", "adc", "sbb", "and", "or", "xor", "neg", "imul", "bswap", "not", "inc", "dec"}
CHANGES |= {"shl", "shr", "sar", "rol", "ror", "shld", "shrd"}
COMPARES = {"cmp", "test", "bt"}
VECTOR_COMPARES = re.compile(r"(vptest|vtestp[sd]|vu?comis[sd]|k(or)?test[bwdq])$")
# Instructions whose time or addresses may depend on data.
NEVER = re.compile(r"v.*(gather|scatter|compress|expand|div|sqrt)")
READS_TARGET = re.compile(r"vpternlog|vpermi2|vpermt2|vfn?m|vpmadd52|vpdp|vpsh[lr]dv")
NO_RETURN = re.compile(r"9panicking|slice_index_fail|len_mismatch_fail|unwrap_failed|expect_failed")
# The distance between the stack above the point where a frame is aligned and the stack below it.
GAP = 1 << 20
COPIES = re.compile(r"<mem(cpy|move|set)@")


@dataclass
class Instruction:
    at: int
    name: str
    operands: list[str]
    text: str


@dataclass
class State:
    """The kinds of registers, flags and bytes of the stack before an instruction.

    "low rax" is the kind of the lowest byte of rax, and "number rax" the constant in it, if there is one.
    """

    registers: dict[str, Kind] = field(default_factory=dict)
    stack: dict[int, Kind] = field(default_factory=dict)

    def copy(self) -> "State":
        return State(dict(self.registers), dict(self.stack))

    def meet(self, other: "State") -> bool:
        """Merges the state of another path. Returns whether a kind became worse."""
        before = (dict(self.registers), dict(self.stack))
        for mine, theirs in ((self.registers, other.registers), (self.stack, other.stack)):
            for key in mine.keys() | theirs.keys():
                mine[key] = worst([mine.get(key, SECRET), theirs.get(key, SECRET)])
        return before != (self.registers, self.stack)


def worst(kinds: Iterable[Kind]) -> Kind:
    kinds = list(kinds)
    if not kinds:
        return PUBLIC
    if all(kind == kinds[0] for kind in kinds):
        return kinds[0]
    if all(on_stack(kind) for kind in kinds):
        return STACK
    return SECRET if SECRET in kinds or any(on_stack(kind) for kind in kinds) else PUBLIC


def on_stack(kind: Kind) -> bool:
    return kind == STACK or isinstance(kind, int)


# ---- one function --------------------------------------------------------------------------------


class Unknown(Exception):
    """Raised for code that these rules do not cover. It must be examined and not skipped."""


class Function:
    """The analysis of `code`, and of `callees` (by address) where they are called."""

    def __init__(
        self,
        name: str,
        code: list[Instruction],
        arguments: list[Kind],
        callees: dict[int, list[Instruction]] | None = None,
    ) -> None:
        self.callees = callees or {}
        self.aligned: int | None = None
        # Flags are not passed to functions. They are public, because a `dec` at the beginning
        # preserves one.
        entry = State({"rsp": 0, "flags": PUBLIC})
        for place, kind in zip([*ARGUMENTS, *range(8, 8 * 99, 8)], arguments, strict=False):
            if isinstance(place, str):
                entry.registers |= {place: kind, f"low {place}": kind}
            else:
                entry.stack |= {place + byte: kind for byte in range(8)}
        # Bytes of the stack that are stored from general registers, and never zeroed, are registers
        # that the compiler spilled. They are not part of an array, since arrays filled by index
        # hold secrets here and are wiped.
        self.scalars: set[int] = set()
        while True:
            self.stored: dict[range, set[bool]] = {}
            self.follow(name, code, entry.copy())
            found = {byte for place, scalar in self.stored.items() if True in scalar for byte in place}
            found -= {byte for place, scalar in self.stored.items() if False in scalar for byte in place}
            if found == self.scalars:
                break
            self.scalars = found

    def follow(self, name: str, code: list[Instruction], entry: State) -> None:
        """Analyses all paths from the first instruction on, which begins with the state `entry`."""
        self.name, self.code = name, code
        self.index = {instruction.at: i for i, instruction in enumerate(code)}
        self.findings: dict[int, str] = {}
        self.states = {0: entry}
        self.end: State | None = None
        work = [0]
        while work:
            # In the order of the code, so that paths meet before the analysis continues after them.
            i = heapq.heappop(work)
            after = self.step(self.states[i].copy(), code[i])
            if code[i].name == "ret":
                self.end = self.end or after.copy()
                self.end.meet(after)
            for target in self.next(i):
                if target not in self.states:
                    self.states[target] = after.copy()
                elif not self.states[target].meet(after):
                    continue
                if target not in work:
                    heapq.heappush(work, target)

    def next(self, i: int) -> list[int]:
        """Returns the possible next instructions."""
        name, text = self.code[i].name, self.code[i].text
        if name in {"ret", "ud2"} or (name == "call" and NO_RETURN.search(text)):
            return []
        if name.startswith("j"):
            target = re.match(r"[0-9a-f]+$", self.code[i].operands[0].split(" ")[0])
            if not target or int(target[0], 16) not in self.index:
                raise Unknown(f"{self.name}: {text}")
            if name == "jmp":
                return [self.index[int(target[0], 16)]]
            return [self.index[int(target[0], 16)], i + 1]
        return [i + 1]

    def find(self, instruction: Instruction, kind: Kind, what: str) -> None:
        if kind == SECRET:
            self.findings[instruction.at] = f"{self.name}: {instruction.at:x} {instruction.text}: {what}"

    def address(self, state: State, instruction: Instruction, operand: str) -> tuple[Kind, int]:
        """Returns the kind of an address and the number of accessed bytes, which is 0 for `lea`."""
        inside = re.search(r"\[(.*?)\]", operand)
        if not inside or ":" in operand:
            raise Unknown(f"{self.name}: {instruction.text}")
        size = SIZES.get(operand.split(" ")[0], 0)
        kinds: list[Kind] = []
        offset = 0
        for sign, part in re.findall(r"([+-]?)([^+-]+)", inside[1]):
            register, _, _ = part.partition("*")
            if register == "rip":
                return PLAIN, size
            if register in WHOLE:
                kinds.append(state.registers.get(WHOLE[register], SECRET))
            else:
                offset += int(part, 16) * (-1 if sign == "-" else 1)
        # A displacement has 64 bits here and may be negative.
        offset = (offset + (1 << 63)) % (1 << 64) - (1 << 63)
        if len(kinds) == 1 and isinstance(kinds[0], int):
            place = kinds[0] + offset
            if size and instruction.name == "mov" and operand == instruction.operands[0]:
                scalar = instruction.operands[1] in GENERAL_NAMES
                self.stored.setdefault(range(place, place + size), set()).add(scalar)
            return place, size
        return self.sum(kinds), size

    @staticmethod
    def sum(kinds: list[Kind]) -> Kind:
        """Returns the kind of a sum."""
        special = [kind for kind in kinds if kind != PUBLIC]
        if SECRET in kinds or len(special) > 1:
            return SECRET
        if special and on_stack(special[0]):
            return STACK
        return special[0] if special else PUBLIC

    def read(self, state: State, instruction: Instruction, operand: str) -> Kind:
        if "[" in operand:
            kind, size = self.address(state, instruction, operand)
            if not size:
                raise Unknown(f"{self.name}: {instruction.text}")
            if isinstance(kind, int):
                return worst(state.stack.get(kind + byte, SECRET) for byte in range(size))
            self.find(instruction, kind, "reads from an address that may depend on a secret")
            return PUBLIC if kind == PLAIN else SECRET
        register = operand.split("{")[0]
        if LOWEST.match(register):
            kind = state.registers.get(f"low {WHOLE[register]}", SECRET)
        elif register in WHOLE:
            kind = state.registers.get(WHOLE[register], SECRET)
        elif re.match(r"(0x)?[0-9a-f]+$", operand):
            kind = PUBLIC
        else:
            raise Unknown(f"{self.name}: {instruction.text}")
        masks = re.findall(r"\{(k\d)\}", operand)
        return worst([kind, *(state.registers.get(mask, SECRET) for mask in masks)]) if masks else kind

    def write(self, state: State, instruction: Instruction, operand: str, kind: Kind) -> None:
        if "[" in operand:
            place, size = self.address(state, instruction, operand)
            if not size:
                raise Unknown(f"{self.name}: {instruction.text}")
            if isinstance(place, int):
                masked = "{k" in operand
                for byte in range(place, place + size):
                    state.stack[byte] = worst([kind, state.stack.get(byte, SECRET)]) if masked else kind
                if not masked:
                    state.stack[place] = self.lowest(state, instruction, kind)
            elif place == STACK:
                if kind != PUBLIC:
                    self.spoil(state)
            else:
                self.find(instruction, place, "writes to an address that may depend on a secret")
                if on_stack(kind):
                    raise Unknown(f"{self.name}: {instruction.text}: stores an address of the stack")
                if place == PLAIN:
                    self.find(instruction, kind, "writes a secret among public data")
            return
        register = operand.split("{")[0]
        whole = WHOLE[register]
        low = self.lowest(state, instruction, kind)
        if NARROW.match(register) or ("{k" in operand and "{z}" not in operand):
            kind = worst([kind, state.registers.get(whole, SECRET)])
        if not whole.startswith(("v", "k")):
            keeps_more = NARROW.match(register) and not LOWEST.match(register)
            state.registers[f"low {whole}"] = kind if keeps_more else low
            number = instruction.operands[-1]
            known = instruction.name == "mov" and re.match(r"0x[0-9a-f]+$", number)
            known = known and not NARROW.match(register)
            state.registers[f"number {whole}"] = int(number, 16) if known else SECRET
            if instruction.name == "mov" and (copies := COPIES.search(instruction.text)):
                state.registers[f"number {whole}"] = copies[0]  # called more than once, from a register
        state.registers[whole] = kind

    def lowest(self, state: State, instruction: Instruction, kind: Kind) -> Kind:
        """Returns the kind of the lowest byte of a result: `mov` copies a flag with its register."""
        source = instruction.operands[-1]
        if kind != SECRET or instruction.name != "mov":
            return kind
        if "[" in source:
            place, _ = self.address(state, instruction, source)
            return state.stack.get(place, SECRET) if isinstance(place, int) else kind
        return state.registers.get(f"low {WHOLE[source]}", SECRET) if re.match(r"[er]", source) else kind

    def spoil(self, state: State) -> None:
        """Marks the arrays of this frame as secret after a write to an unknown index.

        No array here holds addresses.
        """
        for byte, old in state.stack.items():
            if old == PUBLIC and byte < 0 and byte not in self.scalars:
                state.stack[byte] = SECRET

    def step(self, state: State, instruction: Instruction) -> State:
        name, operands = instruction.name, instruction.operands
        registers = state.registers

        def kinds(operands: list[str]) -> list[Kind]:
            return [self.read(state, instruction, operand) for operand in operands]

        def flags(kind: Kind) -> None:
            registers["flags"] = SECRET if kind == SECRET else PUBLIC

        old = registers.get("flags", SECRET)
        if name in NOTHING or name in {"jmp", "ret"} or instruction.text == "xchg ax,ax":
            pass
        elif name.startswith("j"):
            if name in {"jrcxz", "jecxz"}:
                raise Unknown(f"{self.name}: {instruction.text}")
            self.find(instruction, old, "branches on flags that may depend on a secret")
        elif name == "call":
            known = registers.get(f"number {WHOLE.get(instruction.operands[0], '')}", SECRET)
            called = known if isinstance(known, str) and known != SECRET else instruction.text
            if COPIES.search(called):
                for register in ("rdi", "rdx") if "memset" in called else ("rdi", "rsi", "rdx"):
                    kind = registers.get(register, SECRET)
                    self.find(instruction, kind, f"copies with a secret in {register}")
                target = registers.get("rdi", SECRET)
                if isinstance(target, int):  # at most to the end of this frame
                    end = self.aligned if self.aligned is not None and target < self.aligned else 0
                    size = registers.get("number rdx", SECRET)
                    end = target + size if isinstance(size, int) else end
                    self.stored.setdefault(range(target, end), set()).add(False)
                    hit = (byte for byte in range(target, end) if byte not in self.scalars)
                    state.stack |= dict.fromkeys(hit, SECRET)
                elif target == STACK:
                    self.spoil(state)
                for register in ("rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "flags"):
                    registers |= {part + register: SECRET for part in ("", "low ", "number ")}
            elif not NO_RETURN.search(instruction.text):
                return self.call(state, instruction)
        elif name in {"push", "pop"}:
            top = registers["rsp"]
            if not isinstance(top, int):
                raise Unknown(f"{self.name}: the stack pointer is unknown at {instruction.text}")
            if name == "push":
                state.stack |= dict.fromkeys(range(top - 8, top), kinds(operands)[0])
                registers["rsp"] = top - 8
            else:
                value = worst(state.stack.get(top + byte, SECRET) for byte in range(8))
                self.write(state, instruction, operands[0], value)
                registers["rsp"] = top + 8
        elif name == "lea":
            kind, _ = self.address(state, instruction, operands[1])
            self.write(state, instruction, operands[0], kind)
        elif name in COMPARES or VECTOR_COMPARES.match(name):
            flags(SECRET if SECRET in kinds(operands) else PUBLIC)
        elif name.startswith("set"):
            self.write(state, instruction, operands[0], old)
        elif name.startswith("cmov"):
            self.write(state, instruction, operands[0], worst([*kinds(operands), old]))
        elif name in {"div", "idiv", "mul"}:
            kind = worst([*kinds(operands), registers.get("rax", SECRET), registers.get("rdx", SECRET)])
            if name != "mul":
                self.find(instruction, kind, "divides an operand that may depend on a secret")
            for register in ("rax", "rdx"):
                registers |= {register: kind, f"low {register}": kind, f"number {register}": SECRET}
            flags(kind)
        elif name == "mulx":
            # Both halves of the product; it changes no flags.
            for operand in operands[:2]:
                self.write(state, instruction, operand, SECRET)
        elif name in MOVES or name in FRESH:
            kind = worst(kinds(operands[1:]))
            if kind != PUBLIC and name not in {"mov", "movabs"}:
                kind = SECRET
            self.write(state, instruction, operands[0], kind)
            if name in FRESH:
                flags(kind)
        elif name in CHANGES and (name != "imul" or len(operands) > 1):
            found = kinds(operands)
            kind = self.changed(name, operands, found, old)
            self.write(state, instruction, operands[0], kind)
            if name not in {"bswap", "not"}:
                # Instructions that change only some flags, or perhaps none, preserve the others.
                partly = name in {"inc", "dec", "rol", "ror"} or "cl" in operands[1:]
                flags(worst([kind if isinstance(kind, str) else PUBLIC, old]) if partly else kind)
        elif name[0] in "vk" and not NEVER.match(name):
            same = "xor" in name and len(operands) == 3 and operands[1] == operands[2]
            reads = operands[0 if READS_TARGET.match(name) else 1 :]
            masks = re.findall(r"\{(k\d)\}", operands[0])
            found = [PUBLIC] if same else kinds(reads) + [registers.get(mask, SECRET) for mask in masks]
            kind = SECRET if SECRET in found or any(on_stack(kind) for kind in found) else PUBLIC
            self.write(state, instruction, operands[0], kind)
        else:
            raise Unknown(f"{self.name}: {instruction.text}")
        return state

    def call(self, state: State, instruction: Instruction) -> State:
        """Returns the state after a call. The callee is analysed in place and can access this frame."""
        target = re.match(r"[0-9a-f]+$", instruction.operands[0].split(" ")[0])
        code = self.callees.get(int(target[0], 16)) if target else None
        top = state.registers["rsp"]
        if code is None or not isinstance(top, int):
            raise Unknown(f"{self.name}: {instruction.text}")
        state.stack |= dict.fromkeys(range(top - 8, top), PUBLIC)
        state.registers["rsp"] = top - 8
        callee = object.__new__(Function)
        callee.callees, callee.aligned = {}, self.aligned  # one level of calls is sufficient
        callee.stored, callee.scalars = self.stored, self.scalars
        callee.follow(f"{self.name}, in a callee", code, state)
        self.findings |= callee.findings
        if callee.end is None or callee.end.registers["rsp"] != top - 8:
            raise Unknown(f"{self.name}: {instruction.text} does not return")
        callee.end.registers["rsp"] = top
        return callee.end

    def changed(self, name: str, operands: list[str], found: list[Kind], flags: Kind) -> Kind:
        """Returns the kind of the first operand after an arithmetic instruction."""
        if name in {"xor", "sub"} and operands[0] == operands[1]:
            return PUBLIC
        constant = len(operands) == 2 and re.match(r"0x[0-9a-f]+$", operands[1])
        if isinstance(found[0], int) and constant and name in {"add", "sub"}:
            n = (int(operands[1], 16) + (1 << 63)) % (1 << 64) - (1 << 63)
            return found[0] + (n if name == "add" else -n)
        if on_stack(found[0]) and name in {"add", "sub"} and (constant or found[1] == PUBLIC):
            return STACK
        if name == "and" and operands[0] == "rsp" and isinstance(found[0], int) and constant:
            # The size of the alignment gap is unknown, so the stack below it gets its own numbers,
            # far away.
            self.aligned = found[0] - GAP
            return self.aligned
        if name == "imul" and len(operands) == 3:
            found = found[1:]
        if name in {"adc", "sbb"}:
            found = [*found, flags]
        if SECRET in found:
            return SECRET
        if all(kind == PUBLIC for kind in found):
            return PUBLIC
        # Pointers to public data: only operations that cannot turn one pointer into another.
        if name == "add" or (name == "sub" and constant):
            return self.sum(found)
        return PUBLIC if name == "sub" and found[1] == PUBLIC and found[0] == PLAIN else SECRET

    def loops(self) -> list[set[int]]:
        """Returns the instructions of each loop. There is one loop for each target of a backward jump."""
        before: dict[int, list[int]] = {i: [] for i in self.states}
        back: list[tuple[int, int]] = []
        path: dict[int, Iterator[int]] = {}
        seen: set[int] = set()
        work = [0]
        while work:
            i = work[-1]
            if i not in path:
                seen.add(i)
                path[i] = iter(self.next(i))
            for target in path[i]:
                before[target].append(i)
                if target in path:
                    back.append((i, target))
                elif target not in seen:
                    work.append(target)
                    break
            else:
                del path[work.pop()]
        loops: dict[int, set[int]] = {}
        for tail, head in back:
            body, work = {head}, [tail]
            while work:
                i = work.pop()
                if i not in body:
                    body.add(i)
                    work.extend(before[i])
            loops.setdefault(head, set()).update(body)
        return list(loops.values())

    def summary(self) -> str:
        """Returns a line with the counts of the function, and adds calls from loops to the findings."""
        loops = self.loops()
        inside = set().union(*loops)
        inner = set().union(*(a for a in loops if not any(b < a for b in loops)))
        code, here = self.code, sorted(self.states)

        def spills(i: int) -> bool:
            operands = code[i].operands
            return len(operands) == 2 and "[rsp" in operands[0] and WHOLE.get(operands[1], "").startswith("v")

        def leaves_vectors(i: int) -> bool:
            return code[i].name[0] in "vk" and bool(code[i].operands) and code[i].operands[0] in GENERAL_NAMES

        for i in inside:
            if code[i].name == "call" and self.next(i):
                self.findings[code[i].at] = f"{self.name}: {code[i].at:x} {code[i].text}: a call from a loop"
        counts = [
            len(here),
            sum(code[i].name.startswith("j") and code[i].name != "jmp" for i in here),
            len(loops),
            sum(map(leaves_vectors, here)),
            sum(map(leaves_vectors, inner)),
            sum(map(spills, here)),
            sum(map(spills, inner)),
        ]
        return f"{self.name:32}" + "".join(f"{n:8}" for n in counts)


# ---- what objdump prints -------------------------------------------------------------------------


def parse(text: str) -> dict[str, list[Instruction]]:
    """Returns the functions in the output of `objdump -d -M intel --no-show-raw-insn`."""
    functions: dict[str, list[Instruction]] = {}
    code: list[Instruction] = []
    for line in text.splitlines():
        if head := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            code = functions.setdefault(head[1], [])
        elif parts := re.match(r"\s+([0-9a-f]+):\s+(\S.*)", line):
            text = re.sub(r"\s+", " ", re.sub(r"^((data16|cs) )+", "", parts[2])).strip()
            name, _, rest = text.partition(" ")
            operands = re.sub(r"\s*#.*", "", rest).split(",") if rest else []
            code.append(Instruction(int(parts[1], 16), name, [o.strip() for o in operands], text))
    return functions
