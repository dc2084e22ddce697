import type { Client } from '@rockpool/client';
import { createDevice } from '@rockpool/client/node';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addCategory } from '../categories/actions.ts';
import { addEntry, changeEntry } from '../entries/actions.ts';
import { setGoal } from '../goals/actions.ts';
import { anyChange } from '../queries/any-change.ts';
import { schema } from '../schema.ts';
import { addSchedule, changeSchedule, type ScheduleFields } from '../schedules/actions.ts';

let client: Client;
let tab: Client;

beforeEach(async () => {
  const device = createDevice();
  client = await device.createClient({ name: 'budget', schema });
  tab = await device.createClient({ name: 'budget', schema });
});

afterEach(async () => {
  await tab.close();
  await client.close();
});

it('the comparison of a what-if follows every change of another tab, such as that of a goal, a schedule or a memo', async () => {
  let seen = 0;
  let failure: unknown = null;
  const stop = client.live(anyChange).subscribe(({ error }) => {
    failure ??= error;
    seen += 1;
  });
  await expect.poll(() => seen).toBe(1);
  const isSeen = async <T>(change: Promise<T>): Promise<T> => {
    const before = seen;
    const result = await change;
    await expect.poll(() => seen).toBeGreaterThan(before);
    return result;
  };
  const accountId = await isSeen(addAccount(tab, { name: 'Giro', kind: 'checking', currency: 'EUR', openingMinor: 0 }));
  const categoryId = await isSeen(addCategory(tab, 'Food', 'spending'));
  const goal = { categoryId, currency: 'EUR', kind: 'monthly', amountMinor: 100, byMonth: null } as const;
  await isSeen(setGoal(tab, goal));
  await isSeen(setGoal(tab, { ...goal, amountMinor: 200 }));
  const rent: ScheduleFields = {
    accountId,
    otherAccountId: null,
    payee: 'Rent',
    notes: '',
    categoryId,
    amountMinor: -1,
    firstDate: '2026-01-31',
    every: 1,
    unit: 'month',
    lastDate: null,
  };
  const scheduleId = await isSeen(addSchedule(tab, rent));
  await isSeen(changeSchedule(tab, scheduleId, rent, { ...rent, lastDate: '2026-12-31' }));
  const fields = { date: '2026-01-31', payee: 'Market', notes: '', categoryId, amountMinor: -1 };
  const id = await isSeen(addEntry(tab, accountId, fields));
  await isSeen(addEntry(tab, accountId, fields));
  await isSeen(changeEntry(tab, id, { fields, parts: [] }, { ...fields, notes: 'for the trip' }));
  stop();
  expect(failure).toBeNull();
});
