import { expect, it } from 'vitest';
import { newId, sql, type Client } from '#client/index.ts';
import { freshName, openTab, until } from '#client/testing/browser-tabs.ts';
import { buildSchema } from '#shared/index.ts';
import { column, table } from '#sync-server/testing/test-schema.ts';

const schema = buildSchema([table('entry', [column('id', 'text', { notNull: true }), column('number', 'integer')])]);
const ROUNDS = 20;

const insert = (client: Client, number: number): Promise<unknown> =>
  client.execute(sql`INSERT INTO entry VALUES (${newId()}, ${number})`);

// Measures how long a follower's write takes while its leader is closed or killed. Prints figures and sets no limits;
// see docs/decisions.
it.each(
  (['opfs', 'opfs-exclusive', 'indexeddb'] as const).flatMap((persistence) =>
    (['closed', 'killed'] as const).map((how) => [persistence, how] as const),
  ),
)('a hand-over on %s loses no write when the leader tab is %s', async (persistence, how) => {
  const name = freshName();
  let leader = await openTab({ name, schema, persistence });
  const tookMs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const next = await openTab({ name, schema, persistence });
    await insert(next.client, round);
    const startedMs = performance.now();
    if (how === 'killed') leader.kill();
    else void leader.client.close();
    await insert(next.client, round);
    tookMs.push(performance.now() - startedMs);
    await until(() => next.client.status.current.role === 'leader');
    leader.kill();
    leader = next;
  }
  expect(await leader.client.query('SELECT number FROM entry')).toHaveLength(2 * ROUNDS);
  await leader.client.close();
  leader.kill();
  const sorted = tookMs.toSorted((a, b) => a - b).map((ms) => Math.round(ms));
  console.info(
    `hand-over, ${persistence}, ${how}: median ${sorted[ROUNDS / 2]} ms, worst ${sorted.at(-1)} ms of ${ROUNDS}: ${sorted.join(' ')}`,
  );
});
