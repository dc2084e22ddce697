import { expect, it } from 'vitest';
import { atLevel } from '#kit/level.ts';
import { seedOfRun } from '#kit/seed.ts';
import { runStatements } from './run-statements.ts';

const COUNT = atLevel({ test: 1_000, verify: 10_000 });

it(
  `${COUNT} statements chosen to make replicas differ have the same effect everywhere or fail with a typed error`,
  async () => {
    const { statements, committed, refused, codes } = await runStatements(COUNT, seedOfRun);
    expect(committed + refused).toBe(statements);
    // The grammar must produce both accepted and refused statements, or the test proves nothing.
    expect(committed / statements).toBeGreaterThan(0.2);
    for (const code of [
      'sql-forbidden',
      'query-invalid',
      'key-invalid',
      'constraint-data-type',
      'constraint-unique',
      'constraint-check',
      'constraint-foreign-key',
      'value-invalid',
    ])
      expect(codes.get(code) ?? 0, code).toBeGreaterThan(0);
  },
  10 * 60_000,
);
