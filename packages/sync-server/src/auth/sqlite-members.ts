import { SqliteFile } from '../sqlite/sqlite-file.ts';
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

/** Stores members in a SQLite file of one server. The command may write to the file while the server runs. */
export class SqliteMembers implements MemberStore {
  private readonly sql: SqliteFile;
  private readVersion: bigint;

  constructor(path: string) {
    this.sql = new SqliteFile(path, { hasChecksums: false });
    this.sql.exec(MEMBER_TABLES_SQL);
    this.addMissingColumn('invitation', 'invited_by', 'TEXT');
    this.addMissingColumn('member', 'accepted_code_sha256', 'BLOB');
    this.sql.exec(ACCEPTED_CODE_INDEX_SQL);
    this.readVersion = this.dataVersion();
  }

  readAll(): StoredMember[] {
    return this.sql.all('SELECT database_id, principal, role FROM member').map(toStoredMember);
  }

  /** Returns all members if the command has written to the file since the last call. */
  readRecent(): RecentMembers | null {
    const version = this.dataVersion();
    if (version === this.readVersion) return null;
    const members = this.readAll();
    this.readVersion = version;
    return { members, count: members.length };
  }

  readPage(after: StoredMember | null, limit: number): StoredMember[] {
    return this.sql
      .all(
        'SELECT database_id, principal, role FROM member WHERE (database_id, principal) > (?, ?) ORDER BY database_id, principal LIMIT ?',
        after?.databaseId ?? '',
        after?.principal ?? '',
        BigInt(limit),
      )
      .map(toStoredMember);
  }

  readMembers(sought: readonly Pick<StoredMember, 'databaseId' | 'principal'>[]): StoredMember[] {
    return sought.flatMap(({ databaseId, principal }) => {
      const role = this.storedRole(databaseId, principal);
      return role === undefined ? [] : [{ databaseId, principal, role }];
    });
  }

  readDatabase(databaseId: string): StoredMember[] {
    return this.sql
      .all('SELECT database_id, principal, role FROM member WHERE database_id = ?', databaseId)
      .map(toStoredMember);
  }

  write(member: StoredMember): void {
    this.sql.transaction(() => this.writeNow(member));
  }

  addInvitation(
    { codeHash, databaseId, role, expiresMs, invitedBy }: StoredInvitation,
    maxPending: number,
    nowMs: number,
  ): boolean {
    return this.sql.transaction(() => {
      this.deleteExpired(nowMs);
      const [pending] = this.sql.get('SELECT count(*) FROM invitation WHERE database_id = ?', databaseId) ?? [];
      if (Number(pending) >= maxPending) return false;
      this.sql.run(
        'INSERT INTO invitation (code_sha256, database_id, role, expires_ms, invited_by) VALUES (?, ?, ?, ?, ?)',
        codeHash,
        databaseId,
        role,
        BigInt(expiresMs),
        invitedBy,
      );
      return true;
    });
  }

  invitations(databaseId: string, nowMs: number): Invitation[] {
    return this.sql
      .all(
        'SELECT code_sha256, role, expires_ms, invited_by FROM invitation WHERE database_id = ? AND expires_ms > ? ORDER BY expires_ms, code_sha256',
        databaseId,
        BigInt(Math.floor(nowMs)),
      )
      .map(([codeHash, role, expiresMs, invitedBy]) => ({
        id: invitationId(codeHash as Uint8Array),
        role: role as Role,
        expiresAtMs: Number(expiresMs),
        invitedBy: invitedBy as string | null,
      }));
  }

  withdrawInvitation(databaseId: string, id: string): boolean {
    return this.sql.transaction(() => {
      const found = this.sql
        .all('SELECT code_sha256 FROM invitation WHERE database_id = ?', databaseId)
        .find(([codeHash]) => invitationId(codeHash as Uint8Array) === id);
      if (found !== undefined) this.sql.run('DELETE FROM invitation WHERE code_sha256 = ?', found[0] as Uint8Array);
      return found !== undefined;
    });
  }

