import type { BudgetRole } from '../budget/budget.ts';

/** What each role is called, and what it may do. */
export const roleWords: Readonly<Record<BudgetRole, { readonly title: string; readonly may: string }>> = {
  viewer: { title: 'Viewer', may: 'looks at everything and changes nothing' },
  editor: { title: 'Editor', may: 'looks at and changes everything' },
  owner: { title: 'Owner', may: 'changes everything, invites others and removes them' },
};
