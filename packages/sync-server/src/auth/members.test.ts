import { describe, expect, it } from 'vitest';
import { insert } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE } from '../../testing/test-server.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { InProcessBus } from '../bus/in-process-bus.ts';
import { membersPath } from '../store/data-directory.ts';
import type { MemberStore } from './member-store.ts';
import { Members, type ServerMembers } from './members.ts';
import type { Principal } from './principal.ts';
import type { Role } from './role.ts';
import { SqliteMembers } from './sqlite-members.ts';

let aheadMs = 0;
let stoppedMs: number | null = null;
const tested = serverUnderTest({ now: () => stoppedMs ?? Date.now() + aheadMs });
const owner = (): Promise<string> => tested.server.token('owner', 'olga');
const stranger = (principal: string): Promise<string> =>
  tested.server.sync.issueToken({ principal, databases: [], ttlMs: 3_600_000 });

async function ask(
  method: string,
  path: string,
  token: string,
  body?: unknown,
): Promise<{ status: number; body: unknown }> {
  const response = await tested.server.ask(method, path, {
    token,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

describe('a member', () => {
  it('can be added by an owner without a new token', async () => {
    const token = await stranger('mia');
    const refused = await tested.server.connect();
    refused.hello(token, DATABASE);
    expect(await refused.failure()).toMatchObject({ code: 'auth-database-forbidden' });
    expect(await ask('PUT', `/databases/${DATABASE}/members/mia`, await owner(), { role: 'viewer' })).toMatchObject({
      status: 204,
    });
    const connection = await tested.server.connect();
    expect((await connection.open(token, DATABASE)).welcome.canWrite).toBe(false);
    expect(await ask('GET', `/databases/${DATABASE}/members`, await owner())).toEqual({
      status: 200,
      body: [{ principal: 'mia', role: 'viewer' }],
    });
  });

  it('must reconnect after the right to write is granted or revoked', async () => {
    const connection = await tested.server.open();
    await ask('PUT', `/databases/${DATABASE}/members/ann`, await owner(), { role: 'viewer' });
    expect(await connection.closes()).toMatchObject({ code: 1001 });
    const again = await tested.server.connect();
    // The token still has the role editor; the stored role overrides it.
    expect((await again.open(await tested.server.token('editor'), DATABASE)).welcome.canWrite).toBe(false);
  });

  it('loses access at once when revoked, whatever role the token has', async () => {
    const connection = await tested.server.open();
    const other = await tested.server.open(undefined, { principal: 'ben' });
    expect(await ask('DELETE', `/databases/${DATABASE}/members/ann`, await owner())).toMatchObject({ status: 204 });
    expect(await connection.failure()).toMatchObject({ code: 'auth-database-forbidden' });
    await other.commit([insert('accounts', 'x', { name: 'x' })]);
    const again = await tested.server.connect();
    again.hello(await tested.server.token('owner'), DATABASE);
    expect(await again.failure()).toMatchObject({ code: 'auth-database-forbidden' });
    await tested.restart();
    const later = await tested.server.connect();
    later.hello(await tested.server.token('owner'), DATABASE);
    expect(await later.failure()).toMatchObject({ code: 'auth-database-forbidden' });
  });

  it('can only be added by an owner', async () => {
    expect(
      await ask('PUT', `/databases/${DATABASE}/members/eve`, await tested.server.token('editor', 'eve'), {
        role: 'owner',
      }),
    ).toMatchObject({ status: 403, body: { code: 'auth-forbidden' } });
    expect(
      await ask('PUT', `/databases/${DATABASE}/members/eve`, await stranger('eve'), { role: 'owner' }),
    ).toMatchObject({ status: 403, body: { code: 'auth-database-forbidden' } });
    expect(await ask('PUT', `/databases/${DATABASE}/members/eve`, await owner(), { role: 'king' })).toMatchObject({
      status: 400,
      body: { code: 'request-invalid' },
    });
    // PostgreSQL stores no NUL.
    for (const path of ['mia%00', 'x'.repeat(256)])
      expect(
        await ask('PUT', `/databases/${DATABASE}/members/${path}`, await owner(), { role: 'owner' }),
      ).toMatchObject({
        status: 400,
        body: { code: 'request-invalid' },
      });
    expect(tested.server.sync.members.list(DATABASE)).toEqual([]);
  });
});

describe('changes of members and invitations', () => {
  it('are limited for each principal, and reading is not', async () => {
    const members = `/databases/${DATABASE}/members`;
    const invitations = `/databases/${DATABASE}/invitations`;
    const token = await owner();
    // Requests without a body are refused, but still count towards the limit.
    const change = async (by: string): Promise<number> => (await ask('PUT', `${members}/mia`, by)).status;
    stoppedMs = Date.now();
    try {
      for (let i = 0; i < 500; i++) expect(await change(token)).toBe(400);
      for (const [method, path] of [
        ['PUT', `${members}/mia`],
        ['DELETE', `${members}/mia`],
        ['POST', invitations],
        ['DELETE', `${invitations}/x`],
        ['POST', '/invitations/accept'],
      ] as const)
        expect(await ask(method, path, token)).toMatchObject({ status: 429, body: { code: 'rate-limited' } });
      for (const path of [members, invitations]) expect((await ask('GET', path, token)).status).toBe(200);
      expect(await change(await tested.server.token('owner', 'ben'))).toBe(400);
      stoppedMs += 100;
      expect([await change(token), await change(token)]).toEqual([400, 429]);
    } finally {
      stoppedMs = null;
    }
  });
});

describe('an invitation', () => {
  const invite = async (role = 'editor', ttlMs?: number): Promise<string> => {
    const { status, body } = await ask('POST', `/databases/${DATABASE}/invitations`, await owner(), { role, ttlMs });
    expect(status).toBe(201);
    return (body as { code: string }).code;
  };

  it('makes its bearer a member, once', async () => {
    const code = await invite();
    const token = await stranger('mia');
    expect(await ask('POST', '/invitations/accept', token, { code })).toEqual({
      status: 200,
      body: { databaseId: DATABASE, role: 'editor' },
    });
    const connection = await tested.server.connect();
    expect((await connection.open(token, DATABASE)).welcome.canWrite).toBe(true);
    expect(await ask('POST', '/invitations/accept', await stranger('eve'), { code })).toMatchObject({
      status: 400,
      body: { code: 'invitation-invalid' },
    });
    expect(await ask('POST', '/invitations/accept', await stranger('eve'), { code: 'guessed' })).toMatchObject({
      body: { code: 'invitation-invalid' },
    });
  });

  it('can be accepted again by the same principal, as long as they are a member', async () => {
    const code = await invite();
    const accept = async (principal: string): Promise<unknown> => {
      const { body } = await ask('POST', '/invitations/accept', await stranger(principal), { code });
      const { code: error, role } = body as { code?: string; role?: string };
      return error ?? role;
    };
    expect(await accept('mia')).toBe('editor');
    expect(await tested.server.sync.members.invitations(DATABASE)).toEqual([]);
    await tested.restart();
    expect([await accept('mia'), await accept('eve')]).toEqual(['editor', 'invitation-invalid']);
    aheadMs = 8 * 24 * 3600 * 1000;
    try {
      expect(await accept('mia')).toBe('editor');
    } finally {
      aheadMs = 0;
    }
    await tested.server.sync.members.setRole(DATABASE, 'mia', 'viewer');
    expect(await accept('mia')).toBe('viewer');
    expect(tested.server.sync.members.list(DATABASE)).toEqual([{ principal: 'mia', role: 'viewer' }]);
    await tested.server.sync.members.revokeEverywhere('mia');
    expect(await accept('mia')).toBe('invitation-invalid');
    await tested.server.sync.members.readmit('mia');
    expect(await accept('mia')).toBe('viewer');
    await tested.server.sync.members.setRole(DATABASE, 'mia', null);
    expect(await accept('mia')).toBe('invitation-invalid');
  });

  it('never lowers a role or readmits a revoked principal', async () => {
    await tested.server.sync.members.setRole(DATABASE, 'mia', 'owner');
    expect(
      await ask('POST', '/invitations/accept', await stranger('mia'), { code: await invite('viewer') }),
    ).toMatchObject({ body: { role: 'owner' } });
    await tested.server.sync.members.setRole(DATABASE, 'ben', null);
    expect(await ask('POST', '/invitations/accept', await stranger('ben'), { code: await invite() })).toMatchObject({
      status: 403,
      body: { code: 'auth-forbidden' },
    });
  });

  it('never lowers the role of a token, and stays valid for others', async () => {
    const code = await invite('viewer');
    expect(await ask('POST', '/invitations/accept', await owner(), { code })).toEqual({
      status: 200,
      body: { databaseId: DATABASE, role: 'owner' },
    });
    expect(tested.server.sync.members.list(DATABASE)).toEqual([]);
    expect(await ask('POST', '/invitations/accept', await stranger('mia'), { code })).toMatchObject({
      body: { role: 'viewer' },
    });
    const ben = await tested.server.token('viewer', 'ben');
    expect(await ask('POST', '/invitations/accept', ben, { code: await invite('editor') })).toMatchObject({
      body: { role: 'editor' },
    });
  });

  it('expires', async () => {
    const code = await invite('editor', 1_000);
    aheadMs = 2_000;
    try {
      expect(await ask('POST', '/invitations/accept', await stranger('mia'), { code })).toMatchObject({
        body: { code: 'invitation-invalid' },
      });
    } finally {
      aheadMs = 0;
    }
    const { status } = await ask('POST', `/databases/${DATABASE}/invitations`, await owner(), {
      role: 'editor',
      ttlMs: 1e12,
    });
    expect(status).toBe(400);
  });

  it('becomes invalid when its issuer may no longer invite, so a revoked owner cannot use one to return', async () => {
    const mallory = await tested.server.token('owner', 'mallory');
    const made = async (): Promise<string> => {
      const { body } = await ask('POST', `/databases/${DATABASE}/invitations`, mallory, { role: 'owner' });
      return (body as { code: string }).code;
    };
    const redeem = async (code: string): Promise<unknown> =>
      (await ask('POST', '/invitations/accept', await stranger('second-account'), { code })).body;
    const codes = [await made(), await made()];
    const others = await invite('viewer');
    await ask('DELETE', `/databases/${DATABASE}/members/mallory`, await owner());
    expect(await redeem(codes[0] as string)).toMatchObject({ code: 'invitation-invalid' });
    // The invitation stays invalid even if its issuer regains the right to invite.
    await ask('PUT', `/databases/${DATABASE}/members/mallory`, await owner(), { role: 'owner' });
    expect(await redeem(codes[1] as string)).toMatchObject({ code: 'invitation-invalid' });
    const third = await made();
    await ask('PUT', `/databases/${DATABASE}/members/mallory`, await owner(), { role: 'editor' });
    expect(await redeem(third)).toMatchObject({ code: 'invitation-invalid' });
    expect(await redeem(others)).toMatchObject({ role: 'viewer' });
  });

  it('cannot be withdrawn by an owner of another database', async () => {
    await invite('viewer');
    const pending = await tested.server.sync.members.invitations(DATABASE);
    const token = await tested.server.token('owner', 'olga', 'other');
    expect((await ask('DELETE', `/databases/other/invitations/${pending[0]?.id}`, token)).status).toBe(204);
    expect(await tested.server.sync.members.invitations(DATABASE)).toEqual(pending);
  });

  it('can be listed and withdrawn by an owner, and the list reveals no code', async () => {
    const kept = await invite('viewer');
    const code = await invite('owner');
    const path = `/databases/${DATABASE}/invitations`;
    const list = async (): Promise<{ id: string; role: string }[]> =>
      (await ask('GET', path, await owner())).body as { id: string; role: string }[];
    expect(await list()).toMatchObject([
      { role: 'viewer', invitedBy: 'olga' },
      { role: 'owner', invitedBy: 'olga', expiresAtMs: expect.any(Number) as number },
    ]);
    expect(JSON.stringify(await list())).not.toContain(code);
    const { id } = (await list())[1] as { id: string };
    expect(await ask('DELETE', `${path}/${id}`, await owner())).toMatchObject({ status: 204 });
    expect(await list()).toMatchObject([{ role: 'viewer' }]);
    expect(await ask('POST', '/invitations/accept', await stranger('mia'), { code })).toMatchObject({
      body: { code: 'invitation-invalid' },
    });
    expect(await ask('POST', '/invitations/accept', await stranger('mia'), { code: kept })).toMatchObject({
      status: 200,
    });
  });

  it('is refused for a database with 500 pending invitations, and for no other database', async () => {
    const { members } = tested.server.sync;
    const request = { databaseId: DATABASE, role: 'viewer' as const, invitedBy: 'olga' };
    await Promise.all(
      Array.from({ length: 500 }, () => members.invite({ ...request, expiresAtMs: Date.now() + 60_000 })),
    );
    expect(await ask('POST', `/databases/${DATABASE}/invitations`, await owner(), { role: 'viewer' })).toMatchObject({
      status: 403,
      body: { code: 'quota-exceeded', fields: { quota: 'invitations', limit: 500 } },
    });
    await members.invite({ ...request, databaseId: 'elsewhere', expiresAtMs: Date.now() + 60_000 });
    aheadMs = 60_001;
    try {
      await invite();
    } finally {
      aheadMs = 0;
    }
  });
});

describe('the members of a database that has the maximum number of stored roles', () => {
  const limited = serverUnderTest({ quotas: { maxMembers: 2 } });

  it('can be changed and revoked, but neither an owner nor an invitation can add one', async () => {
    const { server } = limited;
    const { members } = server.sync;
    const quota = { code: 'quota-exceeded', fields: { quota: 'members', limit: 2 } };
    const accept = async (principal: string): Promise<unknown> => {
      const token = await server.sync.issueToken({ principal, databases: [], ttlMs: 3_600_000 });
      const body = JSON.stringify({ code });
      return (await server.ask('POST', '/invitations/accept', { token, body })).json();
    };
    const code = await members.invite({ databaseId: DATABASE, role: 'editor', expiresAtMs: Date.now() + 3_600_000 });
    for (const principal of ['mia', 'zoe']) await members.setRole(DATABASE, principal, 'viewer');
    await expect(members.setRole(DATABASE, 'eve', 'viewer')).rejects.toMatchObject(quota);
    expect(await accept('eve')).toMatchObject(quota);
    await members.setRole('elsewhere', 'eve', 'viewer');
    await members.setRole(DATABASE, 'zoe', null);
    // The refusal kept the invitation.
    expect(await accept('mia')).toMatchObject({ role: 'editor' });
    expect(members.list(DATABASE)).toEqual([
      { principal: 'mia', role: 'editor' },
      { principal: 'zoe', role: null },
    ]);
  });
});

describe('a principal who is revoked everywhere', () => {
  const refusal = async (token: string, databaseId: string): Promise<unknown> => {
    const connection = await tested.server.connect();
    connection.hello(token, databaseId);
    return (await connection.failure()).code;
  };

  it('loses all sessions at once, and is refused by new databases', async () => {
    const sessions = [await tested.server.open(), await tested.server.open(undefined, { databaseId: 'other' })];
    const ben = await tested.server.open(undefined, { principal: 'ben' });
    await tested.server.sync.members.setRole('other', 'ann', 'owner');
    await tested.server.sync.members.revokeEverywhere('ann');
    for (const session of sessions) expect(await session.failure()).toMatchObject({ code: 'auth-database-forbidden' });
    for (const databaseId of [DATABASE, 'other', 'new'])
      expect(await refusal(await tested.server.token('owner', 'ann', databaseId), databaseId)).toBe(
        'auth-database-forbidden',
      );
    await ben.commit([insert('accounts', 'x', { name: 'x' })]);
  });

  it('loses the invitations that they issued in any database, and cannot accept one', async () => {
    const { members } = tested.server.sync;
    const request = { databaseId: DATABASE, role: 'owner', expiresAtMs: Date.now() + 3_600_000 } as const;
    const codes = [
      await members.invite({ ...request, invitedBy: 'ann' }),
      await members.invite({ ...request, databaseId: 'other', invitedBy: 'ann' }),
    ];
    const kept = await members.invite(request);
    await members.revokeEverywhere('ann');
    // Simulates an invitation that is stored during the revocation.
    codes.push(await members.invite({ ...request, invitedBy: 'ann' }));
    for (const code of codes)
      expect(await ask('POST', '/invitations/accept', await stranger('second'), { code })).toMatchObject({
        body: { code: 'invitation-invalid' },
      });
    expect(await ask('POST', '/invitations/accept', await stranger('ann'), { code: kept })).toMatchObject({
      body: { code: 'auth-forbidden' },
    });
    expect(await ask('POST', '/invitations/accept', await stranger('zoe'), { code: kept })).toMatchObject({
      body: { role: 'owner' },
    });
  });

  it('has the earlier role in each database after being readmitted', async () => {
    const { members } = tested.server.sync;
    await members.setRole(DATABASE, 'ann', 'viewer');
    await members.revokeEverywhere('ann');
    await members.readmit('ann');
    const connection = await tested.server.connect();
    expect((await connection.open(await tested.server.token('owner'), DATABASE)).welcome.canWrite).toBe(false);
    expect(await refusal(await stranger('ann'), 'other')).toBe('auth-database-forbidden');
  });
});

it('members and invitations of a deleted database are forgotten, and other instances receive a message', async () => {
  const bus = new InProcessBus();
  const store = new SqliteMembers(membersPath(temporaryFolder()));
  const members = new Members({
    store,
    bus,
    onChanged: () => undefined,
    onError: (error) => expect.unreachable(String(error)),
    now: Date.now,
  });
  await members.setRole(DATABASE, 'zoe', 'owner');
  const request = { role: 'owner', expiresAtMs: Date.now() + 3_600_000 } as const;
  for (const databaseId of [DATABASE, 'other']) await members.invite({ ...request, databaseId });
  const announced: string[] = [];
  bus.subscribe('members', ({ databaseId }) => void announced.push(databaseId));
  await members.forgetDatabase(DATABASE);
  expect(announced).toEqual([DATABASE]);
  expect([members.list(DATABASE), store.readDatabase(DATABASE)]).toEqual([[], []]);
  expect(await members.invitations(DATABASE)).toEqual([]);
  expect(await members.invitations('other')).toHaveLength(1);
  members.close();
});

describe('members that could not be loaded at first', () => {
  it('are loaded again, and a session waits for them', async () => {
    const errors: unknown[] = [];
    let readCount = 0;
    const store = {
      readAll: async () => {
        readCount += 1;
        if (readCount < 3) throw new Error('the store is unavailable');
        return [{ databaseId: DATABASE, principal: 'ann', role: 'viewer' as const }];
      },
      readRecent: async () => null,
      close: () => undefined,
    } as unknown as MemberStore;
    const members = new Members({
      store,
      bus: null,
      onChanged: () => undefined,
      onError: (error) => void errors.push(error),
      now: Date.now,
      loadAgainMs: 0,
    });
    const ann = { id: 'ann', databases: [], expiresAtMs: Infinity } as unknown as Principal;
    expect(await members.allows(ann, DATABASE, 'read')).toBe(true);
    expect(errors).toHaveLength(2);
    members.close();
  });
});

it.each<[string, (members: ServerMembers) => Promise<unknown>]>([
  ['an unknown role', (members) => members.setRole(DATABASE, 'mia', 'admin' as Role)],
  ['an undefined role', (members) => members.setRole(DATABASE, 'mia', undefined as never)],
  ['an undefined principal', (members) => members.setRole(DATABASE, undefined as never, 'viewer')],
  ['an id that is no database', (members) => members.setRole('*', 'mia', 'viewer')],
  ['a revocation of nobody', (members) => members.revokeEverywhere('')],
  ['a readmission of nobody', (members) => members.readmit(undefined as never)],
  [
    'an invitation without an end',
    (members) => members.invite({ databaseId: DATABASE, role: 'viewer', expiresAtMs: NaN }),
  ],
  [
    'an invitation to an unknown role',
    (members) => members.invite({ databaseId: DATABASE, role: 'admin' as Role, expiresAtMs: Date.now() + 1_000 }),
  ],
])('%s is refused, and nothing is stored', async (_what, call) => {
  const { members } = tested.server.sync;
  await expect(call(members)).rejects.toMatchObject({ code: 'config-invalid', fields: { count: 1 } });
  expect([members.list(DATABASE), await members.invitations(DATABASE)]).toEqual([[], []]);
});
