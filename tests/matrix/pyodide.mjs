// Runs pytest on the CPython of Pyodide:
//   node pyodide.mjs ENVIRONMENT CHECKOUT [ARGUMENT OF PYTEST ...]
// ENVIRONMENT holds node_modules and site-packages. `--version` says what would run.

import { writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isMainThread, Worker } from "node:worker_threads";

const [environment, checkout, ...pytestArguments] = process.argv.slice(2);

// CPython bounds its recursion by its own stack, which lies in WebAssembly's memory. The stack of
// JavaScript has to hold as many calls, and only that of a worker can be made large from here.
const stackSizeMb = 256;

const START = `
import os
import sys

os.chdir("/checkout")
sys.path[:0] = ["/checkout", "/site-packages"]
import pytest

int(pytest.main(arguments.to_py()))
`;

async function load() {
  const module = join(environment, "node_modules", "pyodide", "pyodide.mjs");
  const { loadPyodide, version } = await import(pathToFileURL(module).href);
  const { HYPOTHESIS_PROFILE = "default" } = process.env;
  const env = { HOME: "/home/pyodide", HYPOTHESIS_PROFILE, HYPOTHESIS_STORAGE_DIRECTORY: "/tmp/hypothesis" };
  return { python: await loadPyodide({ env }), version };
}

function connect(python) {
  for (const [name, folder] of [["checkout", checkout], ["site-packages", join(environment, "site-packages")]]) {
    python.FS.mkdirTree(`/${name}`);
    python.mountNodeFS(`/${name}`, folder);
  }
  python.setStdin({ stdin: () => null });
  python.setStdout({ write: (bytes) => writeSync(1, bytes) });
  python.setStderr({ write: (bytes) => writeSync(2, bytes) });
}

async function work() {
  const { python, version } = await load();
  if (pytestArguments[0] === "--version") {
    const running = python.runPython("import platform; platform.python_version()");
    writeSync(1, `${running} (Pyodide ${version} under node ${process.version})\n`);
    return 0;
  }
  connect(python);
  python.globals.set("arguments", pytestArguments);
  return python.runPython(START);
}

if (isMainThread) {
  const worker = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2), resourceLimits: { stackSizeMb } });
  worker.on("error", (error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
  worker.on("exit", (status) => {
    process.exitCode ||= status;
  });
} else {
  try {
    process.exit(await work());
  } catch (error) {
    // Node would show the line that threw, and a minified file has only one.
    writeSync(2, `${error.message}\n`);
    process.exit(1);
  }
}
