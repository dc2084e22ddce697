/**
 * Returns why a pragma is rejected, or `undefined` when SQLite may run it. Rejects the pragmas that would break this
 * storage's guarantees:
 *
 * - `synchronous = OFF` makes SQLite give up its atomic batches; the storage has its own setting
 *   for the durability of a commit.
 * - `journal_mode = WAL` would add a second log, in memory, over ours; `OFF` would lose ROLLBACK.
 * - `locking_mode = EXCLUSIVE` stops the change counter, by which readers in other tabs detect a commit.
 */
export function rejectionOfPragma(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const setting = value
    .trim()
    .replaceAll(/^['"]|['"]$/g, '')
    .toUpperCase();
  switch (name.toLowerCase()) {
    case 'synchronous':
      return ['OFF', '0', 'NO', 'FALSE'].includes(setting)
        ? "synchronous=OFF is not supported: set the storage's durability instead"
        : undefined;
    case 'journal_mode':
      return ['DELETE', 'MEMORY'].includes(setting)
        ? undefined
        : 'this journal_mode is not supported: the storage has its own write-ahead log';
    case 'locking_mode':
      return setting === 'EXCLUSIVE'
        ? 'locking_mode=EXCLUSIVE is not supported: other tabs would not detect commits'
        : undefined;
    default:
      return undefined;
  }
}
