// What ends a call that waits: Ctrl-C in a program of a language whose signal handlers run between its own statements.
//
// Such a handler only sets a flag while C code runs, so a call that waits for a launch for ever would never be left. In
// a Python program the main thread runs the handlers now and then while it waits, as Python's own calls do (PEP 475):
// if one raises, KeyboardInterrupt for example, the call gives up and the exception appears behind it. Programs in C do
// in their handlers what they like, and their calls go on: nothing says that such a handler wants the launch to end.
#pragma once

namespace softtpu::host {

// Whether a waiting call on this thread shall give up. nullptr: nothing in this process could say so.
bool (*find_interrupt())();

}  // namespace softtpu::host
