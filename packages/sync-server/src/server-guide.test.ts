import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { hostAuthentication, runServerGuide } from '../testing/server-guide.ts';
import { createSyncServer } from './index.ts';
import { TEST_SCHEMA } from '../testing/test-schema.ts';
import { TEST_SECRET } from '../testing/test-server.ts';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';

const textOf = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

it('the test of docs/server.md runs the same lines as its code blocks', () => {
  // The formatter may break lines and move comments.
  const withoutSpace = (text: string): string =>
    text.replace(/(^|\s)\/\/ .*$/gm, '').replace(/\s+|,(?=\s*[)\]}])/g, '');
  const code = withoutSpace(textOf('../testing/server-guide.ts'));
  const blocks = [...textOf('../../../docs/server.md').matchAll(/```ts\n(.*?)```\n/gs)]
    .map(([, block]) => block as string)
    .filter((block) => block.includes('sync'));
  expect(blocks).toHaveLength(5);
  for (const line of blocks.join('').split('\n')) expect(code).toContain(withoutSpace(line));
});

it('the server does what docs/server.md says', async () => {
  const folder = temporaryFolder();
  const { sync, http, updates, refusal, code, members } = await runServerGuide({
    dataDir: folder,
    schema: TEST_SCHEMA,
    secret: TEST_SECRET,
    principal: 'ann',
  });
  try {
    expect(updates).toMatchObject([
      { table: 'accounts', kind: 'insert', key: { id: 'a' }, values: { name: 'from the server' } },
    ]);
    expect(refusal).toContain('no credit in my-budget');
    expect(members).toEqual([{ principal: 'ann', role: 'owner' }]);
    expect(await sync.members.invitations('my-budget')).toHaveLength(1);
    expect(code.length).toBeGreaterThan(40);
  } finally {
    await sync.close();
    http.closeAllConnections();
    http.close();
  }
});

it('a host that uses its own sessions as tokens admits them and refuses others', async () => {
  const sessions = new Map([['s1', { userId: 'ann', name: 'Ann', expiresAtMs: Date.now() + 3_600_000 }]]);
  const sync = createSyncServer({
    dataDir: temporaryFolder(),
    schema: TEST_SCHEMA,
    authenticate: hostAuthentication(sessions),
  });
  try {
    await sync.members.setRole('my-budget', 'ann', 'owner');
    const members = (token: string): Promise<Response> =>
      Promise.resolve(
        sync.app.request('/databases/my-budget/members', { headers: { authorization: `Bearer ${token}` } }),
      );
    expect(await (await members('s1')).json()).toEqual([{ principal: 'ann', role: 'owner' }]);
    const refused = await members('s2');
    expect([refused.status, await refused.json()]).toMatchObject([401, { code: 'auth-token-expired' }]);
  } finally {
    await sync.close();
  }
});
