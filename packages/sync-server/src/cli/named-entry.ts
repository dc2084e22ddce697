/** Returns the entry with a name from user input; undefined for names such as `toString` that every object inherits. */
export function namedEntry<T>(entries: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}
