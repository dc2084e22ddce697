/** The first eight digits of a budget's id: enough to distinguish a household's budgets. */
export function formatShortId(databaseId: string): string {
  return databaseId.slice(0, 8);
}
