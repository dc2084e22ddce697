import { FIRST_PREVIOUS_HASH, MESSAGE_CODES, type ClientMessage } from '@rockpool/shared';
import { SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ROUTES } from '../assembly/create-app.ts';
import type { Route } from '../routes/route.ts';
import { OPERATION_OF_MESSAGE } from '../session/session-rules.ts';
import { insert, toChangeset, withAges } from '../../testing/changeset.ts';
import { testKeys, type TestKeys } from '../../testing/keys.ts';
import { sharedServerUnderTest } from '../../testing/server-under-test.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import type { TestConnection } from '../../testing/test-client.ts';
import { TEST_SECRET } from '../../testing/test-server.ts';
import { roleAllows, ROLES, type Operation, type Role } from './role.ts';

/*
 * Every route and every message, with every token that must not grant access. Both come from the tables that the server
 * itself uses, so a route or message without a row here fails the test. The rows state the rights that each needs. The
 * tests share a server, and each has a database of its own.
 */

let provider: TestKeys;
beforeAll(async () => {
  provider = await testKeys('ES256', 'k1');
});
const tested = sharedServerUnderTest({
  get keySet() {
    return provider.keySet;
  },
});

let tests = 0;
let databaseId: string;
const connections: TestConnection[] = [];
beforeEach(() => {
  databaseId = `household-${++tests}`;
});
afterEach(async () => {
  await Promise.all(connections.splice(0).map((connection) => connection.close()));
});

const secret = new TextEncoder().encode(TEST_SECRET);
const nowS = (): number => Math.floor(Date.now() / 1000);
const claims = (changes: JWTPayload = {}): JWTPayload => ({
  sub: 'ann',
  iss: 'rockpool-server',
  aud: 'rockpool',
  nbf: nowS() - 1,
  exp: nowS() + 60,
  databases: [databaseId],
  role: 'owner',
  ...changes,
});
const sign = (payload: JWTPayload, header: Record<string, string> = {}): Promise<string> =>
  new SignJWT(payload).setProtectedHeader({ alg: 'HS256', ...header }).sign(secret);

interface BadToken {
  readonly token: () => Promise<string> | string;
  readonly code: string;
  /** The claim that the response names, for a token with a valid signature. */
  readonly claim?: string;
}

/** Tokens that grant no access, with the error code of the response. */
const BAD_TOKENS: Readonly<Record<string, BadToken>> = {
  missing: { token: () => '', code: 'auth-token-invalid' },
  noise: { token: () => 'x.y.z', code: 'auth-token-invalid' },
  expired: { token: () => sign(claims({ exp: nowS() - 1 })), code: 'auth-token-expired' },
  'not yet valid': { token: () => sign(claims({ nbf: nowS() + 60 })), code: 'auth-token-invalid', claim: 'nbf' },
  'for another audience': { token: () => sign(claims({ aud: 'elsewhere' })), code: 'auth-token-invalid', claim: 'aud' },
  'by another issuer': { token: () => sign(claims({ iss: 'elsewhere' })), code: 'auth-token-invalid', claim: 'iss' },
  unsigned: { token: () => new UnsecuredJWT(claims()).encode(), code: 'auth-token-invalid' },
  'signed with a public key': {
    token: () =>
      new SignJWT(claims())
        .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
        .sign(new TextEncoder().encode(JSON.stringify(provider.keySet.keys[0]))),
    code: 'auth-token-invalid',
  },
  'by an unknown key': { token: () => provider.sign(claims(), { kid: 'k2' }), code: 'auth-token-invalid' },
  'without an expiry': {
    token: () => sign(Object.fromEntries(Object.entries(claims()).filter(([name]) => name !== 'exp'))),
    code: 'auth-token-invalid',
    claim: 'exp',
  },
};

/** Valid tokens of principals without access to this database. */
const STRANGERS: Readonly<Record<string, () => Promise<string>>> = {
  'of another tenant': () => sign(claims({ sub: 'tom', databases: ['elsewhere'] })),
  'of a principal without databases': () => sign(claims({ sub: 'nil', databases: [] })),
  'of a revoked member': async () => {
    await tested.server.sync.members.setRole(databaseId, 'rex', null);
    return sign(claims({ sub: 'rex' }));
  },
};

interface RouteRow {
  /** See Route. */
  readonly access: Route['access'];
  /** `:databaseId` stands for the database of the test. */
  readonly path: string;
  readonly body?: unknown;
  /** The status of the response to an owner. */
  readonly status: number;
  /** The error code, if the status is an error. */
  readonly code?: string;
}

