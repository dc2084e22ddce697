import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { SqliteMembers } from './sqlite-members.ts';

it('a file of an earlier version keeps its members and invitations, and acceptances can be repeated', () => {
  const path = join(temporaryFolder(), 'members.sqlite');
  const codeHash = new Uint8Array(32).fill(7);
  const earlier = new DatabaseSync(path);
  earlier.exec(`
    CREATE TABLE member (
      database_id TEXT NOT NULL, principal TEXT NOT NULL, role TEXT, PRIMARY KEY (database_id, principal)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE invitation (
      code_sha256 BLOB PRIMARY KEY NOT NULL, database_id TEXT NOT NULL, role TEXT NOT NULL, expires_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO member VALUES ('household', 'ann', 'owner');
    INSERT INTO invitation VALUES (x'${'07'.repeat(32)}', 'household', 'viewer', 1000);`);
  earlier.close();
  const mia = { databaseId: 'household', principal: 'mia', role: 'viewer' };
  const accept = (principal: string): unknown =>
    members.acceptInvitation(codeHash, principal, 0, (_, held, offered) => held ?? offered);
  let members = new SqliteMembers(path);
  expect(accept('mia')).toEqual(mia);
  members.close();
  members = new SqliteMembers(path);
  expect([accept('mia'), accept('eve')]).toEqual([mia, null]);
  expect(members.readAll()).toEqual([{ databaseId: 'household', principal: 'ann', role: 'owner' }, mia]);
  members.forgetDatabase('household');
  expect(accept('mia')).toBeNull();
  members.close();
});
