import { encodeSchema, type RockpoolError } from '@rockpool/shared';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from '../src/client.ts';
import type { ClientOptions, SyncOptions } from '../src/interface/client-options.ts';
import { defineSchema } from '../src/schema/define-schema.ts';
import { sql } from '../src/tab/sql.ts';
import { freshName } from './browser-tabs.ts';

const entry = sqliteTable('entry', { id: text().primaryKey(), note: text() });
const bindingSchema = defineSchema({ entry });
const otherSchema = defineSchema({
  entry: sqliteTable('entry', { id: text().primaryKey(), number: integer().notNull() }),
});

export interface BindingContractOptions {
  readonly createClient: (options: ClientOptions) => Promise<Client>;
  /** A real server's database. */
  readonly sync: (schemaJson: string, databaseId: string) => Promise<{ readonly url: string; readonly token: string }>;
  readonly persistence: ClientOptions['persistence'];
  /**
   * `differences` omits the tests of the rules that all open tabs of a database must share, because that code is the
   * same on every medium. One medium runs the `whole` contract, and that is enough for them.
   */
  readonly extent: 'whole' | 'differences';
}

/** The rule that keeps rows of one server database out of another, wherever the client runs. */
export function describeBinding(
  title: string,
  { createClient, sync, persistence, extent }: BindingContractOptions,
): void {
  describe(`the binding of a local database on ${title} to one server database`, () => {
    const clients: Client[] = [];
    const problems: RockpoolError[] = [];

    afterEach(async () => {
      await Promise.all(clients.splice(0).map((client) => client.close()));
      problems.length = 0;
    });

    async function open(options: Partial<ClientOptions> & { readonly name: string }): Promise<Client> {
      const client = await createClient({
        schema: bindingSchema,
        ...(persistence === undefined ? {} : { persistence }),
        onError: (error) => void problems.push(error),
        ...options,
      });
      clients.push(client);
      return client;
    }

    async function close(client: Client): Promise<void> {
      clients.splice(clients.indexOf(client), 1);
      await client.close();
    }

    async function syncWith(databaseId: string, more: Partial<SyncOptions> = {}): Promise<SyncOptions> {
      const { url, token } = await sync(encodeSchema(bindingSchema), databaseId);
      return { url, databaseId, token: () => token, ...more };
    }

    const write = (client: Client, id: string): Promise<unknown> =>
      client.execute(sql`INSERT INTO entry (id) VALUES (${id})`);
    const idsIn = async (client: Client): Promise<string[]> =>
      (await client.query<{ id: string }>('SELECT id FROM entry ORDER BY id')).map(({ id }) => id);

    /** Resolves once this client is up to date. */
    function upToDate(client: Client): Promise<void> {
      return new Promise((resolve) => {
        const stop = client.status.subscribe(({ state }) => {
          if (state !== 'up-to-date') return;
          resolve();
          queueMicrotask(() => stop());
        });
      });
    }

    /** The ids of the rows that a new client receives from the server. */
    async function rowsOnServer(databaseId: string): Promise<string[]> {
      const fresh = await open({ name: freshName(), sync: await syncWith(databaseId) });
      await upToDate(fresh);
      return idsIn(fresh);
    }

    const [team, team2] = [`team-${freshName()}`, `team2-${freshName()}`];
    const mismatch = { code: 'database-mismatch', recovery: 'ask-user', fields: { belongsTo: team, asked: team2 } };

    it('holds when the database is opened again, even offline, and a rejected opening changes nothing', async () => {
      const name = freshName();
      const first = await open({ name, sync: await syncWith(team) });
      await write(first, `${name}-row`);
      await upToDate(first);
      await close(first);
      const unreachable = { url: 'ws://127.0.0.1:9/sync', token: () => '' };
      // The schema differs too, but a rejected opening does not migrate the file.
      await expect(
        open({ name, schema: otherSchema, sync: { ...unreachable, databaseId: team2 } }),
      ).rejects.toMatchObject(mismatch);
      await expect(open({ name, sync: { ...unreachable, databaseId: team2, principal: 'bob' } })).rejects.toMatchObject(
        mismatch,
      );
      expect(await idsIn(await open({ name, sync: await syncWith(team) }))).toContain(`${name}-row`);
      expect(await rowsOnServer(team2)).toEqual([]);
    });

    it('begins when the database is first opened with sync, and sends earlier writes to that server database only', async () => {
      const name = freshName();
      const local = await open({ name });
      await write(local, `${name}-local`);
      await close(local);
      // The binding needs no response from a server.
      await close(await open({ name, sync: { url: 'ws://127.0.0.1:9/sync', token: () => '', databaseId: team } }));
      await expect(open({ name, sync: await syncWith(team2) })).rejects.toMatchObject(mismatch);
      await close(await open({ name }));
      await upToDate(await open({ name, sync: await syncWith(team) }));
      expect(await rowsOnServer(team)).toContain(`${name}-local`);
      expect(await rowsOnServer(team2)).toEqual([]);
    });

    it('ends when it is deleted', async () => {
      const name = freshName();
      const first = await open({ name, sync: await syncWith(team) });
      await upToDate(first);
      clients.length = 0;
      await first.leave();
      const again = await open({ name, sync: await syncWith(team2) });
      await upToDate(again);
      expect(await idsIn(again)).toEqual([]);
    });

    if (extent === 'differences') return;

    it.each([null, 'ann'])('holds in a second tab while the first is open, signed in as %s', async (principal) => {
      const [name, id] = [freshName(), `${principal}-written`];
      const person = principal === null ? {} : { principal };
      const first = await open({ name, sync: await syncWith(team, person) });
      await write(first, id).then(() => upToDate(first));
      await expect(open({ name, sync: await syncWith(team2, person) })).rejects.toMatchObject(mismatch);
      // The first tab continues.
      await write(first, `${id}-2`);
      await upToDate(first);
      expect(await rowsOnServer(team)).toEqual(expect.arrayContaining([id, `${id}-2`]));
      expect(await rowsOnServer(team2)).toEqual([]);
    });

    it('holds after the database has passed to another user', async () => {
      const name = freshName();
      const ann = await open({ name, sync: await syncWith(team, { principal: 'ann' }) });
      await write(ann, `${name}-of-ann`);
      await upToDate(ann);
      await close(ann);
      await close(await open({ name, sync: await syncWith(team, { principal: 'bob' }) }));
      await expect(open({ name, sync: await syncWith(team2, { principal: 'bob' }) })).rejects.toMatchObject(mismatch);
    });

    it.each<readonly [string, (options: SyncOptions) => SyncOptions | undefined, object]>([
      [
        'another server',
        (options) => ({ ...options, url: 'ws://127.0.0.1:9/sync' }),
        { code: 'tab-options-differ', fields: { option: 'sync.url' } },
      ],
      ['no server', () => undefined, { code: 'tab-options-differ', fields: { option: 'sync' } }],
      [
        'nobody signed in',
        ({ url, databaseId, token }) => ({ url, databaseId, token }),
        { code: 'tab-options-differ', fields: { option: 'sync.principal' } },
      ],
      ['another person', (options) => ({ ...options, principal: 'bob' }), { code: 'other-principal' }],
    ])(
      'covers the sync options of all tabs: a tab with %s is rejected, in either order',
      async (_, change, refusal) => {
        const mine = await syncWith(team, { principal: 'ann' });
        const theirs = change(mine);
        for (const [first, second] of [
          [mine, theirs],
          [theirs, mine],
        ]) {
          const name = freshName();
          const leader = await open({ name, ...(first === undefined ? {} : { sync: first }) });
          await expect(open({ name, ...(second === undefined ? {} : { sync: second }) })).rejects.toMatchObject(
            refusal,
          );
          await write(leader, `${name}-later`);
          // A URL with a trace id or a trailing slash names the same server.
          if (first !== undefined) await close(await open({ name, sync: { ...first, url: `${first.url}/?trace=1` } }));
        }
      },
    );

    it('rejects a tab with a different schema', async () => {
      const name = freshName();
      const options = await syncWith(team);
      const leader = await open({ name, sync: options });
      await expect(open({ name, schema: otherSchema, sync: options })).rejects.toMatchObject({
        code: 'schema-incompatible',
      });
      await write(leader, `${name}-later`);
    });
  });
}
