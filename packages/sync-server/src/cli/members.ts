import { existsSync } from 'node:fs';
import { RockpoolError } from '@rockpool/shared';
import { isDatabaseId } from '../auth/gate.ts';
import { isPrincipalId, PRINCIPAL_PROBLEM } from '../auth/jwt.ts';
import { EVERY_DATABASE, readmitted, revokedEverywhere, type MemberStore } from '../auth/member-store.ts';
import { PostgresMembers } from '../auth/postgres-members.ts';
import { isRole, ROLES, type Role } from '../auth/role.ts';
import { Connections } from '../postgres/connection.ts';
import type { PostgresSource } from '../postgres/shard.ts';
import { databaseIds, membersPath, requireDataDirectory } from '../store/data-directory.ts';
import { openMembers, requireMembers } from '../store/open-members.ts';
import { PostgresAdministration, requireMembersHere } from '../store/postgres/administration.ts';
import { DATA_SETTINGS } from './config.ts';
import { databaseNameOf, importMembers } from './import-members.ts';
import { keepOwnerOf } from './keep-owner.ts';
import { namedEntry } from './named-entry.ts';
import { readDatabasesPlace, throwIfProblems } from './read-values.ts';
import { readSettings, type Sources } from './settings.ts';

type Print = (line: string) => void;

type Argument = 'ID' | 'PRINCIPAL' | 'ROLE' | 'INVITATION' | 'FILE';

interface Action {
  readonly takes: readonly Argument[];
  /** An argument that may be left out. */
  readonly mayTake?: Argument;
  /** Whether it only reads, so that it must not create members in place of lost ones. */
  readonly onlyReads?: true;
  readonly run: (
    store: MemberStore,
    given: Readonly<Record<Argument, string>>,
    print: Print,
    exists: (databaseId: string) => Promise<boolean>,
  ) => Promise<void>;
}

/**
 * `list ID`, `set ID PRINCIPAL ROLE`, `revoke ID PRINCIPAL`, `invitations ID`, `withdraw ID INVITATION`,
 * `revoke-everywhere PRINCIPAL`, `readmit PRINCIPAL`, `revoked`, `import FILE [ID]`. A running server applies a change
 * within 2 s. An operator can thus repair a database without owners or with a hostile owner, lock out a stolen account,
 * and move members with their databases to another server.
 */
export async function runMembers(sources: Sources, print: Print): Promise<void> {
  const problems: string[] = [];
  const settings = readSettings(DATA_SETTINGS, sources, problems);
  const { postgres, dataDir } = readDatabasesPlace(settings, problems);
  const [name = '', ...values] = settings.positionals;
  const action = namedEntry(ACTIONS, name);
  const given = { ID: '', PRINCIPAL: '', ROLE: '', INVITATION: '', FILE: '' };
  if (action === undefined) problems.push(`members takes ${Object.keys(ACTIONS).join(', ')}`);
  else {
    const wanted = [...action.takes, ...(action.mayTake === undefined ? [] : [action.mayTake])];
    for (const [i, what] of wanted.entries()) {
      given[what] = values[i] ?? '';
      if (given[what] === '' && what === action.mayTake) continue;
      const problem = given[what] === '' ? `members ${name}: ${what} is missing` : argumentProblem(what, given[what]);
      if (problem !== null) problems.push(problem);
    }
    for (const extra of values.slice(wanted.length)) problems.push(`unknown argument ${extra}`);
  }
  throwIfProblems(problems);
  const exists = async (databaseId: string): Promise<boolean> =>
    postgres === null
      ? databaseIds(dataDir, { withMissing: true }).includes(databaseId)
      : PostgresAdministration.use(postgres, (administration) => administration.has(databaseId));
  if (postgres === null && action?.onlyReads === true) requireMembers(dataDir);
  await withStore(dataDir, postgres, async (store) => action?.run(store, given, print, exists));
}

function argumentProblem(what: Argument, value: string): string | null {
  if (what === 'ID' && !isDatabaseId(value)) return 'a database id must consist of 1 to 64 letters, digits, _ or -';
  if (what === 'PRINCIPAL' && !isPrincipalId(value)) return `a principal ${PRINCIPAL_PROBLEM}`;
  if (what === 'ROLE' && !isRole(value)) return `a role must be one of ${ROLES.join(', ')}`;
  return null;
}

/**
 * A role may be stored before the first client creates the database, so the output shows whether the database exists: a
 * typo must be visible.
 */
