import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { insert } from '../../testing/changeset.ts';
import { TestServer } from '../../testing/test-server.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

let server: TestServer | undefined;
const lines: string[] = [];
beforeEach(() => {
  lines.length = 0;
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
});
afterEach(async () => {
  await server?.stop();
  vi.restoreAllMocks();
});

const fails = (): never => {
  throw new RangeError('the log is full');
};

it.each<[string, () => void]>([
  ['throws', fails],
  ['rejects', async () => fails()],
])('a host whose log %s is served, and its log lines go to stderr', async (_how, log) => {
  server = await TestServer.start(temporaryFolder(), { log });
  const connection = await server.open();
  expect(await connection.commit([insert('accounts', 'x', { name: 'x' })])).toMatchObject({ kind: 'admitted' });
  connection.socketForAbuse.send('no frame');
  expect(await connection.failure()).toMatchObject({ code: 'frame-invalid' });
  const again = await server.open(connection.site);
  expect(await again.commit([insert('accounts', 'y', { name: 'y' })])).toMatchObject({ kind: 'admitted' });
  await again.close();
  const entries = lines.map((line) => JSON.parse(line) as { event: string; name?: string });
  for (const event of ['session-opened', 'session-failed'])
    expect(entries).toContainEqual(expect.objectContaining({ event }));
  expect(entries).toContainEqual(expect.objectContaining({ event: 'log-failed', name: 'RangeError' }));
});
