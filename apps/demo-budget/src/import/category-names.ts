import type { CategoryRow } from '../queries/categories.ts';
import { nameKey } from '../words/name-key.ts';
import type { ImportDraft } from './rows/preview.ts';

/** Finds categories by the names that files have. */
export function categoryFinder(
  categories: readonly Pick<CategoryRow, 'id' | 'name'>[],
): (name: string) => string | undefined {
  const byName = new Map(categories.map(({ id, name }) => [nameKey(name), id]));
  // `Food:Groceries` and `Food / Groceries` name a category of a group.
  return (name) => byName.get(nameKey(name)) ?? byName.get(nameKey(ownName(name)));
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
    if (name !== '' && find(categoryName) === undefined) unknown.set(nameKey(name), name);
  }
  return [...unknown.values()];
}

/** Whether a category name of a file means the category with this name. */
export function means(categoryName: string, name: string): boolean {
  return nameKey(ownName(categoryName)) === nameKey(name);
}

function ownName(name: string): string {
  return (name.split(/:| [/>] /).at(-1) ?? '').trim();
}
