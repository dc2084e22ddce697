#!/usr/bin/env node
import { existsSync } from 'node:fs';

const MINIMUM_NODE = 24; // for node:sqlite, and to run TypeScript sources directly

if (Number(process.versions.node.split('.', 1)[0]) < MINIMUM_NODE) {
  process.stderr.write(`rockpool-server needs Node ${MINIMUM_NODE} or later; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  // In the workspace, this runs the sources. The published package contains them only for its source maps, because Node
  // does not run TypeScript below node_modules. It has no tsconfig.json.
  const isWorkspace = existsSync(new URL('../tsconfig.json', import.meta.url));
  const { run } = await import(new URL(isWorkspace ? '../src/cli.ts' : '../dist/cli.js', import.meta.url).href);
  process.exitCode = await run(process.argv.slice(2));
}