async function noteOf(databaseId: string, exists: (databaseId: string) => Promise<boolean>): Promise<string> {
  try {
    return (await exists(databaseId)) ? '' : ', which does not exist: the role applies once a client creates it';
  } catch {
    // The role is stored even if a shard does not respond.
    return '; it is unknown whether that database exists';
  }
}

const ACTIONS: Readonly<Record<string, Action>> = {
  list: {
    takes: ['ID'],
    onlyReads: true,
    run: async (store, { ID }, print, exists) => {
      const members = await store.readDatabase(ID);
      if (members.length === 0 && !(await exists(ID))) throw new RockpoolError('storage-missing', { database: ID });
      for (const { principal, role } of members) print(`${principal}\t${role ?? 'revoked'}`);
    },
  },
  set: {
    takes: ['ID', 'PRINCIPAL', 'ROLE'],
    run: async (store, { ID, PRINCIPAL, ROLE }, print, exists) => {
      await store.write({ databaseId: ID, principal: PRINCIPAL, role: ROLE as Role });
      print(`${PRINCIPAL} is ${ROLE} of ${ID}${await noteOf(ID, exists)}`);
    },
  },
  revoke: {
    takes: ['ID', 'PRINCIPAL'],
    run: async (store, { ID, PRINCIPAL }, print, exists) => {
      await store.write({ databaseId: ID, principal: PRINCIPAL, role: null });
      print(`${PRINCIPAL} is revoked in ${ID}${await noteOf(ID, exists)}`);
    },
  },
  invitations: {
    takes: ['ID'],
    onlyReads: true,
    run: async (store, { ID }, print, exists) => {
      const invitations = await store.invitations(ID, Date.now());
      if (invitations.length === 0 && !(await exists(ID))) throw new RockpoolError('storage-missing', { database: ID });
      for (const { id, role, expiresAtMs, invitedBy } of invitations)
        print(`${id}\t${role}\t${invitedBy ?? '-'}\texpires ${new Date(expiresAtMs).toISOString()}`);
    },
  },
  withdraw: {
    takes: ['ID', 'INVITATION'],
    run: async (store, { ID, INVITATION }, print) => {
      if (!(await store.withdrawInvitation(ID, INVITATION))) throw new RockpoolError('invitation-invalid');
      print(`withdrew the invitation ${INVITATION}`);
    },
  },
  'revoke-everywhere': {
    takes: ['PRINCIPAL'],
    run: async (store, { PRINCIPAL }, print) => {
      await store.write(revokedEverywhere(PRINCIPAL));
      print(`${PRINCIPAL} is revoked in every database`);
    },
  },
  readmit: {
    takes: ['PRINCIPAL'],
    run: async (store, { PRINCIPAL }, print) => {
      await store.write(readmitted(PRINCIPAL));
      print(`${PRINCIPAL} has its roles in every database again`);
    },
  },
  import: {
    takes: ['FILE'],
    mayTake: 'ID',
    run: async (store, { FILE, ID }, print) => {
      const { roles, invitations, differing, revokedElsewhere } = await importMembers(
        store,
        FILE,
        ID === '' ? null : ID,
        Date.now(),
      );
      for (const member of differing)
        print(
          `not imported: ${member.principal} as ${member.role ?? 'revoked'} in ${databaseNameOf(member)}, where another role is stored`,
        );
      print(`imported ${roles} roles and ${invitations} invitations from ${FILE}`);
      if (revokedElsewhere > 0)
        print(
          `not imported: ${revokedElsewhere} revocations in every database, of principals without a role in ${ID}; to import all roles: members import ${FILE}`,
        );
    },
  },
  revoked: {
    takes: [],
    onlyReads: true,
    run: async (store, _, print) => {
      for (const { databaseId, principal, role } of await store.readAll())
        if (databaseId === EVERY_DATABASE && role === null) print(principal);
    },
  },
};

async function withStore(
  dataDir: string,
  postgres: PostgresSource | null,
  work: (store: MemberStore) => Promise<void>,
): Promise<void> {
  if (postgres === null) {
    requireDataDirectory(dataDir);
    const isNew = !existsSync(membersPath(dataDir));
    const store = openMembers(dataDir);
    return work(store).finally(() => {
      store.close();
      if (isNew) keepOwnerOf(membersPath(dataDir), dataDir);
    });
  }
  // The members are at the first shard.
  const connections = new Connections(typeof postgres === 'string' ? postgres : (postgres[0]?.url ?? ''));
  try {
    await requireMembersHere(connections);
    await work(new PostgresMembers(connections, () => Promise.resolve()));
  } finally {
    await connections.close();
  }
}
