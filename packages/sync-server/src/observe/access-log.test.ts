import { describe, expect, it } from 'vitest';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE } from '../../testing/test-server.ts';

const tested = serverUnderTest({});
const ADDRESS = '203.0.113.9';

async function ask(method: string, path: string, token: string | null, body?: unknown): Promise<unknown> {
  const response = await tested.server.ask(method, path, {
    ...(token !== null && { token }),
    headers: { 'x-forwarded-for': ADDRESS },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return text === '' ? null : JSON.parse(text);
}

/** The lines of the log about access rights, as [event, fields]. */
const logged = (): unknown[] =>
  tested.server.events
    .filter(({ event }) => /^(member|invitation|request-refused|session)/.test(event))
    .map(({ event, fields }) => [event, fields]);

describe('the log', () => {
  it('names who changed members and invitations, and from where', async () => {
    const owner = await tested.server.token('owner', 'olga');
    await ask('PUT', `/databases/${DATABASE}/members/mia`, owner, { role: 'viewer' });
    await ask('DELETE', `/databases/${DATABASE}/members/mia`, owner);
    const { id, code } = (await ask('POST', `/databases/${DATABASE}/invitations`, owner, { role: 'editor' })) as {
      id: string;
      code: string;
    };
    await ask('DELETE', `/databases/${DATABASE}/invitations/unknown`, owner);
    const nils = await tested.server.sync.issueToken({ principal: 'nils', databases: [], ttlMs: 3_600_000 });
    await ask('POST', '/invitations/accept', nils, { code });
    const by = { database: DATABASE, principal: 'olga', address: ADDRESS };
    expect(logged()).toEqual([
      ['member-set', { ...by, member: 'mia', role: 'viewer' }],
      ['member-revoked', { ...by, member: 'mia' }],
      ['invitation-created', { ...by, invitation: id, role: 'editor' }],
      ['invitation-withdrawn', { ...by, invitation: 'unknown' }],
      ['invitation-accepted', { ...by, principal: 'nils', invitation: id, role: 'editor' }],
    ]);
    expect(JSON.stringify(logged())).not.toContain(code);
  });

  it('names the reason and the address of a refused request, and no token', async () => {
    await ask('GET', `/databases/${DATABASE}/members`, null);
    await ask('GET', `/databases/${DATABASE}/members`, 'forged.token.value');
    await ask('GET', `/databases/${DATABASE}/members`, await tested.server.token('editor', 'eve'));
    const route = 'GET /databases/:databaseId/members';
    expect(logged()).toEqual(
      ['auth-token-invalid', 'auth-token-invalid', 'auth-forbidden'].map((code) => [
        'request-refused',
        { route, code, address: ADDRESS },
      ]),
    );
    expect(JSON.stringify(logged())).not.toContain('forged');
  });

  it('names the principal and the address of a session, once its token is valid', async () => {
    // No line: a client without a token could fill the log.
    await (await tested.server.connect()).close();
    const connection = await tested.server.connect(undefined, { 'x-forwarded-for': ADDRESS });
    await connection.open(await tested.server.token(), DATABASE);
    await connection.close();
    const refused = await tested.server.connect(undefined, { 'x-forwarded-for': ADDRESS });
    refused.hello('forged', DATABASE);
    await refused.failure();
    const of = { database: DATABASE, principal: 'ann', address: ADDRESS };
    await expect.poll(logged).toEqual([
      ['session-opened', { ...of, site: expect.any(String), canWrite: true }],
      ['session-ended', { ...of, site: expect.any(String) }],
      ['session-failed', { database: '', site: '', principal: null, address: ADDRESS, code: 'auth-token-invalid' }],
    ]);
  });
});
