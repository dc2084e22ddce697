import { RockpoolError } from '@rockpool/shared';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { postgresUnderTest } from '../../testing/postgres-under-test.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { Connections } from '../postgres/connection.ts';
import { prepareSchema } from '../store/postgres/prepare-schema.ts';
import type { JudgeAcceptance } from './member-store.ts';
import { PostgresMembers } from './postgres-members.ts';

const postgres = postgresUnderTest();

let connections: Connections;
beforeEach(async () => {
  const { url } = await postgres.server.createPreparedDatabase();
  // With one connection, statements run in the order in which they are sent.
  connections = new Connections(url, { maxConnections: 1 });
});
afterEach(() => connections.close());

/**
 * Gives the database a clock that a test sets. PostgreSQL looks up `now()` in it first. Only later connections use it.
 */
async function createClock(name: string): Promise<(aheadS: number) => Promise<unknown>> {
  await postgres.server.query(
    name,
    `CREATE SCHEMA clock; CREATE TABLE clock.ahead AS SELECT interval '0 s' AS time;
     CREATE FUNCTION clock.now() RETURNS timestamptz STABLE LANGUAGE sql AS 'SELECT pg_catalog.now() + time FROM clock.ahead';
     GRANT USAGE ON SCHEMA clock TO PUBLIC; GRANT SELECT ON clock.ahead TO PUBLIC;
     ALTER DATABASE ${name} SET search_path = clock, pg_catalog`,
  );
  return (aheadS) => postgres.server.query(name, `UPDATE clock.ahead SET time = interval '${aheadS} s'`);
}

it('a poll returns what was written since the last successful one, however long ago that was', async () => {
  const { url, name } = await postgres.server.createPreparedDatabase();
  const setClock = await createClock(name);
  const own = new Connections(url);
  await prepareSchema(own, TEST_SCHEMA);
  const ready = (): Promise<void> => Promise.resolve();
  const [here, there] = [new PostgresMembers(own, ready), new PostgresMembers(own, ready)];
  const ann = { databaseId: 'household', principal: 'ann' };
  await there.write({ ...ann, role: 'owner' });
  expect(await here.readAll()).toEqual([{ ...ann, role: 'owner' }]);
  await there.write({ ...ann, role: 'editor' });
  await setClock(120);
  expect(await here.readRecent()).toEqual({ members: [{ ...ann, role: 'editor' }], count: 1 });
  await there.write({ ...ann, role: null });
  await setClock(240);
  expect(await here.readRecent()).toEqual({ members: [{ ...ann, role: null }], count: 1 });
  expect(await here.readRecent()).toEqual({ members: [], count: 1 });
  await own.close();
});

it('a poll returns a role whose transaction began before an earlier poll and has committed since', async () => {
  const { url } = await postgres.server.createPreparedDatabase();
  const own = new Connections(url);
  await prepareSchema(own, TEST_SCHEMA);
  const members = new PostgresMembers(own, () => Promise.resolve());
  const slow = await own.connect();
  await slow.query(`BEGIN; INSERT INTO rockpool.rockpool_member VALUES ('household', 'ann', 'owner')`);
  expect(await members.readRecent()).toEqual({ members: [], count: 0 });
  expect(await members.readRecent()).toEqual({ members: [], count: 0 });
  await slow.query('COMMIT');
  slow.release();
  expect(await members.readRecent()).toEqual({
    members: [{ databaseId: 'household', principal: 'ann', role: 'owner' }],
    count: 1,
  });
  await own.close();
});

it.each<[string, (members: PostgresMembers) => Promise<unknown>, unknown]>([
  ['a poll', (members) => members.readRecent(), { members: [], count: 0 }],
  ['an acceptance', (members) => members.acceptInvitation(new Uint8Array(32), 'ann', 0, () => 'viewer'), null],
])('%s that begins before the tables exist waits for them', async (_, use, answer) => {
  const tables = Promise.withResolvers<void>();
  const answered = use(new PostgresMembers(connections, () => tables.promise));
  await prepareSchema(connections, TEST_SCHEMA);
  tables.resolve();
  expect(await answered).toEqual(answer);
});

