import type { CategoryKind } from '../schema.ts';

export interface CategoryRow {
  readonly id: string;
  readonly name: string;
  readonly kind: CategoryKind;
  readonly hidden: 0 | 1;
  readonly keepsOverspent: 0 | 1;
  /** Empty for none. */
  readonly groupName: string;
  readonly position: number;
  readonly note: string;
}

/** All categories, spending first, by group, position and name. No parameters. */
export const categoriesByName = `
  SELECT category.id, category.name, category.kind, category.hidden, category.keepsOverspent, category.groupName, category.position, category.note
  FROM categories AS category
    JOIN (SELECT kind, groupName, min(position) AS position FROM categories WHERE deleted = 0 GROUP BY kind, groupName) AS heading
      ON heading.kind = category.kind AND heading.groupName = category.groupName
  WHERE category.deleted = 0 OR EXISTS (SELECT 1 FROM entries WHERE categoryId = category.id) OR EXISTS (SELECT 1 FROM parts WHERE categoryId = category.id)
  ORDER BY category.kind DESC, heading.position, category.groupName, category.hidden, category.position, category.name COLLATE NOCASE, category.id`;

export interface CategoryNameRow {
  readonly id: string;
  readonly name: string;
}

/** The name of every category, deleted ones included: old versions of entries refer to them. No parameters. */
export const categoryNames = `
  SELECT id, name FROM categories`;
