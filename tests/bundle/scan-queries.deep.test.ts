import { expect, it } from 'vitest';
import { fuzzScans } from './fuzz-scans.ts';

const HANG_MS = 6 * 60 * 60_000;
const PROCESSES = 4;
/** Together with the 100,000 queries that scan.property.test.ts runs in WebAssembly, a million. */
const COUNT = 900_000;
/** The processes use no seed that scan.property.test.ts uses. */
const FIRST_SEED = 1000;

it(
  'every query has the same result with scans as in plain SQLite, compiled for this machine',
  async () => {
    const { code, output } = await fuzzScans(
      String(COUNT),
      String(FIRST_SEED),
      '--fast',
      '--processes',
      String(PROCESSES),
    );
    expect(output.match(/^225000 queries, .* 0 differences$/gm), output).toHaveLength(PROCESSES);
    expect(code).toBe(0);
  },
  HANG_MS,
);