it('the command of this version stores and revokes roles in tables of the earlier version', async () => {
  const { url, name } = await postgres.server.createPreparedDatabase();
  const own = new Connections(url);
  await prepareSchema(own, TEST_SCHEMA);
  await postgres.server.query(name, 'ALTER TABLE rockpool.rockpool_member DROP COLUMN accepted_code_sha256');
  const members = new PostgresMembers(own, () => Promise.resolve());
  for (const role of ['editor', null] as const) {
    await members.write({ databaseId: 'household', principal: 'ann', role });
    expect(await members.readAll()).toEqual([{ databaseId: 'household', principal: 'ann', role }]);
  }
  await own.close();
});

describe('an acceptance', () => {
  const CODE_HASH = new Uint8Array(32).fill(7);
  const [MIA, OLGA] = [
    { databaseId: 'household', principal: 'mia' },
    { databaseId: 'household', principal: 'olga' },
  ];
  const judge: JudgeAcceptance = (_, held, offered) => {
    if (held === null) throw new RockpoolError('auth-forbidden');
    return held ?? offered;
  };
  let name: string;
  let own: Connections;
  let members: PostgresMembers;
  beforeEach(async () => {
    const created = await postgres.server.createPreparedDatabase();
    name = created.name;
    own = new Connections(created.url);
    await prepareSchema(own, TEST_SCHEMA);
    members = new PostgresMembers(own, () => Promise.resolve());
    await members.write({ ...OLGA, role: 'owner' });
    await invite();
  });
  afterEach(() => own.close());

  const invite = (): Promise<boolean> =>
    members.addInvitation(
      { codeHash: CODE_HASH, databaseId: 'household', role: 'viewer', expiresMs: 1_000, invitedBy: 'olga' },
      1,
      0,
    );
  const accept = (principal = 'mia'): ReturnType<PostgresMembers['acceptInvitation']> =>
    members.acceptInvitation(CODE_HASH, principal, 0, judge);

  async function untilWaiting(count: number): Promise<void> {
    const waiting = `SELECT count(*)::int FROM pg_stat_activity WHERE datname = '${name}' AND wait_event_type = 'Lock'`;
    while ((await postgres.server.query(name, waiting))[0]?.[0] !== count);
  }

  it('does not overwrite a first role that another transaction stores meanwhile', async () => {
    const other = await own.connect();
    await other.query(`BEGIN; INSERT INTO rockpool.rockpool_member VALUES ('household', 'mia', NULL)`);
    const accepted = accept().catch((error: unknown) => error);
    await untilWaiting(1);
    await other.query('COMMIT');
    other.release();
    expect(await accepted).toMatchObject({ code: 'auth-forbidden' });
    expect(await members.readDatabase('household')).toContainEqual({ ...MIA, role: null });
    // The refusal kept the invitation.
    expect(await accept('eve')).toMatchObject({ role: 'viewer' });
  });

  it('and a revocation of the principal who invited do not wait for each other', async () => {
    const other = await own.connect();
    await other.query(`BEGIN; INSERT INTO rockpool.rockpool_member VALUES ('household', 'mia', 'viewer')`);
    const accepted = accept();
    await untilWaiting(1);
    const revoked = members.write({ ...OLGA, role: null });
    await untilWaiting(2);
    await other.query('ROLLBACK');
    other.release();
    expect(await Promise.all([accepted, revoked])).toEqual([{ ...MIA, role: 'viewer' }, undefined]);
    expect(await members.readDatabase('household')).toContainEqual({ ...OLGA, role: null });
  });

  it('that is refused adds no member', async () => {
    // Simulates an invitation that is stored during the revocation of its creator.
    await members.write({ ...OLGA, role: null });
    await invite();
    expect(await accept()).toBeNull();
    expect(await members.readDatabase('household')).toEqual([{ ...OLGA, role: null }]);
  });

  it('has no effect once the database is deleted', async () => {
    await members.forgetDatabase('household');
    expect(await accept()).toBeNull();
    expect(await members.readAll()).toEqual([]);
  });

  it('can be repeated after an instance of this version has migrated the tables', async () => {
    await postgres.server.query(name, 'ALTER TABLE rockpool.rockpool_member DROP COLUMN accepted_code_sha256');
    await prepareSchema(own, TEST_SCHEMA);
    expect(await accept()).toEqual({ ...MIA, role: 'viewer' });
    expect([await accept(), await accept('eve')]).toEqual([{ ...MIA, role: 'viewer' }, null]);
    const indexed = `SELECT 1 FROM pg_indexes WHERE indexname = 'rockpool_member_accepted'`;
    expect(await postgres.server.query(name, indexed)).toHaveLength(1);
    await members.forgetDatabase('household');
    expect(await accept()).toBeNull();
  });
});
