import { expect, it } from 'vitest';
import { memoryWriter } from '../../testing/memory-writer.ts';
import { addAccount, renameAccount } from './actions.ts';

it('renaming an account keeps a group that somebody else set while the form was open, and the reverse', async () => {
  const writer = memoryWriter();
  const id = await addAccount(writer, { name: 'Giro', kind: 'checking', currency: 'EUR', openingMinor: 0 });
  const opened = { name: 'Giro', groupName: '' };
  await renameAccount(writer, id, opened, { ...opened, groupName: 'Bank' });
  await renameAccount(writer, id, opened, { ...opened, name: 'Household' });
  await renameAccount(writer, id, opened, opened);
  expect(writer.rows('SELECT name, groupName FROM accounts')).toEqual([{ name: 'Household', groupName: 'Bank' }]);
});
