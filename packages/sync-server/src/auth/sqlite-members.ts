import { SqliteFile } from '../sqlite/sqlite-file.ts';
import type { MemberStore, StoredInvitation, StoredMember } from './member-store.ts';
import { isRole, type Role } from './role.ts';

/** Stores members in a SQLite file of one server. */
export class SqliteMembers implements MemberStore {
  private readonly sql: SqliteFile;

  constructor(path: string) {
    this.sql = new SqliteFile(path, { hasChecksums: false });
    this.sql.exec(MEMBER_TABLES_SQL);
  }

  readAll(): StoredMember[] {
    return this.sql.all('SELECT database_id, principal, role FROM member').map(([id, principal, role]) => ({
      databaseId: id as string,
      principal: principal as string,
      role: isRole(role) ? role : null,
    }));
  }

  /** Always empty: no other instance writes to this file. */
  readRecent(): StoredMember[] {
    return [];
  }

  write({ databaseId, principal, role }: StoredMember): void {
    this.sql.run(
      'INSERT INTO member (database_id, principal, role) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET role = excluded.role',
      databaseId,
      principal,
      role,
    );
  }

  addInvitation({ codeHash, databaseId, role, expiresMs }: StoredInvitation): void {
    this.sql.run(
      'INSERT INTO invitation (code_sha256, database_id, role, expires_ms) VALUES (?, ?, ?, ?)',
      codeHash,
      databaseId,
      role,
      BigInt(expiresMs),
    );
  }

  acceptInvitation(
    codeHash: Uint8Array,
    principal: string,
    nowMs: number,
    judge: (held: Role | null | undefined, offered: Role) => Role,
  ): StoredMember | null {
    return this.sql.transaction(() => {
      this.sql.run('DELETE FROM invitation WHERE expires_ms <= ?', BigInt(Math.floor(nowMs)));
      const [databaseId, offered] =
        this.sql.get('SELECT database_id, role FROM invitation WHERE code_sha256 = ?', codeHash) ?? [];
      if (typeof databaseId !== 'string' || !isRole(offered)) return null;
      const held = this.sql.get(
        'SELECT role FROM member WHERE database_id = ? AND principal = ?',
        databaseId,
        principal,
      );
      const member = { databaseId, principal, role: judge(held?.[0] as Role | null | undefined, offered) };
      this.sql.run('DELETE FROM invitation WHERE code_sha256 = ?', codeHash);
      this.write(member);
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
}

const MEMBER_TABLES_SQL = `
CREATE TABLE IF NOT EXISTS member (
  database_id TEXT NOT NULL,
  principal TEXT NOT NULL,
  role TEXT,                        -- a Role; NULL: revoked, whatever role a token has
  PRIMARY KEY (database_id, principal)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS invitation (
  code_sha256 BLOB PRIMARY KEY NOT NULL, -- a random code of 256 bits needs no slow hash
  database_id TEXT NOT NULL,
  role TEXT NOT NULL,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;
