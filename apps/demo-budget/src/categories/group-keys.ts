/** A group of categories with the key of its element. */
export interface KeyedGroup<Category extends { readonly id: string }> {
  readonly key: string;
  readonly name: string;
  readonly members: readonly Category[];
}

/**
 * Gives each group a key that it keeps when it is renamed, so that fields in it keep what is typed. A renamed group is
 * recognised by its categories.
 *
 * @param before the groups when they were last drawn
 */
export function keyedGroups<Category extends { readonly id: string }>(
  groups: ReadonlyMap<string, readonly Category[]>,
  before: readonly KeyedGroup<Category>[],
): readonly KeyedGroup<Category>[] {
  const keys = new Map<string, string>();
  for (const { key, name } of before) if (groups.has(name)) keys.set(name, key);
  for (const { key, name, members } of before) {
    if (groups.has(name)) continue;
    const ids = new Set(members.map(({ id }) => id));
    const renamed = [...groups].find(([next, others]) => !keys.has(next) && others.some(({ id }) => ids.has(id)));
    if (renamed !== undefined) keys.set(renamed[0], key);
  }
  const taken = new Set(keys.values());
  return [...groups].map(([name, members]) => {
    let key = keys.get(name);
    if (key === undefined) {
      key = name;
      // A renamed group may have kept this name as its key.
      while (taken.has(key)) key += ' ';
      taken.add(key);
    }
    return { key, name, members };
  });
}
