"""refused.py - a program for which the system refuses some calls: a preexec_fn for subprocess. For x86-64.

    subprocess.run(command, preexec_fn=refused.calls({refused.MEMFD_CREATE: errno.EPERM}))
"""
import ctypes
import platform
import struct

MEMFD_CREATE, PRCTL, SECCOMP = 319, 157, 317
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 38, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBER, FIRST_ARGUMENT = 0, 16  # in struct seccomp_data
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
USABLE = platform.machine() == "x86_64"


def step(code, k, yes=0, no=0):
    return struct.pack("HBBI", code, yes, no, k)


def program(numbers):
    """Calls with these numbers end with that error; PRCTL only where it would set a filter."""
    steps = []
    for number, error in numbers.items():
        inner = [step(LOAD, FIRST_ARGUMENT), step(EQUAL, PR_SET_SECCOMP, 0, 1)] if number == PRCTL else []
        refuse = [*inner, step(RETURN, ERRNO | error)]
        steps += [step(LOAD, NUMBER), step(EQUAL, number, 0, len(refuse)), *refuse]
    return b"".join([*steps, step(RETURN, ALLOW)])


def calls(numbers):
    code = ctypes.create_string_buffer(program(numbers))
    libc = ctypes.CDLL(None, use_errno=True)

    class Filter(ctypes.Structure):
        _fields_ = [("n", ctypes.c_ushort), ("steps", ctypes.c_void_p)]

    made = Filter(len(program(numbers)) // 8, ctypes.cast(code, ctypes.c_void_p))

    def change():
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(made), 0, 0) != 0:
            raise OSError("no filter")

    change.keep = (code, made)
    return change
