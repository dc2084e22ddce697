/** The first eight digits of a budget's id: enough to tell a household's budgets apart. */
export function formatShortId(databaseId: string): string {
  return databaseId.slice(0, 8);
}
