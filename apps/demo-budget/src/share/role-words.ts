import type { BudgetRole } from '../budget/budget.ts';

/** The name of each role, and its permissions. */
export const roleWords: Readonly<Record<BudgetRole, { readonly title: string; readonly may: string }>> = {
  viewer: { title: 'Viewer', may: 'can view everything' },
  editor: { title: 'Editor', may: 'can edit everything' },
  owner: { title: 'Owner', may: 'can edit everything and manage members' },
};
