import { expect, it } from 'vitest';
import { runStatements } from './run-statements.ts';

const COUNT = Number(process.env['ROCKPOOL_STATEMENTS'] ?? 200_000);
/** Different statements each day. */
const FIRST_SEED = Number(process.env['ROCKPOOL_SEED'] ?? Math.floor(Date.now() / 86_400_000) * 10_000);

it(
  `${COUNT} statements leave all replicas equal`,
  async () => {
    const { statements, committed, refused, rejected, codes } = await runStatements(COUNT, FIRST_SEED);
    console.log(
      `${statements} statements from seed ${FIRST_SEED}: ${committed} committed, ${refused} refused, ${rejected} changesets rejected by the server;`,
      Object.fromEntries(codes),
    );
    expect(committed).toBeGreaterThan(statements / 5);
  },
  2 * 60 * 60_000,
);
