import type { RockpoolError } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { CopiedHistory } from '../../testing/copied-history.ts';
import { listCopies } from './generations.ts';
import { planRestore } from './restore-plan.ts';

const COPIES = 1_060;

it('a restore of many copies reads few objects, and needs a merged one only for the moments since its last copy', async () => {
  const history = await CopiedHistory.open(temporaryFolder());
  // There is enough other data that the copies do not outweigh the base.
  history.commit('CREATE TABLE ballast (content BLOB)');
  for (let i = 0; i < 10; i++) history.commit('INSERT INTO ballast VALUES (randomblob(1000000))');
  await history.copy();
  for (let i = 0; i < COPIES; i++) {
    history.commit(`INSERT INTO item (content) VALUES (${i})`);
    await history.copy();
  }
  const plan = planRestore(await listCopies(history.destination, 'db-a'), Infinity);
  expect(plan?.sets.map(({ level }) => level)).toEqual(['base', 2, 1, 0, 0, 0, 0]);
  for (const i of [700, 1_023, 1_024, 1_025, COPIES])
    expect(await history.restored(history.states[i]?.atMs ?? 0)).toBe(history.states[i]?.rows);
  const merged = plan?.sets[1];
  history.destination.objects.set(merged?.keys[0] ?? '', new Uint8Array(1));
  const error = await history.restored(Infinity).catch((thrown: unknown) => thrown as RockpoolError);
  expect(error).toMatchObject({
    code: 'backup-damaged',
    fields: { restorableUntil: new Date((merged?.timeMs ?? 0) - 1).toISOString() },
  });
  expect(await history.restored((merged?.timeMs ?? 0) - 1)).toBe(history.states[1_023]?.rows);
  history.close();
});