  acceptInvitation(
    codeHash: Uint8Array,
    principal: string,
    nowMs: number,
    judge: JudgeAcceptance,
  ): StoredMember | null {
    return this.sql.transaction(() => {
      this.deleteExpired(nowMs);
      const [databaseId, offered, invitedBy] =
        this.sql.get('SELECT database_id, role, invited_by FROM invitation WHERE code_sha256 = ?', codeHash) ?? [];
      if (typeof databaseId !== 'string' || !isRole(offered)) return this.acceptedBefore(codeHash, principal);
      // The invitation is invalid if its creator was revoked while it was being stored.
      if (typeof invitedBy === 'string' && !mayInvite(this.effectiveRole(databaseId, invitedBy))) return null;
      const member = {
        databaseId,
        principal,
        role: judge(databaseId, this.effectiveRole(databaseId, principal), offered),
      };
      this.sql.run('DELETE FROM invitation WHERE code_sha256 = ?', codeHash);
      this.writeNow(member, codeHash);
      return member;
    });
  }

  forgetDatabase(databaseId: string): void {
    this.sql.transaction(() => {
      this.sql.run('DELETE FROM member WHERE database_id = ?', databaseId);
      this.sql.run('DELETE FROM invitation WHERE database_id = ?', databaseId);
    });
  }

  close(): void {
    this.sql.close();
  }

  /** The member who accepted the invitation with this code last, unless the member is revoked. */
  private acceptedBefore(codeHash: Uint8Array, principal: string): StoredMember | null {
    const [databaseId] =
      this.sql.get(
        'SELECT database_id FROM member WHERE accepted_code_sha256 = ? AND principal = ?',
        codeHash,
        principal,
      ) ?? [];
    if (typeof databaseId !== 'string') return null;
    const role = this.effectiveRole(databaseId, principal) ?? null;
    return role === null ? null : { databaseId, principal, role };
  }

  private writeNow({ databaseId, principal, role }: StoredMember, acceptedCodeHash: Uint8Array | null = null): void {
    this.sql.run(
      'INSERT INTO member (database_id, principal, role, accepted_code_sha256) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET role = excluded.role, accepted_code_sha256 = coalesce(excluded.accepted_code_sha256, accepted_code_sha256)',
      databaseId,
      principal,
      role,
      acceptedCodeHash,
    );
    if (!mayInvite(role))
      this.sql.run(
        'DELETE FROM invitation WHERE (database_id = ?1 OR ?1 = ?3) AND invited_by = ?2',
        databaseId,
        principal,
        EVERY_DATABASE,
      );
  }

  /** Adds a column to a file of an earlier version. */
  private addMissingColumn(table: string, name: string, type: string): void {
    if (this.sql.get('SELECT 1 FROM pragma_table_info(?) WHERE name = ?', table, name) === undefined)
      this.sql.exec(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`);
  }

  private deleteExpired(nowMs: number): void {
    this.sql.run('DELETE FROM invitation WHERE expires_ms <= ?', BigInt(Math.floor(nowMs)));
  }

  /**
   * The role in a database, null if the principal is revoked everywhere. Undefined if the principal is not a member.
   */
  private effectiveRole(databaseId: string, principal: string): Role | null | undefined {
    return this.storedRole(EVERY_DATABASE, principal) === null ? null : this.storedRole(databaseId, principal);
  }

  private storedRole(databaseId: string, principal: string): Role | null | undefined {
    return this.sql.get(
      'SELECT role FROM member WHERE database_id = ? AND principal = ?',
      databaseId,
      principal,
    )?.[0] as Role | null | undefined;
  }

  /** A number that changes with every commit of another connection. */
  private dataVersion(): bigint {
    return this.sql.get('PRAGMA data_version')?.[0] as bigint;
  }
}

/** If the creator has no stored role, their token had the right to invite when the invitation was created. */
function mayInvite(role: Role | null | undefined): boolean {
  return role === undefined || roleAllows(role, 'manage');
}

const MEMBER_TABLES_SQL = `
CREATE TABLE IF NOT EXISTS member (
  database_id TEXT NOT NULL,
  principal TEXT NOT NULL,
  role TEXT,                        -- a Role; NULL: revoked, whatever role a token has
  accepted_code_sha256 BLOB,        -- of the invitation that the principal accepted last; NULL: none
  PRIMARY KEY (database_id, principal)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS invitation (
  code_sha256 BLOB PRIMARY KEY NOT NULL, -- a random code of 256 bits needs no slow hash
  database_id TEXT NOT NULL,
  role TEXT NOT NULL,
  expires_ms INTEGER NOT NULL,
  invited_by TEXT                   -- the principal who made it; NULL: the program that runs the server
) STRICT, WITHOUT ROWID;
`;

const ACCEPTED_CODE_INDEX_SQL =
  'CREATE INDEX IF NOT EXISTS member_accepted ON member (accepted_code_sha256) WHERE accepted_code_sha256 IS NOT NULL';
