import type { Connections } from '../postgres/connection.ts';
import { NAMESPACE } from '../postgres/namespace.ts';
import type { MemberStore, StoredInvitation, StoredMember } from './member-store.ts';
import { isRole, type Role } from './role.ts';

const MEMBER = `${NAMESPACE}.rockpool_member`;
const INVITATION = `${NAMESPACE}.rockpool_invitation`;

/** Many times the poll interval of instances. */
const RECENT = '1 minute';

/** Stores members in PostgreSQL, shared by all instances. The tables are created with those of the databases. */
export class PostgresMembers implements MemberStore {
  private readonly connections: Connections;
  private readonly tablesReady: () => Promise<void>;

  constructor(connections: Connections, tablesReady: () => Promise<void>) {
    this.connections = connections;
    this.tablesReady = tablesReady;
  }

  async readAll(): Promise<StoredMember[]> {
    await this.tablesReady();
    return this.read('');
  }

  readRecent(): Promise<StoredMember[]> {
    return this.read(` WHERE written_at > now() - interval '${RECENT}'`);
  }

  async write({ databaseId, principal, role }: StoredMember): Promise<void> {
    await this.connections.query(WRITE_SQL, [databaseId, principal, role]);
  }

  async addInvitation({ codeHash, databaseId, role, expiresMs }: StoredInvitation): Promise<void> {
    await this.connections.query(
      `INSERT INTO ${INVITATION} (code_sha256, database_id, role, expires_ms) VALUES ($1, $2, $3, $4)`,
      [codeHash, databaseId, role, expiresMs],
    );
  }

  acceptInvitation(
    codeHash: Uint8Array,
    principal: string,
    nowMs: number,
    judge: (held: Role | null | undefined, offered: Role) => Role,
  ): Promise<StoredMember | null> {
    return this.connections.transaction(null, 'READ WRITE', async (connection) => {
      await connection.query(`DELETE FROM ${INVITATION} WHERE expires_ms <= $1`, [Math.floor(nowMs)]);
      // A concurrent request with the same code waits here and then finds no row.
      const [[databaseId, offered] = []] = await connection.query(
        `DELETE FROM ${INVITATION} WHERE code_sha256 = $1 RETURNING database_id, role`,
        [codeHash],
      );
      if (typeof databaseId !== 'string' || !isRole(offered)) return { commit: true, result: null };
      const [held] = await connection.query(
        `SELECT role FROM ${MEMBER} WHERE database_id = $1 AND principal = $2 FOR UPDATE`,
        [databaseId, principal],
      );
      const member = { databaseId, principal, role: judge(held?.[0] as Role | null | undefined, offered) };
      await connection.query(WRITE_SQL, [databaseId, principal, member.role]);
      return { commit: true, result: member };
    });
  }

  async forgetDatabase(databaseId: string): Promise<void> {
    await this.connections.query(
      `WITH members AS (DELETE FROM ${MEMBER} WHERE database_id = $1) DELETE FROM ${INVITATION} WHERE database_id = $1`,
      [databaseId],
    );
  }

  private async read(where: string): Promise<StoredMember[]> {
    const rows = await this.connections.query(`SELECT database_id, principal, role FROM ${MEMBER}${where}`);
    return rows.map(([databaseId, principal, role]) => ({
      databaseId: databaseId as string,
      principal: principal as string,
      role: isRole(role) ? role : null,
    }));
  }

  close(): void {
    // The store owns the connections.
  }
}

const WRITE_SQL = `INSERT INTO ${MEMBER} (database_id, principal, role) VALUES ($1, $2, $3) ON CONFLICT (database_id, principal) DO UPDATE SET role = excluded.role, written_at = now()`;
