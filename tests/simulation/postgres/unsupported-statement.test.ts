import { expect, it, onTestFinished } from 'vitest';
import { planHistory } from '../operations.ts';
import { PLAIN } from '../variant.ts';
import { runHistory } from '../run-history.ts';
import { STATEMENTS } from './statements.ts';

it('a statement that the model of PostgreSQL does not know fails a history with its text', async () => {
  const statements = STATEMENTS as (typeof STATEMENTS)[number][];
  const at = statements.findIndex(({ pattern }) => pattern.test('LISTEN rockpool'));
  const [removed] = statements.splice(at, 1) as [(typeof STATEMENTS)[number]];
  onTestFinished(() => void statements.splice(at, 0, removed));
  const plan = planHistory(1, { devices: [1, 1], operations: [1, 1] });
  const { failure } = await runHistory({ ...plan, variant: { ...PLAIN, instances: 2 } });
  expect(failure).toContain('cannot execute this statement');
  expect(failure).toContain('LISTEN rockpool');
});
