import { createHash, randomBytes } from 'node:crypto';
import { RockpoolError } from '@rockpool/shared';
import { SqliteFile } from '../store/sqlite-file.ts';
import type { Principal } from './principal.ts';
import { higherRole, isRole, roleAllows, type Operation, type Role } from './role.ts';

export interface Member {
  readonly principal: string;
  /** Null: revoked. Stands above whatever a token says. */
  readonly role: Role | null;
}

export interface InvitationRequest {
  readonly databaseId: string;
  readonly role: Role;
  readonly expiresAtMs: number;
}

/**
 * Who may do what in which database, beyond what tokens say by themselves. What stands here decides; only where nothing does, the token counts.
 * So a role can be given without a new token, and taken away before the old one expires.
 */
export class Members {
  private readonly sql: SqliteFile;
  // Asked at every message, so it is held in memory: "database id" → principal → role.
  private readonly roles = new Map<string, Map<string, Role | null>>();

  constructor(path: string) {
    this.sql = new SqliteFile(path);
    this.sql.exec(MEMBER_TABLES_SQL);
    for (const [databaseId, principal, role] of this.sql.all('SELECT database_id, principal, role FROM member')) {
      this.remember(databaseId as string, principal as string, isRole(role) ? role : null);
    }
  }

  allows({ id, databases = [], role = 'viewer' }: Principal, databaseId: string, operation: Operation): boolean {
    const stored = this.roles.get(databaseId)?.get(id);
    return roleAllows(stored === undefined ? (databases.includes(databaseId) ? role : null) : stored, operation);
  }

  list(databaseId: string): Member[] {
    return [...(this.roles.get(databaseId) ?? [])].map(([principal, role]) => ({ principal, role })).sort((a, b) => (a.principal < b.principal ? -1 : 1));
  }

  /** Null revokes. */
  setRole(databaseId: string, principal: string, role: Role | null): void {
    this.sql.run('INSERT INTO member (database_id, principal, role) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET role = excluded.role', databaseId, principal, role);
    this.remember(databaseId, principal, role);
  }

  /** Forgets who may do what in a database that is gone. */
  forgetDatabase(databaseId: string): void {
    this.sql.transaction(() => {
      this.sql.run('DELETE FROM member WHERE database_id = ?', databaseId);
      this.sql.run('DELETE FROM invitation WHERE database_id = ?', databaseId);
    });
    this.roles.delete(databaseId);
  }

  /** A code that opens the database once, to whoever brings it. Only its hash is kept. */
  invite({ databaseId, role, expiresAtMs }: InvitationRequest): string {
    const code = randomBytes(INVITATION_BYTES).toString('base64url');
    this.sql.run('INSERT INTO invitation (code_sha256, database_id, role, expires_ms) VALUES (?, ?, ?, ?)', sha256(code), databaseId, role, BigInt(Math.ceil(expiresAtMs)));
    return code;
  }

  /**
   * Makes the principal a member. Throws `invitation-invalid`, the same for a code that never was, was used or has expired; `auth-forbidden` for
   * somebody who was revoked: only an owner lets them in again.
   */
  accept(code: string, { id }: Principal, nowMs: number): { readonly databaseId: string; readonly role: Role } {
    const hash = sha256(code);
    const accepted = this.sql.transaction(() => {
      this.sql.run('DELETE FROM invitation WHERE expires_ms <= ?', BigInt(Math.floor(nowMs)));
      const [databaseId, role] = this.sql.get('SELECT database_id, role FROM invitation WHERE code_sha256 = ?', hash) ?? [];
      if (typeof databaseId !== 'string' || !isRole(role)) throw new RockpoolError('invitation-invalid');
      const held = this.roles.get(databaseId)?.get(id);
      if (held === null) throw new RockpoolError('auth-forbidden');
      const given = held === undefined ? role : higherRole(held, role);
      this.sql.run('DELETE FROM invitation WHERE code_sha256 = ?', hash);
      this.sql.run('INSERT INTO member (database_id, principal, role) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET role = excluded.role', databaseId, id, given);
      return { databaseId, role: given };
    });
    this.remember(accepted.databaseId, id, accepted.role);
    return accepted;
  }

  close(): void {
    this.sql.close();
  }

  private remember(databaseId: string, principal: string, role: Role | null): void {
    const members = this.roles.get(databaseId) ?? new Map<string, Role | null>();
    this.roles.set(databaseId, members.set(principal, role));
  }
}

// As strong as a signing secret: whoever holds a code needs nothing else.
const INVITATION_BYTES = 32;

const MEMBER_TABLES_SQL = `
CREATE TABLE IF NOT EXISTS member (
  database_id TEXT NOT NULL,
  principal TEXT NOT NULL,
  role TEXT,                        -- a Role; NULL: revoked, whatever a token says
  PRIMARY KEY (database_id, principal)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS invitation (
  code_sha256 BLOB PRIMARY KEY NOT NULL, -- a random code of 256 bits needs no slow hash
  database_id TEXT NOT NULL,
  role TEXT NOT NULL,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
