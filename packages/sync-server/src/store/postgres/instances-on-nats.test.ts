import { describe, expect, it, onTestFinished } from 'vitest';
import { insert } from '../../../testing/changeset.ts';
import { isNatsMissing, NatsServer } from '../../../testing/nats-server.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { TestSite, type TestConnection } from '../../../testing/test-client.ts';
import { TestServer } from '../../../testing/test-server.ts';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { temporaryFolder } from '../../../../../tests/kit/temporary-folder.ts';

const postgres = postgresUnderTest();

async function probe(server: TestServer): Promise<{ readonly status: number; readonly bus: unknown }> {
  const answer = await server.ask('GET', '/ready');
  return { status: answer.status, bus: ((await answer.json()) as { readonly bus?: unknown }).bus };
}

async function metric(server: TestServer, name: string): Promise<number> {
  const text = await (await server.ask('GET', '/metrics')).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

describe.skipIf(isNatsMissing).each(atLevel({ test: [1], verify: [1, 2] }))(
  'instances that NATS connects, with %i threads',
  (threads) => {
    it('instances on NATS deliver each other’s commits, report when NATS is unreachable, and continue to deliver without it', async () => {
      const { url } = await postgres.server.createPreparedDatabase();
      const nats = await NatsServer.start();
      onTestFinished(() => nats.kill());
      const start = async (): Promise<TestServer> => {
        const server = await TestServer.start(temporaryFolder(), {
          postgres: url,
          nats: { servers: [nats.url] },
          threads,
        });
        onTestFinished(() => server.stop());
        await server.sync.ready();
        return server;
      };
      const [here, there] = [await start(), await start()];
      const [writer, reader] = [await here.open(), await there.open(new TestSite())];
      const deliver = async (id: string, from: TestConnection): Promise<void> => {
        await from.commit([insert('accounts', id, { name: id })]);
        while (reader.site.cursor < from.site.cursor) await reader.delivery();
      };
      await deliver('x', writer);
      while ((await probe(there)).bus !== 'connected');
      expect(await probe(there)).toEqual({ status: 200, bus: 'connected' });
      expect((await nats.subjects()).filter((subject) => subject.endsWith('.database.household'))).toHaveLength(2);
      await nats.kill();
      while ((await probe(there)).bus === 'connected');
      expect(await probe(there)).toEqual({ status: 200, bus: 'disconnected' });
      await deliver('y', writer);
      expect(await metric(there, 'rockpool_bus_connected')).toBe(0);
      await nats.start();
      while ((await probe(there)).bus !== 'connected');
      await deliver('z', writer);
      expect(await metric(there, 'rockpool_bus_connected')).toBe(1);
      expect(await metric(there, 'rockpool_bus_reconnects_total')).toBeGreaterThan(0);
      await Promise.all([writer.close(), reader.close()]);
    });
  },
);
