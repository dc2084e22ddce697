import { existsSync } from 'node:fs';
import { RockpoolError } from '@rockpool/shared';
import {
  EVERY_DATABASE,
  invitationId,
  type MemberStore,
  type StoredInvitation,
  type StoredMember,
  toStoredMember,
} from '../auth/member-store.ts';
import type { Role } from '../auth/role.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { throwIfProblems } from './read-values.ts';

interface MembersFile {
  readonly members: readonly StoredMember[];
  readonly invitations: readonly StoredInvitation[];
}

export interface ImportedMembers {
  readonly roles: number;
  readonly invitations: number;
  /** Roles of the file that differ from a stored one, which stays. */
  readonly differing: readonly StoredMember[];
  /** How many principals are revoked everywhere in the file, but left out because they have no role in the database. */
  readonly revokedElsewhere: number;
}

/**
 * Adds the roles, revocations and pending invitations of another server's `members.sqlite`. A role that is stored
 * already stays, so that a repetition, or a file that is older than a revocation, changes nothing. `databaseId` limits
 * the import to one database, in which those of its members are revoked who are revoked everywhere in the file. Others
 * are left out, because its owners would see their names. Null also imports what counts in every database. Throws
 * `config-invalid` if the file is not one of members.
 */
export async function importMembers(
  store: MemberStore,
  file: string,
  databaseId: string | null,
  nowMs: number,
): Promise<ImportedMembers> {
  const found = readMembersFile(file);
  const isMeant = (one: { readonly databaseId: string }): boolean =>
    databaseId === null || one.databaseId === databaseId;
  const members = databaseId === null ? found.members : membersOf(databaseId, found.members);
  const differing: StoredMember[] = [];
  let [roles, invitations] = [0, 0];
  for (const member of members) {
    const [stored] = await store.readMembers([member]);
    if (stored === undefined) {
      await store.write(member);
      roles++;
    } else if (stored.role !== member.role) differing.push(member);
  }
  // After the roles: storing the role of a member who may not invite deletes the invitations of that member.
  for (const invitation of found.invitations.filter(isMeant)) {
    const pending = await store.invitations(invitation.databaseId, nowMs);
    const isStored = pending.some(({ id }) => id === invitationId(invitation.codeHash));
    if (isStored || invitation.expiresMs <= nowMs) continue;
    await store.addInvitation(invitation, Number.MAX_SAFE_INTEGER, nowMs);
    invitations++;
  }
  const revoked = revokedEverywhereIn(found.members);
  const revokedElsewhere =
    databaseId === null ? 0 : revoked.size - members.filter(({ principal }) => revoked.has(principal)).length;
  return { roles, invitations, differing, revokedElsewhere };
}

/** The roles in one database. A revocation in every database replaces the role that its principal has in this one. */
function membersOf(databaseId: string, all: readonly StoredMember[]): StoredMember[] {
  const revoked = revokedEverywhereIn(all);
  return all
    .filter((member) => member.databaseId === databaseId)
    .map((member) => (revoked.has(member.principal) ? { ...member, role: null } : member));
}

function revokedEverywhereIn(all: readonly StoredMember[]): ReadonlySet<string> {
  return new Set(
    all.flatMap(({ databaseId, principal, role }) =>
      databaseId === EVERY_DATABASE && role === null ? [principal] : [],
    ),
  );
}

/** How the command names the database of a role. */
export function databaseNameOf({ databaseId }: StoredMember): string {
  return databaseId === EVERY_DATABASE ? 'every database' : databaseId;
}

function readMembersFile(path: string): MembersFile {
  if (!existsSync(path)) throwIfProblems([`${path} does not exist`]);
  let sql: SqliteFile | null = null;
  try {
    sql = new SqliteFile(path, { readOnly: true });
    const hasInviter = sql.get("SELECT 1 FROM pragma_table_info('invitation') WHERE name = 'invited_by'") !== undefined;
    const members = sql.all('SELECT database_id, principal, role FROM member').map(toStoredMember);
    const invitations = sql
      .all(
        `SELECT code_sha256, database_id, role, expires_ms, ${hasInviter ? 'invited_by' : 'NULL'} FROM invitation ORDER BY expires_ms`,
      )
      .map(([codeHash, databaseId, role, expiresMs, invitedBy]) => ({
        codeHash: codeHash as Uint8Array,
        databaseId: databaseId as string,
        role: role as Role,
        expiresMs: Number(expiresMs),
        invitedBy: invitedBy as string | null,
      }));
    return { members, invitations };
  } catch (cause) {
    const problems = `${path} is not the members.sqlite of a server, or is damaged`;
    throw new RockpoolError('config-invalid', { count: 1, problems }, { cause });
  } finally {
    sql?.close();
  }
}