const ROUTE_ROWS: Readonly<Record<string, RouteRow>> = {
  // The hello identifies the principal; an unknown session id gives no access.
  'POST /sessions': { access: 'public', path: '/sessions', status: 201 },
  'POST /sessions/:sessionId': { access: 'public', path: '/sessions/guessed', body: '', status: 400 },
  'GET /sessions/:sessionId': { access: 'public', path: '/sessions/guessed', status: 400 },
  'DELETE /sessions/:sessionId': { access: 'public', path: '/sessions/guessed', status: 400 },
  'GET /health': { access: 'public', path: '/health', status: 200 },
  'GET /ready': { access: 'public', path: '/ready', status: 200 },
  'GET /metrics': { access: 'public', path: '/metrics', status: 200 },
  'GET /databases/:databaseId/members': { access: 'manage', path: '/databases/:databaseId/members', status: 200 },
  'PUT /databases/:databaseId/members/:principal': {
    access: 'manage',
    path: '/databases/:databaseId/members/mia',
    body: { role: 'viewer' },
    status: 204,
  },
  'DELETE /databases/:databaseId/members/:principal': {
    access: 'manage',
    path: '/databases/:databaseId/members/mia',
    status: 204,
  },
  // A small database has no snapshot.
  'GET /databases/:databaseId/snapshot': {
    access: 'read',
    path: `/databases/:databaseId/snapshot?schema=${TEST_SCHEMA.hash}`,
    status: 204,
  },
  // The table has no history.
  'GET /databases/:databaseId/history': {
    access: 'history',
    path: '/databases/:databaseId/history?table=accounts&key=AA',
    status: 404,
    code: 'history-not-kept',
  },
  'GET /databases/:databaseId/history/row': {
    access: 'history',
    path: '/databases/:databaseId/history/row?table=accounts&key=AA&version=1',
    status: 404,
    code: 'history-not-kept',
  },
  'GET /databases/:databaseId/history/written': {
    access: 'history',
    path: '/databases/:databaseId/history/written?version=1&table=accounts',
    status: 404,
    code: 'history-not-kept',
  },
  'GET /databases/:databaseId/past': {
    access: 'history',
    path: '/databases/:databaseId/past?watermark=1',
    status: 404,
    code: 'history-not-kept',
  },
  'POST /databases/:databaseId/invitations': {
    access: 'manage',
    path: '/databases/:databaseId/invitations',
    body: { role: 'viewer' },
    status: 201,
  },
  'GET /databases/:databaseId/invitations': {
    access: 'manage',
    path: '/databases/:databaseId/invitations',
    status: 200,
  },
  'DELETE /databases/:databaseId/invitations/:invitationId': {
    access: 'manage',
    path: `/databases/:databaseId/invitations/${'0'.repeat(16)}`,
    status: 204,
  },
  'POST /invitations/accept': { access: 'principal', path: '/invitations/accept', body: { code: 'none' }, status: 400 },
};

const MESSAGE_ROWS: Readonly<
  Record<Exclude<ClientMessage['type'], 'hello'>, () => Promise<ClientMessage> | ClientMessage>
> = {
  push: () => ({
    type: 'push',
    previousHash: FIRST_PREVIOUS_HASH,
    olderEpochUpTo: 0,
    changesets: withAges([toChangeset(1, Date.now() * 1000, 0, [insert('accounts', 'x', { name: 'x' })])], Date.now()),
  }),
  confirm: () => ({ type: 'confirm', cursor: 0, lastAckedSequence: 0 }),
  audit: () => ({ type: 'audit', cursor: 0, tables: [] }),
  'renew-token': async () => ({ type: 'renew-token', token: await sign(claims()) }),
  presence: () => ({ type: 'presence', states: [] }),
  ping: () => ({ type: 'ping' }),
};

/** The right that each message needs. */
const NEEDED: Readonly<Record<keyof typeof MESSAGE_ROWS, Operation>> = {
  push: 'write',
  confirm: 'read',
  audit: 'read',
  'renew-token': 'read',
  presence: 'read',
  ping: 'read',
};

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const accessOf = (route: Route): Route['access'] | undefined => ROUTE_ROWS[nameOf(route)]?.access;
const guarded = ROUTES.filter((route) => accessOf(route) !== 'public');
const inDatabase = guarded.filter((route) => accessOf(route) !== 'principal');

