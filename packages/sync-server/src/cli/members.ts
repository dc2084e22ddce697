import { existsSync } from 'node:fs';
import { RockpoolError } from '@rockpool/shared';
import { isDatabaseId } from '../auth/gate.ts';
import { MAX_PRINCIPAL_LENGTH } from '../auth/jwt.ts';
import type { MemberStore } from '../auth/member-store.ts';
import { PostgresMembers } from '../auth/postgres-members.ts';
import { isRole, ROLES, type Role } from '../auth/role.ts';
import { SqliteMembers } from '../auth/sqlite-members.ts';
import { Connections } from '../postgres/connection.ts';
import { membersPath } from '../store/data-directory.ts';
import { DATA_SETTINGS } from './config.ts';
import { namedEntry } from './named-entry.ts';
import { readPostgres, throwIfProblems } from './read-values.ts';
import { readSettings, type Sources } from './settings.ts';

type Print = (line: string) => void;

interface Request {
  readonly store: MemberStore;
  readonly databaseId: string;
  /** The arguments after the database id. */
  readonly rest: readonly string[];
  readonly print: Print;
}

interface Action {
  readonly takes: readonly string[];
  readonly run: (request: Request) => Promise<void>;
}

/**
 * `list ID`, `set ID PRINCIPAL ROLE`, `revoke ID PRINCIPAL`, `invitations ID`, `withdraw ID INVITATION`. A running server
 * applies a change within 2 s. So an operator can repair a database whose owners are gone, or whose owner is hostile.
 */
export async function runMembers(sources: Sources, print: Print): Promise<void> {
  const problems: string[] = [];
  const given = readSettings(DATA_SETTINGS, sources, problems);
  const postgres = readPostgres(given.text('postgres'), problems);
  const dataDir = postgres === '' ? given.required('data') : '';
  const [name = '', databaseId = '', ...rest] = given.positionals;
  const action = namedEntry(ACTIONS, name);
  if (action === undefined) problems.push(`members takes ${Object.keys(ACTIONS).join(', ')}`);
  else {
    const takes = ['ID', ...action.takes];
    takes.forEach(
      (what, i) => (given.positionals[i + 1] ?? '') === '' && problems.push(`members ${name}: ${what} is missing`),
    );
    for (const extra of given.positionals.slice(takes.length + 1)) problems.push(`unknown argument ${extra}`);
    if (databaseId !== '' && !isDatabaseId(databaseId))
      problems.push('a database id has up to 64 letters, digits, _ and -');
    if (action.takes[0] === 'PRINCIPAL' && (rest[0] ?? '').length > MAX_PRINCIPAL_LENGTH)
      problems.push(`a principal has up to ${MAX_PRINCIPAL_LENGTH} characters`);
    if (action.takes[1] === 'ROLE' && rest[1] !== undefined && !isRole(rest[1]))
      problems.push(`a role is one of ${ROLES.join(', ')}`);
  }
  throwIfProblems(problems);
  await withStore(dataDir, postgres, async (store) => action?.run({ store, databaseId, rest, print }));
}

const ACTIONS: Readonly<Record<string, Action>> = {
  list: {
    takes: [],
    run: async ({ store, databaseId, print }) => {
      for (const { principal, role } of (await store.readAll()).filter((member) => member.databaseId === databaseId))
        print(`${principal}\t${role ?? 'revoked'}`);
    },
  },
  set: {
    takes: ['PRINCIPAL', 'ROLE'],
    run: async ({ store, databaseId, rest: [principal = '', role], print }) => {
      await store.write({ databaseId, principal, role: role as Role });
      print(`${principal} is ${role} of ${databaseId}`);
    },
  },
  revoke: {
    takes: ['PRINCIPAL'],
    run: async ({ store, databaseId, rest: [principal = ''], print }) => {
      await store.write({ databaseId, principal, role: null });
      print(`${principal} is revoked in ${databaseId}`);
    },
  },
  invitations: {
    takes: [],
    run: async ({ store, databaseId, print }) => {
      for (const { id, role, expiresAtMs, invitedBy } of await store.invitations(databaseId, Date.now()))
        print(`${id}\t${role}\t${invitedBy ?? '-'}\texpires ${new Date(expiresAtMs).toISOString()}`);
    },
  },
  withdraw: {
    takes: ['INVITATION'],
    run: async ({ store, databaseId, rest: [id = ''], print }) => {
      if (!(await store.withdrawInvitation(databaseId, id))) throw new RockpoolError('invitation-invalid');
      print(`withdrew the invitation ${id}`);
    },
  },
};

async function withStore(
  dataDir: string,
  postgres: string,
  work: (store: MemberStore) => Promise<void>,
): Promise<void> {
  if (postgres === '') {
    if (!existsSync(membersPath(dataDir)))
      throw new RockpoolError('storage-missing', { problem: 'no server has used this data directory yet' });
    const store = new SqliteMembers(membersPath(dataDir));
    return work(store).finally(() => store.close());
  }
  const connections = new Connections(postgres);
  try {
    await work(new PostgresMembers(connections, () => Promise.resolve()));
  } finally {
    await connections.close();
  }
}
