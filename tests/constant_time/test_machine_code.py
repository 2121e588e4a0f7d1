"""Tests of the analysis of machine code: leaks that it must find, and code that it must accept."""

import pytest
from machine_code import PLAIN, PUBLIC, SECRET, Function, Instruction, Unknown, parse
from variants import WIDTH, kinds_of, number, tables

MEMCPY = "call QWORD PTR [rip+0x5] # 99 <memcpy@GLIBC_2.14>"
MEMSET = "QWORD PTR [rip+0x5] # 99 <memset@GLIBC_2.2.5>"


def code(lines: str, at: int = 0) -> list[Instruction]:
    """Parses instructions that are 8 bytes long, beginning at `at`."""
    text = "\n".join(f"  {at + 8 * i:x}:\t{line.strip()}" for i, line in enumerate(lines.split(";")))
    return parse(f"{at:016x} <f>:\n{text}\n")["f"]


# Functions that may be called. The words of the caller are 8 bytes further up for them.
CALLEES = {
    0x1000: "mov QWORD PTR [rsp-0x38],0x0; ret",
    0x2000: "mov QWORD PTR [rsp-0x38],rcx; ret",
    0x3000: "test rcx,rcx; je 3010; ret",
    0x4000: "call 1000 <wipes>; ret",
    0x5000: "ud2",
}


def findings(lines: str) -> list[str]:
    """Returns the findings for a function of a pointer to secrets, an `InOut`, a length and a secret."""
    callees = {at: code(lines, at) for at, lines in CALLEES.items()}
    function = Function("f", code(lines), [PUBLIC, PLAIN, PUBLIC, SECRET], callees)
    function.summary()
    return list(function.findings.values())


LEAKS = {
    "a branch": "mov rax,QWORD PTR [rdi]; test rax,rax; je 18; ret",
    "a branch on an argument": "cmp rcx,0x5; ja 10; ret",
    "a branch on a vector": "vmovdqu xmm0,XMMWORD PTR [rdi]; vptest xmm0,xmm0; jne 18; ret",
    "a branch on a mask": "kxorq k1,k1,k1; vptestmb k1,zmm0,zmm0; kortestq k1,k1; jb 20; ret",
    "a table": "movzx eax,BYTE PTR [rdi]; mov al,BYTE PTR [rdi+rax*1]; ret",
    "a table of constants": "lea rdx,[rip+0x5] # 99; mov eax,DWORD PTR [rdx+rcx*4]; ret",
    "where it writes": "movzx eax,BYTE PTR [rdi]; mov BYTE PTR [rdi+rax*1],0x0; ret",
    "a lane": "vmovdqu xmm0,XMMWORD PTR [rdi]; vmovq rax,xmm0; mov rdx,QWORD PTR [rax]; ret",
    "through the stack": "mov rax,QWORD PTR [rdi]; mov QWORD PTR [rsp-0x8],rax; mov edx,DWORD PTR [rsp-0x4];"
    "test dl,dl; js 28; ret",
    "in the other bytes of a register": "mov eax,DWORD PTR [rdi]; mov al,0x1; mov DWORD PTR [rsp-0x8],eax;"
    "cmp BYTE PTR [rsp-0x7],0x0; je 0; ret",
    "in all bytes of a register": "mov eax,DWORD PTR [rdi]; mov al,0x1; mov DWORD PTR [rsp-0x8],eax;"
    "mov edx,DWORD PTR [rsp-0x8]; test edx,edx; je 0; ret",
    "through flags": "cmp QWORD PTR [rdi],0x1; sbb rax,rax; mov rdx,QWORD PTR [rdi+rax*1]; ret",
    "a chosen address": "cmp QWORD PTR [rdi],0x1; cmove rdx,rsi; mov rdx,QWORD PTR [rdx]; ret",
    "a product": "mulx rcx,rax,rdi; mov cl,BYTE PTR [rdi+rax*1]; ret",
    "a division": "mov rax,rcx; xor edx,edx; div rdi; ret",
    "how much is copied": f"mov rdx,rcx; {MEMCPY}; ret",
    "how much is cleared": f"mov rbx,{MEMSET}; mov rdx,rcx; call rbx; ret",
    "in a second iteration": "xor eax,eax; test eax,eax; je 28; mov eax,DWORD PTR [rdi]; jmp 8; ret",
    "a secret put into InOut": "mov rax,QWORD PTR [rdi]; mov QWORD PTR [rsi],rax; ret",
    "one pointer made of another": "mov rax,rdi; sub rax,rsi; add rax,rsi; mov rax,QWORD PTR [rax];"
    "test eax,eax; jne 30; ret",
    "a call from a loop": f"{MEMCPY}; jmp 0",
    "somewhere in an array on the stack": "mov QWORD PTR [rsp-0x48],0x0; vmovdqu xmm0,XMMWORD PTR [rdi];"
    "vmovdqu XMMWORD PTR [rsp+rdx*1-0x48],xmm0; mov rax,QWORD PTR [rsp-0x48]; test rax,rax; je 0; ret",
    "where in an array on the stack": "mov QWORD PTR [rsp+rcx*1-0x48],0x0; ret",
    "the contents of an array on the stack": "mov rax,QWORD PTR [rsp+rdx*1-0x48];"
    "mov al,BYTE PTR [rdx+rax*1]; ret",
    "in an aligned frame": "mov rbp,rsp; and rsp,0xffffffffffffffc0; mov QWORD PTR [rsp-0x8],rcx;"
    "mov rax,QWORD PTR [rsp-0x8]; mov al,BYTE PTR [rdi+rax*1]; mov rsp,rbp; ret",
    "in a callee": "call 3000 <branches>; ret",
    "through a callee": "mov QWORD PTR [rsp-0x40],rdx; call 2000 <fills>; mov rax,QWORD PTR [rsp-0x40];"
    "mov al,BYTE PTR [rdi+rax*1]; ret",
    "overwritten by a copy of unknown length": "mov QWORD PTR [rsp-0x40],0x0; lea rdi,[rsp-0x48]; "
    f"{MEMCPY}; mov rax,QWORD PTR [rsp-0x40]; test rax,rax; je 0; ret",
}

