import { afterEach, describe, expect, it } from 'vitest';
import { RockpoolError } from '@rockpool/shared';
import { insert } from '../../testing/changeset.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE } from '../../testing/test-server.ts';
import type { Operation } from './role.ts';

let allowed: readonly Operation[] = ['read', 'write'];
let asked: Operation[] = [];
const tested = serverUnderTest({
  authorize: async (principal, databaseId, operation) => {
    asked.push(operation);
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (principal.id === 'broken') throw new Error('the host’s own database is unreachable');
    if (principal.id === 'waiting') throw new RockpoolError('auth-unavailable');
    return databaseId === DATABASE && allowed.includes(operation);
  },
});
afterEach(() => {
  allowed = ['read', 'write'];
  asked = [];
});

describe('a host that writes a role while it authorizes', () => {
  let count = 0;
  const tested = serverUnderTest({
    authorize: async (principal, databaseId) => {
      count++;
      await tested.server.sync.members.setRole(databaseId, principal.id, 'editor');
      return true;
    },
  });

  it('is asked again only if the role is a new one', async () => {
    const connection = await tested.server.open();
    await connection.commit([insert('accounts', 'x', { name: 'x' })]);
    const before = count;
    await connection.commit([insert('accounts', 'y', { name: 'y' })]);
    // For the push, and perhaps for a check of rights that was due: two questions.
    expect(count - before).toBeLessThanOrEqual(3);
  });
});

describe('a host with its own authorization', () => {
  it('is asked about every message, and messages keep their order', async () => {
    const connection = await tested.server.open();
    asked = [];
    for (let i = 1; i <= 20; i++) {
      connection.site.write([insert('accounts', `a${i}`, { name: `a${i}` })]);
      connection.push(i, i);
    }
    // A push that overtook an earlier one would be rejected, because its sequences would leave a gap.
    expect((await connection.decided(20)).lastAckedSequence).toBe(20);
    expect(asked.filter((operation) => operation === 'write')).toHaveLength(20);
  });

  it('can stop a push in flight', async () => {
    const connection = await tested.server.open();
    allowed = ['read'];
    connection.site.write([insert('accounts', 'x', { name: 'x' })]);
    connection.push();
    expect(await connection.failure()).toMatchObject({ code: 'auth-forbidden' });
    expect(tested.server.query('SELECT count(*) FROM accounts')).toEqual([[0n]]);
  });

  it('ends a receive-only session soon after the right to read is revoked', async () => {
    const connection = await tested.server.open();
    allowed = [];
    expect(await connection.failure()).toMatchObject({ code: 'auth-database-forbidden' });
  });

  it('denies access when it throws', async () => {
    const connection = await tested.server.connect();
    connection.hello(await tested.server.token('owner', 'broken'), DATABASE);
    expect(await connection.failure()).toMatchObject({ code: 'auth-database-forbidden' });
    expect(tested.server.events.some(({ event }) => event === 'authorize-error')).toBe(true);
    expect(JSON.stringify(tested.server.events)).not.toContain('own database is unreachable');
  });

  it('can say that it cannot decide now, so that the client tries again with the same token', async () => {
    const token = await tested.server.token('owner', 'waiting');
    const connection = await tested.server.connect();
    connection.hello(token, DATABASE);
    expect(await connection.failure()).toMatchObject({ code: 'auth-unavailable' });
    expect((await tested.server.ask('GET', `/databases/${DATABASE}/members`, { token })).status).toBe(503);
  });
});
