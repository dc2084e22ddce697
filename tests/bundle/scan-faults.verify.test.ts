import { expect, it } from 'vitest';
import { atLevel } from '../kit/level.ts';
import { fuzzScans } from './fuzz-scans.ts';

const HANG_MS = 60 * 60_000;

it(
  'queries over damaged pages use only their own memory, and queries that fail leave nothing behind',
  async () => {
    const count = atLevel({ test: 0, verify: 500, deep: 20_000 });
    const { code, output } = await fuzzScans(String(count), '1', '--damage', '--faults');
    expect(output).toMatch(/ damaged databases, .* runs with faults, /s);
    expect(code, output).toBe(0);
  },
  HANG_MS,
);
