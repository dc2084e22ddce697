// Set-up of the Node tests: every random value of a test file follows from the seed of the run and the path of the
// file. Fast-check uses the seed itself, so that a property that runs alone draws the same cases. Names and numbers
// come from one stream per file, so that no two files of a run draw the same name.

import nodeCrypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import fc from 'fast-check';
import { expect } from 'vitest';
import { atLevel } from './level.ts';
import './quick-drizzle.ts';
import { seedOfRun } from './seed.ts';
import { SeededBytes } from './seeded-bytes.ts';

fc.configureGlobal({
  ...fc.readConfigureGlobal(),
  seed: seedOfRun,
  // For properties that name no count. `npm test` draws the same cases in every run, so more of them would find nothing
  // new.
  numRuns: atLevel({ test: 40, verify: 100 }),
});

const bytes = new SeededBytes(`${seedOfRun} ${expect.getState().testPath ?? ''}`);

/** Replaces methods of a platform object. */
function replace<Target extends object>(target: Target, values: { [Name in keyof Target]?: unknown }): void {
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
}

replace(Math, { random: () => bytes.fraction() });
replace(globalThis.crypto, {
  getRandomValues: <T extends ArrayBufferView>(into: T): T => {
    bytes.fill(new Uint8Array(into.buffer, into.byteOffset, into.byteLength));
    return into;
  },
  randomUUID: () => bytes.uuid(),
});
replace(nodeCrypto, {
  randomBytes: (size: number, done?: (error: null, drawn: Buffer) => void) => {
    const drawn = Buffer.alloc(size);
    bytes.fill(drawn);
    if (done === undefined) return drawn;
    return queueMicrotask(() => done(null, drawn));
  },
  randomInt: (from: number, to?: number) => {
    const [least, limit] = to === undefined ? [0, from] : [from, to];
    return least + Math.floor(bytes.fraction() * (limit - least));
  },
  randomUUID: () => bytes.uuid(),
});
// `import { randomBytes } from 'node:crypto'` binds to a copy.
syncBuiltinESMExports();
