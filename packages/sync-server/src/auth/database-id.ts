const DATABASE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Letters, digits, `_` and `-`, at most 64: never a path. */
export function isDatabaseId(text: string): boolean {
  return DATABASE_ID.test(text);
}
