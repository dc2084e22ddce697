/**
 * Runs every step, also after one that fails: a server that stops must not keep its lock, or omit its last copies,
 * because one file cannot be closed. Rejects with the first failure.
 */
export async function closeInOrder(...steps: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
