import fc from 'fast-check';
import { expect } from 'vitest';
import { insert, remove, update, type Change } from './changeset.ts';
import { type TestConnection, TestSite } from './test-client.ts';
import type { TestServer } from './test-server.ts';

const TENANTS = ['alpha', 'bravo', 'carol'] as const;

/** In every id and every value of a tenant, and nowhere else. */
const canaryOf = (tenant: string): string => `canary-of-${tenant}`;

const step = fc.record({ tenant: fc.constantFrom(...TENANTS), does: fc.constantFrom('insert', 'update', 'remove', 'collide', 'intrude', 'listen'), key: fc.nat(5) });

/** Random histories of three tenants, who also knock at each other's doors. No byte that one of them is sent, and no line of the log, holds what is another's. */
export async function checkTenants(server: TestServer, runs: number): Promise<void> {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      run++;
      const received = new Map<string, Buffer[]>(TENANTS.map((tenant) => [tenant, []]));
      const writers = new Map<string, TestConnection>();
      const connect = async (tenant: string, site = new TestSite()): Promise<TestConnection> => {
        const connection = await server.connect(site);
        connection.socketForAbuse.on('message', (data: Buffer) => received.get(tenant)?.push(Buffer.from(data)));
        return connection;
      };
      const databaseOf = (tenant: string): string => `db-${run}-${tenant}`;
      const tokenOf = (tenant: string): Promise<string> => server.token('editor', canaryOf(tenant), databaseOf(tenant));
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
      expect(JSON.stringify(server.events)).not.toContain('canary-of-');
      for (const writer of writers.values()) await writer.close();
    }),
    { numRuns: runs },
  );
}
