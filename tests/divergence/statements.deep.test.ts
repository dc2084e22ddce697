import { expect, it } from 'vitest';
import { seedOfRun } from '#kit/seed.ts';
import { runStatements } from './run-statements.ts';

const COUNT = Number(process.env['ROCKPOOL_STATEMENTS'] ?? 200_000);

it(
  `${COUNT} statements leave all replicas equal`,
  async () => {
    const { statements, committed, refused, rejected, codes } = await runStatements(COUNT, seedOfRun);
    console.log(
      `${statements} statements from seed ${seedOfRun}: ${committed} committed, ${refused} refused, ${rejected} changesets rejected by the server;`,
      Object.fromEntries(codes),
    );
    expect(committed).toBeGreaterThan(statements / 5);
  },
  2 * 60 * 60_000,
);
