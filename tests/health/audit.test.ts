import { describe, expect, it } from 'vitest';
import { postgresUnderTest } from '#sync-server/testing/postgres-under-test.ts';
import { atLevel } from '#kit/level.ts';
import type { SocketDevice } from '#kit/socket-device.ts';
import { withServer as onFiles } from '#kit/with-server.ts';

const COUNT = 1_500;

async function filled(device: SocketDevice): Promise<void> {
  for (let first = 0; first < COUNT; first += 100) {
    device.write(
      `WITH RECURSIVE n(i) AS (VALUES (${first}) UNION ALL SELECT i + 1 FROM n WHERE i < ${first + 99}) INSERT INTO account (id, name, amount, rate) SELECT 'a' || i, 'name ' || i, i, i / 3.0 FROM n`,
    );
  }
  await device.upToDate();
}

const answers = (device: SocketDevice): number => device.messages.filter(({ type }) => type === 'audit-answer').length;

/** Bypasses Rockpool: neither captured nor in the changelog. */
function damage(device: SocketDevice, sql: string): void {
  device.database.connection.exec(sql);
}

/** Waits for an audit that starts later than now. */
async function audited(device: SocketDevice): Promise<void> {
  const before = answers(device);
  await device.until(() => answers(device) >= before + 2);
}

const FILES = { store: 'files', withServer: onFiles };

/** The tests of a run wait for PostgreSQL if one of them calls this. */
function onPostgres(): typeof FILES {
  const postgres = postgresUnderTest();
  return {
    store: 'PostgreSQL',
    withServer: async (body) => onFiles(body, { postgres: (await postgres.server.createDatabase()).url }),
  };
}

describe.each(atLevel({ test: () => [FILES], verify: () => [FILES, onPostgres()] })())(
  'an audit of a server on $store',
  ({ withServer }) => {
    it('takes one small message in each direction if the replicas are equal', () =>
      withServer(async (_server, device) => {
        const one = device();
        await filled(one);
        await audited(one);
        expect(one.messages.filter(({ type }) => type === 'audit').every(({ sizeBytes }) => sizeBytes < 60)).toBe(true);
        expect(
          one.messages.filter(({ type }) => type === 'audit-answer').every(({ sizeBytes }) => sizeBytes < 10),
        ).toBe(true);
        expect(one.problems).toEqual([]);
      }));

    it('finds changed, lost and added rows, reports their number without values, and repairs them', () =>
      withServer(async (server, device) => {
        const one = device();
        await filled(one);
        damage(
          one,
          "UPDATE account SET amount = amount + 1 WHERE id = 'a7'; DELETE FROM account WHERE id = 'a900'; INSERT INTO account (id, name) VALUES ('ghost', 'of nobody')",
        );
        await one.until(() => one.problems.length > 0);
        expect(one.problems.map((problem) => problem.toData())).toMatchObject([
          { code: 'replica-diverged', fields: { table: 'account', rowCount: 3 } },
        ]);
        expect(one.rows('SELECT count(*), sum(amount) FROM account')).toEqual([[COUNT, (COUNT * (COUNT - 1)) / 2]]);
        expect(one.rows("SELECT id FROM account WHERE id = 'ghost' OR (id = 'a7' AND amount <> 7)")).toEqual([]);
        expect(server.events.filter(({ event }) => event === 'audit-differs').length).toBeGreaterThan(0);
        expect(JSON.stringify(one.problems.map((problem) => problem.toData()))).not.toContain('a900');
      }));

    it('compares and repairs rows below pending writes, and does not change the pending writes', () =>
      withServer(async (_server, device) => {
        const one = device();
        await filled(one);
        one.role = 'viewer';
        one.reconnect();
        one.write("UPDATE account SET name = 'mine' WHERE id = 'a5'");
        one.write("DELETE FROM account WHERE id = 'a6'");
        one.write("INSERT INTO account (id, name) VALUES ('new', 'new')");
        damage(one, "UPDATE account SET amount = 99 WHERE id = 'a5'; UPDATE account SET rate = NULL WHERE id = 'a8'");
        await one.until(() => one.problems.length > 0);
        expect(one.problems[0]?.fields).toMatchObject({ table: 'account', rowCount: 2 });
        expect(one.rows("SELECT id, name, amount FROM account WHERE id IN ('a5', 'a6', 'new') ORDER BY id")).toEqual([
          ['a5', 'mine', 5],
          ['new', 'new', null],
        ]);
        expect(one.database.outbox.pendingCount()).toBe(3);
      }));
  },
);