async function ask(route: Route, token: string): Promise<{ status: number; code: unknown }> {
  const { path, body } = ROUTE_ROWS[nameOf(route)] as RouteRow;
  const response = await tested.server.ask(route.method, path.replace(':databaseId', databaseId), {
    ...(token !== '' && { token }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    code: response.ok || text === '' ? null : (JSON.parse(text) as { code: unknown }).code,
  };
}

function nothingWasDone(): void {
  expect(
    tested.server.query('SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM rockpool_site) - 1', databaseId),
  ).toEqual([[0n, 0n]]);
}

async function connect(): Promise<TestConnection> {
  const connection = await tested.server.connect();
  connections.push(connection);
  return connection;
}

/** An owner creates the database first, so that its content can be checked. */
async function opened(token: string | Promise<string> = sign(claims())): Promise<TestConnection> {
  const connection = await connect();
  await connection.open(await token, databaseId);
  return connection;
}

describe('the access matrix', () => {
  it('has a row for every route and every message', () => {
    expect(Object.keys(ROUTE_ROWS).sort()).toEqual(ROUTES.map(nameOf).sort());
    const toServer = Object.entries(MESSAGE_CODES)
      .filter(([, code]) => code < 65)
      .map(([type]) => type);
    expect(Object.keys(OPERATION_OF_MESSAGE).sort()).toEqual([...toServer].sort());
    expect(['hello', ...Object.keys(MESSAGE_ROWS)].sort()).toEqual([...toServer].sort());
  });
});

describe.each(Object.entries(BAD_TOKENS))('a token that is %s', (_, { token, code, claim }) => {
  it.each(guarded.map((route) => [nameOf(route), route] as const))('is refused at %s', async (_name, route) => {
    expect(await ask(route, await token())).toEqual({ status: 401, code });
  });

  it.each(['nothing', ...Object.keys(MESSAGE_ROWS)])(
    'is refused at the hello, whatever follows it: %s',
    async (type) => {
      await opened();
      const connection = await connect();
      connection.hello(await token(), databaseId);
      if (type !== 'nothing') connection.send(await MESSAGE_ROWS[type as keyof typeof MESSAGE_ROWS]());
      expect(await connection.failure()).toEqual({
        type: 'failure',
        code,
        fields: claim === undefined ? {} : { claim },
      });
      expect(await connection.closes()).toMatchObject({ reason: code });
      nothingWasDone();
    },
  );

  it('ends a session that tries to renew with the token', async () => {
    const connection = await opened();
    connection.send({ type: 'renew-token', token: await token() });
    expect(await connection.failure()).toMatchObject({ code });
  });
});

describe.each(Object.entries(STRANGERS))('a token %s', (_, token) => {
  it.each(inDatabase.map((route) => [nameOf(route), route] as const))('is refused at %s', async (_name, route) => {
    expect(await ask(route, await token())).toEqual({ status: 403, code: 'auth-database-forbidden' });
  });

  it.each(['nothing', ...Object.keys(MESSAGE_ROWS)])(
    'is refused at the hello, whatever follows it: %s',
    async (type) => {
      await opened();
      const connection = await connect();
      connection.hello(await token(), databaseId);
      if (type !== 'nothing') connection.send(await MESSAGE_ROWS[type as keyof typeof MESSAGE_ROWS]());
      expect(await connection.failure()).toEqual({ type: 'failure', code: 'auth-database-forbidden', fields: {} });
      nothingWasDone();
    },
  );
});

describe.each(ROLES.map((role) => [role] as const))('a token of the role %s', (role: Role) => {
  const token = (): Promise<string> => sign(claims({ sub: `the-${role}`, role }));

  it.each(inDatabase.map((route) => [nameOf(route), route] as const))(
    'permits exactly what the role allows at %s',
    async (name, route) => {
      const { status, code } = await ask(route, await token());
      const allowed = ROUTE_ROWS[name] as RouteRow;
      // Every role may read the history by default.
      const may = roleAllows(role, allowed.access === 'history' ? 'read' : (allowed.access as Operation));
      expect({ status, code }).toEqual(
        may ? { status: allowed.status, code: allowed.code ?? null } : { status: 403, code: 'auth-forbidden' },
      );
    },
  );

  it.each(Object.entries(MESSAGE_ROWS))('permits exactly what the role allows with a %s', async (type, message) => {
    const connection = await opened(token());
    const sent = await message();
    connection.send(sent.type === 'renew-token' ? { ...sent, token: await token() } : sent);
    if (roleAllows(role, NEEDED[type as keyof typeof NEEDED])) {
      await connection.roundTrip();
      expect(connection.closed).toBeNull();
    } else {
      expect(await connection.failure()).toEqual({ type: 'failure', code: 'auth-forbidden', fields: {} });
      nothingWasDone();
    }
  });
});

describe('a principal who is revoked while connected', () => {
  it.each(Object.entries(MESSAGE_ROWS))('cannot complete a %s that is in flight', async (_, message) => {
    const connection = await opened();
    // The client sends its message before it learns of the revocation.
    const sent = await message();
    await tested.server.sync.members.setRole(databaseId, 'ann', null);
    connection.send(sent);
    expect(await connection.failure()).toMatchObject({ code: 'auth-database-forbidden' });
    nothingWasDone();
  });
});

describe('a public route', () => {
  it.each(ROUTES.filter((route) => accessOf(route) === 'public').map((route) => [nameOf(route), route] as const))(
    'needs no token: %s',
    async (name, route) => {
      expect(await ask(route, '')).toMatchObject({ status: (ROUTE_ROWS[name] as RouteRow).status });
    },
  );
});

describe('a page of another origin', () => {
  it.each(ROUTES.map((route) => [nameOf(route), route] as const))(
    'is refused at %s, even with a valid token',
    async (_, route) => {
      const { path } = ROUTE_ROWS[nameOf(route)] as RouteRow;
      for (const origin of ['https://evil.test', 'null', `http://${tested.server.host}.evil.test`]) {
        const response = await tested.server.ask(route.method, path.replace(':databaseId', databaseId), {
          token: await sign(claims()),
          headers: { origin },
        });
        expect(response.status).toBe(403);
        expect(response.headers.get('access-control-allow-origin')).toBeNull();
      }
    },
  );
});
