import { memoryMedium } from '@rockpool/vfs-opfs';
import { describe, expect, it } from 'vitest';
import { openStored } from '../../../testing/worker/test-database.ts';

const write = { id: 'w', statements: [{ sql: "INSERT INTO account (id) VALUES ('a')", params: [] }] };

describe('the principal of a database', () => {
  it('is the first user who signs in, who also owns the earlier writes', async () => {
    const medium = memoryMedium();
    const anonymous = await openStored(medium);
    anonymous.database.write(write);
    await anonymous.close();
    const ada = await openStored(medium, { principal: 'ada' });
    expect(ada.database.outbox.pendingCount()).toBe(1);
    await ada.close();
    // An app that names no user does not count as a different user.
    await (await openStored(medium)).close();
  });

  it('does not change while changes are pending; they are kept and counted', async () => {
    const medium = memoryMedium();
    const ada = await openStored(medium, { principal: 'ada' });
    ada.database.write(write);
    await ada.close();
    await expect(openStored(medium, { principal: 'ben' })).rejects.toMatchObject({
      code: 'other-principal',
      recovery: 'reauthenticate',
      fields: { pendingCount: 1 },
    });
    const again = await openStored(medium, { principal: 'ada' });
    expect(again.database.outbox.pendingCount()).toBe(1);
    again.database.outbox.markAcknowledged(1, Date.now());
    await again.close();
    await (await openStored(medium, { principal: 'ben' })).close();
    await expect(openStored(medium, { principal: 'ada' }).then(({ close }) => close())).resolves.toBeUndefined();
  });

  it('must be the same for a follower', async () => {
    const medium = memoryMedium();
    const leader = await openStored(medium, { principal: 'ada' });
    await (await openStored(medium, { role: 'reader', principal: 'ada' })).close();
    await expect(openStored(medium, { role: 'reader', principal: 'ben' })).rejects.toMatchObject({
      code: 'other-principal',
    });
    await leader.close();
  });
});
