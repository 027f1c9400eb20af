"""How a build folder compiles each file: what compile_commands.json says, without what is GCC's alone (precompiled headers, parameters),
and with a line for each of the files that are compiled together (SOFTTPU_UNITY)."""
import json
import pathlib
import re
import shlex


def entries(build):
    """compile_commands.json as a list, each source by itself."""
    found = []
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        entry["command"] = re.sub(r" -Winvalid-pch| -include \S*cmake_pch\.hxx| --param=\S+", "", entry["command"])
        if not re.search(r"/Unity/unity_\d+_cxx?\.cx?x?$", entry["file"]):
            found.append(entry)
            continue
        together = pathlib.Path(entry["directory"], entry["file"]).read_text()
        for source in re.findall(r'^#include "([^"]+)"', together, re.M):
            command = shlex.join(source if word == entry["file"] else word for word in shlex.split(entry["command"]))
            found.append({**entry, "file": source, "command": command})
    return found
