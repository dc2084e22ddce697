import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { insert, remove, update, type Change } from '../testing/changeset.ts';
import { serverUnderTest } from '../testing/server-under-test.ts';
import { type TestConnection, TestSite } from '../testing/test-client.ts';

const TENANTS = ['alpha', 'bravo', 'carol'] as const;
const tested = serverUnderTest();

/** In every id and every value of a tenant, and nowhere else. */
const canaryOf = (tenant: string): string => `canary-of-${tenant}`;

const step = fc.record({ tenant: fc.constantFrom(...TENANTS), does: fc.constantFrom('insert', 'update', 'remove', 'collide', 'intrude', 'listen'), key: fc.nat(5) });

describe('tenants of one server', () => {
  it('never get a byte of each other, nor do logs and errors hold one', { timeout: 120_000 }, async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        run++;
        const received = new Map<string, Buffer[]>(TENANTS.map((tenant) => [tenant, []]));
        const writers = new Map<string, TestConnection>();
        const connect = async (tenant: string, site = new TestSite()): Promise<TestConnection> => {
          const connection = await tested.server.connect(site);
          connection.socketForAbuse.on('message', (data: Buffer) => received.get(tenant)?.push(Buffer.from(data)));
          return connection;
        };
        const databaseOf = (tenant: string): string => `db-${run}-${tenant}`;
        const tokenOf = (tenant: string): Promise<string> => tested.server.token('editor', canaryOf(tenant), databaseOf(tenant));
        for (const tenant of TENANTS) {
          const writer = await connect(tenant);
          await writer.open(await tokenOf(tenant), databaseOf(tenant));
          writers.set(tenant, writer);
        }
        for (const { tenant, does, key } of steps) {
          const canary = canaryOf(tenant);
          const writer = writers.get(tenant) as TestConnection;
          const id = `${canary}-${key}`;
          const changes: Readonly<Record<string, Change>> = {
            insert: insert('accounts', id, { name: `${canary} ${key}` }),
            update: update('accounts', id, { name: `${canary} ${key} again` }),
            remove: remove('accounts', id),
            collide: insert('accounts', `${id}-twin`, { name: `${canary} ${key}` }), // UNIQUE: refused where the other is there
          };
          const change = changes[does];
          if (change !== undefined) await writer.commit([change], { base: 0 });
          else if (does === 'listen') await (await connect(tenant)).open(await tokenOf(tenant), databaseOf(tenant));
          else {
            const intruder = await connect(tenant, new TestSite(writer.site.siteId));
            intruder.hello(await tokenOf(tenant), databaseOf(TENANTS[(TENANTS.indexOf(tenant) + 1) % TENANTS.length] as string));
            await intruder.failure();
          }
        }
        for (const tenant of TENANTS) {
          const bytes = Buffer.concat(received.get(tenant) as Buffer[]).toString('latin1');
          for (const other of TENANTS) if (other !== tenant) expect(bytes).not.toContain(canaryOf(other));
        }
        expect(JSON.stringify(tested.server.events)).not.toContain('canary-of-');
        for (const writer of writers.values()) await writer.close();
      }),
      { numRuns: 40 },
    );
  });
});