FINE = {
    "lengths and addresses": "mov r8,QWORD PTR [rsi+0x10]; mov r9,QWORD PTR [rsi];"
    "vmovdqu ymm0,YMMWORD PTR [r9+r8*1-0x20]; vmovdqu YMMWORD PTR [r9],ymm0; sub r8,0x20; jne 10; ret",
    "InOut copied by a vector": "vmovups xmm0,XMMWORD PTR [rsi]; vmovups XMMWORD PTR [rsp-0x18],xmm0;"
    "mov rax,QWORD PTR [rsp-0x18]; vmovdqu xmm0,XMMWORD PTR [rax]; ret",
    "a selection": "mov rax,QWORD PTR [rdi]; test rax,rax; cmove rax,rcx; ret",
    "saved registers": "push rbx; mov rbx,QWORD PTR [rdi]; pop rbx; xor eax,eax; test eax,eax; je 0; ret",
    "one byte of a register": "cmp rdx,0x8; setb r11b; test r11b,r11b; je 20; ret",
    "one byte of a register, through the stack": "mov al,0x1; mov DWORD PTR [rsp-0x8],eax;"
    "mov edx,DWORD PTR [rsp-0x8]; mov ecx,edx; test cl,cl; je 0; ret",
    "an array on the stack wiped by index": "xor eax,eax; mov QWORD PTR [rsp-0x8],rdx; lea rsi,[rsp-0x48];"
    "mov QWORD PTR [rsi+rax*1],0x0; vmovdqu xmm0,XMMWORD PTR [rdi];"
    "vmovdqu XMMWORD PTR [rsp+rax*1-0x48],xmm0; add rax,0x8; cmp rax,0x40; jne 18;"
    "mov rdx,QWORD PTR [rsp-0x8]; test rdx,rdx; je 0; ret",
    "an aligned frame": "push rbp; mov rbp,rsp; and rsp,0xffffffffffffffc0; mov QWORD PTR [rsp-0x8],rdx; "
    "mov rdx,QWORD PTR [rsp-0x8]; test rdx,rdx; je 38; lea rsp,[rbp-0x0]; pop rbp; ret",
    "a call": "mov QWORD PTR [rsp-0x40],rcx; call 1000 <wipes>; mov rax,QWORD PTR [rsp-0x40];"
    "mov al,BYTE PTR [rdi+rax*1]; ret",
    "a panic": "cmp rdx,0x8; ja 18; ret; call 99 <_RNvNtCs_4core9panicking5panic>",
}

UNKNOWN = [
    "rep stos QWORD PTR es:[rdi],rax; ret",
    "jmp rax",
    "call 99 <f>; ret",
    "call rax; ret",
    "call 4000 <calls>; ret",
    "call 5000 <does not return>; ret",
    "lea rax,[rsp-0x8]; mov QWORD PTR [rdi],rax; ret",
    "pdep rax,rbx,rcx; ret",
    "imul rcx; ret",
    "mov rax,[rdi]; ret",
    "vpgatherdd zmm0{k1},DWORD PTR [rdi+zmm1*1]; ret",
]


# claim: timing-kernels
@pytest.mark.parametrize("lines", LEAKS.values(), ids=LEAKS)
def test_leaks_are_found(lines: str) -> None:
    assert findings(lines)


# claim: timing-kernels
@pytest.mark.parametrize("lines", FINE.values(), ids=FINE)
def test_constant_time_code_is_accepted(lines: str) -> None:
    assert not findings(lines)


@pytest.mark.parametrize("lines", UNKNOWN)
def test_unknown_code_is_an_error(lines: str) -> None:
    with pytest.raises(Unknown):
        findings(lines)


# claim: timing-tools
def test_tables_and_their_functions() -> None:
    found = {name: (functions, variants) for name, functions, variants in tables()}
    assert {"aes::AES", "gcm::GCM"} <= set(found)
    for functions, variants in found.values():
        assert variants[-1] == "portable"
        assert set(variants[:-1]) <= set(WIDTH)
        for _, arguments in functions:
            assert kinds_of(arguments)


def test_kinds_of_arguments() -> None:
    kinds = kinds_of("a: &Key, b: u128, c: u64, d: &mut InOut<'_>, e: &[u8]")
    assert kinds == [PUBLIC, SECRET, SECRET, PUBLIC, PLAIN, PUBLIC, PUBLIC]
    kinds = kinds_of("a: &[&[u8]], b: &mut [&mut [u8]], c: &[[u8; batch::NONCE_LEN]], d: &mut [[u8; 16]]")
    assert kinds == [PLAIN, PUBLIC, PLAIN, PUBLIC, PUBLIC, PUBLIC, PUBLIC, PUBLIC]
    with pytest.raises(Unknown):
        kinds_of("a: Secret")


def test_numbers_of_functions() -> None:
    symbols = ["7wrapper", "s_7wrapper", "s0_7wrapper", "sz_7wrapper", "s10_7wrapper"]
    numbers = [number(f"_RNvNvNtNtCs2_7kernels6tables3gcm3GCM{symbol}", "gcm::GCM") for symbol in symbols]
    assert numbers == [0, 1, 2, 37, 64]
    assert number("_RNvNvNtNtCs2_7kernels6tables3gcm3GCM7wrapper", "aes::AES") is None
