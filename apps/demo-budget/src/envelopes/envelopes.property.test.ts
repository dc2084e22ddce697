import fc from 'fast-check';
import { expect, it } from 'vitest';
import { monthAfter } from '../calendar/months.ts';
import type { CategoryRow } from '../queries/categories.ts';
import type { ActivityRow, AssignedRow } from '../queries/envelopes.ts';
import { monthBudget } from './envelopes.ts';

const categories: readonly CategoryRow[] = [
  { id: 'food', name: 'Food', kind: 'spending', hidden: 0, keepsOverspent: 0, groupName: '', position: 0, note: '' },
  { id: 'fun', name: 'Fun', kind: 'spending', hidden: 1, keepsOverspent: 0, groupName: '', position: 0, note: '' },
  { id: 'car', name: 'Car', kind: 'spending', hidden: 0, keepsOverspent: 1, groupName: '', position: 0, note: '' },
  { id: 'pay', name: 'Pay', kind: 'income', hidden: 0, keepsOverspent: 0, groupName: '', position: 0, note: '' },
];
const month = fc.integer({ min: -14, max: 3 }).map((count) => monthAfter('2026-02', count));
const minor = fc.bigInt({ min: -(2n ** 55n), max: 2n ** 55n });
const assignedRow: fc.Arbitrary<AssignedRow> = fc.record({
  month,
  // A device may assign money to a category that another one has deleted.
  categoryId: fc.constantFrom('food', 'fun', 'car', 'unknown'),
  assignedMinor: minor,
});
const activityRow: fc.Arbitrary<ActivityRow> = fc.record({
  month,
  categoryId: fc.constantFrom('food', 'fun', 'car', 'pay', 'unknown', null),
  changeMinor: minor,
});

it('unassigned plus available money equals the account balances', () => {
  fc.assert(
    fc.property(fc.array(assignedRow), fc.array(activityRow), minor, (assigned, activity, openingMinor) => {
      const plan = monthBudget({ month: '2026-02', categories, assigned, activity, openingMinor });
      const held = activity
        .filter((row) => row.month <= '2026-02')
        .reduce((sum, row) => sum + BigInt(row.changeMinor), openingMinor);
      expect(plan.unassignedMinor + plan.availableMinor).toBe(held);
      for (const envelope of plan.envelopes) expect(envelope.carriedMinor >= 0n || envelope.keepsOverspent).toBe(true);
    }),
  );
});
