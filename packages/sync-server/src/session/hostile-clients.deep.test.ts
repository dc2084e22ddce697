import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { insert } from '../testing/changeset.ts';
import { serverProcessUnderTest } from '../testing/server-process-under-test.ts';
import { TestConnection } from '../testing/test-client.ts';
import { DATABASE } from '../testing/test-server.ts';

const SLOW_CLIENTS = 50;

const tested = serverProcessUnderTest();

/** Sends its request a byte a second, until the server has had enough. */
function slowly(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, host, () => socket.write('GET /sync HTTP/1.1\r\nX-Slow: '));
    const drip = setInterval(() => socket.write('a'), 1_000);
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(drip);
      resolve(answer);
    });
  });
}

it('whoever sends a request byte by byte is cut off, and nobody else waits for them', async () => {
  const { hostname, port } = new URL(tested.server.url);
  const slow = Promise.all(Array.from({ length: SLOW_CLIENTS }, () => slowly(hostname, Number(port))));
  const honest = await TestConnection.connect(tested.server.url);
  await honest.open(await tested.server.token(), DATABASE);
  let isOver = false;
  void slow.then(() => (isOver = true));
  for (let number = 0; !isOver; number++) {
    expect(await honest.commit([insert('accounts', `a${number}`, { name: `${number}` })])).toMatchObject({ kind: 'admitted' });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  for (const answer of await slow) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
});
