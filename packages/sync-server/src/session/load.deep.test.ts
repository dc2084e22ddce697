import { expect, it } from 'vitest';
import { LoadClient, summary, untilAllArrived, type LoadLog } from '../../testing/load-client.ts';
import { serverProcessUnderTest } from '../../testing/server-process-under-test.ts';
import { DATABASE } from '../../testing/test-server.ts';

const CLIENTS = 200;
const WRITING_MS = 60_000;
/** Average interval between two writes of a client. */
const GAP_MS = 2_000;
/** One in this many clients is disconnected while it writes, and reconnects. */
const ONE_CUT_IN = 10;

const tested = serverProcessUnderTest();

it('200 clients that write for a minute, with cuts, and then reconnect at once, each get every row once', async () => {
  const log: LoadLog = { writtenMs: new Map(), acknowledgedAfterMs: [], arrivedAfterMs: [] };
  const { url } = tested.server;
  const token = await tested.server.token();
  const clients = Array.from(
    { length: CLIENTS },
    (_, index) => new LoadClient({ url, token, databaseId: DATABASE, name: `c${index}`, log }),
  );
  await Promise.all(clients.map((client) => client.connect()));

  await Promise.all(clients.map((client, index) => writeForAWhile(client, index)));
  const caughtUpMs = await untilAllArrived(clients);
  const live = { acknowledged: summary(log.acknowledgedAfterMs), arrived: summary(log.arrivedAfterMs) };

  await Promise.all(clients.map((client) => client.cut()));
  const stormMs = performance.now();
  for (const client of clients) client.write();
  await Promise.all(clients.map((client) => client.connect()));
  await untilAllArrived(clients);

  console.info(
    `load: ${CLIENTS} clients, ${log.writtenMs.size} writes; acknowledged after ${live.acknowledged}, with another client after ${live.arrived}; ` +
      `the rest ${caughtUpMs.toFixed(0)} ms after the last; ${CLIENTS} back at once with a write each: ${(performance.now() - stormMs).toFixed(0)} ms`,
  );
  expect(clients.flatMap(({ refusals }) => refusals)).toEqual([]);
  for (const client of clients) expect([...client.arrived.values()].filter((times) => times !== 1)).toEqual([]);
});

async function writeForAWhile(client: LoadClient, index: number): Promise<void> {
  const endMs = performance.now() + WRITING_MS;
  await sleep((index / CLIENTS) * GAP_MS);
  while (performance.now() < endMs) {
    client.write();
    if (index % ONE_CUT_IN === 0) {
      await client.cut();
      await client.connect();
    }
    await sleep(GAP_MS);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
