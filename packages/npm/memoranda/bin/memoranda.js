#!/usr/bin/env node
// Starts the program of the package for this platform, with the same arguments, streams and exit code.
"use strict";

const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const platformPackage = `@memoranda/${platform}`;
const fileName = process.platform === "win32" ? "memoranda.exe" : "memoranda";

function fail(message, hint) {
  process.stderr.write(`error: ${message}\nhint: ${hint}\n`);
  process.exit(1);
}

function findProgram() {
  try {
    return require.resolve(`${platformPackage}/bin/${fileName}`);
  } catch {
    const platforms = Object.keys(require("../package.json").optionalDependencies);
    if (platforms.includes(platformPackage)) {
      fail(
        `the package ${platformPackage} is not installed`,
        "install memoranda again without --omit=optional, or add that package",
      );
    }
    const names = platforms.map((name) => name.split("/")[1]).join(", ");
    fail(`there is no program for ${platform}, only for ${names}`, "build it from source with cargo");
  }
}

const program = findProgram();
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });

// A terminal sends Ctrl-C to the whole process group; other signals reach only this process.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) {
      child.kill(signal);
    }
  });
}

child.on("error", (error) => {
  // The kernel reports ENOENT for an existing program whose dynamic loader is missing, as on Alpine.
  fail(`cannot start ${program}: ${error.message}`, "if the file exists, it was built for another libc");
});

child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exitCode = code;
    return;
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
