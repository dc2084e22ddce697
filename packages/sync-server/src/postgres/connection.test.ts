import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { postgresUnderTest } from '../../testing/postgres-under-test.ts';
import { SlowLink } from '../../testing/slow-link.ts';
import { Connections, NAMESPACE } from './connection.ts';
import { INSTANCE_TABLE_SQL, PostgresInstances } from './instance-directory.ts';

const postgres = postgresUnderTest();

const DEADLINE_MS = 1_000;
const NEVER_MS = 3_600_000;

let link: SlowLink;
let url: string;
let connections: Connections;
beforeEach(async () => {
  link = await SlowLink.open(postgres.server.port, 0, postgres.server.host);
  const { name } = await postgres.server.createDatabase();
  url = postgres.server.urlOf(name, link.port);
  connections = new Connections(url, { answerDeadlineMs: DEADLINE_MS });
  // Deadlines pass only in `failureOf`: on a busy machine, an answer may take longer.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await connections.close();
  await link.close();
});

/** Lets deadlines pass until the work over a silent connection fails. */
async function failureOf(work: Promise<unknown>): Promise<unknown> {
  let failure: unknown = null;
  work.then(
    () => (failure = 'none'),
    (error: unknown) => (failure = error),
  );
  while (failure === null) {
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(DEADLINE_MS);
  }
  return failure;
}

it('a statement without a response fails after the deadline, and the next statement gets a new connection', async () => {
  expect(await connections.query('SELECT 1')).toEqual([[1]]);
  link.fallSilent();
  expect(await failureOf(connections.query('SELECT 2'))).toMatchObject({ code: 'database-unavailable' });
  expect(await connections.query('SELECT 3')).toEqual([[3]]);
});

it('a transaction fails if its connection falls silent, and the next transaction succeeds', async () => {
  const silence = Promise.withResolvers<void>();
  const add = (cutBefore: boolean): Promise<unknown> =>
    connections.transaction(null, 'READ WRITE', async (connection) => {
      const rows = await connection.query('SELECT 1');
      if (cutBefore) {
        link.fallSilent();
        silence.resolve();
      }
      return { commit: true, result: rows };
    });
  const cut = add(true);
  await silence.promise;
  expect(await failureOf(cut)).toMatchObject({ code: 'database-unavailable' });
  expect(await add(false)).toEqual([[1]]);
});

it('a poll without a response fails, even though other statements may wait longer', async () => {
  const patient = new Connections(url, { answerDeadlineMs: NEVER_MS, pollDeadlineMs: DEADLINE_MS });
  expect(await patient.poll('SELECT 1')).toEqual([[1]]);
  link.fallSilent();
  expect(await failureOf(patient.poll('SELECT 2'))).toMatchObject({ code: 'database-unavailable' });
  expect(await patient.poll('SELECT 3')).toEqual([[3]]);
  await patient.close();
});

it('instances register and find each other soon after a connection has fallen silent', async () => {
  const patient = new Connections(url, { answerDeadlineMs: NEVER_MS, pollDeadlineMs: DEADLINE_MS });
  await patient.query(`CREATE SCHEMA ${NAMESPACE}; ${INSTANCE_TABLE_SQL}`);
  const instances = new PostgresInstances(patient, () => Promise.resolve());
  for (const use of [() => instances.enter('a', 'http://a'), () => instances.urls()]) {
    link.fallSilent();
    expect(await failureOf(use())).toMatchObject({ code: 'database-unavailable' });
    await use();
  }
  expect([...(await instances.urls())]).toEqual([['a', 'http://a']]);
  await patient.close();
});

it('an instance that registers removes the entries of instances that have not registered for a day', async () => {
  await connections.query(`CREATE SCHEMA ${NAMESPACE}; ${INSTANCE_TABLE_SQL}`);
  const instances = new PostgresInstances(connections, () => Promise.resolve());
  for (const hours of [23, 25]) {
    await instances.enter(`${hours}`, `http://${hours}`);
    await connections.query(
      `UPDATE ${NAMESPACE}.rockpool_instance SET entered_at = entered_at - interval '${hours} hours' WHERE id = '${hours}'`,
    );
  }
  await instances.enter('new', 'http://new');
  expect([...(await instances.urls()).keys()].sort()).toEqual(['23', 'new']);
});
