import { type Connection, type Connections, NAMESPACE } from '../postgres/connection.ts';
import {
  EVERY_DATABASE,
  invitationId,
  type Invitation,
  type JudgeAcceptance,
  type MemberStore,
  type RecentMembers,
  type StoredInvitation,
  type StoredMember,
  toStoredMember,
} from './member-store.ts';
import { isRole, roleAllows, type Role } from './role.ts';

const MEMBER = `${NAMESPACE}.rockpool_member`;
const INVITATION = `${NAMESPACE}.rockpool_invitation`;

/**
 * How long before the last read a poll begins, because a write is stored under the time at which its transaction began,
 * and becomes visible when it commits.
 */
const OVERLAP = '1 minute';

/** The role in a new row until its transaction stores one. Other transactions never see it. */
const PLACEHOLDER = '';

const NOW_S = 'extract(epoch FROM now())::float8';

/** Stores members in PostgreSQL, shared by all instances. The tables are created with those of the databases. */
export class PostgresMembers implements MemberStore {
  private readonly connections: Connections;
  private readonly tablesReady: () => Promise<void>;
  private preparing: Promise<void> | null = null;
  // When the last successful read began, by PostgreSQL's clock. Null before the first one.
  private lastReadS: number | null = null;

  constructor(connections: Connections, tablesReady: () => Promise<void>) {
    this.connections = connections;
    this.tablesReady = tablesReady;
  }

  async readAll(): Promise<StoredMember[]> {
    const [[nowS] = []] = await this.query(`SELECT ${NOW_S}`);
    const rows = await this.query(`SELECT database_id, principal, role FROM ${MEMBER}`);
    this.lastReadS = nowS as number;
    return rows.map(toStoredMember);
  }

  async readRecent(): Promise<RecentMembers> {
    // Has at least one row, of which the principal is NULL if no member has changed.
    const rows = await this.poll(
      `SELECT database_id, principal, role, ${NOW_S}, (SELECT count(*)::float8 FROM ${MEMBER}) FROM (VALUES (0)) AS poll
       LEFT JOIN ${MEMBER} ON written_at > coalesce(timestamptz 'epoch' + $1::float8 * interval '1 second', now()) - interval '${OVERLAP}'`,
      [this.lastReadS],
    );
    const [[, , , nowS, count] = []] = rows;
    this.lastReadS = nowS as number;
    return { members: rows.filter(([, principal]) => principal !== null).map(toStoredMember), count: count as number };
  }

  async readPage(after: StoredMember | null, limit: number): Promise<StoredMember[]> {
    const rows = await this.poll(
      `SELECT database_id, principal, role FROM ${MEMBER} WHERE (database_id, principal) > ($1, $2) ORDER BY database_id, principal LIMIT $3`,
      [after?.databaseId ?? '', after?.principal ?? '', limit],
    );
    return rows.map(toStoredMember);
  }

