import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { insert } from '../../testing/changeset.ts';
import { TestServer } from '../../testing/test-server.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

let folder: string;
let server: TestServer;
const lines: string[] = [];
beforeEach(async () => {
  folder = temporaryFolder();
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  const log = (): void => {
    throw new RangeError('the log is full');
  };
  server = await TestServer.start(folder, { log });
});
afterEach(async () => {
  await server.stop();
  vi.restoreAllMocks();
});

it('a host whose log throws is served, and its log lines go to stderr', async () => {
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
