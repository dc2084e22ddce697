import { describe, expect, it } from 'vitest';
import type { Envelope } from './envelopes.ts';
import { quickAssignments, type QuickAssignmentsInput } from './quick-assignments.ts';

const envelopeOf = (categoryId: string, assignedMinor = 0n): Envelope => ({
  categoryId,
  name: categoryId,
  hidden: false,
  groupName: '',
  note: '',
  keepsOverspent: false,
  carriedMinor: 0n,
  assignedMinor,
  spentMinor: 0n,
  availableMinor: assignedMinor,
});

const input: QuickAssignmentsInput = {
  month: '2026-03',
  currency: 'EUR',
  envelopes: [envelopeOf('food'), envelopeOf('rent', 5_000n)],
  assigned: [
    { month: '2026-02', categoryId: 'food', assignedMinor: 1_250 },
    { month: '2026-02', categoryId: 'rent', assignedMinor: 9_900 },
    { month: '2026-01', categoryId: 'food', assignedMinor: 7 },
  ],
  activity: [
    { month: '2026-02', categoryId: 'food', changeMinor: -10_000 },
    { month: '2025-12', categoryId: 'food', changeMinor: -5_049 },
    { month: '2025-11', categoryId: 'food', changeMinor: -99_999 },
    { month: '2026-02', categoryId: 'rent', changeMinor: -10_000 },
  ],
  goals: [
    { categoryId: 'food', kind: 'monthly', amountMinor: 800, byMonth: null },
    { categoryId: 'rent', kind: 'monthly', amountMinor: 5_000, byMonth: null },
  ],
};
const secondGoal = { categoryId: 'rent', kind: 'monthly', amountMinor: 6_000, byMonth: null } as const;

const assignment = (amountMinor: number, categoryId = 'food'): object => ({
  month: '2026-03',
  currency: 'EUR',
  categoryId,
  amountMinor,
});

describe('quick assignments', () => {
  it('copy the last month to envelopes without an assignment', () => {
    expect(quickAssignments(input).likeLastMonth).toEqual([assignment(1_250)]);
  });

  it('round the average of three months to whole units', () => {
    expect(quickAssignments(input).average).toEqual([assignment(5_000)]);
    const half = [{ month: '2026-02', categoryId: 'food', changeMinor: -15_150 }];
    expect(quickAssignments({ ...input, activity: half }).average).toEqual([assignment(5_100)]);
    const refunds = [{ month: '2026-02', categoryId: 'food', changeMinor: 90_000 }];
    expect(quickAssignments({ ...input, activity: refunds }).average).toEqual([]);
  });

  it('assign what goals still need', () => {
    expect(quickAssignments(input).goals).toEqual([assignment(800)]);
    expect(quickAssignments({ ...input, goals: [secondGoal] }).goals).toEqual([assignment(6_000, 'rent')]);
  });
});