  async readMembers(sought: readonly Pick<StoredMember, 'databaseId' | 'principal'>[]): Promise<StoredMember[]> {
    const rows = await this.poll(
      `SELECT database_id, principal, role FROM ${MEMBER} WHERE (database_id, principal) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
      [sought.map(({ databaseId }) => databaseId), sought.map(({ principal }) => principal)],
    );
    return rows.map(toStoredMember);
  }

  async readDatabase(databaseId: string): Promise<StoredMember[]> {
    const rows = await this.poll(`SELECT database_id, principal, role FROM ${MEMBER} WHERE database_id = $1`, [
      databaseId,
    ]);
    return rows.map(toStoredMember);
  }

  async write({ databaseId, principal, role }: StoredMember): Promise<void> {
    await this.query(WRITE_SQL, [databaseId, principal, role]);
  }

  async addInvitation(
    { codeHash, databaseId, role, expiresMs, invitedBy }: StoredInvitation,
    maxPending: number,
    nowMs: number,
  ): Promise<boolean> {
    const added = await this.query(
      `WITH expired AS (DELETE FROM ${INVITATION} WHERE expires_ms <= $6)
       INSERT INTO ${INVITATION} (code_sha256, database_id, role, expires_ms, invited_by) SELECT $1, $2, $3, $4, $5
       WHERE (SELECT count(*) FROM ${INVITATION} WHERE database_id = $2 AND expires_ms > $6) < $7 RETURNING 1`,
      [codeHash, databaseId, role, expiresMs, invitedBy, Math.floor(nowMs), maxPending],
    );
    return added.length > 0;
  }

  async invitations(databaseId: string, nowMs: number): Promise<Invitation[]> {
    const rows = await this.query(
      `SELECT code_sha256, role, expires_ms, invited_by FROM ${INVITATION} WHERE database_id = $1 AND expires_ms > $2 ORDER BY expires_ms, code_sha256`,
      [databaseId, Math.floor(nowMs)],
    );
    return rows.map(([codeHash, role, expiresMs, invitedBy]) => ({
      id: invitationId(codeHash as Uint8Array),
      role: role as Role,
      expiresAtMs: Number(expiresMs),
      invitedBy: invitedBy as string | null,
    }));
  }

  async withdrawInvitation(databaseId: string, id: string): Promise<boolean> {
    const rows = await this.query(`SELECT code_sha256 FROM ${INVITATION} WHERE database_id = $1`, [databaseId]);
    const codeHash = rows.map(([hash]) => hash as Uint8Array).find((hash) => invitationId(hash) === id);
    if (codeHash === undefined) return false;
    const deleted = await this.query(`DELETE FROM ${INVITATION} WHERE code_sha256 = $1 RETURNING 1`, [codeHash]);
    return deleted.length > 0;
  }

  async acceptInvitation(
    codeHash: Uint8Array,
    principal: string,
    nowMs: number,
    judge: JudgeAcceptance,
  ): Promise<StoredMember | null> {
    await this.prepared();
    return this.connections.transaction(null, 'READ WRITE', async (connection) => {
      await connection.query(`DELETE FROM ${INVITATION} WHERE expires_ms <= $1`, [Math.floor(nowMs)]);
      // A concurrent request with the same code waits here and then finds no row.
      const [[databaseId, offered, invitedBy] = []] = await connection.query(
        `DELETE FROM ${INVITATION} WHERE code_sha256 = $1 RETURNING database_id, role, invited_by`,
        [codeHash],
      );
      if (typeof databaseId !== 'string' || !isRole(offered))
        return { commit: true, result: await acceptedBefore(connection, codeHash, principal) };
      // A principal without a row needs one that can be locked, or a role that another transaction stores meanwhile
      // would be overwritten. The insertion waits for such a transaction, and then adds nothing.
      await connection.query(
        `INSERT INTO ${MEMBER} (database_id, principal, role) VALUES ($1, $2, '${PLACEHOLDER}') ON CONFLICT DO NOTHING`,
        [databaseId, principal],
      );
      // The rows are locked in the order of the principals, so that two acceptances never wait for each other.
      const held = await connection.query(
        `SELECT principal, role FROM ${MEMBER} WHERE (database_id = $1 OR database_id = $4 AND role IS NULL) AND principal IN ($2, $3)
         ORDER BY principal, database_id = $4 FOR UPDATE`,
        [databaseId, principal, invitedBy ?? principal, EVERY_DATABASE],
      );
      // A revocation in every database is sorted after the role in this database, so it replaces that role.
      const roles = new Map(held.filter(([, role]) => role !== PLACEHOLDER) as [string, Role | null][]);
      // The invitation is invalid if its creator was revoked while it was being stored.
      if (typeof invitedBy === 'string' && roles.has(invitedBy) && !roleAllows(roles.get(invitedBy) ?? null, 'manage'))
        return { commit: false, result: null };
      const member = { databaseId, principal, role: judge(databaseId, roles.get(principal), offered) };
      await connection.query(WRITE_SQL, [databaseId, principal, member.role]);
      await connection.query(
        `UPDATE ${MEMBER} SET accepted_code_sha256 = $3 WHERE database_id = $1 AND principal = $2`,
        [databaseId, principal, codeHash],
      );
      return { commit: true, result: member };
    });
  }

  async forgetDatabase(databaseId: string): Promise<void> {
    await this.query(
      `WITH members AS (DELETE FROM ${MEMBER} WHERE database_id = $1) DELETE FROM ${INVITATION} WHERE database_id = $1`,
      [databaseId],
    );
  }

  private async query(...request: Parameters<Connections['query']>): ReturnType<Connections['query']> {
    await this.prepared();
    return this.connections.query(...request);
  }

  private async poll(...request: Parameters<Connections['poll']>): ReturnType<Connections['poll']> {
    await this.prepared();
    return this.connections.poll(...request);
  }

  /** Resolves once the tables exist, because an instance polls and receives requests before they do. */
  private prepared(): Promise<void> {
    this.preparing ??= this.tablesReady().catch((error: unknown) => {
      this.preparing = null;
      throw error;
    });
    return this.preparing;
  }

  close(): void {
    // Does nothing, because the store owns the connections.
  }
}

/** The member who accepted the invitation with this code last, unless the member is revoked. */
async function acceptedBefore(
  connection: Connection,
  codeHash: Uint8Array,
  principal: string,
): Promise<StoredMember | null> {
  const [found] = await connection.query(
    `SELECT database_id, principal, role FROM ${MEMBER} WHERE accepted_code_sha256 = $1 AND principal = $2 AND role IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM ${MEMBER} WHERE database_id = '${EVERY_DATABASE}' AND principal = $2 AND role IS NULL)`,
    [codeHash, principal],
  );
  return found === undefined ? null : toStoredMember(found);
}

/**
 * Also deletes the invitations of a principal who may no longer manage members: first, because an acceptance locks the
 * invitation before the member who created it. Uses no column that tables of an earlier version lack, because the
 * command of a later version revokes there too.
 */
const WRITE_SQL = `WITH withdrawn AS (DELETE FROM ${INVITATION} WHERE (database_id = $1 OR $1 = '${EVERY_DATABASE}') AND invited_by = $2 AND $3 IS DISTINCT FROM '${'owner' satisfies Role}' RETURNING 1)
INSERT INTO ${MEMBER} (database_id, principal, role) SELECT $1, $2, $3 FROM (SELECT count(*) FROM withdrawn) AS counted
ON CONFLICT (database_id, principal) DO UPDATE SET role = excluded.role, written_at = now()`;
