import type { CategoryRow } from '../queries/categories.ts';
import type { ImportDraft } from './rows/preview.ts';

/** Finds categories by the names that files have. */
export function categoryFinder(
  categories: readonly Pick<CategoryRow, 'id' | 'name'>[],
): (name: string) => string | undefined {
  const byName = new Map(categories.map(({ id, name }) => [keyOf(name), id]));
  // `Food:Groceries` and `Food / Groceries` name a category of a group.
  return (name) => byName.get(keyOf(name)) ?? byName.get(keyOf(ownName(name)));
}

/** The category names in the drafts that the budget does not have yet, in the order of the file. */
export function unknownCategoryNames(
  drafts: readonly Pick<ImportDraft, 'categoryName'>[],
  categories: readonly Pick<CategoryRow, 'id' | 'name'>[],
): string[] {
  const find = categoryFinder(categories);
  const unknown = new Map<string, string>();
  for (const { categoryName } of drafts) {
    const name = ownName(categoryName);
    if (name !== '' && find(categoryName) === undefined) unknown.set(keyOf(name), name);
  }
  return [...unknown.values()];
}

function ownName(name: string): string {
  return (name.split(/:| [/>] /).at(-1) ?? '').trim();
}

function keyOf(name: string): string {
  return name.normalize('NFC').trim().toLowerCase();
}
