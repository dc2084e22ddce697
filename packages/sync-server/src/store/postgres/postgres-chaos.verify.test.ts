import { expect, it } from 'vitest';
import { FAULTS, NO_VIOLATIONS, runPostgresChaos } from '../../../testing/postgres-chaos.ts';
import { atLevel } from '../../../../../tests/kit/level.ts';

const MINUTE_MS = 60_000;
/** The minimum duration. The run also lasts until each fault has happened. `ROCKPOOL_CHAOS_MINUTES` overrides it. */
const MINUTES = Number(process.env['ROCKPOOL_CHAOS_MINUTES'] ?? atLevel({ test: 0, verify: 0, deep: 30 }));

it(
  'two instances store each acknowledged changeset once while PostgreSQL is killed, stopped, paused, slow, silent, out of space and replaced by a replica',
  async () => {
    const { violations, faults, changesets } = await runPostgresChaos({ durationMs: MINUTES * MINUTE_MS });
    console.log(`${changesets} changesets; ${[...faults].map(([fault, count]) => `${fault} ${count}`).join(', ')}`);
    expect(violations).toEqual(NO_VIOLATIONS);
    // A full disk needs the right to mount a file system.
    expect(FAULTS.filter((fault) => fault !== 'full disk' && faults.get(fault) === 0)).toEqual([]);
  },
  (MINUTES + 60) * MINUTE_MS,
);
