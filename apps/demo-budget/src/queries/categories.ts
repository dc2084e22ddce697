import type { CategoryKind } from '../schema.ts';

export interface CategoryRow {
  readonly id: string;
  readonly name: string;
  readonly kind: CategoryKind;
  readonly hidden: 0 | 1;
  readonly keepsOverspent: 0 | 1;
}

/** All categories, spending first, by name. No parameters. */
export const categoriesByName = `
  SELECT id, name, kind, hidden, keepsOverspent FROM categories ORDER BY kind DESC, hidden, name COLLATE NOCASE, id`;
