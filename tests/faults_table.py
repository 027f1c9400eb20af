#!/usr/bin/env python3
"""Runs every test of a fault and prints the table of tests/README.md: faults, what is asserted, and the times of this run.

    tests/faults_table.py [--build build/dev] [--write]     # --write: into tests/README.md"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "tests/README.md"
KERNEL = "Each/KernelFaults.AreReportedAndHurtNobody/fault_"


def isolation(name):
    """With cores in a PID namespace, and without."""
    return [f"Namespace/Isolation.{name}/{place}" for place in ("on", "off")]


# Section; then rows: fault, how it is injected, what is asserted (besides the section's own), the tests that do it.
SECTIONS = [
    ("Kernels: the failure comes within a second (or the time limit and a second) and names kernel, cause and, where there is a call to "
     "show, function and line; the client's and another client's global memory are unchanged; a third client launches all the time and "
     "sees only right results; the next launch works (`e2e/kernels/fault_kernels.c`)", "e2e_tests", [
         ("SIGSEGV", "write to address 16", "address, line", [KERNEL + "segv"]),
         ("SIGSEGV after commands", "the same after 11 commands", "number of commands, the last 7 with operands", [KERNEL + "after_commands"]),
         ("SIGBUS", "write behind the end of a file mapping", "line", [KERNEL + "bus"]),
         ("SIGFPE", "division by zero", "line", [KERNEL + "fpe"]),
         ("SIGILL", "`__builtin_trap`", "line", [KERNEL + "ill"]),
         ("abort", "call", "line", [KERNEL + "abort"]),
         ("exit, _exit", "calls", "line; status 7, 8", [KERNEL + "exit", KERNEL + "exit_at_once"]),
         ("call of NULL", "function pointer", "line of the call", [KERNEL + "call_null"]),
         ("stack overflow", "endless recursion; an array of 96 MiB", "size, the largest frames with their lines",
          [KERNEL + "stack", KERNEL + "stack_array"]),
         ("SIGSEGV below 500 calls", "recursion", "equal calls once, with their number", [KERNEL + "deep"]),
         ("heap corruption", "free twice; 9000 bytes into 5000, returns normally", "signal 6 in that launch",
          [KERNEL + "free_twice", KERNEL + "heap_overflow"]),
         ("wild write before and past local memory", "pointer arithmetic", "which memory, how far", [KERNEL + "before_local", KERNEL + "past_local"]),
         ("wild write before global memory, before L2", "pointer arithmetic", "which memory, how far", [KERNEL + "before_global", KERNEL + "before_l2"]),
         ("wild write to static memory", "`/proc/self/maps`", "refused: read-only", [KERNEL + "static"]),
         ("wild write before the status page", "`/proc/self/maps`", "refused", [KERNEL + "before_status"]),
         ("wild write over the status page", "4096 bytes of 0, 0xFF; 0, 0x5A and a crash", "that launch fails, none is lost or repeated",
          [KERNEL + "over_status", KERNEL + "over_status_255", KERNEL + "over_status_and_segv", KERNEL + "over_status_and_segv_90"]),
         ("a false report to the server, or noise", "bytes on the core's socket", "what was wrong with them",
          [KERNEL + "forged_report", KERNEL + "noise"]),
         ("endless loop without commands", "`for (;;)`, SOFTTPU_TIMEOUT=1", "time limit, line, commands before", [KERNEL + "spin"]),
         ("the same, deaf or stopped", "all signals blocked; SIGSTOP to itself", "time limit", [KERNEL + "spin_deaf", KERNEL + "stop"]),
         ("endless loop with commands", "SOFTTPU_LAUNCH_LIMIT=1", "time limit, last commands",
          ["Operations.ALaunchThatIssuesCommandsForEverIsEndedByTheLaunchLimit"]),
         ("the same", "bm_set_sync_timeout", "BM_ERR_TIMEOUT", ["Modules.TheSyncTimeoutEndsAKernelThatIssuesCommandsForEver"]),
         ("thread left running", "pthread_create", "what was left; it is gone", [KERNEL + "thread"]),
         ("process left running; and a crash", "fork", "what was left; it is gone", [KERNEL + "child", KERNEL + "child_and_segv"]),
         ("crash while another client launches", "SIGSEGV, eight times", "the best of eight delays is below 100 ms",
          ["Recovery.ANewCoreWorksWithinATenthOfASecond"]),
         ("crash with a core dump", "RLIMIT_CORE unlimited, SIGSEGV", "reported within a second; the dump has none of the device's memories",
          ["Recovery.ACoreDumpHoldsNobodyUp"]),
         ("launches behind a crash in one stream", "crashes in a row", "failures are reported in order", ["Recovery.ReportsComeInTheOrderOfTheLaunches"]),
         ("24 crashes at once", "24 clients", "all are reported; no process is left", ["Recovery.ManyCrashesAtOnceAreAllReported"]),
         ("client goes while its crash is explained", "disconnect", "no descriptor, no process is left", ["Recovery.AClientMayGoWhileItsCrashIsExplained"]),
         ("modules after a crash", "SIGSEGV", "loaded in the new core; calls go on", ["Modules.ComeBackAfterTheCoreHasDied"]),
         ("what a crash leaves in local memory", "SIGSEGV", "`softtpu dump --ended` shows it, new launches start clean",
          ["Dump.ShowsWhatACrashedKernelLeftAndWhatIsThereNow"]),
         ("the same, when the device has ended", "SOFTTPU_DUMP, `softtpu run --dump`", "`softtpu dump --from` shows it",
          ["Dump.KeepsWhatACrashedKernelOfAnEndedDeviceLeft"]),
     ]),
    ("Kernels that touch what belongs to others, or that return normally after they have changed their core: others' launches give "
     "the results of a fresh core "
     "(`e2e/kernels/attack_kernels.c`, `state_kernels.c`, `raw_calls.c`, `loads_changed.c`)", "e2e_tests", [
         ("device memories made shorter by a kernel", "`ftruncate` of all that is open", "nothing becomes shorter",
          isolation("AKernelCannotShortenTheDevicesMemories")),
         ("the same by a client", "`ftruncate`, `F_ADD_SEALS` on the descriptor of the open reply", "EPERM", isolation("AClientCannotShortenGlobalMemory")),
         ("descriptors of the server; modules of others", "`/proc/self/fd`, `pwrite`", "none is open; none can be changed",
          isolation("AKernelHasNoFilesOfTheServer")),
         ("memories of another device", "`/proc/self/maps`", "not mapped", isolation("AKernelHasNoMemoriesOfOtherDevices")),
         ("static memory made writable", "`mprotect`", "EACCES", isolation("AKernelCannotWriteStaticMemory")),
         ("status page or its copy unmapped", "`munmap`", "that launch fails, no other", isolation("AKernelThatUnmapsItsStatusFailsAlone")),
         ("the server signalled, limited, traced; everybody killed", "`kill`, `prlimit`, `ptrace`, `kill(-1)`", "ESRCH",
          isolation("AKernelCannotNameTheServer")),
         ("a process that escapes", "`setsid`, forked twice; twenty times", "the launch fails; nothing is written any more",
          isolation("AProcessThatEscapesIsEndedAndReported")),
         ("the same, by system calls of the kernel's own", "`syscall` instructions", "the launch fails", isolation("AProcessThatARawCallStartsIsEndedAndReported")),
         ("the same, and a crash; and a killed server", "`abort`; kill -9", "no process is left",
          isolation("AProcessThatEscapesFromACrashIsEnded") + isolation("AProcessThatEscapesEndsWithTheServer")),
         ("the processor's modes changed", "flushing, rounding, exceptions, x87, MMX, direction, alignment", "bits of another client's arithmetic",
          isolation("EveryLaunchBeginsWithTheProcessorOfAFreshCore")),
         ("the same by a constructor (-ffast-math); umask, environment", "module", "bits; state", isolation("AModuleThatSetsTheProcessorWhenItIsLoadedChangesNothing")),
         ("what cannot be set back, by a constructor", "`setpriority`", "the module is refused with the reason", isolation("AModuleThatChangesItsCoreForGoodIsRefused")),
         ("the core's state changed", "25 ways: signals, timers, limits, directories, environment, filters, mappings ...",
          "state of a fresh core; modules can be loaded", isolation("EveryLaunchBeginsWithTheStateOfAFreshCore")),
         ("timers that go off later", "`alarm`, `timer_create`, a raw call", "2.5 s of another client's launches succeed", isolation("NobodyIsBlamedForAnothersTimer")),
         ("a kernel that never comes back", "`pthread_exit`, a lock taken twice, an exit handler that pauses; limit 30 s", "ended after a second, with the reason",
          isolation("AKernelThatNeverComesBackIsEndedAfterASecond")),
         ("a kernel that waits for another thread", "a lock, released after 3 s", "not ended", isolation("AKernelThatWaitsForAnotherThreadIsNotEnded")),
     ]),
    ("Programs, servers and cores that end", "e2e_tests", [
        ("client ends inside a message", "16 messages, cut at 5 places, by kill -9, abort and disconnect",
         "memory, queue, connection and descriptors are free; a witness's launches succeed; no core was restarted",
         ["HostFaults.AClientMayEndAtAnyPointOfAnyMessage"]),
        ("client killed while its kernel spins", "kill -9", "its launch is ended (0.5 s after), the next client's runs",
         ["HostFaults.ALaunchThatNeverEndsGoesWithItsClient"]),
        ("the same, with a module that waits to be unloaded", "disconnect", "the server holds none of the client's modules",
         ["HostFaults.ModulesGoWithTheClientOfALaunchThatNeverEnds"]),
        ("program of an embedded device ends inside a message", "16 messages, kill -9 and disconnect", "no process is left",
         ["HostFaults.AnEmbeddedDeviceEndsWithItsProgramAtAnyMessage"]),
        ("server killed with five calls pending", "kill -9", "all five fail within a second; a new server serves",
         ["HostFaults.EveryPendingCallEndsWithTheServer"]),
        ("core killed during a launch, another behind it", "kill -9", "the first fails, the second runs",
         ["HostFaults.ACoreThatIsKilledFailsOnlyTheLaunchThatRan"]),
        ("embedded device killed, then `bm_dev_request`", "kill -9", "the launch fails; the next request works",
         ["Embedded.ReportsADeathOfTheDeviceAndIsReplaced"]),
        ("`softtpu run` killed", "kill -9", "the program and its device end; no file is left",
         ["RunStatus.TheProgramEndsWithTheLauncherAndNoFileIsLeft"]),
        ("server ends with a launch that runs; that does not end; is asked twice", "SIGTERM", "drained; cancelled after SOFTTPU_DRAIN; at once",
         ["Operations.AServerThatEndsWaitsForRunningLaunches", "Operations.AServerThatEndsCancelsWhatTakesTooLong",
          "Operations.ASecondSignalEndsAServerAtOnce"]),
    ]),
    ("Bad peers: only that connection closes, with a logged reason; others go on", "e2e_tests", [
        ("another protocol, messages out of order, oversized, of a core", "bytes on the socket", "closed",
         ["Serve.ClosesConnectionsThatDoNotSpeakTheProtocol"]),
        ("another version", "Hello of version 999", "the answer names the server's version", ["Serve.TellsAnotherVersionWhichOneItIs"]),
        ("another client's memory", "read, write, release, copies", "refused; freed memory reads as zeros", ["Serve.KeepsEachProgramToItsOwnMemory"]),
        ("70,000 streams; 100,000 syncs behind a kernel that spins", "messages without end", "refused beyond a limit; left in the socket",
         ["GreedyClients.HaveALimitedNumberOfStreams", "GreedyClients.LeaveRequestsThatWaitInTheSocket"]),
        ("20 strided copies of 2^28 elements; 54,000 allocations of a byte", "one burst", "a witness's launches go on beside it",
         ["GreedyClients.ABurstOfLongCopiesKeepsNobodyWaiting", "GreedyClients.AMillionSmallRequestsKeepNobodyWaiting"]),
        ("1500 reads of 16 MiB; ten unfinished messages of 60 MiB", "the answers are not read", "less than 64 MiB of the server's memory; a witness works",
         ["GreedyClients.AnswersAreNotMadeBeforeSomebodyTakesThem", "GreedyClients.ALongMessageTakesNoMemoryOfTheServer"]),
        ("memory, modules, descriptors, connections beyond a share", "requests", "an error that names the setting; others have theirs",
         ["GreedyClients.HaveAShareOfEverything", "GreedyClients.HaveAShareOfConnections"]),
        ("a time limit beyond the server's", "SetTimeout 0 and an hour", "the server's holds", ["GreedyClients.CannotSetALongerTimeLimitThanTheServers"]),
        ("a constructor, a destructor that never returns", "load, unload", "ended like a launch; a witness works",
         ["HangingModules.AConstructorHasTheLimitOfALaunch", "HangingModules.ADestructorHasTheLimitOfALaunch"]),
        ("the same, and the client goes", "disconnect", "the next client's launch runs", ["HangingModules.GoWithTheirClient"]),
        ("an idle core that is stopped", "SIGSTOP", "noticed when it is wanted", ["Recovery.AnIdleCoreThatIsStoppedGoesOnWhenItIsWanted"]),
        ("such a client is killed", "kill -9", "its launch is ended, a witness's runs", ["GreedyClients.GoWithTheirLaunchesWhenNothingIsReadFromThem"]),
        ("damaged module files", "truncated and changed images", "a status and a text that names the cause",
         ["Modules.DamagedImagesHurtNobody", "Modules.ThatCannotBeLoadedSayWhy"]),
    ]),
    ("Resources: an error that says which, nothing damaged", "e2e_tests", [
        ("full disk under a trace, a log", "/dev/full", "a message; results are right",
         ["Exhausted.AFullDiskEndsATraceAndNothingElse", "Exhausted.ALogThatCannotBeWrittenIsNoReasonToEnd"]),
        ("full disk under a trace", "tmpfs with no free page", "the trace is whole JSON", ["FullDisk.UnderATrace"]),
        ("full disk under a log", "tmpfs with a free page", "the log ends at the last page", ["FullDisk.UnderALogFile"]),
        ("full disk under report, timeline, record of times", "tmpfs", "a message with the cause", ["FullDisk.UnderWhatRunWrites"]),
        ("full disk under `--record`", "tmpfs", "a message with the cause, status 125, no half record", ["FullDisk.UnderARecordedLaunch"]),
        ("full disk under SOFTTPU_DUMP", "tmpfs", "a message with the cause, no half memory; the next launch works", ["FullDisk.UnderWhatACrashedKernelLeft"]),
        ("full disk under `softtpu dump -o`", "/dev/full", "status 3", ["Dump.RefusesWhatIsNotThere"]),
        ("no room for a module", "RLIMIT_FSIZE on a running server", "an error with the cause; works when there is room", ["Exhausted.NoRoomForAModule"]),
        ("file size limit under a trace; a crash under it", "RLIMIT_FSIZE; SIGSEGV", "the trace is whole JSON",
         ["Exhausted.ATraceThatMayNotGrowStaysWhole", "Exhausted.ATraceIsWholeAfterACrash"]),
        ("exhausted shared memory", "RLIMIT_FSIZE, RLIMIT_AS at the start", "the server says which memory, how much and why, and ends with 1",
         ["Exhausted.NoFilesMayGrow", "Exhausted.NoAddressSpace"]),
        ("ENOMEM", "RLIMIT_AS, 40 clients with messages of 60 MB", "no memory is needed for them; a witness works",
         ["Exhausted.LongMessagesNeedNoMemoryOfTheDevice"]),
        ("EMFILE when a program starts its device", "ulimit -n 8, 10, 20", "the program's error says so", ["OddFiles.TooFewDescriptorsAreTheReasonThatIsGiven"]),
        ("a FIFO as a chip, /proc/self/mem as a recorded case", "options", "an error; no wait, no crash",
         ["OddFiles.AFifoIsNoChip", "OddFiles.AFileThatCannotBeReadIsNoRecordedCase"]),
        ("a record beside other users", "an older file of mode 0644", "mode 0600", ["OddFiles.ARecordIsForItsOwnerOnly"]),
        ("a daemon in a shell's substitution", "$(softtpu serve --daemon)", "the shell goes on", ["ServeStart.ADaemonLetsGoOfItsCallersOutput"]),
        ("EMFILE", "RLIMIT_NOFILE 48, 64 connections, then a crash", "errors that say so; everything works when descriptors are free",
         ["Exhausted.NoDescriptors"]),
        ("EMFILE when a core starts", "RLIMIT_NOFILE with room for its socket, not for its process", "no process is left; works when there is room",
         ["Exhausted.NoDescriptorForACoresProcess"]),
        ("EPIPE", "a client asks for 50 MB and goes", "a witness works", ["Exhausted.AReaderThatIsGoneEndsNoDevice"]),
    ]),
    ("Other users (run as root, which can change its user id; without root some are skipped)", "e2e_tests", [
        ("another user's connection", "uid 65534, socket opened to all", "closed; the log says who it was", ["Strangers.AnotherUsersConnectionIsClosed"]),
        ("folder that others can enter; file in the socket's place; socket in use", "mkdir, write, serve", "the server does not start",
         ["ServeStart.RefusesAFolderThatOthersCanEnter", "ServeStart.RefusesAFileInTheSocketsPlace", "Serve.RefusesToTakeASocketThatIsInUse"]),
        ("the socket of a living server is removed", "unlink, rm -r", "it is there again", ["Serve.ASocketThatIsRemovedComesBack"]),
        ("four servers at once in the place of a dead one; another's socket at the end", "serve, SIGTERM", "one serves; its socket stays",
         ["ServeStart.OfSeveralServersAtOnceOneHasTheSocket", "Serve.EndsWithoutTakingTheSocketOfAnother"]),
        ("a sandboxed kernel", "SOFTTPU_SANDBOX=on: open, create, unlink, socket, kill, fork, memfd, exec", "all fail with EPERM; threads and memory work",
         ["Sandbox.AllowsNoProgramProcessConnectionOrFile"]),
    ]),
    ("Other users and unknown clients", "remote_tests", [
        ("symlink attacks", "a link in the folder's and in the socket's place", "the server does not start; nothing changes behind the link",
         ["Local.RefusesALinkInTheFoldersPlace", "Local.RefusesALinkInTheSocketsPlace"]),
        ("pre-created socket, pre-created folder", "another process listens; a folder of another user", "the server does not start",
         ["Local.RefusesASocketThatSomebodyListensOn", "Local.RefusesAFolderOfAnotherUser"]),
        ("peer or server of another user", "uid 65534", "no answer; the program does not open the device",
         ["Local.HasNoAnswerForAnotherUserEvenWhenTheSocketIsOpen", "Local.DoesNotTrustAServerOfAnotherUser"]),
        ("every message with an address", "another client's memory in each place", "refused; both memories as they were",
         ["Local.KeepsEveryCopyInsideTheClientsOwnAllocations"]),
        ("memory of a former owner", "freed, disconnected, killed, crashed", "zeros, or 0xA5 with SOFTTPU_FRESH=poison",
         ["FreshMemory.NeverShowsWhatAnotherClientLeft"]),
        ("wrong token, wrong CA, wrong host, no TLS", "clients", "refused with the cause; logged",
         ["Remote.RefusesAWrongToken", "Remote.IsRefusedWhenItsCertificateIsNotTrusted", "Remote.IsRefusedWhenItsCertificateIsForAnotherHost",
          "Remote.HasNoAnswerForAClientWithoutTls"]),
        ("five failures", "one address", "blocked", ["Remote.BlocksAnAddressAfterFiveFailures"]),
        ("16 wrong tokens at once", "one address", "five are compared", ["Remote.ComparesFiveWrongTokensAndNoMore"]),
        ("128 idle connections", "eight addresses", "a program with the token runs", ["Remote.IdleConnectionsKeepNobodyOut"]),
        ("`--tcp` without certificate, key or token; secrets that others can read", "options", "the server does not start",
         ["RemoteStart.NeedsTlsAndAToken", "RemoteStart.NeedsSecretsThatAreSecret"]),
        ("gateway killed", "kill -9", "a new one on the same port; local clients notice nothing", ["Remote.GetsANewGatewayWhenTheOldOneIsKilled"]),
        ("the same, and no descriptor for a new one", "RLIMIT_NOFILE", "a new one when there are descriptors",
         ["Remote.GetsANewGatewayAsSoonAsThereAreDescriptorsForIt"]),
    ]),
]


def run_tests(program, names):
    """What each test printed about its times, and how it ended: {name: (end, [lines], milliseconds)}."""
    with tempfile.TemporaryFile("w+") as output:
        subprocess.run([program, "--gtest_filter=" + ":".join(names)], stdout=output, stderr=subprocess.STDOUT, check=False)
        output.seek(0)
        text = output.read()
    results = {}
    for match in re.finditer(r"\[ RUN      \] (\S+)\n(.*?)\[ *(OK|FAILED|SKIPPED) *\] \1.*?\((\d+) ms\)", text, re.S):
        lines = [line.strip("| ").split("|") for line in match[2].splitlines() if line.startswith("| ")]
        results[match[1]] = (match[3], lines, int(match[4]))
    return results


def time_of(name, result):
    """What the test measured; else its whole duration bounds the recovery."""
    end, lines, milliseconds = result
    if end == "SKIPPED":
        return "skipped"
    if name.startswith(KERNEL):
        failed, works, neighbour = (float(cell.split()[0]) for cell in lines[0][1:])
        return f"reported {failed:.0f} ms, next launch {works:.1f} ms"
    return "; ".join(line[-1].strip() for line in lines) or f"whole test {milliseconds} ms"


def short_name(name):
    return name[name.index("/fault_"):] if name.startswith(KERNEL) else "^" + name


def table(build):
    lines, failed = [], []
    for title, program, rows in SECTIONS:
        names = [name for row in rows for name in row[3]]
        results = run_tests(build / "bin" / program, names)
        lines += ["", title + ".", "", "| fault | injected by | asserted | `ctest -R` | time |", "|---|---|---|---|---|"]
        for fault, injection, asserted, tests in rows:
            failed += [name for name in tests if results.get(name, ("missing",))[0] not in ("OK", "SKIPPED")]
            times = "<br>".join(time_of(name, results[name]) for name in tests if name in results and name not in failed)
            commands = "<br>".join(f"`'{short_name(name)}$'`" for name in tests)
            lines.append(f"| {fault} | {injection} | {asserted} | {commands} | {times} |")
    return lines[1:], failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/dev")
    parser.add_argument("--write", action="store_true", help="into tests/README.md")
    options = parser.parse_args()
    lines, failed = table(options.build)
    if options.write:
        text = re.sub(r"(<!-- faults -->\n).*(<!-- end faults -->)", lambda match: match[1] + "\n".join(lines) + "\n" + match[2],
                      README.read_text(), flags=re.S)
        README.write_text(text)
    else:
        print("\n".join(lines))
    for name in failed:
        print(f"failed: {name}", file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
